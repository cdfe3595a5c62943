package main

// The churn: for a long time pods, nodes and numeric taints come, change and go in a cluster of a real
// kube-apiserver and etcd, whose scheduler and taint eviction are Berth's. Meanwhile the connections of
// these break or stall, their server is killed and comes again, and one scheduler hands over to the other. A
// pod that is bound twice, stays unbound, is evicted without reason or is not evicted ends it, and so
// does a process that holds more and more.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	churnNodes    = 40
	churnAlive    = 300 // pods that are there at a time
	churnPatience = 30 * time.Second
	churnEarly    = 2 * time.Second // clocks of requests that are under way
	churnSamples  = 300
	restartLimit  = 120 * time.Second
	eviction      = "taint-eviction-controller"
	evictionName  = "taint eviction"
)

// Shares of the time at which something happens once.
var churnOnce = []struct {
	at   float64
	what string
	do   func(k *churn) error
}{
	{.1, "the scheduler that works is told to end", (*churn).handOver},
	{.35, "the server is killed", (*churn).restartServer},
	{.85, "the server is killed", (*churn).restartServer},
}

type churn struct {
	c         *config
	s         *server
	rand      *rand.Rand
	minutes   float64
	begin     time.Time
	programs  [][]string // etcd and kube-apiserver
	members   []*member
	nodes     []*churnNode
	gone      map[string]*churnNode
	pods      map[string]*churnPod
	names     []string // of those that are not deleted, in any order
	made      int
	madeNodes int
	upSince   time.Time // of the server
	whole     time.Time // the end of the last time in which taint eviction was cut off
	counts    map[string]int
	figures   map[*member]*figures
}

func (k *churn) share() float64 {
	return time.Since(k.begin).Minutes() / k.minutes
}

// ---- requests ----

// ask tries again while the server is away.
func (k *churn) ask(method, path, contentType string, body []byte) (int, []byte, error) {
	for begin := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		err := errors.New("no connection")
		if len(k.s.conns) > 0 {
			var status int
			var answer []byte
			if status, answer, err = k.s.conns[0].ask(method, path, contentType, body); err == nil && status != 429 && status < 500 {
				return status, answer, nil
			}
			if err == nil {
				err = fmt.Errorf("%d %.300s", status, answer)
			}
		}
		if time.Since(begin) > restartLimit {
			return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		if c, dialing := dial(k.s.address, adminToken); dialing == nil {
			for _, old := range k.s.conns {
				old.close()
			}
			k.s.conns = []*conn{c}
		}
	}
}

// do has something done; that it is there, or gone, already is as good.
func (k *churn) do(method, path, contentType string, body []byte) error {
	status, answer, err := k.ask(method, path, contentType, body)
	if err == nil && status > 299 && status != 404 && status != 409 {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, status, answer)
	}
	return err
}

const churnPods = "/api/v1/namespaces/churn/pods"

// ---- what happens ----

func (k *churn) addNode() error {
	i := k.madeNodes
	k.madeNodes++
	n := &churnNode{name: nodeName(i)}
	if err := k.do("POST", "/api/v1/nodes", jsonType, nodeBody(i)); err != nil {
		return err
	}
	k.nodes = append(k.nodes, n)
	return k.taint(n, noValue)
}

func (k *churn) taint(n *churnNode, value int) error {
	n.change(value, time.Now())
	k.counts["taints"]++
	return k.do("PATCH", "/api/v1/nodes/"+n.name, mergeType, taintsBody(value))
}

// changeTaint gives a node a taint, another value of it, or takes it away.
func (k *churn) changeTaint() error {
	n := k.nodes[k.rand.IntN(len(k.nodes))]
	if n.value() != noValue && k.rand.IntN(2) == 0 {
		return k.taint(n, noValue)
	}
	if n.value() == noValue && k.rand.IntN(2) == 0 {
		return nil // so that most have none
	}
	return k.taint(n, k.rand.IntN(valueMost))
}

