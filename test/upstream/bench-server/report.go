package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A record is a line of standard output: one value of one side.
type record struct {
	Part  string  `json:"part"` // rows of the comparison, or a table of its own
	Group string  `json:"group"`
	Name  string  `json:"name"`
	Side  string  `json:"side"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

// Groups of the comparison.
const (
	groupWrite  = "writes, processor time of all server processes"
	groupGet    = "GET, processor time"
	groupList   = "list, processor time"
	groupWatch  = "watch, processor time of an event for one watcher"
	groupBeat   = "heartbeats of 5,000 nodes, processor time"
	groupTail   = "99th percentile of the latency under the same load"
	groupStart  = "start to ready"
	groupIdle   = "memory, idle"
	groupLoaded = "memory, 5,000 nodes and 50,000 pods"
	groupBound  = "a pod created until it is bound, of many at once"
	groupLive   = "memory of all processes"
)

const (
	unitProcessor = "ns of processor time"
	unitTime      = "ns"
	unitBytes     = "bytes"
	unitRate      = "requests/s"
)

func emit(part, group, name, side, unit string, value float64) {
	line, _ := json.Marshal(record{part, group, name, side, unit, value})
	os.Stdout.Write(append(line, '\n'))
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// emitCost tells all that a load has cost.
func emitCost(group, name string, s *server, c *cost) {
	say("%-9s %-28s %v", s.name, name, c)
	emit("rows", group, name, s.name, unitProcessor, float64(c.each().Nanoseconds()))
	emit("rows", groupTail, name, s.name, unitTime, float64(c.quantile(.99).Nanoseconds()))
	emit("latency", group, name, s.name, unitTime, float64(c.quantile(.5).Nanoseconds()))
	emit("rate", group, name, s.name, unitRate, float64(c.requests)/c.wall.Seconds())
}
