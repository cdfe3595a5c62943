package main

// What a component holds while it works: memory, descriptors, threads, and what its own gauges say. Of
// the four quarters of the time the second is the measure for the last: a figure whose median has
// grown by more than its limit is a leak. What has only ever been high for a moment is none.

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	memory        = "memory, KiB"
	memoryMinutes = 20
)

// A limit: so much more than the measure, and so much of it, may be there in the end.
type growth struct {
	share, more float64
}

// Limits by the beginning of a figure's name, the first that fits.
var growths = []struct {
	name string
	growth
}{
	{memory, growth{.05, 3 << 10}},
	{"descriptors", growth{0, 3}},
	{"threads", growth{0, 0}},
	{"series", growth{.05, 10}},
	{"", growth{.25, 25}}, // gauges: what is there now
}

func limitOf(name string, measure float64) float64 {
	for _, x := range growths {
		if strings.HasPrefix(name, x.name) {
			return measure*(1+x.share) + x.more
		}
	}
	return measure
}

// The figures of a process over time; times are shares of the whole.
type figures struct {
	process string
	names   []string // in the order in which they came
	samples map[string][]sample
}

type sample struct {
	at, value float64
}

func newFigures(process string) *figures {
	return &figures{process: process, samples: map[string][]sample{}}
}

func (f *figures) note(at float64, name string, value float64) {
	if _, ok := f.samples[name]; !ok {
		f.names = append(f.names, name)
	}
	f.samples[name] = append(f.samples[name], sample{at, value})
}

// latest is the last sample of a figure.
func (f *figures) latest(name string) float64 {
	all := f.samples[name]
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].value
}

// take notes what the process holds now.
func (f *figures) take(at float64, pid int, metrics string) error {
	if err := f.takeStatus(at, pid); err != nil {
		return err
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return err
	}
	f.note(at, "descriptors", float64(len(fds)))
	text, err := readText(metrics)
	if err != nil {
		return err
	}
	f.takeGauges(at, text)
	return nil
}

func (f *figures) takeStatus(at float64, pid int) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err
	}
	names := map[string]string{"VmRSS:": memory, "Threads:": "threads"}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || names[fields[0]] == "" {
			continue
		}
		value, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return err
		}
		f.note(at, names[fields[0]], value)
	}
	return nil
}

// takeGauges notes all gauges, and how many series there are.
func (f *figures) takeGauges(at float64, text []byte) {
	series, gauge := 0, ""
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			gauge, _ = strings.CutSuffix(rest, " gauge")
			if gauge == rest {
				gauge = ""
			}
		}
		name, number, ok := cutLast(line)
		if !ok || line[0] == '#' {
			continue
		}
		series++
		value, err := strconv.ParseFloat(number, 64)
		if family, _, _ := strings.Cut(name, "{"); err == nil && family == gauge {
			f.note(at, name, value)
		}
	}
	f.note(at, "series", float64(series))
}

func cutLast(line string) (before, after string, ok bool) {
	at := strings.LastIndexByte(line, ' ')
	if at < 1 {
		return "", "", false
	}
	return line[:at], line[at+1:], true
}

// gauge is the value of a series of a text of metrics.
func gaugeOf(text []byte, series string) float64 {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if name, number, ok := cutLast(lines.Text()); ok && name == series {
			value, _ := strconv.ParseFloat(number, 64)
			return value
		}
	}
	return 0
}

// ---- the verdict ----

// medianWithin is the median of the samples of a part of the time.
func medianWithin(all []sample, from, to float64) (float64, bool) {
	var values []float64
	for _, s := range all {
		if s.at >= from && s.at < to {
			values = append(values, s.value)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	return values[len(values)/2], true
}

// judge has a row for each figure, and tells how many have grown. Components remember what they have
// written about the last 4,096 objects, so memory is no measure before there were some thousands.
func (f *figures) judge(minutes float64) (rows []string, leaks int) {
	for _, name := range f.names {
		all := f.samples[name]
		second, hasSecond := medianWithin(all, .25, .5)
		last, hasLast := medianWithin(all, .75, 2)
		if !hasLast {
			continue // a gauge that is gone
		}
		if !hasSecond {
			second = 0
		}
		most := slices.MaxFunc(all, func(a, b sample) int { return int(a.value - b.value) }).value
		limit, verdict := limitOf(name, second), "ok"
		if name == memory && minutes < memoryMinutes {
			verdict = "too early to tell"
		} else if last > limit {
			verdict = "GROWS"
			leaks++
		}
		if second == 0 && last == 0 && most == 0 {
			continue
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %.0f | %.0f | %.0f | %.0f | %s |", f.process, name, second, last, limit, most, verdict))
	}
	return rows, leaks
}
