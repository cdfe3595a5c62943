package main

// Tables: the columns and cells of every kind.
func makeTables(m *maker) {
	k := m.kind(false)
	m.add(step{Send: "POST " + k.collection(), Body: m.vary(k, k.withName("a"))})
	if k.hasStatus && m.chance(50) {
		for _, status := range statuses[k.resource] {
			m.add(step{Send: "PATCH " + k.item("a") + "/status", Type: "application/merge-patch+json", Body: object(status)})
		}
	}
	m.add(step{Send: "GET " + k.item("a"), Accept: tableType})
}
