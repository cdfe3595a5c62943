package main

import "fmt"

// Lists with every parameter, and pages of them.
func makeList(m *maker) {
	k := m.kind(true)
	for i := range 2 + m.IntN(4) {
		o := merged(k.withName(fmt.Sprintf("o%d", i)), object(pick(m, []string{`{}`, `{"metadata":{"labels":{"app":"web"}}}`, `{"metadata":{"labels":{"app":"db","tier":"x"}}}`})))
		m.add(step{Send: "POST " + k.collection(), Body: o})
	}
	m.add(step{Send: "GET " + k.collection()})
	for range 1 + m.IntN(4) {
		switch m.IntN(4) {
		case 0:
			m.pages(k)
		default:
			m.add(step{Send: "GET " + k.collection() + m.query(listParameters...), Accept: pick(m, accepts)})
		}
	}
}

var listParameters = []parameter{
	{"limit", 30, []string{"1", "2", "500", "-1", "0", "abc"}},
	{"labelSelector", 25, []string{"app=web", "app", "!app", "app in (web,db)", "app notin (web)", "app!=web,tier", "tier=", "a b", "app in web", "x>1", "/=a", "app=!"}},
	{"fieldSelector", 25, []string{"metadata.name=o1", "metadata.name!=o1", "metadata.namespace=" + placeholder, "foo=bar", "status.phase=Pending", "spec.nodeName=", "metadata.name", "metadata.name=o1,metadata.name!=o2", "type=Opaque", "metadata.name==o0"}},
	{"resourceVersion", 20, []string{"0", "1", "99999999", "x", "-1", "${rv:s1}", ""}},
	{"resourceVersionMatch", 12, []string{"Exact", "NotOlderThan", "Odd"}},
	{"sendInitialEvents", 4, []string{"true", "false", "x"}},
	{"allowWatchBookmarks", 4, []string{"true"}},
	{"timeoutSeconds", 4, []string{"5", "x"}},
	{"continue", 4, []string{"bad", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoibzFcdTAwMDAifQ"}},
	{"includeObject", 5, []string{"None", "Object", "Metadata", "Odd"}},
	{"pretty", 3, []string{"1"}},
}

const (
	tableType    = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	partialsType = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
	partialType  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
)

var accepts = []string{"", "", "", tableType, partialsType, protobufType + ",application/json"}

func (m *maker) pages(k *kind) {
	limit := m.IntN(3) + 1
	page := m.add(step{Send: fmt.Sprintf("GET %s?limit=%d", k.collection(), limit)})
	if m.chance(40) {
		m.add(step{Send: "DELETE " + k.item("o1") + "?gracePeriodSeconds=0"})
	}
	m.add(step{Send: fmt.Sprintf("GET %s?limit=%d&continue=${continue:%s}", k.collection(), limit, page) + pick(m, []string{"", "", "&resourceVersion=1", "&labelSelector=app"})})
}
