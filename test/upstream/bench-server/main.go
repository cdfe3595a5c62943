// bench-server has the same requests answered by `berth apiserver` and by kube-apiserver with etcd, both
// on loopback with TLS and HTTP/2 and with durable writes, one after the other in rounds, and says what
// it cost the processes of each: a line of JSON for each value on standard output.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

type config struct {
	berth, etcd, apiserver string
	scheduler              string
	rounds, pods, gets     int
	events                 int
	most, mostReal         int
	parts                  string
}

// sides are fresh servers below a folder; without etcd only Berth's.
func (c *config) sides(dir string) ([]*server, error) {
	var all []*server
	for _, name := range []string{"berth", "upstream"} {
		if name == "upstream" && c.etcd == "" {
			continue
		}
		own := filepath.Join(dir, name)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return nil, err
		}
		s, err := berthServer(own, c.berth)
		if name == "upstream" {
			s, err = realServer(own, c.etcd, c.apiserver)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func stopAll(all []*server) {
	for _, s := range all {
		s.stop()
	}
}

// startAll starts fresh servers.
func (c *config) startAll(dir string) ([]*server, error) {
	all, err := c.sides(dir)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if _, err := s.start(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// measureStart starts each side on nothing, and again on what that has left, one at a time.
func measureStart(c *config, dir string) error {
	all, err := c.sides(dir)
	if err != nil {
		return err
	}
	defer stopAll(all)
	for _, s := range all {
		for _, name := range []string{"first start", "empty"} {
			took, err := s.start()
			if err != nil {
				return err
			}
			time.Sleep(settleTime)
			now, _ := s.memory()
			say("%-9s %-12s %.1f ms, %.1f MiB", s.name, name, ms(took), float64(now)/(1<<20))
			emit("rows", groupStart, name, s.name, unitTime, float64(took.Nanoseconds()))
			if name == "empty" {
				emit("rows", groupIdle, name, s.name, unitBytes, float64(now))
			}
			s.stop()
		}
	}
	return nil
}

func measureRequests(c *config, dir string) error {
	all, err := c.startAll(dir)
	defer stopAll(all)
	for round := 0; err == nil && round < c.rounds; round++ {
		for _, s := range all {
			var m *room
			if m, err = newRoom(s, fmt.Sprintf("round-%d", round), c.pods); err == nil {
				err = measureAll(m, verbs(c.gets))
			}
			if err != nil {
				break
			}
		}
	}
	return err
}

func measureLists(c *config, dir string) error {
	const pods = 10000
	all, err := c.startAll(dir)
	defer stopAll(all)
	rooms := make([]*room, len(all))
	for i := 0; err == nil && i < len(all); i++ {
		if rooms[i], err = newRoom(all[i], "lists", pods); err == nil {
			_, err = rooms[i].create().run(all[i])
		}
	}
	for round := 0; err == nil && round < c.rounds; round++ {
		for _, m := range rooms {
			if err = measureAll(m, lists); err != nil {
				break
			}
		}
	}
	return err
}

func measureWatches(c *config, dir string) error {
	all, err := c.startAll(dir)
	defer stopAll(all)
	for round := 0; err == nil && round < c.rounds; round++ {
		for _, s := range all {
			var m *room
			if m, err = newRoom(s, fmt.Sprintf("watched-%d", round), 200); err == nil {
				_, err = m.create().run(s)
			}
			if err == nil {
				err = measureWatch(m, "1,000 watchers over 20 connections", 1000, 20, c.events)
			}
			if err == nil {
				err = measureWatch(m, "1,000 watchers over 1,000 connections", 1000, 1000, c.events/2)
			}
			if err != nil {
				break
			}
		}
	}
	return err
}

func measureHeartbeats(k *config, dir string) error {
	all, err := k.startAll(dir)
	defer stopAll(all)
	herds := make([]*herd, len(all))
	for i := 0; err == nil && i < len(all); i++ {
		herds[i], err = newHerd(all[i])
	}
	for round := 0; err == nil && round < k.rounds; round++ {
		for _, h := range herds {
			if err = measureBeats(h); err != nil {
				break
			}
			var c *cost
			if c, err = getLeases(k.gets).run(h.s); err != nil {
				break
			}
			emitCost(groupGet, "GET of a lease, one connection", h.s, c)
		}
	}
	return err
}

func measureGrowth(c *config, dir string) error {
	all, err := c.sides(dir)
	if err != nil {
		return err
	}
	for _, s := range all {
		most := c.most
		if s.name == "upstream" {
			most = c.mostReal
		}
		if _, err = s.start(); err == nil {
			err = measureScale(s, most)
		}
		s.stop()
		os.RemoveAll(s.dir)
		if err != nil {
			return err
		}
	}
	return nil
}

var parts = []struct {
	letter  rune
	name    string
	repeats bool
	run     func(c *config, dir string) error
}{
	{'s', "start", true, measureStart},
	{'r', "requests", false, measureRequests},
	{'l', "lists", false, measureLists},
	{'w', "watches", false, measureWatches},
	{'h', "heartbeats", false, measureHeartbeats},
	{'g', "growth", false, measureGrowth},
	{'p', "placements", true, onLive(measurePlacements)},
	{'t', "pace", true, onLive(measurePace)},
}

func run(c *config) error {
	dir, err := os.MkdirTemp("", "bench-server-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, letter := range c.parts {
		for _, p := range parts {
			if p.letter != letter {
				continue
			}
			for round := range c.rounds {
				if round > 0 && !p.repeats {
					break
				}
				own := filepath.Join(dir, fmt.Sprintf("%s-%d", p.name, round))
				if err := p.run(c, own); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				os.RemoveAll(own)
			}
		}
	}
	return nil
}

func main() {
	c := config{}
	flag.StringVar(&c.berth, "berth", "", "program")
	flag.StringVar(&c.etcd, "etcd", "", "program; none: Berth alone")
	flag.StringVar(&c.apiserver, "kube-apiserver", "", "program")
	flag.StringVar(&c.scheduler, "kube-scheduler", "", "program")
	flag.IntVar(&c.rounds, "rounds", 3, "rounds")
	flag.IntVar(&c.pods, "pods", 1000, "pods that are written in a round")
	flag.IntVar(&c.gets, "gets", 10000, "GETs of a round")
	flag.IntVar(&c.events, "events", 100, "events that watchers are told of in a round")
	flag.IntVar(&c.most, "most", 500000, "pods up to which Berth grows")
	flag.IntVar(&c.mostReal, "most-upstream", 50000, "pods up to which kube-apiserver grows")
	flag.StringVar(&c.parts, "parts", "srlwhg", "start, requests, lists, watches, heartbeats, growth, placements, pace (of placements alone)")
	soakMinutes := flag.Float64("soak", 0, "minutes to soak Berth for, instead")
	fault := flag.String("fault", "", "what a watcher of the soak does wrong now and then: drop, repeat, reorder")
	flag.Parse()
	do := run
	if *soakMinutes > 0 {
		do = func(c *config) error { return runSoak(c, *soakMinutes, *fault) }
	}
	if err := do(&c); err != nil {
		fmt.Fprintf(os.Stderr, "bench-server: %v\n", err)
		os.Exit(1)
	}
}