// replaceNode removes a node with its pods, and makes another one.
func (k *churn) replaceNode() error {
	i := k.rand.IntN(len(k.nodes))
	n := k.nodes[i]
	k.nodes = slices.Delete(k.nodes, i, i+1)
	k.gone[n.name] = n
	k.counts["nodes removed"]++
	if err := k.do("DELETE", "/api/v1/nodes/"+n.name, jsonType, nil); err != nil {
		return err
	}
	return k.addNode()
}

func (k *churn) addPod() error {
	p := newPod(k.rand, k.made)
	body := p.body(k.made)
	k.made++
	p.made = time.Now()
	k.pods[p.name] = p
	k.names = append(k.names, p.name)
	return k.do("POST", churnPods, jsonType, body)
}

func (k *churn) deletePod(i int) error {
	name := k.names[i]
	k.names[i] = k.names[len(k.names)-1]
	k.names = k.names[:len(k.names)-1]
	k.pods[name].isDeleted = true
	return k.do("DELETE", churnPods+"/"+name, jsonType, []byte(`{"gracePeriodSeconds":0}`))
}

// turnOver adds a pod, and deletes one of those that are too many.
func (k *churn) turnOver() error {
	if len(k.names) >= churnAlive {
		if err := k.deletePod(k.rand.IntN(len(k.names))); err != nil {
			return err
		}
	}
	return k.addPod()
}

func (k *churn) breakConnections() error {
	m := k.members[k.rand.IntN(len(k.members))]
	k.counts["connections broken"]++
	lasts := time.Duration(0)
	if k.rand.IntN(3) == 0 {
		lasts = time.Duration(1+k.rand.IntN(8)) * time.Second
		go m.proxy.stall(lasts)
	} else {
		m.proxy.cut()
	}
	if m.name == evictionName {
		k.whole = time.Now().Add(lasts)
	}
	return nil
}

func (k *churn) restartServer() error {
	old := k.s.processes[1]
	old.Process.Kill()
	old.Wait()
	if err := k.s.spawn(k.programs[1]); err != nil {
		return err
	}
	last := len(k.s.processes) - 1
	k.s.processes[1] = k.s.processes[last]
	k.s.processes = k.s.processes[:last]
	for begin := time.Now(); !k.s.isReady(); time.Sleep(100 * time.Millisecond) {
		if time.Since(begin) > restartLimit {
			return fmt.Errorf("the server does not come again")
		}
	}
	k.upSince = time.Now()
	return nil
}

// handOver ends the scheduler that works and starts another one.
func (k *churn) handOver() error {
	for i, m := range k.members {
		if !m.leads("kube-scheduler") {
			continue
		}
		if err := m.end(); err != nil {
			return err
		}
		next, err := k.start(m.name, m.args)
		if err != nil {
			return err
		}
		k.members[i] = next
		return nil
	}
	return errors.New("no scheduler leads")
}

// ---- what is looked at ----

type seenPod struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func (k *churn) list() ([]seenPod, error) {
	var all struct {
		Items []seenPod `json:"items"`
	}
	status, body, err := k.ask("GET", churnPods, "", nil)
	if err == nil && status != 200 {
		err = fmt.Errorf("list: %d %.300s", status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &all)
	}
	return all.Items, err
}

func (k *churn) nodeOf(name string) *churnNode {
	for _, n := range k.nodes {
		if n.name == name {
			return n
		}
	}
	return k.gone[name]
}

// look holds what is there against what should be.
func (k *churn) look() error {
	items, err := k.list()
	if err != nil {
		return err
	}
	now, present := time.Now(), map[string]bool{}
	for _, item := range items {
		present[item.Metadata.Name] = true
		if p := k.pods[item.Metadata.Name]; p != nil {
			if err := k.lookAt(p, item.Spec.NodeName, now); err != nil {
				return err
			}
		}
	}
	for name, p := range k.pods {
		if present[name] {
			continue
		}
		if err := k.lookForReason(p, now); err != nil {
			return err
		}
		delete(k.pods, name)
		if i := slices.Index(k.names, name); i >= 0 {
			k.names = slices.Delete(k.names, i, i+1)
		}
	}
	return k.membersLive()
}

