package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
)

const workers = 4

// An area is one kind of sequence. Adding one means a file with its generator, and a row of areas.
type area struct {
	name     string
	generate func(*maker)
	share    int // of all cases
}

type tally struct{ cases, equal, known, differing int }

type find struct {
	c     *sequence
	found []difference // what is not known
}

type run struct {
	real, berth *server
	known       knownDifferences
	seed        uint64
	shown       int
	all         bool // differences are printed as they are, not sorted by cause
	out         io.Writer
	namespaces  atomic.Int64
	ended       atomic.Bool // one of the servers is no more
}

// both runs a case on both servers and gives what differs, known or not.
func (r *run) both(c *sequence) ([]difference, []answer, error) {
	namespace := fmt.Sprintf("c%07d", r.namespaces.Add(1))
	a, b := newExecution(r.real, c, namespace), newExecution(r.berth, c, namespace)
	var failed [2]error
	var wait sync.WaitGroup
	for i, x := range []*execution{a, b} {
		wait.Go(func() { failed[i] = x.run() })
	}
	wait.Wait()
	defer a.cleanUp()
	defer b.cleanUp()
	for _, err := range failed {
		if err != nil {
			return nil, nil, err
		}
	}
	finish(a, b)
	for _, x := range []*execution{a, b} {
		n := newNormal(c, namespace)
		n.learn(x.answers)
		for i := range x.answers {
			x.answers[i] = n.answer(x.answers[i])
		}
	}
	return compare(c, a.answers, b.answers), a.answers, nil
}

func (r *run) newCase(a *area, number int) *sequence {
	index := slices.IndexFunc(areas, func(b area) bool { return b.name == a.name })
	m := &maker{Rand: rand.New(rand.NewPCG(r.seed, uint64(index)<<32|uint64(number)))}
	a.generate(m)
	return &sequence{Area: a.name, ID: fmt.Sprintf("%s-%d-%d", a.name, r.seed, number), Steps: m.steps}
}

// areaRun runs the cases of an area, some at a time, and gives those that differ.
func (r *run) areaRun(a *area, cases int) (t tally, finds []find) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	numbers := make(chan int)
	for range workers {
		wait.Go(func() {
			for number := range numbers {
				if r.ended.Load() {
					continue
				}
				c := r.newCase(a, number)
				found, _, err := r.both(c)
				if err != nil && r.berth.hasEnded() && !r.ended.Swap(true) {
					text, _ := os.ReadFile(r.berth.log)
					fmt.Fprintf(r.out, "berth apiserver ended by itself, probably at %s\n%s\n", c.ID, text)
				}
				left := r.known.without(a.name, found)
				if len(left) > 0 { // it may have been the mood of a busy machine
					if again, _, err2 := r.both(c); err2 == nil {
						found, left = again, r.known.without(a.name, again)
					}
				}
				mu.Lock()
				switch {
				case err != nil:
					t.differing++
					finds = append(finds, find{c, []difference{{0, "run", "failure", "", err.Error()}}})
				case len(left) > 0:
					t.differing++
					finds = append(finds, find{c, left})
				case len(found) > 0:
					t.known++
				default:
					t.equal++
				}
				t.cases++
				mu.Unlock()
			}
		})
	}
	for number := range cases {
		numbers <- number
	}
	close(numbers)
	wait.Wait()
	return t, finds
}

func (r *run) conform(cases int, only []string) int {
	total := 0
	for _, a := range areas {
		total += a.shareIn(only)
	}
	tallies := map[string]tally{}
	differing := 0
	for i := range areas {
		a := &areas[i]
		share := a.shareIn(only)
		if share == 0 {
			continue
		}
		t, finds := r.areaRun(a, (cases*share+total-1)/total)
		r.report(a, finds)
		tallies[a.name] = t
		differing += t.differing
	}
	r.printTable(tallies)
	return differing
}

func (a *area) shareIn(only []string) int {
	if len(only) == 0 || slices.Contains(only, a.name) {
		return max(1, a.share)
	}
	return 0
}

// report sorts the cases that differ by cause, and prints the shortest form of one of each.
func (r *run) report(a *area, finds []find) {
	if r.all {
		for _, f := range finds {
			for _, d := range f.found {
				fmt.Fprintln(r.out, f.c.ID, d)
			}
		}
		return
	}
	causes, places := map[string][]find{}, map[string]map[string]bool{}
	for _, f := range finds {
		seen := map[string]bool{}
		for _, d := range f.found {
			cause := d.cause()
			if places[cause] == nil {
				places[cause] = map[string]bool{}
			}
			places[cause][d.what] = true
			if !seen[cause] {
				causes[cause] = append(causes[cause], f)
			}
			seen[cause] = true
		}
	}
	order := slices.SortedFunc(maps.Keys(causes), func(x, y string) int {
		if n := len(causes[y]) - len(causes[x]); n != 0 {
			return n
		}
		return strings.Compare(x, y)
	})
	for i, cause := range order {
		fmt.Fprintf(r.out, "%s: %d cases: %s (%s)\n", a.name, len(causes[cause]), cause,
			strings.Join(slices.Sorted(maps.Keys(places[cause])), ", "))
		if i < r.shown {
			r.show(a, cause, causes[cause][0].c)
		}
	}
}

func (r *run) show(a *area, cause string, c *sequence) {
	small, wants := r.shrink(a, cause, c)
	for i := range wants {
		small.Steps[i].Want = &wants[i]
	}
	found, _, _ := r.both(small)
	for _, d := range r.known.without(a.name, found) {
		if d.cause() == cause {
			fmt.Fprintln(r.out, "   ", d)
		}
	}
	fmt.Fprintln(r.out, quoted(small))
	fmt.Fprintln(r.out)
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
		fmt.Fprintf(r.out, "server conformance %.4f %%\n", 100*float64(sum.equal+sum.known)/float64(sum.cases))
	}
}
