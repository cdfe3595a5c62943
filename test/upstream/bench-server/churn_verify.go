package main

// What the churn holds against what should be: pods while it lasts, evictions and bindings behind it.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ---- meanwhile ----

type seenPod struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func (k *churn) list() ([]seenPod, error) {
	var all struct {
		Items []seenPod `json:"items"`
	}
	status, body, err := k.ask("GET", churnPods, "", nil)
	if err == nil && status != 200 {
		err = fmt.Errorf("list: %d %.300s", status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &all)
	}
	return all.Items, err
}

func (k *churn) nodeOf(name string) *churnNode {
	for _, n := range k.nodes {
		if n.name == name {
			return n
		}
	}
	return k.gone[name]
}

// look holds what is there against what should be.
func (k *churn) look() error {
	items, err := k.list()
	if err != nil {
		return err
	}
	now, present := time.Now(), map[string]bool{}
	for _, item := range items {
		present[item.Metadata.Name] = true
		if p := k.pods[item.Metadata.Name]; p != nil {
			if err := k.lookAt(p, item.Spec.NodeName, now); err != nil {
				return err
			}
		}
	}
	for name, p := range k.pods {
		if present[name] {
			continue
		}
		if err := k.lookForReason(p, now); err != nil {
			return err
		}
		delete(k.pods, name)
		if i := slices.Index(k.names, name); i >= 0 {
			k.names = slices.Delete(k.names, i, i+1)
		}
	}
	return k.membersLive()
}

// lookAt sees a pod that is there.
func (k *churn) lookAt(p *churnPod, node string, now time.Time) error {
	if p.node != "" && p.node != node {
		return fmt.Errorf("%s was on %s, and is on '%s'", p.name, p.node, node)
	}
	if p.node == "" && node != "" {
		p.node, p.seen = node, now
		k.counts["pods seen bound"]++
	}
	late := now.Sub(k.upSince) > churnPatience
	if node == "" && p.fits && late && now.Sub(p.made) > 2*churnPatience && k.hasRoom(now) {
		return fmt.Errorf("%s, made %v ago, has no node", p.name, now.Sub(p.made).Round(time.Second))
	}
	from := p.seen
	if k.upSince.After(from) {
		from = k.upSince
	}
	n := k.nodeOf(node)
	if n != nil && k.gone[node] == nil && late && p.due(n, from, now, churnPatience) {
		return fmt.Errorf("%s is still on %s, %v behind the time at which it should be evicted: %+v, taints %v", p.name, node,
			churnPatience, *p, n.changes)
	}
	return nil
}

// hasRoom tells whether some node has long had no taint.
func (k *churn) hasRoom(now time.Time) bool {
	for _, n := range k.nodes {
		if n.value() == noValue && now.Sub(n.changes[len(n.changes)-1].at) > churnPatience {
			return true
		}
	}
	return false
}

// lookForReason sees that a pod is gone. When its connection was broken, taint eviction may not have
// been told that the node has lost its taint, or be told of a new pod before that: as upstream, it
// watches each by itself.
func (k *churn) lookForReason(p *churnPod, now time.Time) error {
	n := k.nodeOf(p.node)
	switch {
	case p.isDeleted || now.Sub(p.made) < churnEarly:
		return nil
	case n == nil:
		k.counts["pods gone before they were seen bound"]++
		return nil
	case k.gone[p.node] != nil || p.due(n, p.made, now, -churnEarly):
		k.counts["pods evicted"]++
		return nil
	case now.Sub(k.whole) < churnPatience && p.wasDue(n, now):
		k.counts["pods evicted by what was seen before a break"]++
		return nil
	}
	return fmt.Errorf("%s is gone from %s without a reason: %+v, taints %v", p.name, p.node, *p, n.changes)
}

// ---- behind it ----

// settle takes all taints away and waits until all pods that can be bound are.
func (k *churn) settle() error {
	for _, n := range k.nodes {
		if err := k.taint(n, noValue); err != nil {
			return err
		}
	}
	return k.within(churnPatience, "all pods have nodes", func() (bool, error) {
		items, err := k.list()
		for _, item := range items {
			if p := k.pods[item.Metadata.Name]; p != nil && p.fits && item.Spec.NodeName == "" {
				return false, err
			}
		}
		return err == nil, err
	})
}

