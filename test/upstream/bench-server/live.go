package main

// Pods that a client creates, until the scheduler has bound all of them: `berth up` beside etcd,
// kube-apiserver and kube-scheduler. Berth's nodes are simulated meanwhile: it has the pods run, too, and
// counts what that takes as its own.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	boundTimeout = 60 * time.Second // without a pod more that is bound
	pacedPods    = 1000
	pacedEvery   = 10 * time.Millisecond
	liveGates    = "TaintTolerationComparisonOperators=true"
	proposed     = ",TolerationAffinitySemverOperators=true,TaintTolerationCEL=true"
)

// What pods ask for, and the taint of the i-th node; only Berth knows the proposed operators.
type placement struct {
	name       string
	taint      func(i int) string
	spec       string
	isProposed bool
}

func slaTaint(i int) string {
	return fmt.Sprintf(`{"key":"example.com/sla","value":"%d","effect":"NoSchedule"}`, 900+i%100)
}

func kernelTaint(i int) string {
	return fmt.Sprintf(`{"key":"example.com/kernel","value":"5.15.%d","effect":"NoSchedule"}`, i%100)
}

func noTaint(int) string { return "" }

func tolerating(text string) string { return `,"tolerations":[{` + text + `}]` }

// All nodes can be chosen in each of them, so that all have the same to filter and to score.
var placements = []placement{
	{name: "basic", taint: noTaint},
	{name: "a taint, Exists", taint: slaTaint, spec: tolerating(`"key":"example.com/sla","operator":"Exists"`)},
	{name: "a taint, Gt", taint: slaTaint, spec: tolerating(`"key":"example.com/sla","operator":"Gt","value":"899"`)},
	{name: "a taint, SemverGt", taint: kernelTaint, isProposed: true,
		spec: tolerating(`"key":"example.com/kernel","operator":"SemverGt","value":"5.14.0"`)},
	{name: "a taint, expression", taint: kernelTaint, isProposed: true,
		spec: tolerating(`"expression":"taint.key == 'example.com/kernel' && semver(taint.value).isGreaterThan(semver('5.14.0'))"`)},
	{name: "affinity to pods in a zone", taint: noTaint,
		spec: `,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"app":"live"}}}]}}`},
	{name: "spread over zones", taint: noTaint,
		spec: `,"topologySpreadConstraints":[{"maxSkew":5,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"live"}}}]`},
}

// ---- the sides ----

// berthCluster is `berth up` on a folder, without nodes of its own.
func berthCluster(dir, program string) (*server, error) {
	tokens, err := writeTokens(dir)
	if err != nil {
		return nil, err
	}
	s := &server{name: "berth", dir: dir}
	s.programs = func(s *server) ([][]string, error) {
		port, err := freePort()
		s.address = fmt.Sprintf("127.0.0.1:%d", port)
		return [][]string{{program, "up", "--nodes", "0", "--data-dir", filepath.Join(dir, "data"), "--secure-port",
			strconv.Itoa(port), "--token-auth-file", tokens, "--feature-gates", liveGates + proposed}}, err
	}
	return s, nil
}

const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}],` +
	`"clusters":[{"name":"x","cluster":{"server":"https://%s","insecure-skip-tls-verify":true}}],"users":[{"name":"x","user":{"token":"%s"}}]}`

// realCluster is a real server with a kube-scheduler that may ask as often as it likes.
func realCluster(dir string, c *config) (*server, error) {
	s, err := realServer(dir, c.etcd, c.apiserver)
	if err != nil {
		return nil, err
	}
	servers := s.programs
	s.programs = func(s *server) ([][]string, error) {
		all, err := servers(s)
		if err != nil {
			return nil, err
		}
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "kubeconfig")
		err = os.WriteFile(path, fmt.Appendf(nil, kubeconfig, s.address, adminToken), 0o600)
		all[len(all)-1] = append(all[len(all)-1], "--feature-gates="+liveGates)
		s.componentPort = port
		s.component = []string{c.scheduler, "--kubeconfig=" + path, "--leader-elect=false", "--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", port), "--cert-dir=" + dir, "--kube-api-qps=10000", "--kube-api-burst=10000",
			"--feature-gates=" + liveGates}
		return all, err
	}
	return s, nil
}

// ---- pods on their way ----

// A run of pods: when each was sent, and how long it took until a watch told that it is there, and that
// it is bound.
type journey struct {
	m     *room
	name  string
	spec  string
	mu    sync.Mutex
	sent  []time.Time
	shown []time.Duration // 0: not yet
	took  []time.Duration
	bound int
	all   chan struct{}

	version string // of the last event
	rest    []byte // of an event that is not whole yet
	over    bool   // nobody wants more events
	broken  chan error
}

func (j *journey) podName(i int) string { return fmt.Sprintf("%s-%d", j.name, i) }

func (j *journey) body(i int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{"app":"live"}},"spec":{"containers":[`+
		`{"name":"c","image":"registry.example.com/c","resources":{"requests":{"cpu":"10m","memory":"16Mi"}}}]%s}}`, j.podName(i), j.spec)
}

