package main

// Questions about users: who somebody is, and what they may; and tokens of service accounts.
func makeReviews(m *maker) {
	roles, bindings := m.kindNamed("roles"), m.kindNamed("rolebindings")
	if m.chance(60) {
		m.add(step{Send: "POST " + roles.collection(), Body: merged(roles.withName("r"), object(pick(m, roleRules)))})
		m.add(step{Send: "POST " + bindings.collection(), Body: merged(bindings.withName("b"), object(`{"subjects":[{"kind":"User","name":"joe"},{"kind":"Group","name":"team"},{"kind":"ServiceAccount","name":"default","namespace":"`+placeholder+`"}]}`))})
	}
	for i := range 1 + m.IntN(5) {
		s := m.review()
		s.As, s.Settle, s.Proto = pick(m, reviewers), i == 0, m.chance(15)
		s.Accept = pick(m, []string{"", "", "", "", protobufType, tableType, partialType, "application/yaml", "text/html"})
		m.add(s)
	}
}

var roleRules = []string{
	`{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},{"apiGroups":[""],"resources":["configmaps"],"verbs":["*"],"resourceNames":["a"]}]}`,
	`{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`,
	`{"rules":[{"apiGroups":["apps",""],"resources":["deployments","pods/status","*/scale"],"verbs":["update"]}]}`,
	`{"rules":[]}`,
}

var reviewers = [][]string{nil, nil, nil, {"joe"}, {"ann", "team"}, {"eve"}, {"system:serviceaccount:" + placeholder + ":default"}, {"system:serviceaccount:" + placeholder + ":default", "system:serviceaccounts", "system:authenticated"},
	{"system:anonymous"}, {"system:node:n1", "system:nodes"}, {"joe", "team", "team"}, {"root", "system:masters"}}

func (m *maker) review() step {
	authentication, authorization := "POST /apis/authentication.k8s.io/v1/", "POST /apis/authorization.k8s.io/v1/"
	local := "POST /apis/authorization.k8s.io/v1/namespaces/" + placeholder + "/"
	query := m.query(parameter{"dryRun", 8, []string{"All", "x"}}, parameter{"fieldValidation", 20, []string{"Strict", "Ignore", "Odd"}}, parameter{"pretty", 5, []string{"true"}}, parameter{"fieldManager", 5, []string{"m"}})
	switch m.IntN(7) {
	case 0:
		return step{Send: authentication + "selfsubjectreviews" + query, Body: m.asked("SelfSubjectReview", "authentication.k8s.io/v1", []string{`{}`, `{"spec":{"a":1}}`, `{"status":{"userInfo":{"username":"z"}}}`, `{"metadata":{"name":"n"}}`, `{"metadata":{"zz":1}}`})}
	case 1:
		return step{Send: authentication + "tokenreviews" + query, Body: m.asked("TokenReview", "authentication.k8s.io/v1", []string{`{"spec":{"token":""}}`, `{"spec":{"token":"bad"}}`, `{"spec":{"token":"a.b.c"}}`, `{"spec":{"token":"bad","audiences":["x"]}}`, `{}`, `{"metadata":{"namespace":"n"},"spec":{"token":"bad"}}`, `{"spec":{"tokens":"bad"}}`})}
	case 2:
		return step{Send: authorization + "selfsubjectaccessreviews" + query, Body: m.asked("SelfSubjectAccessReview", "authorization.k8s.io/v1", m.accesses())}
	case 3:
		return step{Send: authorization + "subjectaccessreviews" + query, Body: m.asked("SubjectAccessReview", "authorization.k8s.io/v1", m.accessesOf())}
	case 4:
		return step{Send: local + "localsubjectaccessreviews" + query, Body: m.asked("LocalSubjectAccessReview", "authorization.k8s.io/v1", append(m.accessesOf(), `{"metadata":{"namespace":"`+placeholder+`"},"spec":{"user":"joe","resourceAttributes":{"namespace":"`+placeholder+`","verb":"get","resource":"pods"}}}`, `{"spec":{"user":"joe","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`))}
	case 5:
		return step{Send: authorization + "selfsubjectrulesreviews" + query, Body: m.asked("SelfSubjectRulesReview", "authorization.k8s.io/v1", []string{`{"spec":{"namespace":"` + placeholder + `"}}`, `{"spec":{"namespace":"` + placeholder + `"}}`, `{"spec":{"namespace":"default"}}`, `{}`, `{"spec":{"namespace":""}}`})}
	}
	return step{Send: "POST /api/v1/namespaces/" + placeholder + "/serviceaccounts/" + pick(m, []string{"default", "default", "default", "none"}) + "/token" + query, Body: m.asked("TokenRequest", "authentication.k8s.io/v1", tokenRequests)}
}