// lookAt sees a pod that is there.
func (k *churn) lookAt(p *churnPod, node string, now time.Time) error {
	if p.node != "" && p.node != node {
		return fmt.Errorf("%s was on %s, and is on '%s'", p.name, p.node, node)
	}
	if p.node == "" && node != "" {
		p.node, p.seen = node, now
		k.counts["pods seen bound"]++
	}
	late := now.Sub(k.upSince) > churnPatience
	if node == "" && p.fits && late && now.Sub(p.made) > 2*churnPatience && k.hasRoom(now) {
		return fmt.Errorf("%s, made %v ago, has no node", p.name, now.Sub(p.made).Round(time.Second))
	}
	from := p.seen
	if k.upSince.After(from) {
		from = k.upSince
	}
	n := k.nodeOf(node)
	if n != nil && k.gone[node] == nil && late && p.due(n, from, now, churnPatience) {
		return fmt.Errorf("%s is still on %s, %v behind the time at which it should be evicted: %+v, taints %v", p.name, node,
			churnPatience, *p, n.changes)
	}
	return nil
}

// hasRoom tells whether some node has long had no taint.
func (k *churn) hasRoom(now time.Time) bool {
	for _, n := range k.nodes {
		if n.value() == noValue && now.Sub(n.changes[len(n.changes)-1].at) > churnPatience {
			return true
		}
	}
	return false
}

// lookForReason sees that a pod is gone. When its connection was broken, taint eviction may not have
// been told that the node has lost its taint, or be told of a new pod before that: as upstream, it
// watches each by itself.
func (k *churn) lookForReason(p *churnPod, now time.Time) error {
	n := k.nodeOf(p.node)
	switch {
	case p.isDeleted || now.Sub(p.made) < churnEarly:
		return nil
	case n == nil:
		k.counts["pods gone before they were seen bound"]++
		return nil
	case k.gone[p.node] != nil || p.due(n, p.made, now, -churnEarly):
		k.counts["pods evicted"]++
		return nil
	case now.Sub(k.whole) < churnPatience && p.wasDue(n, now):
		k.counts["pods evicted by what was seen before a break"]++
		return nil
	}
	return fmt.Errorf("%s is gone from %s without a reason: %+v, taints %v", p.name, p.node, *p, n.changes)
}

