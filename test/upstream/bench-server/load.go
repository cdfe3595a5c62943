package main

// Loads: so many requests, so many at a time, and what they cost.

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// What a load has cost.
type cost struct {
	requests  int
	wall      time.Duration
	processor time.Duration // of the server
	bytes     int64
	latencies []time.Duration // sorted
}

func (c *cost) quantile(q float64) time.Duration {
	if len(c.latencies) == 0 {
		return 0
	}
	return c.latencies[min(int(float64(len(c.latencies))*q), len(c.latencies)-1)]
}

func (c *cost) each() time.Duration { return c.processor / time.Duration(c.requests) }

func (c *cost) String() string {
	return fmt.Sprintf("%d requests: %.1f µs of the server's processors each, %.0f/s, p50 %.2f ms, p99 %.2f ms, %.1f KB", c.requests,
		float64(c.each().Nanoseconds())/1e3, float64(c.requests)/c.wall.Seconds(), ms(c.quantile(.5)), ms(c.quantile(.99)), float64(c.bytes)/float64(c.requests)/1e3)
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// A load of n requests, of which the i-th is filled in by fill; `keep` gets the body of its answer.
type load struct {
	n      int
	atOnce int // over all connections
	on     int // connections; 0: all
	fill   func(i int, r *request)
	keep   func(i int, body []byte) // may be nil
}

// The share of one connection.
type share struct {
	mu        sync.Mutex
	l         *load
	c         *conn
	taken     *atomic.Int64
	latencies []time.Duration
	bytes     int64
	inFlight  int
	failure   error
	done      chan struct{}
}

// A request with its place in the load.
type slot struct {
	request
	i      int
	answer []byte
}

// start begins the next request; false: there is none. The caller has the lock.
func (s *share) start(x *slot) bool {
	if s.failure != nil {
		return false
	}
	i := int(s.taken.Add(1)) - 1
	if i >= s.l.n {
		return false
	}
	x.i, x.answer = i, x.answer[:0]
	x.body, x.contentType, x.accept = nil, "", ""
	s.l.fill(i, &x.request)
	s.failure = s.c.submit(&x.request, false)
	return s.failure == nil
}

func (s *share) end(x *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latencies = append(s.latencies, time.Since(x.sent))
	s.bytes += int64(x.bytes)
	if s.failure == nil && (x.err != nil || x.status < 200 || x.status > 299) {
		s.failure = fmt.Errorf("%s %s: %d %v %.300s", x.method, x.path, x.status, x.err, x.answer)
	}
	if s.failure == nil && s.l.keep != nil {
		s.l.keep(x.i, x.answer)
	}
	if s.start(x) {
		return
	}
	if s.inFlight--; s.inFlight == 0 {
		close(s.done)
	}
}

// drive makes so many requests at a time until there are no more.
func (s *share) drive(depth int) {
	s.mu.Lock()
	for range depth {
		x := &slot{}
		x.onEnd = func(*request) { s.end(x) }
		x.onData = func(_ *request, data []byte) {
			if s.l.keep != nil || x.status > 299 {
				x.answer = append(x.answer, data...)
			}
		}
		if s.start(x) {
			s.inFlight++
		}
	}
	isIdle := s.inFlight == 0
	s.mu.Unlock()
	s.c.flush()
	if !isIdle {
		<-s.done
	}
}

// watchOver closes the connections when no request has been begun for long, which ends all of them: an
// answer that never comes is an error.
func watchOver(conns []*conn, taken *atomic.Int64, done chan struct{}) {
	const patience = 120 * time.Second
	for before := int64(-1); ; {
		select {
		case <-done:
			return
		case <-time.After(patience):
		}
		now := taken.Load()
		if now == before {
			for _, c := range conns {
				c.close()
			}
			return
		}
		before = now
	}
}

// run measures a load. What the server does on its own meanwhile counts, and so does what it does after
// the last answer for as long as settle.
func (l *load) run(s *server) (*cost, error) {
	const settle = 200 * time.Millisecond
	var taken atomic.Int64
	conns := s.conns
	if l.on > 0 {
		conns = conns[:l.on]
	}
	before, begin := s.processorTime(), time.Now()
	var group sync.WaitGroup
	shares := make([]*share, len(conns))
	for i, c := range conns {
		depth := l.atOnce / len(conns)
		if i < l.atOnce%len(conns) {
			depth++
		}
		shares[i] = &share{l: l, c: c, taken: &taken, latencies: make([]time.Duration, 0, l.n/len(conns)+depth), done: make(chan struct{})}
		if depth > 0 {
			group.Go(func() { shares[i].drive(depth) })
		}
	}
	done := make(chan struct{})
	go watchOver(conns, &taken, done)
	group.Wait()
	close(done)
	sum := &cost{requests: l.n, wall: time.Since(begin)}
	time.Sleep(settle)
	sum.processor = s.processorTime() - before
	for _, x := range shares {
		if x.failure != nil {
			return nil, x.failure
		}
		sum.latencies = append(sum.latencies, x.latencies...)
		sum.bytes += x.bytes
	}
	slices.Sort(sum.latencies)
	return sum, nil
}