// tell takes an event of a pod: that it is there, and that it has a node, count once each.
func (j *journey) tell(event []byte) {
	prefix := []byte(`"name":"` + j.name + "-")
	at := bytes.Index(event, prefix)
	if at < 0 {
		return
	}
	number, _, _ := bytes.Cut(event[at+len(prefix):], []byte{'"'})
	i, err := strconv.Atoi(string(number))
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil || i >= len(j.took) || j.took[i] != 0 {
		return
	}
	now := time.Since(j.sent[i])
	if j.shown[i] == 0 {
		j.shown[i] = now
	}
	if !bytes.Contains(event, []byte(`"nodeName":"`)) {
		return
	}
	j.took[i] = now
	if j.bound++; j.bound == len(j.took) {
		close(j.all)
	}
}

// watch has the events told from a connection of its own. A server ends the watch of a client that
// does not keep up with it, and then it goes on behind the last event.
func (j *journey) watch() (*conn, error) {
	version, err := j.m.s.version(j.m.path("pods"))
	if err != nil {
		return nil, err
	}
	c, err := dial(j.m.s.address, adminToken)
	if err != nil {
		return nil, err
	}
	j.version = version
	return c, j.follow(c)
}

func (j *journey) follow(c *conn) error {
	j.rest = nil
	return c.submit(&request{method: "GET", path: j.m.path("pods?watch=1&resourceVersion=" + j.version), onData: j.take,
		onEnd: func(r *request) { j.watchEnded(c, r) }}, true)
}

func (j *journey) take(_ *request, data []byte) {
	j.rest = append(j.rest, data...)
	for {
		event, rest, whole := bytes.Cut(j.rest, []byte{'\n'})
		if !whole {
			break
		}
		if bytes.HasPrefix(event, []byte(`{"type":"ERROR"`)) {
			j.give(fmt.Errorf("watch: %.300s", event))
			return
		}
		j.tell(event)
		j.version = versionOf(event)
		j.rest = rest
	}
	j.rest = slices.Clone(j.rest)
}

func (j *journey) give(err error) {
	select {
	case j.broken <- err:
	default:
	}
}

func (j *journey) watchEnded(c *conn, r *request) {
	j.mu.Lock()
	over := j.over
	j.mu.Unlock()
	if over {
		return
	}
	if r.err == nil && r.status == 200 {
		say("%-9s the watch of %s ended, and goes on from %s", j.m.s.name, j.name, j.version)
		r.err = j.follow(c)
	} else if r.err == nil {
		r.err = fmt.Errorf("status %d", r.status)
	}
	if r.err != nil {
		j.give(fmt.Errorf("watch: %w", r.err))
	}
}

func (j *journey) end(c *conn) {
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	c.close()
}

// wait waits until all pods are bound, for as long as more of them are.
func (j *journey) wait() error {
	for before := -1; ; {
		select {
		case <-j.all:
			return nil
		case err := <-j.broken:
			return err
		case <-time.After(boundTimeout):
		}
		j.mu.Lock()
		now := j.bound
		j.mu.Unlock()
		if now == before {
			return j.tellStall(now)
		}
		before = now
	}
}

// tellStall says what the server says of pods of which none has been bound for long.
func (j *journey) tellStall(bound int) error {
	_, body, err := j.m.s.conns[0].ask("GET", j.m.path("pods"), "", nil)
	if err != nil {
		return err
	}
	first := body[max(bytes.Index(body, []byte(`"phase":"Pending"`)), 0):]
	return fmt.Errorf("%s: %s: of %d pods a watch told %d to be bound, a list %d; of the first that waits: %.500s", j.m.s.name, j.name,
		len(j.took), bound, bytes.Count(body, []byte(`"nodeName":"`)), first)
}

func (j *journey) fill(i int, r *request) {
	j.mu.Lock()
	j.sent[i] = time.Now()
	j.mu.Unlock()
	r.method, r.path, r.contentType, r.body = "POST", j.m.path("pods"), jsonType, j.body(i)
}

// createAtOnce creates pods as fast as they are taken.
func (j *journey) createAtOnce() error {
	_, err := (&load{n: len(j.took), atOnce: clients, fill: j.fill}).run(j.m.s)
	return err
}

// createPaced creates a pod at each tick, whether or not those before have been answered.
func (j *journey) createPaced() error {
	ticks := time.NewTicker(pacedEvery)
	defer ticks.Stop()
	for i := range j.took {
		<-ticks.C
		r := &request{}
		j.fill(i, r)
		if err := j.m.s.conns[i%len(j.m.s.conns)].submit(r, true); err != nil {
			return err
		}
	}
	return nil
}

// tellStages says how long pods took until they were there, and from then until they had a node.
func (j *journey) tellStages() {
	since := make([]time.Duration, len(j.took))
	for i := range since {
		since[i] = j.took[i] - j.shown[i]
	}
	for _, x := range []struct {
		name string
		all  []time.Duration
	}{{"until it is there", j.shown}, {"from then until it has a node", since}} {
		c := &cost{latencies: slices.Sorted(slices.Values(x.all))}
		say("%-9s   %-30s p50 %.2f, p90 %.2f, p99 %.2f, most %.2f ms", j.m.s.name, x.name, ms(c.quantile(.5)), ms(c.quantile(.9)),
			ms(c.quantile(.99)), ms(c.quantile(1)))
	}
}

