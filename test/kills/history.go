package main

// What watches have told since the beginning, in the order of revisions: the lives of pods, and the
// states of nodes and ReplicaSets. The watches go on through all restarts, so no event is missed.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Something that a watch has told.
type sighting struct {
	revision uint64
	at       time.Time
	gone     bool
	pod      *pod
	node     *node
	set      *replicaSet
}

// A resource that is watched, with the last revision that was told of each of its objects.
type stream struct {
	path     string
	read     func(json.RawMessage, *sighting) (metav1.Object, error)
	known    map[string]uint64 // by namespace/name
	revision uint64
}

type podLife struct {
	last    *pod
	boundAt time.Time
	isGone  bool
}

type nodeState struct {
	since time.Time
	node  *node
}

type setState struct {
	since    time.Time
	replicas int
}

// A time in which the server was away.
type outage struct{ from, to time.Time }

type history struct {
	mu      sync.Mutex
	streams []*stream
	waiting []sighting // not looked at yet
	find    func(format string, args ...any)
	log     io.Writer

	pods    map[types.UID]*podLife
	onNode  map[string]map[types.UID]*pod // those that take room there
	ofOwner map[types.UID]map[types.UID]bool
	nodes   map[string][]nodeState
	sets    map[types.UID][]setState
	outages []outage
	asked   map[string]bool // pods that the churn has asked to delete, by namespace/name
	events  int
	bound   int
}

func newHistory(log io.Writer, find func(string, ...any)) *history {
	h := &history{find: find, log: log,
		pods: map[types.UID]*podLife{}, onNode: map[string]map[types.UID]*pod{}, ofOwner: map[types.UID]map[types.UID]bool{},
		nodes: map[string][]nodeState{}, sets: map[types.UID][]setState{}, asked: map[string]bool{}}
	h.streams = []*stream{
		{path: "/api/v1/pods", read: func(data json.RawMessage, s *sighting) (metav1.Object, error) {
			s.pod = &pod{}
			return s.pod, json.Unmarshal(data, s.pod)
		}},
		{path: "/api/v1/nodes", read: func(data json.RawMessage, s *sighting) (metav1.Object, error) {
			s.node = &node{}
			return s.node, json.Unmarshal(data, s.node)
		}},
		{path: "/apis/apps/v1/replicasets", read: func(data json.RawMessage, s *sighting) (metav1.Object, error) {
			s.set = &replicaSet{}
			return s.set, json.Unmarshal(data, s.set)
		}},
	}
	for _, s := range h.streams {
		s.known = map[string]uint64{}
	}
	return h
}

// begin lists what is there and watches from then on.
func (h *history) begin(ctx context.Context, a *api) error {
	for _, s := range h.streams {
		var items []json.RawMessage
		revision, err := list(a, s.path, &items)
		if err != nil {
			return err
		}
		for _, item := range items {
			if _, err := h.note(s, event{"ADDED", item}); err != nil {
				return err
			}
		}
		go func() {
			err := a.watch(ctx, s.path, revision, func(e event) (string, error) { return h.note(s, e) })
			if err != nil {
				h.find("%v", err)
			}
		}()
	}
	return nil
}

// note takes an event in and gives its revision.
func (h *history) note(s *stream, e event) (string, error) {
	var it sighting
	meta, err := s.read(e.Object, &it)
	if err != nil {
		return "", fmt.Errorf("the watch of %s: %v in %.300s", s.path, err, e.Object)
	}
	it.at = time.Now()
	it.gone = e.Type == "DELETED"
	text := meta.GetResourceVersion()
	if it.revision, err = strconv.ParseUint(text, 10, 64); err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Type == "BOOKMARK" {
		return text, nil
	}
	if it.revision <= s.revision && h.events > 0 && s.revision > 0 && e.Type != "ADDED" {
		return "", fmt.Errorf("the watch of %s tells revision %d behind %d", s.path, it.revision, s.revision)
	}
	s.revision = max(s.revision, it.revision)
	key := meta.GetNamespace() + "/" + meta.GetName()
	if it.gone {
		delete(s.known, key)
	} else {
		s.known[key] = it.revision
	}
	h.events++
	h.waiting = append(h.waiting, it)
	h.write(e.Type, &it)
	return text, nil
}

