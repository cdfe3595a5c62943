package main

// Who sends a request: tokens of service accounts, good and bad, nobody, and whom somebody speaks for.
func makeTokens(m *maker) {
	accounts, roles, bindings := m.kindNamed("serviceaccounts"), m.kindNamed("roles"), m.kindNamed("rolebindings")
	m.post(accounts, "a")
	m.add(step{Send: "POST " + roles.collection(), Body: merged(roles.withName("r"), object(pick(m, append(roleRules, `{"rules":[{"apiGroups":[""],"resources":["users","groups","serviceaccounts"],"verbs":["impersonate"]},{"apiGroups":[""],"resources":["pods","configmaps"],"verbs":["get","create"]}]}`))))})
	m.add(step{Send: "POST " + bindings.collection(), Body: merged(bindings.withName("b"), object(`{"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"`+placeholder+`"},{"kind":"Group","name":"team"}]}`))})
	request := m.add(step{Send: "POST " + accounts.item("a") + "/token", Body: object(pick(m, []string{`{}`, `{}`, `{}`, `{"spec":{"audiences":["other"]}}`, `{"spec":{"expirationSeconds":3000}}`}))})
	for i := range 1 + m.IntN(5) {
		s := m.anything()
		s.Headers, s.Settle = m.identity(request), i == 0
		m.add(s) // the account stays: kube-apiserver knows tokens for some seconds that are good no more
	}
}

// anything is a request of the everyday kind.
func (m *maker) anything() step {
	k := m.kindNamed(pick(m, []string{"configmaps", "pods", "deployments", "nodes", "secrets"}))
	switch m.IntN(7) {
	case 0:
		return step{Send: "GET " + k.item("a")}
	case 1:
		return step{Send: "GET " + k.collection() + "?fieldSelector=metadata.name%3Da"}
	case 2:
		return step{Send: "POST " + k.collection(), Body: k.withName("n")}
	case 3:
		return step{Send: "POST /apis/authentication.k8s.io/v1/selfsubjectreviews", Body: object(`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`)}
	case 4:
		return step{Send: "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Body: object(pick(m, m.accesses()))}
	case 5:
		return step{Send: "GET " + pick(m, []string{"/api", "/version", "/healthz", "/metrics", "/none", "/apis/apps/v1", "/openid/v1/jwks", "/.well-known/openid-configuration"})}
	}
	return step{Send: "DELETE " + k.item("none")}
}

func (m *maker) identity(request string) map[string]string {
	token := "Bearer ${token:" + request + "}"
	switch m.IntN(10) {
	case 0:
		return map[string]string{"Authorization": pick(m, []string{"Bearer bad", "Bearer a.b.c", "Bearer ", "Basic eDp5", "Bearer", "bearer x y", token + "x"})}
	case 1:
		return map[string]string{"Authorization": ""}
	case 2:
		return map[string]string{"Authorization": token, "Impersonate-User": pick(m, []string{"joe", "system:serviceaccount:" + placeholder + ":default", "system:anonymous"})}
	case 3, 4, 5:
		return impersonations[m.IntN(len(impersonations))]
	}
	return map[string]string{"Authorization": token}
}

var impersonations = []map[string]string{
	{"Impersonate-User": "joe"},
	{"Impersonate-User": "joe", "Impersonate-Group": "team"},
	{"Impersonate-User": "joe", "Impersonate-Uid": "u-1", "Impersonate-Extra-Scopes": "view", "Impersonate-Extra-Acme.com%2fproject": "p"},
	{"Impersonate-Group": "team"},
	{"Impersonate-Uid": "u-1"},
	{"Impersonate-Extra-Scopes": "view"},
	{"Impersonate-User": "system:serviceaccount:" + placeholder + ":a"},
	{"Impersonate-User": "system:serviceaccount:x:y:z"},
	{"Impersonate-User": "system:anonymous"},
	{"Impersonate-User": "system:node:n"},
	{"Impersonate-User": "joe", "Impersonate-Group": "system:masters"},
	{"Impersonate-User": "joe", "Impersonate-Group": "system:unauthenticated"},
	{"Impersonate-User": "system:anonymous", "Impersonate-Group": "system:authenticated"},
}
