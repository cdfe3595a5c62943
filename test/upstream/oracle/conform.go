package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"
)

const (
	askedAgain = 100 // times, to see whether upstream agrees with itself
	inFlight   = 64  // lines that Berth has not answered yet
	mostTries  = 10  // for each case that can be asked
)

type run struct {
	berth *berth
	known knownDifferences
	seed  uint64
	shown int // differences of each area that are printed
	out   io.Writer
}

type tally struct{ cases, equal, known, differing int }

type difference struct {
	l   line
	why string
}

// conform makes cases, asks upstream, shows Berth the answers, and prints what differs and how much does not.
func (r *run) conform(cases int, only []string) (differing int, err error) {
	tallies := map[string]tally{}
	total := 0
	for _, a := range areas {
		total += a.shareIn(only)
	}
	for i, a := range areas {
		share := a.shareIn(only)
		if share == 0 {
			continue
		}
		found, n, err := r.runArea(a, uint64(i), (cases*share+total-1)/total)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", a.name, err)
		}
		t := r.judge(a, found)
		t.cases, t.equal = n, n-t.known-t.differing
		tallies[a.name] = t
		differing += t.differing
	}
	r.printTable(tallies)
	return differing, nil
}

// shareIn says how much of a run the area has, when only some were asked for, or all.
func (a *area) shareIn(only []string) int {
	switch {
	case len(only) == 0:
		return a.share
	case slices.Contains(only, a.name):
		return max(1, a.share)
	}
	return 0
}

// newCase makes a case that is found again by its seed, area and number.
func (r *run) newCase(a *area, index uint64, number int) line {
	l := a.generate(rand.New(rand.NewPCG(r.seed, index<<32|uint64(number))))
	l.set("area", a.name)
	l.set("id", fmt.Sprintf("%s-%d-%d", a.name, r.seed, number))
	return l
}

// runArea asks while Berth reads: each side has a processor of its own.
func (r *run) runArea(a *area, index uint64, cases int) (found []difference, n int, err error) {
	asked := make(chan line, inFlight)
	failed := make(chan error, 1)
	go func() {
		defer close(asked)
		for number, n := 0, 0; n < cases && number < mostTries*cases; number++ {
			l := r.newCase(a, index, number)
			if a.ask(l) != nil {
				continue // upstream cannot be asked that
			}
			n++
			if err := r.berth.show(l); err != nil {
				failed <- err
				return
			}
			asked <- l
		}
	}()
	for l := range asked {
		why, err := r.berth.verdict()
		if err != nil {
			return nil, n, fmt.Errorf("%w; it was shown %s", err, l)
		}
		n++
		if why != "" {
			found = append(found, difference{l, why})
		}
	}
	select {
	case err = <-failed:
	default:
	}
	return found, n, err
}

// judge sorts out what is known or was only upstream's mood, and prints the rest.
func (r *run) judge(a *area, found []difference) tally {
	var t tally
	for _, d := range found {
		switch {
		case r.berth.agreesWithAny(a, d.l):
		case r.known.has(a, d):
			t.known++
		default:
			t.differing++
			if t.differing <= r.shown {
				r.show(a, d)
			}
		}
	}
	return t
}

func (r *run) show(a *area, d difference) {
	small := r.shrink(a, d)
	id := small.l["id"]
	delete(small.l, "area")
	fmt.Fprintf(r.out, "%s.jsonl %s: %s\n%s\n\n", a.name, id, small.why, small.l)
}

func (r *run) printTable(tallies map[string]tally) {
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "area\tcases\tequal\tknown\tdiffering\t")
	var sum tally
	for _, a := range areas {
		t, ok := tallies[a.name]
		if !ok {
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", a.name, t.cases, t.equal, t.known, t.differing)
		sum = tally{sum.cases + t.cases, sum.equal + t.equal, sum.known + t.known, sum.differing + t.differing}
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\t%d\t\n", sum.cases, sum.equal, sum.known, sum.differing)
	w.Flush()
	if sum.cases > 0 {
		fmt.Fprintf(r.out, "placement conformance %.4f %%\n", 100*float64(sum.equal+sum.known)/float64(sum.cases))
	}
}

// agreesWithAny asks again: where upstream walks over a map, its answers differ from each other, and Berth
// may give any of them.
func (b *berth) agreesWithAny(a *area, l line) bool {
	first := l.clone()
	for range askedAgain {
		again := l.clone()
		if a.ask(again) != nil {
			return false
		}
		if a.difference(first, again) == "" {
			continue
		}
		if strings.HasPrefix(a.name, "validate_") || a.name == "rules" {
			again.set("order_random", true)
		}
		if why, err := b.check(again); err == nil && why == "" {
			return true
		}
	}
	return false
}
