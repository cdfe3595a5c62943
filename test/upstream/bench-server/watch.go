package main

// What an event costs that many watchers are told of, and how long the last of them waits.

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

const watchTimeout = 60 * time.Second

// Watchers of one collection.
type audience struct {
	conns   []*conn
	ready   atomic.Int64
	arrived atomic.Int64 // events, over all watchers
	target  atomic.Int64
	reached chan struct{}
	failed  chan error
}

func (a *audience) join(c *conn, path string) {
	var begun bool
	r := &request{method: "GET", path: path}
	r.onData = func(_ *request, data []byte) {
		n := int64(bytes.Count(data, []byte{'\n'}))
		if n > 0 && a.arrived.Add(n) == a.target.Load() {
			a.reached <- struct{}{}
		}
	}
	r.onHead = func(*request) {
		if !begun {
			begun = true
			a.ready.Add(1)
		}
	}
	r.onEnd = func(r *request) {
		select {
		case a.failed <- fmt.Errorf("a watch ended: %d %v", r.status, r.err):
		default:
		}
	}
	c.submit(r, true)
}

// gather opens so many watches over so many connections, and waits until all have begun.
func gather(s *server, path string, watchers, connections int) (*audience, error) {
	a := &audience{reached: make(chan struct{}, 1), failed: make(chan error, 1)}
	for range connections {
		c, err := dial(s.address, adminToken)
		if err != nil {
			return a, err
		}
		a.conns = append(a.conns, c)
	}
	for i := range watchers {
		a.join(a.conns[i%connections], path)
	}
	for begin := time.Now(); a.ready.Load() < int64(watchers); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > watchTimeout {
			return a, fmt.Errorf("%s: %d of %d watches have begun", s.name, a.ready.Load(), watchers)
		}
	}
	return a, nil
}

func (a *audience) leave() {
	for _, c := range a.conns {
		c.close()
	}
}

func (a *audience) wait() error {
	select {
	case <-a.reached:
		return nil
	case err := <-a.failed:
		return err
	case <-time.After(watchTimeout):
		return fmt.Errorf("only %d of %d events have come", a.arrived.Load(), a.target.Load())
	}
}

// measureWatch writes events one after the other, each when all watchers have had the one before.
func measureWatch(m *room, name string, watchers, connections, events int) error {
	version, err := m.s.version(m.path("pods"))
	if err != nil {
		return err
	}
	a, err := gather(m.s, m.path("pods?watch=1&resourceVersion="+version), watchers, connections)
	defer a.leave()
	if err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond)
	sum := &cost{requests: events * watchers}
	before, begin := m.s.processorTime(), time.Now()
	for k := range events {
		a.target.Store(int64(k+1) * int64(watchers))
		body := fmt.Appendf(nil, `{"metadata":{"labels":{"rev":"w%d-%d"}}}`, k, begin.UnixNano())
		at := time.Now()
		m.s.conns[0].submit(&request{method: "PATCH", path: m.pod("")(k % m.n), contentType: mergeType, body: body}, true)
		if err := a.wait(); err != nil {
			return fmt.Errorf("%s: event %d: %w", m.s.name, k, err)
		}
		sum.latencies = append(sum.latencies, time.Since(at))
	}
	sum.wall, sum.processor = time.Since(begin), m.s.processorTime()-before
	slices.Sort(sum.latencies)
	emitCost(groupWatch, name, m.s, sum)
	return nil
}
