package main

// Every type of patch, on objects that are there or not.
func makePatch(m *maker) {
	k := m.kind(false)
	m.add(step{Send: "POST " + k.collection(), Body: m.vary(k, k.withName("a"))})
	for range 1 + m.IntN(4) {
		name := "a"
		if m.chance(5) {
			name = "b"
		}
		send := "PATCH " + k.item(name) + m.query(append(writeParameters, parameter{"force", 3, []string{"true"}})...)
		if m.chance(40) {
			m.add(step{Send: send, Type: "application/json-patch+json", Body: m.jsonPatch(k)})
			continue
		}
		patchType := pick(m, []string{"application/merge-patch+json", "application/strategic-merge-patch+json"})
		m.add(step{Send: send, Type: patchType, Body: m.patchBody(k)})
	}
	m.add(step{Send: "GET " + k.item("a")})
}

func (m *maker) patchBody(k *kind) any {
	switch m.IntN(10) {
	case 0:
		return object(pick(m, []string{`{"metadata":{"name":"other"}}`, `{"metadata":{"namespace":"other"}}`, `{"kind":"Other"}`, `{"apiVersion":"v9"}`, `{"metadata":null}`, `{"metadata":{"uid":"x"}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"${rv:s1}"}}`, `{"spec":null}`, `{}`}))
	case 1:
		return pick(m, []string{`[1]`, `{"metadata":`, ``, `null`, `"x"`, `{"metadata":{"labels":{"a":1}}}`, `{"metadata":{"labels":"x"}}`})
	case 2:
		return object(pick(m, []string{`{"metadata":{"$patch":"delete"}}`, `{"metadata":{"labels":{"$patch":"replace","z":"1"}}}`, `{"$patch":"replace"}`, `{"metadata":{"$retainKeys":["name"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}`, `{"metadata":{"finalizers":["example.com/other"]}}`, `{"spec":{"containers":[{"image":"x"}]}}`, `{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"x"}],"$setElementOrder/containers":[{"name":"d"},{"name":"c"}]}}}}`}))
	}
	return m.vary(k, m.vary(k, map[string]any{}))
}

func (m *maker) jsonPatch(k *kind) any {
	if m.chance(10) {
		return pick(m, []string{`{}`, `[{"op":"odd","path":"/x"}]`, `[{"op":"add"}]`, `[`, `[]`, `[{"op":"test","path":"/metadata/name","value":"z"}]`, `[{"op":"replace","path":"/metadata/none/x","value":1}]`, `[{"op":"remove","path":"/zz"}]`, `null`})
	}
	list := []any{}
	for range 1 + m.IntN(2) {
		list = append(list, any(object(pick(m, []string{
			`{"op":"add","path":"/metadata/labels","value":{"a":"b"}}`, `{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}`,
			`{"op":"replace","path":"/metadata/name","value":"z"}`, `{"op":"add","path":"/spec/zz","value":1}`, `{"op":"remove","path":"/metadata/labels"}`,
			`{"op":"copy","from":"/metadata/name","path":"/metadata/annotations"}`, `{"op":"test","path":"/kind","value":"` + k.kind + `"}`,
			`{"op":"add","path":"/metadata/finalizers","value":["example.com/hold"]}`, `{"op":"remove","path":"/metadata/managedFields"}`,
			`{"op":"replace","path":"/metadata/managedFields","value":[{}]}`, `{"op":"move","from":"/metadata/labels","path":"/metadata/annotations"}`}))))
	}
	return list
}
