package main

// Several users, who may some things, and what they are told about the others.
func makeRBAC(m *maker) {
	roles, bindings := m.kindNamed("roles"), m.kindNamed("rolebindings")
	verbs := pick(m, []string{`["get"]`, `["get","list","watch"]`, `["*"]`, `["create","update","patch"]`, `["delete"]`})
	resources := pick(m, []string{`["configmaps"]`, `["pods","pods/status"]`, `["*"]`, `["configmaps","secrets"]`, `["pods/*"]`})
	m.add(step{Send: "POST " + roles.collection(), Body: merged(roles.withName("r"), object(`{"rules":[{"apiGroups":[""],"resources":`+resources+`,"verbs":`+verbs+pick(m, []string{"", `,"resourceNames":["a"]`})+`}]}`))})
	m.add(step{Send: "POST " + bindings.collection(), Body: merged(bindings.withName("b"), object(`{"subjects":[{"kind":"User","name":"joe"},{"kind":"Group","name":"team"}]}`))})
	m.post(m.kindNamed("configmaps"), "a")
	m.post(m.kindNamed("pods"), "a")
	for i := range 1 + m.IntN(6) {
		k := m.kindNamed(pick(m, []string{"configmaps", "pods", "secrets", "deployments", "nodes"}))
		s := step{As: pick(m, [][]string{{"joe"}, {"ann", "team"}, {"eve"}, {"system:serviceaccount:" + placeholder + ":default"}, {"system:anonymous"}, {"system:node:n1", "system:nodes"}}), Settle: i == 0}
		switch m.IntN(8) {
		case 0:
			s.Send = "GET " + k.item("a")
		case 1:
			s.Send = "GET " + k.collection() + pick(m, []string{"", "?fieldSelector=metadata.name%3Da", "?watch=true&timeoutSeconds=1&resourceVersion=0"})
		case 2:
			s.Send, s.Body = "POST "+k.collection(), k.withName("n")
		case 3:
			s.Send, s.Type, s.Body = "PATCH "+k.item("a"), "application/merge-patch+json", object(`{"metadata":{"labels":{"a":"b"}}}`)
		case 4:
			s.Send = "DELETE " + pick(m, []string{k.item("a"), k.collection()})
			if k.cluster {
				s.Send = "DELETE " + k.item("a")
			}
		case 5:
			s.Send, s.Body = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", object(`{"spec":{"resourceAttributes":{"namespace":"`+placeholder+`","verb":"get","resource":"`+k.resource+`"`+pick(m, []string{"", `,"name":"a"`, `,"subresource":"status"`})+`}}}`)
		case 6:
			s.Send, s.Type, s.Body = "PATCH "+k.item("new")+"?fieldManager=m", "application/apply-patch+yaml", k.withName("new")
		case 7:
			s.Send, s.Body = "POST "+bindings.collection(), bindings.withName("more")
		}
		m.add(s)
	}
}
