package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A portion of cases is run on servers of its own: nothing is deleted behind a case, and servers that hold what
// many thousand cases left are slower.
const portion = 5000 // about

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

// A job is a case that is still to be made.
type job struct {
	area   *area
	number int
}

// What became of the cases of an area.
type outcome struct {
	tally
	finds []find
}

type run struct {
	programs    programs
	dir         string // of what the servers write
	real, berth *server
	known       knownDifferences
	seed        uint64
	workers     int
	shown       int
	all         bool // differences are printed as they are, not sorted by cause
	out         io.Writer
	namespaces  atomic.Int64
	ended       atomic.Bool // one of the servers is no more
	mu          sync.Mutex  // of what follows
	outcomes    map[string]*outcome
	covered     coverage
	spent       map[string]time.Duration // processor time by program
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

// runCase makes one case, runs it, and notes what became of it.
func (r *run) runCase(j job) {
	c := r.newCase(j.area, j.number)
	found, answers, err := r.both(c)
	if err != nil && r.berth.hasEnded() && !r.ended.Swap(true) {
		text, _ := os.ReadFile(r.berth.log)
		fmt.Fprintf(r.out, "berth apiserver ended by itself, probably at %s\n%s\n", c.ID, text)
	}
	left := r.known.without(j.area.name, found)
	for range 2 { // it may have been the mood of a busy machine
		if err == nil && len(left) == 0 {
			break
		}
		if found, answers, err = r.both(c); err == nil {
			left = r.known.without(j.area.name, found)
		}
	}
	if err != nil {
		left = []difference{{0, "run", "failure", "", err.Error()}}
	}
	r.note(c, len(found) > 0, left, answers)
}

func (r *run) note(c *sequence, differs bool, left []difference, answers []answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outcomes[c.Area]
	o.cases++
	switch {
	case len(left) > 0:
		o.differing++
		o.finds = append(o.finds, find{c, left})
		fmt.Fprintln(os.Stderr, c.ID, left[0], "of", quoted(c.Steps[left[0].step]))
	case differs:
		o.known++
	default:
		o.equal++
	}
	r.covered.add(c, answers)
}

// jobs lists the cases of the areas, mixed, so that those that wait lie beside those that compute.
func (r *run) jobs(cases int, only []string) (list []job) {
	total := 0
	for _, a := range areas {
		total += a.shareIn(only)
	}
	for i := range areas {
		a := &areas[i]
		share := a.shareIn(only)
		if share == 0 {
			continue
		}
		r.outcomes[a.name] = &outcome{}
		for number := range (cases*share + total - 1) / total {
			list = append(list, job{a, number})
		}
	}
	chance := rand.New(rand.NewPCG(r.seed, 0))
	chance.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// conform runs that many cases, some at a time, and gives how many differ.
func (r *run) conform(cases int, only []string) (int, error) {
	r.outcomes, r.covered = map[string]*outcome{}, coverage{}
	list := r.jobs(cases, only)
	begin := time.Now()
	most := (len(list) + max(1, len(list)/portion) - 1) / max(1, len(list)/portion)
	for at := 0; at < len(list) && !r.ended.Load(); at += most {
		if at > 0 {
			if err := r.restart(); err != nil {
				return 0, err
			}
		}
		done := min(at+most, len(list))
		r.runAll(list[at:done])
		fmt.Fprintf(os.Stderr, "%d of %d cases, %.1f a second\n", done, len(list), float64(done)/time.Since(begin).Seconds())
	}
	seconds := time.Since(begin).Seconds()
	differing := 0
	for i := range areas {
		if o := r.outcomes[areas[i].name]; o != nil {
			r.report(&areas[i], o.finds)
			differing += o.differing
		}
	}
	r.printTable()
	r.printCost(len(list), seconds)
	return differing, nil
}

func (r *run) runAll(list []job) {
	var wait sync.WaitGroup
	jobs := make(chan job)
	for range r.workers {
		wait.Go(func() {
			for j := range jobs {
				if !r.ended.Load() {
					r.runCase(j)
				}
			}
		})
	}
	for _, j := range list {
		jobs <- j
	}
	close(jobs)
	wait.Wait()
}

func (a *area) shareIn(only []string) int {
	if len(only) == 0 || slices.Contains(only, a.name) {
		return max(1, a.share)
	}
	return 0
}
