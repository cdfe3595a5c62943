package main

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// An event as a watcher was told of it.
type told struct {
	kind, name string
	version    uint64
	at         time.Time
}

// A watcher of a room, guarded by its group's lock.
type watcher struct {
	r       *soakRoom
	group   *watchGroup
	request *request
	version uint64 // of the last event, or of the list it began with
	place   int    // in the log of the room, of the next event to be held against it
	events  []told // those that were not yet
	fault   string
}

// Watchers that share a connection.
type watchGroup struct {
	k        *soak
	mu       sync.Mutex
	c        *conn
	watchers []*watcher
	verified int
}

// restart closes the connection, as a client does that dies, and opens another one. The watchers go on
// behind the last event that they have seen, or, afresh, with what is there now.
func (g *watchGroup) restart(afresh bool) error {
	c, err := dial(g.k.s.address, adminToken)
	if err != nil {
		return err
	}
	g.mu.Lock()
	old := g.c
	g.c = c
	g.mu.Unlock()
	if old != nil {
		old.close()
	}
	for _, w := range g.watchers {
		if err := w.join(c, afresh); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) join(c *conn, afresh bool) error {
	version, place, err := uint64(0), 0, error(nil)
	if afresh {
		if version, place, err = w.r.now(); err != nil {
			return err
		}
	}
	w.group.mu.Lock()
	if afresh {
		w.version, w.place, w.events = version, place, nil
	}
	var part []byte
	r := &request{method: "GET", path: w.r.path(fmt.Sprintf("configmaps?watch=1&resourceVersion=%d&timeoutSeconds=3600", w.version))}
	w.request = r
	w.group.mu.Unlock()
	r.onData = func(r *request, data []byte) {
		for len(data) > 0 {
			end := bytes.IndexByte(data, '\n')
			if end < 0 {
				part = append(part, data...)
				return
			}
			line := data[:end]
			if len(part) > 0 {
				part = append(part, line...)
				line = part
			}
			w.take(r, line)
			part, data = part[:0], data[end+1:]
		}
	}
	r.onEnd = func(r *request) {
		w.group.mu.Lock()
		isOurs := w.request == r && w.group.c == c
		w.group.mu.Unlock()
		if isOurs {
			w.group.k.fail(fmt.Errorf("%s: a watch from %d ended: %d %v", w.r.name, w.version, r.status, r.err))
		}
	}
	return c.submit(r, true)
}

// textAt is the string behind a member's name, the first one in a line.
func textAt(line []byte, member string) string {
	at := bytes.Index(line, []byte(member))
	if at < 0 {
		return ""
	}
	rest := line[at+len(member):]
	return string(rest[:max(bytes.IndexByte(rest, '"'), 0)])
}

// take notes an event, unless it comes from a connection that was given up.
func (w *watcher) take(r *request, line []byte) {
	version, _ := strconv.ParseUint(versionOf(line), 10, 64)
	e := told{textAt(line, `"type":"`), textAt(line, `"name":"`), version, time.Now()}
	w.group.mu.Lock()
	defer w.group.mu.Unlock()
	if w.request != r {
		return
	}
	fault := w.fault
	w.fault = ""
	n := len(w.events)
	switch {
	case fault == "drop":
		return
	case fault == "repeat":
		w.events = append(w.events, e)
	case fault == "reorder" && n > 0:
		e, w.events[n-1] = w.events[n-1], e
	case fault == "reorder":
		w.fault = fault // there is nothing to exchange it with
	}
	w.events = append(w.events, e)
	w.version = max(w.version, version)
}

// spoil has one watcher of the group make a mistake, to see that it is noticed.
func (g *watchGroup) spoil(fault string) {
	if fault == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watchers[0].fault = fault
}

func (g *watchGroup) told() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.verified
}

// verify holds the events of a room's watchers against its log, whose lock the caller has. It gives
// the least place that one of them has yet to see.
func (g *watchGroup) verify(r *soakRoom) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	least := r.end()
	for _, w := range g.watchers {
		if w.r != r {
			continue
		}
		if err := w.verify(); err != nil {
			return 0, err
		}
		least = min(least, w.place)
	}
	return least, nil
}

func (w *watcher) verify() error {
	n := 0
	for ; n < len(w.events) && w.place < w.r.end(); n++ {
		e, wanted := &w.events[n], w.r.entry(w.place)
		isSame := e.kind == wanted.kind && e.name == wanted.name && (wanted.version == 0 || e.version == wanted.version)
		if !isSame {
			return fmt.Errorf("%s: a watcher was told %s %s of %d, where %s %s of %d follows", w.r.name, e.kind, e.name,
				e.version, wanted.kind, wanted.name, wanted.version)
		}
		w.place++
	}
	w.events = w.events[n:]
	w.group.verified += n
	if len(w.events) > 0 && time.Since(w.events[0].at) > soakPatience {
		e := w.events[0]
		return fmt.Errorf("%s: a watcher was told %s %s of %d, which nobody has written", w.r.name, e.kind, e.name, e.version)
	}
	if w.place < w.r.end() && time.Since(w.r.entry(w.place).at) > soakPatience {
		lost := w.r.entry(w.place)
		return fmt.Errorf("%s: a watcher was not told %s %s of %d", w.r.name, lost.kind, lost.name, lost.version)
	}
	return nil
}