// travel has n pods created and bound, and gives what that has cost; the pods are deleted then.
func travel(m *room, name, spec string, n int, create func(j *journey) error) (*cost, error) {
	j := &journey{m: m, name: name, spec: spec, sent: make([]time.Time, n), shown: make([]time.Duration, n), took: make([]time.Duration, n), all: make(chan struct{}),
		broken: make(chan error, 1)}
	c, err := j.watch()
	if err != nil {
		return nil, err
	}
	defer j.end(c)
	before, begin := m.s.processorTime(), time.Now()
	if err := create(j); err != nil {
		return nil, err
	}
	if err := j.wait(); err != nil {
		return nil, err
	}
	sum := &cost{requests: n, latencies: slices.Sorted(slices.Values(j.took)), processor: m.s.processorTime() - before}
	j.tellStages()
	last := j.sent[0]
	for i, took := range j.took {
		if at := j.sent[i].Add(took); at.After(last) {
			last = at
		}
	}
	sum.wall = last.Sub(begin)
	_, err = (&load{n: n, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType = "DELETE", m.path("pods/"+j.podName(i)), jsonType
		r.body = []byte(`{"gracePeriodSeconds":0}`)
	}}).run(m.s)
	return sum, err
}

// ---- the measures ----

// taintNodes gives all nodes the taint of a placement, and no other.
func taintNodes(s *server, taint func(i int) string) error {
	_, err := (&load{n: scaleNodes, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType = "PATCH", "/api/v1/nodes/"+nodeName(i), mergeType
		r.body = fmt.Appendf(nil, `{"spec":{"taints":[%s]}}`, taint(i))
	}}).run(s)
	time.Sleep(settleTime)
	return err
}

func measurePlacements(s *server, pods int) error {
	if _, err := createNodes(scaleNodes).run(s); err != nil {
		return err
	}
	m, err := newRoom(s, "live", 0)
	if err != nil {
		return err
	}
	var tainted string
	for k, p := range placements {
		if p.isProposed && s.name == "upstream" {
			continue
		}
		if taint := p.taint(0); k == 0 || taint != tainted {
			tainted = taint
			if err := taintNodes(s, p.taint); err != nil {
				return err
			}
		}
		if _, err := travel(m, fmt.Sprintf("first-%d", k), p.spec, 1, (*journey).createAtOnce); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		c, err := travel(m, fmt.Sprintf("burst-%d", k), p.spec, pods, (*journey).createAtOnce)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		say("%-9s %-28s %v", s.name, p.name, c)
		emit("rows", groupBound, p.name, s.name, unitTime, float64(c.wall.Nanoseconds())/float64(pods))
		emit("processor", groupBound, p.name, s.name, unitProcessor, float64(c.each().Nanoseconds()))
	}
	return measurePaced(m)
}

// measurePace is measurePaced alone, on nodes that have just come.
func measurePace(s *server, _ int) error {
	if _, err := createNodes(scaleNodes).run(s); err != nil {
		return err
	}
	m, err := newRoom(s, "live", 0)
	if err != nil {
		return err
	}
	return measurePaced(m)
}

func measurePaced(m *room) error {
	if err := taintNodes(m.s, noTaint); err != nil {
		return err
	}
	c, err := travel(m, "paced", "", pacedPods, (*journey).createPaced)
	if err != nil {
		return err
	}
	say("%-9s %-28s %v", m.s.name, "100 pods/s", c)
	emit("rows", groupTail, "from creation to bound, 100 pods/s", m.s.name, unitTime, float64(c.quantile(.99).Nanoseconds()))
	emit("latency", "from creation to bound, 100 pods/s", "p50", m.s.name, unitTime, float64(c.quantile(.5).Nanoseconds()))
	time.Sleep(settleTime)
	now, _ := m.s.memory()
	say("%-9s memory: %d MiB", m.s.name, now>>20)
	emit("rows", groupLive, "5,000 nodes", m.s.name, unitBytes, float64(now))
	return nil
}

// onLive has each side measured on fresh servers of its own, one at a time.
func onLive(measure func(s *server, pods int) error) func(c *config, dir string) error {
	return func(c *config, dir string) error { return c.measureLive(dir, measure) }
}

func (c *config) measureLive(dir string, measure func(s *server, pods int) error) error {
	for _, name := range []string{"berth", "upstream"} {
		if name == "upstream" && c.etcd == "" {
			continue
		}
		own := filepath.Join(dir, name)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return err
		}
		s, err := berthCluster(own, c.berth)
		if name == "upstream" {
			s, err = realCluster(own, c)
		}
		if err != nil {
			return err
		}
		if _, err = s.start(); err == nil {
			err = measure(s, c.pods)
		}
		if err != nil {
			s.tellLogs()
		}
		s.stop()
		os.RemoveAll(own)
		if err != nil {
			return err
		}
	}
	return nil
}
