package main

// The churn: for a long time pods, nodes and numeric taints come, change and go in a cluster of a real
// kube-apiserver and etcd, whose scheduler and taint eviction are Berth's. Meanwhile the connections of
// these break or stall, their server is killed and comes again, and one scheduler hands over to the other. A
// pod that is bound twice, stays unbound, is evicted without reason or is not evicted ends it, and so
// does a process that holds more and more.

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
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

// ---- the course of it ----

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

// ---- the whole of it ----

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