var tokenRequests = []string{`{}`, `{"spec":{}}`, `{"spec":{"expirationSeconds":600}}`, `{"spec":{"expirationSeconds":5}}`, `{"spec":{"expirationSeconds":8589934592}}`, `{"spec":{"audiences":["a"]}}`, `{"spec":{"audiences":["a","b",""]}}`,
	`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"none"}}}`, `{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"none"}}}`, `{"spec":{"boundObjectRef":{"kind":"Node","apiVersion":"v1","name":"none"}}}`, `{"spec":{"boundObjectRef":{"kind":"ConfigMap","apiVersion":"v1","name":"a"}}}`,
	`{"metadata":{"name":"default"}}`, `{"metadata":{"name":"other"}}`, `{"metadata":{"namespace":"other"}}`, `{"spec":{"zz":1}}`, `{"metadata":{"creationTimestamp":null}}`}

// asked is a question as clients send it, with its kind or without.
func (m *maker) asked(kind, apiVersion string, bodies []string) any {
	body := object(pick(m, bodies))
	if m.chance(5) {
		return pick(m, []any{``, `{`, `[]`, `null`, object(`{"kind":"Odd","apiVersion":"v1"}`), object(`{"kind":"` + kind + `","apiVersion":"v9"}`)})
	}
	if m.chance(80) {
		body["kind"], body["apiVersion"] = kind, apiVersion
	}
	return body
}

func (m *maker) accesses() (out []string) {
	for _, attributes := range []string{
		`"resourceAttributes":{"namespace":"` + placeholder + `","verb":"get","resource":"pods"}`,
		`"resourceAttributes":{"namespace":"` + placeholder + `","verb":"update","group":"apps","resource":"deployments","subresource":"scale","name":"a"}`,
		`"resourceAttributes":{"namespace":"` + placeholder + `","verb":"delete","resource":"configmaps","name":"a"}`,
		`"resourceAttributes":{"verb":"list","resource":"nodes","version":"v1"}`,
		`"resourceAttributes":{"verb":"*","resource":"*","group":"*"}`,
		`"resourceAttributes":{"namespace":"` + placeholder + `","verb":"list","resource":"pods","labelSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}}`,
		`"resourceAttributes":{"namespace":"` + placeholder + `","verb":"list","resource":"pods","labelSelector":{"rawSelector":"a=b"},"fieldSelector":{"rawSelector":"spec.nodeName=n"}}`,
		`"resourceAttributes":{"namespace":"` + placeholder + `","verb":"list","resource":"pods","fieldSelector":{"requirements":[{"key":"a","operator":"Exists","values":["b"]}],"rawSelector":"x"}}`,
		`"nonResourceAttributes":{"path":"/healthz","verb":"get"}`, `"nonResourceAttributes":{"path":"/metrics","verb":"get"}`,
		`"nonResourceAttributes":{"path":"/x","verb":"get"},"resourceAttributes":{"verb":"get","resource":"pods"}`, ``,
		`"resourceAttributes":{"verbs":"get"}`, `"resourceAttributes":null`, `"nonResourceAttributes":{}`, `"resourceAttributes":{}`,
	} {
		out = append(out, `{"spec":{`+attributes+`}}`)
	}
	return append(out, `{}`, `{"metadata":{"name":"n"},"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, `{"status":{"allowed":true},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`)
}

func (m *maker) accessesOf() (out []string) {
	who := pick(m, []string{`{"user":"joe"}`, `{"user":"ann","groups":["team"]}`, `{"groups":["system:masters"]}`, `{"user":"system:serviceaccount:` + placeholder + `:default"}`, `{"user":"x","uid":"1","extra":{"a":["b"]}}`, `{}`, `{"user":"system:kube-scheduler"}`, `{"user":"system:node:n","groups":["system:nodes"]}`})
	for _, text := range m.accesses() {
		out = append(out, quoted(merged(object(text), map[string]any{"spec": object(who)})))
	}
	return out
}
