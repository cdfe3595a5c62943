package main

// The soak: for a long time writers change ConfigMaps, nodes renew leases, and thousands of watchers,
// whose connections break again and again, hold what they are told against what the server
// has acknowledged. An event that is lost, repeated or in the wrong place ends it, and so does memory
// that does not stay what it is.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

const (
	soakRooms       = 20
	soakWatchers    = 2000
	soakConnections = 40
	soakObjects     = 50                     // ConfigMaps of a room
	soakPause       = 100 * time.Millisecond // between the writes of a room
	soakPatience    = 30 * time.Second       // how late an event may be
	soakRestart     = 500 * time.Millisecond // between restarts of connections
	soakSample      = 10 * time.Second
)

// An acknowledged write of a room.
type write struct {
	kind    string // the type of its event
	name    string
	version uint64 // 0: of a deletion, whose answer does not tell it
	at      time.Time
}

// A namespace with one writer, so that its acknowledged writes are in order.
type soakRoom struct {
	*room
	mu     sync.Mutex // also held while a write is under way
	log    []write
	first  int    // the place of log[0], counted from the beginning
	newest uint64 // the version of the last write that has one
	exists [soakObjects]bool
	rand   *rand.Rand
	writes int
}

func (r *soakRoom) end() int { return r.first + len(r.log) }

func (r *soakRoom) entry(place int) *write { return &r.log[place-r.first] }

