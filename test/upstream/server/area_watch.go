package main

import "fmt"

// Watches of all kinds beside writes.
func makeWatch(m *maker) {
	k := m.kind(true)
	for i := range m.IntN(3) {
		m.post(k, fmt.Sprintf("o%d", i))
	}
	list := m.add(step{Send: "GET " + k.collection()})
	for range 1 + m.IntN(2) {
		query := "?watch=" + pick(m, []string{"true", "1"}) + pick(m, watchStarts)
		query += pick(m, []string{"", "", "", "&labelSelector=app%3Dweb", "&fieldSelector=metadata.name%3Do1", "&labelSelector=!app"})
		if m.chance(40) {
			query += "&resourceVersion=${rv:" + list + "}"
		}
		m.add(step{Watch: true, Send: "GET " + k.collection() + query, Accept: pick(m, []string{"", "", tableType, partialType, protobufType})})
	}
	for i := range 1 + m.IntN(5) {
		name := fmt.Sprintf("o%d", m.IntN(3))
		switch m.IntN(4) {
		case 0:
			m.post(k, fmt.Sprintf("n%d", i))
		case 1:
			m.add(step{Send: "DELETE " + k.item(name) + "?gracePeriodSeconds=0"})
		default:
			body := object(pick(m, []string{`{"metadata":{"labels":{"app":"web"}}}`, `{"metadata":{"labels":{"app":null}}}`, `{"metadata":{"annotations":{"n":"1"}}}`, `{"metadata":{"annotations":{"n":"2"}}}`}))
			m.add(step{Send: "PATCH " + k.item(name), Type: "application/merge-patch+json", Body: body})
		}
	}
}

var watchStarts = []string{"", "", "&resourceVersion=0", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
	"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0",
	"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
	"&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "&sendInitialEvents=true", "&allowWatchBookmarks=true",
	"&resourceVersion=x", "&resourceVersionMatch=Exact&resourceVersion=1", "&limit=1", "&timeoutSeconds=x"}
