package main

// The status subresource of every kind that has one.
func makeStatus(m *maker) {
	k := m.kind(false)
	for !k.hasStatus {
		k = m.kind(false)
	}
	made := m.post(k, "a")
	for range 1 + m.IntN(4) {
		path := k.item("a") + "/status"
		body := any(m.vary(k, object(pick(m, append(statuses[k.resource], `{}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"status":{"zz":1}}`, `{"status":null}`)))))
		switch m.IntN(7) {
		case 0:
			m.add(step{Send: "GET " + path, Accept: pick(m, accepts)})
		case 1, 2:
			m.add(step{Send: "PUT " + path + m.query(writeParameters...), From: made, Body: body})
		case 3:
			m.add(step{Send: "PATCH " + path + "?fieldManager=one" + pick(m, []string{"", "&force=true"}), Type: "application/apply-patch+yaml",
				Body: merged(map[string]any{"apiVersion": k.apiVersion(), "kind": k.kind, "metadata": map[string]any{"name": k.name("a")}}, body)})
		case 4, 5:
			m.add(step{Send: "PATCH " + path + m.query(writeParameters...), Type: pick(m, []string{"application/merge-patch+json", "application/strategic-merge-patch+json"}), Body: body})
		case 6:
			made = m.add(step{Send: "GET " + k.item("a")})
		}
	}
	m.add(step{Send: "GET " + k.item("a")})
}

var statuses = map[string][]string{
	"pods": {`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, `{"status":{"phase":"Succeeded"}}`, `{"status":{"podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}]}}`,
		`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"R"}]}}`, `{"status":{"qosClass":"Guaranteed"}}`, `{"status":{"nominatedNodeName":"n"}}`,
		`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"x","ready":true,"restartCount":2,"state":{"running":{"startedAt":"2020-01-01T00:00:00Z"}}}]}}`},
	"deployments":              {`{"status":{"replicas":3,"readyReplicas":1,"observedGeneration":1}}`, `{"status":{"replicas":-1}}`, `{"status":{"conditions":[{"type":"Available","status":"True","reason":"x"}]}}`, `{"status":{"readyReplicas":9}}`},
	"replicasets":              {`{"status":{"replicas":3,"readyReplicas":1}}`, `{"status":{"replicas":-1}}`, `{"status":{"fullyLabeledReplicas":1,"replicas":1}}`},
	"statefulsets":             {`{"status":{"replicas":2,"readyReplicas":1,"currentRevision":"x"}}`},
	"daemonsets":               {`{"status":{"currentNumberScheduled":2,"desiredNumberScheduled":3,"numberReady":1,"numberMisscheduled":0}}`},
	"jobs":                     {`{"status":{"active":1,"startTime":"2020-01-01T00:00:00Z"}}`, `{"status":{"succeeded":1}}`, `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`},
	"cronjobs":                 {`{"status":{"lastScheduleTime":"2020-01-01T00:00:00Z"}}`, `{"status":{"active":[{"kind":"Job","name":"j","namespace":"` + placeholder + `"}]}}`},
	"replicationcontrollers":   {`{"status":{"replicas":1}}`},
	"persistentvolumeclaims":   {`{"status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]}}`, `{"status":{"phase":"Odd"}}`},
	"persistentvolumes":        {`{"status":{"phase":"Available"}}`, `{"status":{"phase":"Released","reason":"r"}}`},
	"nodes":                    {`{"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"110"},"allocatable":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"kubeletVersion":"v1.37.1","osImage":"o"}}}`, `{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`, `{"status":{"capacity":{"cpu":"-1"}}}`},
	"poddisruptionbudgets":     {`{"status":{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2,"observedGeneration":1}}`, `{"status":{"disruptionsAllowed":-1}}`},
	"resourceclaims":           {`{"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"44444444-4444-4444-4444-444444444444"}]}}`, `{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"dev"}]}}}}`},
	"volumeattachments":        {`{"status":{"attached":true,"attachmentMetadata":{"a":"b"}}}`},
	"ingresses":                {`{"status":{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}}`},
	"services":                 {`{"status":{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}}`},
	"resourcequotas":           {`{"status":{"hard":{"services.loadbalancers":"5"},"used":{"services.loadbalancers":"0"}}}`},
	"horizontalpodautoscalers": {`{"status":{"currentReplicas":1,"desiredReplicas":2}}`},
}