// next chooses a write.
func (r *soakRoom) next() (method, path, contentType, kind string, body []byte, i int) {
	i = r.rand.IntN(soakObjects)
	name := fmt.Sprintf("thing-%d", i)
	switch {
	case !r.exists[i]:
		return "POST", r.path("configmaps"), jsonType, "ADDED",
			fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"write":"%d"}}`, name, r.writes), i
	case r.rand.IntN(10) == 0:
		return "DELETE", r.path("configmaps/" + name), jsonType, "DELETED", []byte(`{}`), i
	}
	return "PATCH", r.path("configmaps/" + name), mergeType, "MODIFIED", fmt.Appendf(nil, `{"data":{"write":"%d"}}`, r.writes), i
}

func (r *soakRoom) write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	method, path, contentType, kind, body, i := r.next()
	c := r.s.conns[r.rand.IntN(len(r.s.conns))]
	status, answer, err := c.ask(method, path, contentType, body)
	if err != nil || status > 299 {
		return fmt.Errorf("%s %s: %d %v %.300s", method, path, status, err, answer)
	}
	w := write{kind: kind, name: fmt.Sprintf("thing-%d", i), at: time.Now()}
	if kind != "DELETED" {
		w.version = number(versionOf(answer))
		if w.version <= r.newest {
			return fmt.Errorf("%s %s: version %d follows %d", method, path, w.version, r.newest)
		}
		r.newest = w.version
	}
	r.exists[i] = kind != "DELETED"
	r.writes++
	r.log = append(r.log, w)
	return nil
}

// now is the version of the room's collection and the place in the log that belongs to it.
func (r *soakRoom) now() (uint64, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := r.s.version(r.path("configmaps"))
	version := number(text)
	if err == nil && version < r.newest {
		err = fmt.Errorf("%s: a list is of %d, before the acknowledged %d", r.name, version, r.newest)
	}
	return version, r.end(), err
}

// forget lets the log go up to a place.
func (r *soakRoom) forget(place int) {
	if n := place - r.first; n > 0 {
		r.log = append([]write(nil), r.log[n:]...)
		r.first = place
	}
}

func number(text string) uint64 {
	var n uint64
	fmt.Sscan(text, &n)
	return n
}

// ---- all of it ----

type soak struct {
	s        *server
	rooms    []*soakRoom
	groups   []*watchGroup
	herd     *herd
	failures chan error
	stop     chan struct{}
	under    sync.WaitGroup
	restarts int
	samples  []int64
}

func (k *soak) fail(err error) {
	select {
	case k.failures <- err:
	default:
	}
}

// every calls f again and again until the end, or until it fails.
func (k *soak) every(pause time.Duration, f func() error) {
	k.under.Go(func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-k.stop:
				return
			case <-tick.C:
			}
			if err := f(); err != nil {
				k.fail(err)
				return
			}
		}
	})
}

func newSoak(s *server) (*soak, error) {
	k := &soak{s: s, failures: make(chan error, 1), stop: make(chan struct{})}
	for i := range soakRooms {
		m, err := newRoom(s, fmt.Sprintf("soak-%d", i), 0)
		if err != nil {
			return nil, err
		}
		k.rooms = append(k.rooms, &soakRoom{room: m, rand: rand.New(rand.NewPCG(1, uint64(i)))})
	}
	var err error
	if k.herd, err = newHerd(s); err != nil {
		return nil, err
	}
	for i := range soakConnections {
		g := &watchGroup{k: k}
		for n := range soakWatchers / soakConnections {
			g.watchers = append(g.watchers, &watcher{r: k.rooms[(i+n)%soakRooms], group: g})
		}
		if err := g.restart(true); err != nil {
			return nil, err
		}
		k.groups = append(k.groups, g)
	}
	return k, nil
}

func (k *soak) begin(fault string) {
	for _, r := range k.rooms {
		k.every(soakPause, r.write)
	}
	renewed := 0
	begin := time.Now()
	k.every(2*time.Millisecond, func() error {
		for ; renewed < int(time.Since(begin)*beatNodes/leasePeriod); renewed++ {
			k.herd.renew(renewed % beatNodes)
		}
		return k.herd.trouble()
	})
	k.every(time.Second, k.verify)
	k.every(soakRestart, func() error {
		k.restarts++
		return k.groups[rand.IntN(len(k.groups))].restart(k.restarts%5 == 0)
	})
	k.every(soakSample, k.sample)
	k.every(5*time.Second, func() error {
		k.groups[rand.IntN(len(k.groups))].spoil(fault)
		return nil
	})
}

func (k *soak) sample() error {
	now, _ := k.s.memory()
	k.samples = append(k.samples, now)
	writes, events := 0, 0
	for _, r := range k.rooms {
		r.mu.Lock()
		writes += r.writes
		r.mu.Unlock()
	}
	for _, g := range k.groups {
		events += g.told()
	}
	say("%d acknowledged writes, %d events held against them, %d restarts of clients, %.1f MiB", writes, events,
		k.restarts, float64(now)/(1<<20))
	return nil
}

// verify holds what watchers were told against the logs.
func (k *soak) verify() error {
	for _, r := range k.rooms {
		r.mu.Lock()
		least := r.end()
		for _, g := range k.groups {
			place, err := g.verify(r)
			if err != nil {
				r.mu.Unlock()
				return err
			}
			least = min(least, place)
		}
		r.forget(least)
		r.mu.Unlock()
	}
	return nil
}

// isFlat tells whether memory has stopped to grow: of the samples behind the first third, the later
// half has no more than the earlier one, but for a tenth and some pages.
func isFlat(samples []int64) bool {
	rest := samples[len(samples)/3:]
	if len(rest) < 6 {
		return true
	}
	var sums [2]int64
	half := len(rest) / 2
	for i, x := range rest[:2*half] {
		sums[i/half] += x / int64(half)
	}
	return sums[1] <= sums[0]+sums[0]/10+8<<20
}

func runSoak(c *config, minutes float64, fault string) error {
	dir, err := os.MkdirTemp("", "berth-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := berthServer(dir, c.berth)
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := s.start(); err != nil {
		return err
	}
	k, err := newSoak(s)
	if err != nil {
		return err
	}
	say("%d watchers over %d connections, %d leases, for %v minutes", soakWatchers, soakConnections, beatNodes, minutes)
	k.begin(fault)
	select {
	case err = <-k.failures:
	case <-time.After(time.Duration(minutes * float64(time.Minute))):
	}
	close(k.stop)
	k.under.Wait()
	if err == nil && !isFlat(k.samples) {
		err = fmt.Errorf("memory grows: %v", k.samples)
	}
	if err == nil {
		err = k.finish()
	}
	return err
}

// finish waits until every watcher has all events.
func (k *soak) finish() error {
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if err := k.verify(); err != nil {
			return err
		}
		behind := 0
		for _, r := range k.rooms {
			behind += len(r.log)
		}
		if behind == 0 {
			k.sample()
			say("every watcher was told of every write, once and in order")
			return nil
		}
		if time.Since(begin) > soakPatience {
			return fmt.Errorf("%d writes have not come to all watchers", behind)
		}
	}
}
