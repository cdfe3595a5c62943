package main

import "fmt"

// Deletion with all options, of one and of many.
func makeDelete(m *maker) {
	k := m.kind(m.chance(70))
	n := 1 + m.IntN(3)
	for i := range n {
		m.add(step{Send: "POST " + k.collection(), Body: merged(k.withName(fmt.Sprintf("o%d", i)), m.vary(k, map[string]any{}))})
	}
	for range 1 + m.IntN(4) {
		s := step{Send: "DELETE " + k.item(fmt.Sprintf("o%d", m.IntN(n))) + m.query(
			parameter{"gracePeriodSeconds", 25, []string{"0", "5", "-1", "x"}}, parameter{"propagationPolicy", 25, []string{"Orphan", "Foreground", "Background", "Odd"}},
			parameter{"orphanDependents", 5, []string{"true", "false"}}, parameter{"dryRun", 10, []string{"All", "Some"}})}
		if !k.cluster && m.chance(20) {
			s.Send = "DELETE " + k.collection() + m.query(parameter{"labelSelector", 40, []string{"app=web", "a b"}}, parameter{"fieldSelector", 20, []string{"metadata.name=o1", "foo=bar"}},
				parameter{"gracePeriodSeconds", 25, []string{"0", "5"}}, parameter{"dryRun", 10, []string{"All"}}, parameter{"limit", 10, []string{"1"}}, parameter{"propagationPolicy", 20, []string{"Orphan", "Foreground"}})
		}
		if m.chance(50) {
			s.Body = m.deleteOptions()
		}
		m.add(s)
		if m.chance(30) {
			m.add(step{Send: "PATCH " + k.item("o0"), Type: "application/merge-patch+json", Body: object(pick(m, []string{`{"metadata":{"finalizers":null}}`, `{"metadata":{"finalizers":["example.com/new"]}}`, `{"metadata":{"labels":{"a":"b"}}}`}))})
		}
	}
	for i := range n {
		m.add(step{Send: "GET " + k.item(fmt.Sprintf("o%d", i))})
	}
}

func (m *maker) deleteOptions() any {
	if m.chance(10) {
		return pick(m, []string{`{`, `[]`, `{"kind":"Odd","apiVersion":"v1"}`, `{"gracePeriodSeconds":"x"}`, `{"zz":1}`, `{"kind":"DeleteOptions","apiVersion":"v7"}`})
	}
	var out any = object(pick(m, []string{`{}`, `{"kind":"DeleteOptions","apiVersion":"v1"}`, `{"kind":"DeleteOptions","apiVersion":"apps/v1"}`}))
	for range m.IntN(3) {
		out = merged(out, object(pick(m, []string{`{"gracePeriodSeconds":0}`, `{"gracePeriodSeconds":7}`, `{"gracePeriodSeconds":-3}`, `{"propagationPolicy":"Orphan"}`, `{"propagationPolicy":"Foreground"}`, `{"propagationPolicy":"Odd"}`,
			`{"orphanDependents":true}`, `{"preconditions":{"uid":"33333333-3333-3333-3333-333333333333"}}`, `{"preconditions":{"uid":"${uid:s1}"}}`, `{"preconditions":{"resourceVersion":"1"}}`, `{"preconditions":{"resourceVersion":"${rv:s1}"}}`, `{"dryRun":["All"]}`, `{"dryRun":["x"]}`})))
	}
	return out
}
