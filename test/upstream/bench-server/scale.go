package main

// How a server grows: memory, start and the cost of requests with ever more objects.

import (
	"fmt"
	"time"
)

const (
	scaleNodes = 5000
	scalePods  = 50000
	settleTime = 5 * time.Second
)

var sizes = []int{1000, 10000, 50000, 100000, 200000, 500000}

// A room that is filled step by step.
type filling struct {
	*room
	filled int
}

// grow creates pods that are bound to nodes and run, up to so many.
func (f *filling) grow(to int) (*cost, error) {
	from := f.filled
	pods := f.path("pods")
	create := &load{n: to - from, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType, r.body = "POST", pods, jsonType, podBody(from+i, nodeName((from+i)%scaleNodes))
	}}
	status := &load{n: to - from, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType = "PATCH", f.pod("/status")(from+i), strategicType
		r.body = podStatus(from + i)
	}}
	c, err := create.run(f.s)
	if err == nil {
		_, err = status.run(f.s)
	}
	f.filled, f.n = to, to
	return c, err
}

// look measures what requests cost at a size.
func (f *filling) look(size int) error {
	const few = 1000
	from := f.filled - few
	patch := &load{n: few, atOnce: clients, fill: func(i int, r *request) {
		r.method, r.path, r.contentType = "PATCH", f.pod("")(from+i), mergeType
		r.body = []byte(`{"metadata":{"labels":{"rev":"grown"}}}`)
	}}
	name := fmt.Sprint(size)
	for _, x := range []struct {
		name string
		l    *load
	}{{"merge patch", patch}, {"GET", f.get(5*few, 0, "")}} {
		c, err := x.l.run(f.s)
		if err != nil {
			return err
		}
		say("%-9s at %-7s %-12s %v", f.s.name, name, x.name, c)
		emit("growth", x.name, name, f.s.name, unitProcessor, float64(c.each().Nanoseconds()))
	}
	return nil
}

func (f *filling) weigh(part, name string) int64 {
	time.Sleep(settleTime)
	now, most := f.s.memory()
	say("%-9s %s: %d MiB, at most %d", f.s.name, name, now>>20, most>>20)
	emit("growth", part, name, f.s.name, unitBytes, float64(now))
	return now
}

// restart starts the server again on what it has stored.
func (f *filling) restart(name string) (time.Duration, int64, error) {
	f.s.stop()
	took, err := f.s.start()
	if err != nil {
		return 0, 0, err
	}
	say("%-9s starts in %.0f ms with %s pods", f.s.name, ms(took), name)
	emit("growth", "start", name, f.s.name, unitTime, float64(took.Nanoseconds()))
	return took, f.weigh("memory after a restart", name), nil
}

// measureScale grows a fresh server up to so many pods beside 5,000 nodes.
func measureScale(s *server, most int) error {
	if _, err := createNodes(scaleNodes).run(s); err != nil {
		return err
	}
	m, err := newRoom(s, "scale", 0)
	if err != nil {
		return err
	}
	f := &filling{room: m}
	for _, size := range sizes {
		if size > most {
			break
		}
		c, err := f.grow(size)
		if err != nil {
			return err
		}
		name := fmt.Sprint(size)
		say("%-9s at %-7s create       %v", s.name, name, c)
		emit("growth", "create", name, s.name, unitProcessor, float64(c.each().Nanoseconds()))
		if err := f.look(size); err != nil {
			return err
		}
		now := f.weigh("memory", name)
		if size == scalePods {
			emit("rows", groupLoaded, "as it was filled", s.name, unitBytes, float64(now))
		}
		if size != scalePods && size < most {
			continue
		}
		took, after, err := f.restart(name)
		if err != nil {
			return err
		}
		if size == scalePods {
			emit("rows", groupLoaded, "after a restart", s.name, unitBytes, float64(after))
			emit("rows", groupStart, "5,000 nodes and 50,000 pods", s.name, unitTime, float64(took.Nanoseconds()))
		}
	}
	return nil
}
