package main

// The heartbeats of many nodes: leases that are renewed and statuses that are patched, at the rate at
// which kubelets do it, whether or not the answers come.

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	beatNodes    = 5000
	leasePeriod  = 10 * time.Second
	statusPeriod = 5 * time.Minute
	beatSeconds  = 10
)

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

// Nodes that beat. The lock is for what answers change.
type herd struct {
	s         *server
	mu        sync.Mutex
	versions  []string
	latencies []time.Duration
	failure   error
	under     sync.WaitGroup
}

// newHerd makes the nodes and their leases.
func newHerd(s *server) (*herd, error) {
	h := &herd{s: s, versions: make([]string, beatNodes)}
	if err := s.expect("POST", "/api/v1/namespaces", namespaceBody("kube-node-lease")); err != nil {
		return nil, err
	}
	if _, err := createNodes(beatNodes).run(s); err != nil {
		return nil, err
	}
	l := &load{n: beatNodes, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType, r.body = "POST", leases, jsonType, leaseBody(nil, i, time.Now(), "")
	}, keep: func(i int, body []byte) { h.versions[i] = versionOf(body) }}
	_, err := l.run(s)
	return h, err
}

func createNodes(n int) *load {
	bodies := prepared(n, nodeBody)
	return &load{n: n, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType, r.body = "POST", "/api/v1/nodes", jsonType, bodies[i]
	}}
}

func (h *herd) ended(r *request, lease int, answer []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.under.Done()
	h.latencies = append(h.latencies, time.Since(r.sent))
	if r.err != nil || r.status > 299 {
		h.failure = fmt.Errorf("%s %s: %d %v %.300s", r.method, r.path, r.status, r.err, answer)
		return
	}
	if lease >= 0 {
		h.versions[lease] = versionOf(answer)
	}
}

func (h *herd) send(r *request, lease int) {
	var answer []byte
	r.onData = func(_ *request, data []byte) { answer = append(answer, data...) }
	r.onEnd = func(r *request) { h.ended(r, lease, answer) }
	h.under.Add(1)
	if err := h.s.conns[max(lease, 0)%len(h.s.conns)].submit(r, true); err != nil {
		h.under.Done()
		h.mu.Lock()
		h.failure = err
		h.mu.Unlock()
	}
}

func (h *herd) renew(i int) {
	h.mu.Lock()
	version := h.versions[i]
	h.mu.Unlock()
	h.send(&request{method: "PUT", path: leases + "/" + nodeName(i), contentType: jsonType,
		body: leaseBody(nil, i, time.Now(), version)}, i)
}

func (h *herd) patch(i int) {
	h.send(&request{method: "PATCH", path: "/api/v1/nodes/" + nodeName(i) + "/status", contentType: strategicType,
		body: nodeStatus(time.Now())}, -1)
}

// trouble is why a heartbeat failed, if one did; the latencies so far are forgotten.
func (h *herd) trouble() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latencies = h.latencies[:0]
	return h.failure
}

// getLeases reads small objects over one connection, one after the other, n times.
func getLeases(n int) *load {
	paths := make([]string, beatNodes)
	for i := range paths {
		paths[i] = leases + "/" + nodeName(i)
	}
	return &load{n: n, atOnce: clients, on: 1, fill: func(i int, r *request) { r.method, r.path = "GET", paths[i*7919%beatNodes] }}
}

// measureBeats beats for a while. Latencies are from the moment at which a request is sent.
func measureBeats(h *herd) error {
	h.latencies = nil
	before, begin := h.s.processorTime(), time.Now()
	renewed, patched := 0, 0
	for now := time.Duration(0); now < beatSeconds*time.Second; now = time.Since(begin) {
		for ; renewed < int(now*beatNodes/leasePeriod); renewed++ {
			h.renew(renewed % beatNodes)
		}
		for ; patched < int(now*beatNodes/statusPeriod); patched++ {
			h.patch(patched * 61 % beatNodes)
		}
		time.Sleep(time.Millisecond)
	}
	h.under.Wait()
	if h.failure != nil {
		return h.failure
	}
	sum := &cost{requests: renewed + patched, wall: time.Since(begin), processor: h.s.processorTime() - before, latencies: h.latencies}
	slices.Sort(sum.latencies)
	emitCost(groupBeat, "leases and node statuses", h.s, sum)
	return nil
}