func (k *churn) sample() error {
	for _, m := range k.members {
		f := k.figures[m]
		if f == nil {
			f = newFigures(m.name)
			k.figures[m] = f
		}
		if err := f.take(k.share(), m.cmd.Process.Pid, m.metrics()); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// ---- the course of it ----

// Something that is done again and again.
type habit struct {
	every time.Duration
	do    func() error
	next  time.Time
}

func (k *churn) habits() []*habit {
	all := []*habit{
		{every: time.Second / time.Duration(k.c.churnRate), do: k.turnOver},
		{every: 500 * time.Millisecond, do: k.changeTaint},
		{every: 5 * time.Second, do: k.replaceNode},
		{every: time.Second, do: k.look},
		{every: 7 * time.Second, do: k.breakConnections},
		{every: max(time.Second, time.Duration(k.minutes*float64(time.Minute)/churnSamples)), do: k.sample},
	}
	for _, h := range all {
		h.next = k.begin.Add(h.every)
	}
	return all
}

// run does what is due until the time is over. What could not be done while the server was away is left
// out.
func (k *churn) run() error {
	k.begin = time.Now()
	habits, once, said := k.habits(), 0, k.begin
	for k.share() < 1 {
		for _, h := range habits {
			now := time.Now()
			if now.Before(h.next) {
				continue
			}
			if err := h.do(); err != nil {
				return err
			}
			if h.next = h.next.Add(h.every); time.Since(h.next) > time.Second {
				h.next = time.Now()
			}
		}
		if once < len(churnOnce) && k.share() >= churnOnce[once].at {
			say("%s", churnOnce[once].what)
			if err := churnOnce[once].do(k); err != nil {
				return err
			}
			once++
		}
		if time.Since(said) > max(20*time.Second, time.Duration(k.minutes*float64(time.Minute)/20)) {
			said = time.Now()
			k.tell()
		}
		time.Sleep(5 * time.Millisecond)
	}
	k.tell()
	return nil
}

func (k *churn) tell() {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(k.counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", name, k.counts[name]))
	}
	for _, m := range k.members {
		if all := k.figures[m]; all != nil {
			parts = append(parts, fmt.Sprintf("%s: %.1f MiB", m.name, all.latest(memory)/1024))
		}
	}
	say("%d pods made, %d there; %s", k.made, len(k.names), strings.Join(parts, ", "))
}

// ---- behind it ----

// settle takes all taints away and waits until all pods that can be bound are.
func (k *churn) settle() error {
	for _, n := range k.nodes {
		if err := k.taint(n, noValue); err != nil {
			return err
		}
	}
	return k.within(churnPatience, "all pods have nodes", func() (bool, error) {
		items, err := k.list()
		for _, item := range items {
			if p := k.pods[item.Metadata.Name]; p != nil && p.fits && item.Spec.NodeName == "" {
				return false, err
			}
		}
		return err == nil, err
	})
}

func (k *churn) within(d time.Duration, what string, is func() (bool, error)) error {
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		ok, err := is()
		if err != nil || time.Since(begin) > d {
			return errors.Join(err, fmt.Errorf("not within %v: %s", d, what))
		}
		if ok {
			say("ok %s (%.1f s)", what, time.Since(begin).Seconds())
			return nil
		}
	}
}

// The sets of pods of the last trial, all of which tolerate the taint sla=950 or do not, and when they
// must go: so many seconds behind it, forEver: never.
var lastSets = []struct {
	name               string
	threshold, seconds int
	due                int
}{{"stays", 900, forEver, forEver}, {"later", 900, 5, 5}, {"leaves", 990, forEver, 0}}

const (
	lastValue = 950
	lastPods  = 50
	lastSlack = 5 * time.Second
)

func (k *churn) emptyOut() error {
	if err := k.do("DELETE", churnPods, jsonType, []byte(`{"gracePeriodSeconds":0}`)); err != nil {
		return err
	}
	return k.within(churnPatience, "all pods are gone", func() (bool, error) {
		items, err := k.list()
		return err == nil && len(items) == 0, err
	})
}

// tryEvictions sees that pods go when they must, and no others.
func (k *churn) tryEvictions() error {
	all := 0
	for _, set := range lastSets {
		for i := range lastPods {
			p := &churnPod{name: fmt.Sprintf("%s-%d", set.name, i), operator: "Gt", threshold: set.threshold, seconds: set.seconds, fits: true}
			if err := k.do("POST", churnPods, jsonType, p.body(i)); err != nil {
				return err
			}
			all++
		}
	}
	err := k.within(churnPatience, "pods that are to be evicted have nodes", func() (bool, error) {
		items, err := k.list()
		return err == nil && len(items) == all && !slices.ContainsFunc(items, func(x seenPod) bool { return x.Spec.NodeName == "" }), err
	})
	if err != nil {
		return err
	}
	begin := time.Now()
	for _, n := range k.nodes {
		if err := k.taint(n, lastValue); err != nil {
			return err
		}
	}
	return k.seeEvictions(begin, time.Now())
}

func (k *churn) seeEvictions(first, last time.Time) error {
	went := map[string][]time.Duration{}
	left := map[string]int{}
	for end := last.Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		items, err := k.list()
		if err != nil {
			return err
		}
		clear(left)
		for _, item := range items {
			set, _, _ := strings.Cut(item.Metadata.Name, "-")
			left[set]++
		}
		for _, set := range lastSets {
			for len(went[set.name]) < lastPods-left[set.name] {
				went[set.name] = append(went[set.name], time.Since(first))
			}
		}
	}
	for _, set := range lastSets {
		all, due := went[set.name], time.Duration(set.due)*time.Second
		if set.due == forEver {
			if len(all) > 0 {
				return fmt.Errorf("%s: %d pods are gone", set.name, len(all))
			}
			say("ok %s: all pods are there", set.name)
			continue
		}
		if len(all) < lastPods || all[0] < due || all[len(all)-1] > due+last.Sub(first)+lastSlack {
			return fmt.Errorf("%s: %d of %d pods went, due after %v: %v", set.name, len(all), lastPods, due, all)
		}
		say("ok %s: %d pods went %.2f to %.2f s behind the first taint, due after %v; nodes were tainted within %.2f s", set.name,
			len(all), all[0].Seconds(), all[len(all)-1].Seconds(), due, last.Sub(first).Seconds())
	}
	return nil
}

