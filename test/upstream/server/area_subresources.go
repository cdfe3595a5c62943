package main

import "fmt"

// Binding, eviction, scale, finalize and the reviews.
func makeSubresources(m *maker) {
	switch m.IntN(5) {
	case 0:
		m.scale()
	case 1:
		m.namespace()
	default:
		m.bindAndEvict()
	}
}

func (m *maker) scale() {
	k := m.kindNamed(pick(m, []string{"deployments", "replicasets", "statefulsets", "replicationcontrollers"}))
	m.post(k, "a")
	got := m.add(step{Send: "GET " + k.item("a") + "/scale", Accept: pick(m, accepts)})
	for range 1 + m.IntN(4) {
		body := object(pick(m, []string{`{"spec":{"replicas":5}}`, `{"spec":{"replicas":0}}`, `{"spec":{"replicas":-2}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"name":"z"}}`, `{"status":{"replicas":9}}`, `{"spec":{"zz":1}}`, `{"metadata":{"uid":"55555555-5555-5555-5555-555555555555"}}`}))
		switch m.IntN(4) {
		case 0:
			m.add(step{Send: "PUT " + k.item("a") + "/scale" + m.query(writeParameters...), From: got, Body: body})
		case 1:
			m.add(step{Send: "PUT " + k.item("a") + "/scale", Body: merged(object(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"`+placeholder+`"}}`), body)})
		case 2:
			m.add(step{Send: "PATCH " + k.item("a") + "/scale" + m.query(writeParameters...), Type: pick(m, []string{"application/merge-patch+json", "application/strategic-merge-patch+json"}), Body: body})
		case 3:
			m.add(step{Send: "PATCH " + k.item("a") + "/scale?fieldManager=hpa" + pick(m, []string{"", "&force=true"}), Type: "application/apply-patch+yaml", Body: merged(object(`{"apiVersion":"autoscaling/v1","kind":"Scale"}`), body)})
		}
	}
	m.add(step{Send: "GET " + k.item("a")})
}

func (m *maker) namespace() {
	name := placeholder + "-n"
	path := "/api/v1/namespaces/" + name
	made := m.add(step{Send: "POST /api/v1/namespaces", Body: merged(object(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"}}`), object(pick(m, []string{`{}`, `{"spec":{"finalizers":[]}}`, `{"spec":{"finalizers":["kubernetes","example.com/x"]}}`, `{"metadata":{"labels":{"kubernetes.io/metadata.name":"z"}}}`, `{"spec":{"finalizers":["odd"]}}`})))})
	for range 1 + m.IntN(5) {
		switch m.IntN(6) {
		case 0:
			m.add(step{Send: "DELETE " + path + m.query(parameter{"propagationPolicy", 20, []string{"Orphan", "Foreground"}}, parameter{"dryRun", 20, []string{"All"}}), Body: pick(m, []any{nil, object(`{"preconditions":{"uid":"${uid:` + made + `}"}}`)})})
		case 1:
			m.add(step{Send: "PUT " + path + "/finalize", From: made, Body: object(pick(m, []string{`{"spec":{"finalizers":[]}}`, `{"metadata":{"resourceVersion":null},"spec":{"finalizers":[]}}`, `{"metadata":{"labels":{"a":"b"},"resourceVersion":null}}`, `{"spec":null}`}))})
		case 2:
			m.add(step{Send: "POST " + path + "/configmaps", Body: object(`{"metadata":{"name":"c"}}`)})
		case 3:
			m.add(step{Send: "PUT " + path, From: made, Body: object(pick(m, []string{`{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"finalizers":[]}}`, `{"metadata":{"finalizers":["example.com/hold"]}}`, `{"status":{"phase":"Terminating"}}`}))})
		case 4:
			m.add(step{Send: "PATCH " + path + "/status", Type: "application/merge-patch+json", Body: object(pick(m, []string{`{"status":{"phase":"Terminating"}}`, `{"metadata":{"annotations":{"a":"b"}}}`, `{"status":{"conditions":[{"type":"X","status":"True"}]}}`}))})
		case 5:
			made = m.add(step{Send: "GET " + path})
		}
	}
	m.add(step{Send: "GET " + path})
}

func (m *maker) bindAndEvict() {
	pods, budgets := m.kindNamed("pods"), m.kindNamed("poddisruptionbudgets")
	for i := range 1 + m.IntN(2) {
		m.add(step{Send: "POST " + pods.collection(), Body: merged(pods.withName(fmt.Sprintf("p%d", i)), object(pick(m, []string{`{"metadata":{"labels":{"app":"web"}}}`, `{"metadata":{"labels":{"app":"web"}},"spec":{"nodeName":"n1"}}`, `{"spec":{"schedulingGates":[{"name":"example.com/g"}]}}`, `{}`})))})
	}
	if m.chance(60) {
		m.post(budgets, "b")
		m.add(step{Send: "PATCH " + budgets.item("b") + "/status", Type: "application/merge-patch+json", Body: object(pick(m, []string{`{"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}}`, `{"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}`, `{"status":{"observedGeneration":0}}`}))})
		if m.chance(20) {
			m.post(budgets, "b2")
		}
	}
	for range 1 + m.IntN(5) {
		path := pods.item("p0")
		switch m.IntN(6) {
		case 0, 1:
			body := merged(object(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p0"},"target":{"kind":"Node","name":"n1"}}`), object(pick(m, []string{`{}`, `{}`, `{"metadata":{"name":"other"}}`, `{"target":{"kind":"Pod"}}`, `{"target":{"name":""}}`, `{"metadata":{"annotations":{"a":"b"},"labels":{"l":"m"}}}`, `{"metadata":{"uid":"66666666-6666-6666-6666-666666666666"}}`, `{"metadata":{"uid":"${uid:s1}"}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"apiVersion":null,"kind":null}`})))
			target := pick(m, []string{path + "/binding", path + "/binding", "/api/v1/namespaces/" + placeholder + "/bindings"})
			m.add(step{Send: "POST " + target + m.query(parameter{"dryRun", 15, []string{"All"}}), Body: body})
		case 2, 3:
			body := merged(object(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p0","namespace":"`+placeholder+`"}}`), object(pick(m, []string{`{}`, `{}`, `{"metadata":{"name":"other"}}`, `{"apiVersion":"policy/v1beta1"}`, `{"apiVersion":"v1"}`, `{"deleteOptions":{"gracePeriodSeconds":0}}`, `{"deleteOptions":{"dryRun":["All"]}}`, `{"deleteOptions":{"preconditions":{"uid":"77777777-7777-7777-7777-777777777777"}}}`, `{"apiVersion":null,"kind":null}`, `{"deleteOptions":{"preconditions":{"uid":"${uid:s1}"}}}`})))
			m.add(step{Send: "POST " + path + "/eviction" + m.query(parameter{"dryRun", 15, []string{"All"}}), Body: body})
		case 4:
			m.add(step{Send: "PATCH " + path + "/status", Type: "application/strategic-merge-patch+json", Body: object(pick(m, []string{`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, `{"status":{"phase":"Succeeded"}}`, `{"status":{"phase":"Running"}}`}))})
		case 5:
			m.add(step{Send: "GET " + path})
		}
	}
	m.add(step{Send: "GET " + pods.item("p0")})
	m.add(step{Send: "GET " + budgets.collection()})
}
