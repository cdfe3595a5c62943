package main

// What single requests cost: writes, reads and lists.

import (
	"bytes"
	"fmt"
	"strconv"
)

const clients = 64

// A namespace of a server with n pods in it.
type room struct {
	s      *server
	name   string
	n      int
	stored [][]byte // the pods as they were stored last, if they are kept
}

func (m *room) path(suffix string) string { return "/api/v1/namespaces/" + m.name + "/" + suffix }

func (s *server) expect(method, path string, body []byte) error {
	status, answer, err := s.conns[0].ask(method, path, "application/json", body)
	if err == nil && status > 299 && status != 409 {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, status, answer)
	}
	return err
}

// newRoom makes a namespace with the account that pods of it need.
func newRoom(s *server, name string, n int) (*room, error) {
	m := &room{s: s, name: name, n: n, stored: make([][]byte, n)}
	if err := s.expect("POST", "/api/v1/namespaces", namespaceBody(name)); err != nil {
		return nil, err
	}
	return m, s.expect("POST", m.path("serviceaccounts"), accountBody())
}

// prepared are bodies that are made before the clock runs.
func prepared(n int, body func(i int) []byte) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = body(i)
	}
	return all
}

func (m *room) keep(i int, body []byte) { m.stored[i] = bytes.Clone(body) }

func (m *room) send(method, contentType string, path func(i int) string, body func(i int) []byte) *load {
	bodies, paths := prepared(m.n, body), make([]string, m.n)
	for i := range paths {
		paths[i] = path(i)
	}
	return &load{n: m.n, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType, r.body = method, paths[i], contentType, bodies[i]
	}}
}

func (m *room) pod(suffix string) func(i int) string {
	return func(i int) string { return m.path("pods/" + podName(i) + suffix) }
}

const (
	jsonType      = "application/json"
	mergeType     = "application/merge-patch+json"
	strategicType = "application/strategic-merge-patch+json"
	protobufType  = "application/vnd.kubernetes.protobuf"
)

func (m *room) create() *load {
	l := m.send("POST", jsonType, func(int) string { return m.path("pods") }, func(i int) []byte { return podBody(i, "") })
	l.keep = m.keep
	return l
}

func (m *room) update() *load {
	return m.send("PUT", jsonType, m.pod(""), func(i int) []byte {
		return bytes.Replace(m.stored[i], []byte(`"rev":"a0"`), []byte(`"rev":"a1"`), 1)
	})
}

func (m *room) mergePatch() *load {
	return m.send("PATCH", mergeType, m.pod(""), func(int) []byte { return []byte(`{"metadata":{"labels":{"rev":"a2"}}}`) })
}

func (m *room) strategicPatch() *load {
	return m.send("PATCH", strategicType, m.pod(""), func(i int) []byte {
		return fmt.Appendf(nil, `{"spec":{"containers":[{"name":"main","image":"registry.example.com/shop/web:2.%d"}]}}`, i)
	})
}

func (m *room) bind() *load {
	return m.send("POST", jsonType, m.pod("/binding"), func(i int) []byte { return bindingBody(podName(i), nodeName(i)) })
}

func (m *room) status() *load { return m.send("PATCH", strategicType, m.pod("/status"), podStatus) }

func (m *room) remove() *load {
	return m.send("DELETE", jsonType, m.pod(""), func(int) []byte { return []byte(`{"gracePeriodSeconds":0}`) })
}

// get reads pods one after the other, n times, over so many connections.
func (m *room) get(n, on int, accept string) *load {
	paths := make([]string, m.n)
	for i := range paths {
		paths[i] = m.pod("")(i)
	}
	return &load{n: n, atOnce: clients, on: on, fill: func(i int, r *request) {
		r.method, r.path, r.accept = "GET", paths[i*7919%m.n], accept
	}}
}

func (m *room) list(n int, query, accept string) *load {
	path := m.path("pods" + query)
	return &load{n: n, atOnce: 1, on: 1, fill: func(_ int, r *request) { r.method, r.path, r.accept = "GET", path, accept }}
}

// A measure of a room, in the order in which they are made. A list is made once before it counts.
type measure struct {
	group, name string
	make        func(m *room) *load
}

func verbs(gets int) []measure {
	return []measure{
		{groupWrite, "create", (*room).create},
		{groupWrite, "update", (*room).update},
		{groupWrite, "merge patch", (*room).mergePatch},
		{groupWrite, "strategic merge patch", (*room).strategicPatch},
		{groupWrite, "bind", (*room).bind},
		{groupWrite, "status", (*room).status},
		{groupGet, "GET", func(m *room) *load { return m.get(gets, 0, "") }},
		{groupGet, "GET, one connection", func(m *room) *load { return m.get(gets, 1, "") }},
		{groupGet, "GET, protobuf", func(m *room) *load { return m.get(gets, 0, protobufType) }},
		{groupWrite, "delete", (*room).remove},
	}
}

var lists = []measure{
	{groupList, "list of 10,000 pods", func(m *room) *load { return m.list(listTimes, "", "") }},
	{groupList, "list of 10,000 pods, protobuf", func(m *room) *load { return m.list(listTimes, "", protobufType) }},
	{groupList, "list of 500 of them by a label", func(m *room) *load { return m.list(5*listTimes, "?labelSelector=tier%3Dchosen", "") }},
	{groupList, "list, a page of 500", func(m *room) *load { return m.list(5*listTimes, "?limit=500", "") }},
}

const listTimes = 5

// measureAll makes the measures of a table on a room.
func measureAll(m *room, table []measure) error {
	for _, x := range table {
		if x.group == groupList {
			first := x.make(m)
			first.n = 1
			if _, err := first.run(m.s); err != nil {
				return fmt.Errorf("%s: %s: %w", m.s.name, x.name, err)
			}
		}
		c, err := x.make(m).run(m.s)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", m.s.name, x.name, err)
		}
		emitCost(x.group, x.name, m.s, c)
	}
	return nil
}

// version is the revision of a collection.
func (s *server) version(path string) (string, error) {
	_, body, err := s.conns[0].ask("GET", path+"?limit=1", "", nil)
	return versionOf(body), err
}

// versionOf finds the first resourceVersion of an answer.
func versionOf(body []byte) string {
	const name = `"resourceVersion":"`
	at := bytes.Index(body, []byte(name))
	if at < 0 {
		return ""
	}
	rest := body[at+len(name):]
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if _, err := strconv.ParseUint(string(rest[:n]), 10, 64); err != nil {
		return ""
	}
	return string(rest[:n])
}
