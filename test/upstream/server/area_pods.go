package main

// The subresources of pods that change them or lead into them, and of requests for certificates.
func makePods(m *maker) {
	if m.chance(15) {
		m.approval()
		return
	}
	pods := m.kindNamed("pods")
	path := pods.item("a")
	made := m.add(step{Send: "POST " + pods.collection(), Body: merged(pods.withName("a"), object(pick(m, podShapes)))})
	if m.chance(50) {
		m.add(step{Send: "PATCH " + path + "/status", Type: "application/strategic-merge-patch+json", Body: object(pick(m, []string{`{"status":{"phase":"Running"}}`, `{"status":{"phase":"Succeeded"}}`, `{"status":{"podIP":"10.9.9.9","podIPs":[{"ip":"10.9.9.9"}],"hostIP":"10.8.8.8"}}`,
			`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"x","ready":true,"restartCount":0,"allocatedResources":{"cpu":"100m"},"resources":{"requests":{"cpu":"100m"}}}]}}`}))})
	}
	for range 1 + m.IntN(4) {
		part := pick(m, []string{"ephemeralcontainers", "ephemeralcontainers", "resize", "resize", "log", "exec", "attach", "portforward", "proxy", "status"})
		switch part {
		case "ephemeralcontainers":
			m.change(path+"/"+part, made, debuggers)
		case "resize":
			m.change(path+"/"+part, made, sizes)
		case "status":
			m.change(path+"/"+part, made, statuses["pods"])
		case "log":
			m.add(step{Send: "GET " + path + "/log" + m.query(parameter{"container", 30, []string{"c", "none", "d"}}, parameter{"follow", 10, []string{"true"}}, parameter{"tailLines", 20, []string{"5", "-1", "x"}},
				parameter{"previous", 20, []string{"true"}}, parameter{"sinceSeconds", 15, []string{"5", "0", "-1"}}, parameter{"sinceTime", 10, []string{"2020-01-01T00:00:00Z", "x"}}, parameter{"limitBytes", 15, []string{"0", "5"}},
				parameter{"timestamps", 10, []string{"true"}}, parameter{"stream", 15, []string{"Stdout", "All", "Odd"}}), Accept: pick(m, []string{"", "text/plain", "*/*", protobufType})})
		default:
			m.add(step{Send: pick(m, []string{"GET", "POST", "DELETE"}) + " " + path + "/" + part + m.query(parameter{"command", 60, []string{"ls"}}, parameter{"stdout", 50, []string{"true"}}, parameter{"container", 30, []string{"c", "none"}}, parameter{"ports", 30, []string{"80"}})})
		}
	}
	m.add(step{Send: "GET " + path})
}

var podShapes = []string{`{}`, `{"spec":{"nodeName":"n1"}}`,
	`{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"64Mi"}}}]}}`,
	`{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"100m"}},"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]},{"name":"d","image":"i"}]}}`,
	`{"spec":{"initContainers":[{"name":"i","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"50m"}}}]}}`,
	`{"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`,
	`{"metadata":{"annotations":{"kubectl.kubernetes.io/default-container":"c"}}}`}

var debuggers = []string{`{"spec":{"ephemeralContainers":[{"name":"e","image":"busybox"}]}}`, `{"spec":{"ephemeralContainers":[{"name":"e","image":"busybox","targetContainerName":"c","stdin":true,"tty":true}]}}`,
	`{"spec":{"ephemeralContainers":[{"name":"e","image":"busybox"},{"name":"f","image":"x"}]}}`, `{"spec":{"ephemeralContainers":[{"name":"c","image":"busybox"}]}}`, `{"spec":{"ephemeralContainers":[{"name":"e","image":"x","ports":[{"containerPort":80}]}]}}`,
	`{"spec":{"ephemeralContainers":[]}}`, `{"spec":{"ephemeralContainers":null}}`, `{"spec":{"ephemeralContainers":[{"image":"x"}]}}`, `{"spec":{"ephemeralContainers":[{"name":"e","image":"x","resources":{"limits":{"cpu":"1"}}}]}}`,
	`{"spec":{"ephemeralContainers":[{"name":"e","image":"x","targetContainerName":"none"}]}}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"nodeName":"z"}}`, `{"spec":{"zz":1}}`}

var sizes = []string{`{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"150m"}}}]}}`, `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"150m"},"limits":{"cpu":"150m"}}}]}}`,
	`{"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"32Mi"}}}]}}`, `{"spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"128Mi"},"limits":{"memory":"128Mi"}}}]}}`,
	`{"spec":{"containers":[{"name":"c","image":"other"}]}}`, `{"spec":{"containers":[{"name":"none","resources":{"requests":{"cpu":"1"}}}]}}`, `{"spec":{"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}}}]}}`,
	`{"spec":{"containers":[{"name":"c","resources":null}]}}`, `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"initContainers":[{"name":"i","resources":{"requests":{"cpu":"60m"}}}]}}`,
	`{"spec":{"resources":{"requests":{"cpu":"1"}}}}`}

// change writes to a subresource, in any of the ways.
func (m *maker) change(path, made string, bodies []string) {
	body := object(pick(m, bodies))
	switch m.IntN(6) {
	case 0:
		m.add(step{Send: "GET " + path, Accept: pick(m, forms)})
	case 1:
		m.add(step{Send: "PUT " + path + m.query(writeParameters...), From: made, Body: body, Proto: m.chance(20)})
	case 2:
		m.add(step{Send: "PATCH " + path + m.query(writeParameters...), Type: "application/merge-patch+json", Body: body})
	case 3:
		whole := merged(object(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`), body)
		m.add(step{Send: "PATCH " + path + "?fieldManager=" + pick(m, []string{"one", "two"}) + pick(m, []string{"", "&force=true"}), Type: "application/apply-patch+yaml", Body: whole})
	default:
		m.add(step{Send: "PATCH " + path + m.query(writeParameters...), Type: "application/strategic-merge-patch+json", Body: body})
	}
}

func (m *maker) approval() {
	k := m.kindNamed("certificatesigningrequests")
	made := m.post(k, "a")
	for range 1 + m.IntN(4) {
		body := object(pick(m, []string{`{"status":{"conditions":[{"type":"Approved","status":"True","reason":"R","message":"M"}]}}`, `{"status":{"conditions":[{"type":"Denied","status":"True"}]}}`, `{"status":{"conditions":[{"type":"Failed","status":"True"}]}}`,
			`{"status":{"conditions":[{"type":"Approved","status":"False"}]}}`, `{"status":{"conditions":null}}`, `{"status":{"certificate":"eA=="}}`, `{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"signerName":"example.com/z"}}`,
			`{"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Denied","status":"True"}]}}`, `{"status":{"conditions":[{"type":"","status":"True"}]}}`}))
		path := k.item("a") + pick(m, []string{"/approval", "/approval", "/status", ""})
		switch m.IntN(4) {
		case 0:
			m.add(step{Send: "GET " + path, Accept: pick(m, accepts)})
		case 1:
			m.add(step{Send: "PUT " + path + m.query(writeParameters...), From: made, Body: body, Proto: m.chance(20)})
		case 2:
			m.add(step{Send: "PATCH " + path + m.query(writeParameters...), Type: pick(m, []string{"application/merge-patch+json", "application/strategic-merge-patch+json"}), Body: body})
		case 3:
			made = m.add(step{Send: "GET " + k.item("a")})
		}
	}
	m.add(step{Send: "GET " + k.item("a")})
}
