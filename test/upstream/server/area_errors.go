package main

// Wrong methods, paths, types, names, bodies and revisions.
func makeErrors(m *maker) {
	k := m.kind(m.chance(80))
	m.post(k, "a")
	for range 1 + m.IntN(4) {
		switch m.IntN(7) {
		case 0:
			m.add(step{Send: pick(m, []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GET"}) + " " + pick(m, []string{k.item("a"), k.collection(), k.item("a") + "/odd", k.item("a") + "/status", k.item("a") + "/scale", k.prefix + "/odds", "/apis/odd/v1/x", "/api/v2/pods", k.prefix + "/namespaces/" + placeholder + "/odds/x"}), Body: pick(m, []any{nil, map[string]any{}, "x"})})
		case 1:
			m.add(step{Send: "POST " + k.collection() + m.query(writeParameters...), Type: pick(m, []string{"", "", "application/json", "text/plain", "application/yaml", protobufType}), Body: pick(m, []any{"", "{", "[]", "null", `{"kind":"Odd"}`, `{"apiVersion":"v9","kind":"` + k.kind + `"}`, `{"metadata":{"name":1}}`, `{"metadata":{"name":"b","name":"c"}}`, `"x"`, "{}", `{"metadata":{"labels":{"a":true}}}`, `{"apiVersion":"` + k.apiVersion() + `"}`})})
		case 2:
			m.add(step{Send: "POST " + k.collection(), Body: merged(k.withName("b"), object(pick(m, []string{`{"metadata":{"namespace":"other"}}`, `{"metadata":{"name":"B_"}}`, `{"metadata":{"name":null}}`, `{"metadata":{"resourceVersion":"5"}}`, `{"kind":null,"apiVersion":null}`, `{"metadata":{"name":"a/b"}}`, `{"metadata":{"name":".."}}`, `{"metadata":{"generateName":"X_"}}`})))})
		case 3:
			m.add(step{Send: "PUT " + k.item("a"), Body: merged(k.withName("a"), object(pick(m, []string{`{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"x"}}`, `{"metadata":{"uid":"88888888-8888-8888-8888-888888888888"}}`, `{"metadata":{"namespace":"other"}}`, `{"metadata":{"name":"z"}}`, `{"metadata":{"resourceVersion":"${rv:s1}"}}`, `{"kind":"Odd"}`})))})
		case 4:
			m.add(step{Send: "PATCH " + k.item(pick(m, []string{"a", "zz"})), Type: pick(m, []string{"application/json", "", "application/odd", "application/apply-patch+yaml", "application/json-patch+json", "application/apply-patch+cbor"}), Body: pick(m, []any{"{}", "[]", "{", "a: b"})})
		case 5:
			m.add(step{Send: pick(m, []string{"GET", "DELETE", "PUT"}) + " " + k.item(pick(m, []string{"zz", "a%20b", "A"})) + m.query(append(listParameters, writeParameters...)...), Body: nil})
		case 6:
			m.add(step{Send: "POST " + k.prefix + "/namespaces/nowhere/" + k.resource, Body: k.withName("b")})
		}
	}
}
