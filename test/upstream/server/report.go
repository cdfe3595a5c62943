package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

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

func (r *run) printTable() {
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "area\tcases\tequal\tknown\tdiffering\t")
	var sum tally
	for _, a := range areas {
		t, ok := r.outcomes[a.name]
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
	r.covered.summarize(r.out)
}

// printCost tells how fast it went, and whose processor time it took.
func (r *run) printCost(cases int, seconds float64) {
	r.stop()
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		r.spent["compare"] = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.spent)) {
		parts = append(parts, fmt.Sprintf("%s %.0f s", name, r.spent[name].Seconds()))
	}
	fmt.Fprintf(r.out, "%.1f cases a second for %.0f s; processor time: %s\n", float64(cases)/seconds, seconds, strings.Join(parts, ", "))
}
