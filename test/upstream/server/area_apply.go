package main

// Server-side apply by several managers, mixed with other writes.
func makeApply(m *maker) {
	k := m.kind(false)
	if m.chance(50) {
		m.add(step{Send: "POST " + k.collection() + m.query(parameter{"fieldManager", 50, []string{"one", "maker"}}), Body: m.vary(k, k.withName("a"))})
	}
	for range 1 + m.IntN(5) {
		if m.chance(20) {
			m.add(step{Send: "PATCH " + k.item("a") + m.query(writeParameters...), Type: "application/merge-patch+json", Body: m.vary(k, map[string]any{})})
			continue
		}
		body := m.vary(k, k.withName("a"))
		if m.chance(30) { // less than all
			body = m.vary(k, map[string]any{"apiVersion": k.apiVersion(), "kind": k.kind, "metadata": map[string]any{"name": k.name("a")}})
		}
		if m.chance(5) {
			body = merged(body, object(pick(m, []string{`{"apiVersion":null}`, `{"kind":"Other"}`, `{"metadata":{"name":"z"}}`, `{"metadata":{"managedFields":[{"manager":"x"}]}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"uid":"x"}}`}))).(map[string]any)
		}
		m.add(step{Send: "PATCH " + k.item("a") + m.query(parameter{"fieldManager", 95, []string{"one", "two", "three"}}, parameter{"force", 40, []string{"true", "false"}},
			parameter{"dryRun", 10, []string{"All"}}, parameter{"fieldValidation", 20, []string{"Strict", "Ignore"}}), Type: "application/apply-patch+yaml", Body: body})
	}
	m.add(step{Send: "GET " + k.item("a")})
}