// write adds a line to the log of events.
func (h *history) write(kind string, it *sighting) {
	at := it.at.UTC().Format("15:04:05.000")
	switch {
	case it.pod != nil:
		p := it.pod
		going := ""
		if p.isGoing() {
			going = " going since " + p.DeletionTimestamp.UTC().Format("15:04:05")
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.DisruptionTarget || c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue {
				going += " " + string(c.Type) + "=" + c.Reason
			}
		}
		fmt.Fprintf(h.log, "%s %d %s pod %s %s node=%s %s ready=%v%s\n", at, it.revision, kind, p.id(), short(p.UID),
			p.Spec.NodeName, p.Status.Phase, p.isReady(), going)
	case it.node != nil:
		fmt.Fprintf(h.log, "%s %d %s node %s unschedulable=%v taints=", at, it.revision, kind, it.node.Name, it.node.Spec.Unschedulable)
		for _, t := range it.node.Spec.Taints {
			fmt.Fprintf(h.log, "%s=%s:%s ", t.Key, t.Value, t.Effect)
		}
		fmt.Fprintln(h.log)
	case it.set != nil:
		fmt.Fprintf(h.log, "%s %d %s replicaset %s/%s %s wants %d has %d\n", at, it.revision, kind, it.set.Namespace, it.set.Name,
			short(it.set.UID), *it.set.Spec.Replicas, it.set.Status.Replicas)
	}
}

// whyBehind says where a stream has not told yet what a list shows.
func (h *history) whyBehind(a *api) (string, uint64) {
	oldest := uint64(0)
	for _, s := range h.streams {
		var items []struct {
			metav1.ObjectMeta `json:"metadata"`
		}
		text, err := list(a, s.path, &items)
		if err != nil {
			return err.Error(), 0
		}
		at, _ := strconv.ParseUint(text, 10, 64)
		if oldest == 0 || at < oldest {
			oldest = at
		}
		if why := h.compare(s, items, at); why != "" {
			return why, 0
		}
	}
	return "", oldest
}

func (h *history) compare(s *stream, items []struct {
	metav1.ObjectMeta `json:"metadata"`
}, at uint64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	listed := map[string]bool{}
	for i := range items {
		key := items[i].Namespace + "/" + items[i].Name
		listed[key] = true
		revision, _ := strconv.ParseUint(items[i].ResourceVersion, 10, 64)
		if s.known[key] < revision {
			return fmt.Sprintf("the watch of %s has not told revision %d of %s", s.path, revision, key)
		}
	}
	for key, revision := range s.known {
		if !listed[key] && revision <= at {
			return fmt.Sprintf("the watch of %s has not told that %s is gone", s.path, key)
		}
	}
	return ""
}

// judge looks at all that was told up to a revision.
func (h *history) judge(upTo uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortStableFunc(h.waiting, func(a, b sighting) int {
		return int(int64(a.revision) - int64(b.revision))
	})
	n := 0
	for n < len(h.waiting) && h.waiting[n].revision <= upTo {
		switch it := &h.waiting[n]; {
		case it.pod != nil:
			h.judgePod(it)
		case it.node != nil:
			h.nodes[it.node.Name] = append(h.nodes[it.node.Name], nodeState{it.at, it.node})
		case it.set != nil:
			h.sets[it.set.UID] = append(h.sets[it.set.UID], setState{it.at, int(*it.set.Spec.Replicas)})
		}
		n++
	}
	h.waiting = slices.Delete(h.waiting, 0, n)
}

// ask notes that the churn is about to delete pods whose names begin so.
func (h *history) ask(name string) {
	h.mu.Lock()
	h.asked[name] = true
	h.mu.Unlock()
}

// hadOutage: the server was away not longer ago than that.
func (h *history) hadOutage(within time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.outages, func(o outage) bool { return time.Since(o.to) < within })
}

func (h *history) away(from, to time.Time) {
	h.mu.Lock()
	h.outages = append(h.outages, outage{from, to})
	h.mu.Unlock()
}
