package main

// What the churn has made: nodes with the taints that they had, pods with what they tolerate, and so
// when each of these must be evicted, and when none may be.

import (
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	taintKey  = "example.com/sla"
	noValue   = -1
	valueMost = 1000
	forEver   = -1
)

// A time at which the taint of a node became another one.
type taintChange struct {
	at    time.Time
	value int // noValue: there is none from now on
}

type churnNode struct {
	name    string
	changes []taintChange
}

func (n *churnNode) value() int {
	if len(n.changes) == 0 {
		return noValue
	}
	return n.changes[len(n.changes)-1].value
}

// change notes a taint; what is long ago is forgotten but for its last state.
func (n *churnNode) change(value int, now time.Time) {
	n.changes = append(n.changes, taintChange{now, value})
	for len(n.changes) > 2 && now.Sub(n.changes[1].at) > 10*time.Minute {
		n.changes = n.changes[1:]
	}
}

// A pod, and what of it was seen.
type churnPod struct {
	name      string
	operator  string // Gt or Lt; empty: it tolerates no taint
	threshold int
	seconds   int  // as long as it tolerates those; forEver: always
	fits      bool // some node can have it
	node      string
	made      time.Time
	seen      time.Time // on its node, first
	isDeleted bool      // by us
}

func (p *churnPod) tolerates(value int) bool {
	switch p.operator {
	case "Gt":
		return value > p.threshold
	case "Lt":
		return value < p.threshold
	}
	return false
}

// due is when the pod must be evicted from a node that it is on from a time on, and since when that
// holds without a break: the first time at which it has been so for as long as `lasting`.
//
// Follows k8s.io/kubernetes pkg/controller/tainteviction, func (*Controller) processPodOnNode.
func (p *churnPod) due(n *churnNode, from, now time.Time, lasting time.Duration) bool {
	var since time.Time // of the taint that is tolerated for some time, through other values of it
	for i, c := range n.changes {
		end := now
		if i+1 < len(n.changes) {
			end = n.changes[i+1].at
		}
		begin := c.at
		if begin.Before(from) {
			begin = from
		}
		if c.value == noValue || !end.After(begin) {
			if end.After(from) {
				since = time.Time{}
			}
			continue
		}
		if since.IsZero() {
			since = begin
		}
		at := begin
		if p.tolerates(c.value) {
			if p.seconds == forEver {
				since = time.Time{}
				continue
			}
			at = since.Add(time.Duration(p.seconds) * time.Second)
		}
		if end.Sub(at) >= lasting {
			return true
		}
	}
	return false
}

// wasDue tells whether the pod would have to go for somebody who has not seen the last changes.
func (p *churnPod) wasDue(n *churnNode, now time.Time) bool {
	for i := len(n.changes); i > 0 && (i == len(n.changes) || now.Sub(n.changes[i].at) < churnPatience); i-- {
		if p.due(&churnNode{changes: n.changes[:i]}, p.made.Add(-churnPatience), now, -churnEarly) {
			return true
		}
	}
	return false
}

// ---- bodies ----

func taintsBody(value int) []byte {
	if value == noValue {
		return []byte(`{"spec":{"taints":[]}}`)
	}
	return fmt.Appendf(nil, `{"spec":{"taints":[{"key":"%s","value":"%d","effect":"NoExecute"}]}}`, taintKey, value)
}

// newPod draws a pod: most tolerate some values of the taint, half of these for some seconds only.
func newPod(r *rand.Rand, i int) *churnPod {
	p := &churnPod{name: fmt.Sprintf("churn-%d", i), seconds: forEver, fits: r.IntN(20) > 0}
	switch r.IntN(5) {
	case 0:
	case 1, 2:
		p.operator = "Lt"
	default:
		p.operator = "Gt"
	}
	p.threshold = r.IntN(valueMost)
	if r.IntN(2) == 0 {
		p.seconds = r.IntN(20)
	}
	return p
}

// body has labels and requests that few pods share, so that nothing can be remembered for ever.
func (p *churnPod) body(i int) []byte {
	extra := ""
	if p.operator != "" {
		seconds := ""
		if p.seconds != forEver {
			seconds = fmt.Sprintf(`,"tolerationSeconds":%d`, p.seconds)
		}
		extra += fmt.Sprintf(`,"tolerations":[{"key":"%s","operator":"%s","value":"%d","effect":"NoExecute"%s}]`, taintKey, p.operator, p.threshold, seconds)
	}
	switch {
	case !p.fits:
		extra += fmt.Sprintf(`,"nodeSelector":{"nobody":"has-%d"}`, i)
	case i%4 == 0:
		extra += fmt.Sprintf(`,"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":%d,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"of":"%d"}}}}]}}`, 1+i%100, i%50)
	case i%4 == 1:
		extra += fmt.Sprintf(`,"topologySpreadConstraints":[{"maxSkew":%d,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"of":"%d"}}}]`, 1+i%3, i%50)
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{"app":"churn","of":"%d","own":"value-%d"}},"spec":{"terminationGracePeriodSeconds":0,`+
		`"containers":[{"name":"c","image":"registry.example.com/image-%d","resources":{"requests":{"cpu":"%dm","memory":"%dKi"}}}]%s}}`,
		p.name, i%50, i, i, 10+i%100, 1024+i%1000, extra)
}