func (k *churn) within(d time.Duration, what string, is func() (bool, error)) error {
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		ok, err := is()
		if err != nil || time.Since(begin) > d {
			return errors.Join(err, fmt.Errorf("not within %v: %s", d, what))
		}
		if ok {
			say("ok %s (%.1f s)", what, time.Since(begin).Seconds())
			return nil
		}
	}
}

// The sets of pods of the last trial, all of which tolerate the taint sla=950 or do not, and when they
// must go: so many seconds behind it, forEver: never.
var lastSets = []struct {
	name               string
	threshold, seconds int
	due                int
}{{"stays", 900, forEver, forEver}, {"later", 900, 5, 5}, {"leaves", 990, forEver, 0}}

const (
	lastValue = 950
	lastPods  = 50
	lastSlack = 5 * time.Second
)

func (k *churn) emptyOut() error {
	if err := k.do("DELETE", churnPods, jsonType, []byte(`{"gracePeriodSeconds":0}`)); err != nil {
		return err
	}
	return k.within(churnPatience, "all pods are gone", func() (bool, error) {
		items, err := k.list()
		return err == nil && len(items) == 0, err
	})
}

// tryEvictions sees that pods go when they must, and no others.
func (k *churn) tryEvictions() error {
	all := 0
	for _, set := range lastSets {
		for i := range lastPods {
			p := &churnPod{name: fmt.Sprintf("%s-%d", set.name, i), operator: "Gt", threshold: set.threshold, seconds: set.seconds, fits: true}
			if err := k.do("POST", churnPods, jsonType, p.body(i)); err != nil {
				return err
			}
			all++
		}
	}
	err := k.within(churnPatience, "pods that are to be evicted have nodes", func() (bool, error) {
		items, err := k.list()
		return err == nil && len(items) == all && !slices.ContainsFunc(items, func(x seenPod) bool { return x.Spec.NodeName == "" }), err
	})
	if err != nil {
		return err
	}
	begin := time.Now()
	for _, n := range k.nodes {
		if err := k.taint(n, lastValue); err != nil {
			return err
		}
	}
	return k.seeEvictions(begin, time.Now())
}

func (k *churn) seeEvictions(first, last time.Time) error {
	went := map[string][]time.Duration{}
	left := map[string]int{}
	for end := last.Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		items, err := k.list()
		if err != nil {
			return err
		}
		clear(left)
		for _, item := range items {
			set, _, _ := strings.Cut(item.Metadata.Name, "-")
			left[set]++
		}
		for _, set := range lastSets {
			for len(went[set.name]) < lastPods-left[set.name] {
				went[set.name] = append(went[set.name], time.Since(first))
			}
		}
	}
	for _, set := range lastSets {
		all, due := went[set.name], time.Duration(set.due)*time.Second
		if set.due == forEver {
			if len(all) > 0 {
				return fmt.Errorf("%s: %d pods are gone", set.name, len(all))
			}
			say("ok %s: all pods are there", set.name)
			continue
		}
		if len(all) < lastPods || all[0] < due || all[len(all)-1] > due+last.Sub(first)+lastSlack {
			return fmt.Errorf("%s: %d of %d pods went, due after %v: %v", set.name, len(all), lastPods, due, all)
		}
		say("ok %s: %d pods went %.2f to %.2f s behind the first taint, due after %v; nodes were tainted within %.2f s", set.name,
			len(all), all[0].Seconds(), all[len(all)-1].Seconds(), due, last.Sub(first).Seconds())
	}
	return nil
}

// readAudit counts bindings by what the server says of them.
func (k *churn) readAudit() error {
	f, err := os.Open(filepath.Join(k.s.dir, "audit.log"))
	if err != nil {
		return err
	}
	defer f.Close()
	bound, codes := map[string]int{}, map[int]int{}
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var e struct {
			ObjectRef      struct{ Name, Subresource string }
			ResponseStatus struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.ObjectRef.Subresource != "binding" {
			continue // a line may have been cut when the server was killed
		}
		codes[e.ResponseStatus.Code]++
		if e.ResponseStatus.Code != 201 {
			continue
		}
		if bound[e.ObjectRef.Name]++; bound[e.ObjectRef.Name] > 1 {
			return fmt.Errorf("%s was bound twice", e.ObjectRef.Name)
		}
	}
	say("ok %d pods were bound once each by the audit log; bindings by code: %v", len(bound), codes)
	return lines.Err()
}
