package main

import (
	"fmt"
	"strings"
)

// The label that keeps the objects of a case together where no namespace does.
const caseLabel = "case=" + placeholder

// Objects of all namespaces and of none, as many at a time: lists, watches and deletions by selectors.
func makeCollections(m *maker) {
	k := m.kind(false)
	n := 1 + m.IntN(4)
	for i := range n {
		o := merged(k.withName(fmt.Sprintf("o%d", i)), object(`{"metadata":{"labels":{"case":"`+placeholder+`"}}}`))
		o = merged(o, object(pick(m, []string{`{}`, `{}`, `{"metadata":{"labels":{"app":"web"}}}`, `{"metadata":{"finalizers":["example.com/hold"]}}`})))
		m.add(step{Send: "POST " + k.collection(), Body: o})
	}
	everywhere := k.prefix + "/" + k.resource
	for range 1 + m.IntN(4) {
		switch m.IntN(6) {
		case 0, 1:
			path := m.collection(k, everywhere)
			m.add(step{Watch: strings.Contains(path, "/watch/"), Send: "GET " + path + m.among(listTimes...), Accept: pick(m, accepts)})
		case 2:
			s := step{Watch: true, Send: "GET " + m.collection(k, everywhere) + m.among(watchTimes...) + "&watch=1", Accept: pick(m, []string{"", "", tableType, partialType, protobufType})}
			m.add(s)
		case 3:
			s := step{Send: "DELETE " + k.collection() + m.among(deleteTimes...)}
			if m.chance(40) {
				s.Body = m.deleteOptions()
				s.Proto = m.chance(20)
			}
			m.add(s)
		case 4:
			m.add(step{Send: "PATCH " + k.item("o0"), Type: "application/merge-patch+json", Body: object(pick(m, []string{`{"metadata":{"labels":{"app":"web"}}}`, `{"metadata":{"labels":{"case":null}}}`, `{"metadata":{"finalizers":null}}`}))})
		case 5:
			m.add(step{Send: "DELETE " + k.item("o0") + "?gracePeriodSeconds=0"})
		}
	}
	m.add(step{Send: "GET " + everywhere + "?labelSelector=" + escaped(caseLabel)})
}

// collection is that of the case's namespace, or of all; some ask by the old paths.
func (m *maker) collection(k *kind, everywhere string) string {
	path := pick(m, []string{k.collection(), everywhere, everywhere})
	if m.chance(5) {
		return strings.Replace(path, k.prefix, k.prefix+"/watch", 1)
	}
	return path
}

// among is a query that chooses objects of the case.
func (m *maker) among(parameters ...parameter) string {
	selector := pick(m, []string{caseLabel, caseLabel, caseLabel + ",app=web", caseLabel + ",app!=web", caseLabel + ",app", "case in (" + placeholder + ")", caseLabel + ",case!=" + placeholder, caseLabel + ",a b"})
	more := strings.TrimPrefix(m.query(parameters...), "?")
	return strings.TrimSuffix("?labelSelector="+escaped(selector)+"&"+more, "&")
}

var listTimes = []parameter{
	{"fieldSelector", 25, []string{"metadata.namespace=" + placeholder, "metadata.namespace!=" + placeholder, "metadata.name=o1", "metadata.name=" + placeholder + "-o1", "metadata.name!=o1,metadata.name!=o2", "foo=bar"}},
	{"resourceVersion", 20, []string{"0", "${rv:s1}", "x", ""}}, // an old one may have expired
	{"resourceVersionMatch", 15, []string{"Exact", "NotOlderThan", "Odd"}},
	{"timeoutSeconds", 5, []string{"5", "x"}},
	{"includeObject", 5, []string{"None", "Object", "Odd"}},
	{"watch", 2, []string{"false", "0"}},
}

var watchTimes = []parameter{
	{"fieldSelector", 20, []string{"metadata.namespace=" + placeholder, "metadata.name=o1", "metadata.name=" + placeholder + "-o1", "foo=bar"}},
	{"resourceVersion", 40, []string{"0", "${rv:s1}", "${rv:s1}", "x", ""}},
	{"resourceVersionMatch", 30, []string{"NotOlderThan", "NotOlderThan", "Exact"}},
	{"sendInitialEvents", 30, []string{"true", "true", "false"}},
	{"allowWatchBookmarks", 30, []string{"true", "false"}},
	{"timeoutSeconds", 10, []string{"60", "x", "0"}},
	{"includeObject", 5, []string{"None", "Object"}},
	{"limit", 3, []string{"1"}},
	{"continue", 2, []string{"x"}},
}

var deleteTimes = []parameter{
	{"fieldSelector", 20, []string{"metadata.name=o1", "metadata.name=" + placeholder + "-o1", "foo=bar"}},
	{"gracePeriodSeconds", 30, []string{"0", "0", "5", "-1", "x"}},
	{"propagationPolicy", 20, []string{"Orphan", "Foreground", "Background", "Odd"}},
	{"dryRun", 15, []string{"All", "x"}},
	{"resourceVersion", 8, []string{"0", "1", "x"}},
	{"resourceVersionMatch", 5, []string{"Exact", "NotOlderThan"}},
}