// readAudit counts bindings by what the server says of them.
func (k *churn) readAudit() error {
	f, err := os.Open(filepath.Join(k.s.dir, "audit.log"))
	if err != nil {
		return err
	}
	defer f.Close()
	bound, codes := map[string]int{}, map[int]int{}
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var e struct {
			ObjectRef      struct{ Name, Subresource string }
			ResponseStatus struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.ObjectRef.Subresource != "binding" {
			continue // a line may have been cut when the server was killed
		}
		codes[e.ResponseStatus.Code]++
		if e.ResponseStatus.Code != 201 {
			continue
		}
		if bound[e.ObjectRef.Name]++; bound[e.ObjectRef.Name] > 1 {
			return fmt.Errorf("%s was bound twice", e.ObjectRef.Name)
		}
	}
	say("ok %d pods were bound once each by the audit log; bindings by code: %v", len(bound), codes)
	return lines.Err()
}

// judge prints the table, and fails when something has grown.
func (k *churn) judge() error {
	leaks := 0
	fmt.Println("| process | figure | second quarter | last quarter | limit | most | |\n|---|---|--:|--:|--:|--:|---|")
	for _, m := range k.members {
		f := k.figures[m]
		if m.leads("kube-scheduler") {
			f.process = "the scheduler that works"
		}
		rows, n := f.judge(k.minutes)
		leaks += n
		fmt.Println(strings.Join(rows, "\n"))
	}
	if leaks > 0 {
		return fmt.Errorf("%d figures have grown by more than their limit from the second quarter of the time to the last", leaks)
	}
	return nil
}

func (k *churn) all() error {
	for range churnNodes {
		if err := k.addNode(); err != nil {
			return err
		}
	}
	for _, f := range []func() error{k.run, k.settle, k.emptyOut, k.tryEvictions, k.readAudit, k.judge} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func runChurn(c *config, minutes float64) error {
	dir, err := os.MkdirTemp("", "berth-churn-")
	if err != nil {
		return err
	}
	k := &churn{c: c, minutes: minutes, rand: rand.New(rand.NewPCG(1, c.churnSeed)), upSince: time.Now(),
		gone: map[string]*churnNode{}, pods: map[string]*churnPod{}, counts: map[string]int{}, figures: map[*member]*figures{}}
	if err = k.startAll(dir); err == nil {
		err = k.all()
	}
	for _, m := range k.members {
		if ending := m.end(); err == nil {
			err = ending
		}
	}
	if k.s != nil {
		k.s.stop()
	}
	if err != nil {
		k.tellLogs()
	}
	os.RemoveAll(dir)
	return err
}
