package main

// What must be true of every step in the life of a pod, whoever was killed meanwhile.

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// How old the cluster may be that a component has decided upon: its watches may have been broken.
const staleness = 10 * time.Second

// Timestamps are in seconds.
const rounding = 1500 * time.Millisecond

func (h *history) judgePod(it *sighting) {
	p := it.pod
	life := h.pods[p.UID]
	if life == nil {
		life = &podLife{}
		h.pods[p.UID] = life
	}
	if life.isGone {
		h.find("pod %s %s is there again after it was deleted", p.id(), short(p.UID))
	}
	before := life.last
	life.last = p
	h.judgePlace(it, life, before)
	if before != nil {
		h.judgeStep(it, before)
	}
	if p.isGoing() && (before == nil || !before.isGoing()) {
		h.judgeDeletion(it, life)
	}
	if it.gone {
		if !p.isGoing() && before != nil && !before.isGoing() {
			h.judgeDeletion(it, life)
		}
		life.isGone = true
	}
	h.count(it)
}

// judgePlace looks at bindings.
func (h *history) judgePlace(it *sighting, life *podLife, before *pod) {
	p := it.pod
	switch {
	case before != nil && before.Spec.NodeName != "" && before.Spec.NodeName != p.Spec.NodeName:
		h.find("pod %s %s is bound twice: to %s, then to %q", p.id(), short(p.UID), before.Spec.NodeName, p.Spec.NodeName)
	case p.Spec.NodeName != "" && (before == nil || before.Spec.NodeName == ""):
		life.boundAt = it.at
		h.bound++
		h.judgeBinding(it)
	}
}

func (h *history) judgeBinding(it *sighting) {
	p := it.pod
	states := h.nodes[p.Spec.NodeName]
	if len(states) == 0 {
		h.find("pod %s is bound to %s, which is not there", p.id(), p.Spec.NodeName)
		return
	}
	why := ""
	for i := len(states) - 1; i >= 0; i-- {
		if why = whyForbidden(p, states[i].node); why == "" || it.at.Sub(states[i].since) > staleness {
			break
		}
	}
	if why != "" {
		h.find("pod %s is bound to %s, which it may not go to for %v: %s", p.id(), p.Spec.NodeName, staleness, why)
	}
	there := []*pod{p}
	for uid, other := range h.onNode[p.Spec.NodeName] {
		if uid != p.UID {
			there = append(there, other)
		}
	}
	if why := whyFull(states[len(states)-1].node, there); why != "" {
		h.find("pod %s %s is bound to %s, which has no room for it: %s", p.id(), short(p.UID), p.Spec.NodeName, why)
	}
}

// judgeStep looks at what may not change: phases go forward, and what runs goes on to run.
func (h *history) judgeStep(it *sighting, before *pod) {
	p := it.pod
	if before.hasEnded() && p.Status.Phase != before.Status.Phase || before.Status.Phase == corev1.PodRunning && p.Status.Phase == corev1.PodPending {
		h.find("pod %s %s was %s and is %s", p.id(), short(p.UID), before.Status.Phase, p.Status.Phase)
	}
	if before.Status.PodIP != "" && p.Status.PodIP != before.Status.PodIP && !p.isRejected() {
		h.find("pod %s %s had the address %s and has %q", p.id(), short(p.UID), before.Status.PodIP, p.Status.PodIP)
	}
	if before.Status.StartTime != nil && !before.Status.StartTime.Equal(p.Status.StartTime) {
		h.find("pod %s %s began at %v and at %v", p.id(), short(p.UID), before.Status.StartTime, p.Status.StartTime)
	}
	if p.Labels["ends"] != "" || p.isGoing() {
		return
	}
	for i, c := range p.Status.ContainerStatuses {
		if i >= len(before.Status.ContainerStatuses) || before.Status.ContainerStatuses[i].State.Running == nil {
			continue
		}
		was := before.Status.ContainerStatuses[i]
		if c.State.Running == nil || c.RestartCount != was.RestartCount || c.ContainerID != was.ContainerID ||
			!c.State.Running.StartedAt.Equal(&was.State.Running.StartedAt) {
			h.find("pod %s %s: its container ran and did not go on: %s, restarts %d to %d, %s to %s", p.id(), short(p.UID), p.Status.Reason,
				was.RestartCount, c.RestartCount, was.ContainerID, c.ContainerID)
		}
	}
	if before.isReady() && !p.isReady() && !p.hasEnded() && !h.wasAway(it, p.Spec.NodeName) {
		h.find("pod %s %s was ready and is not", p.id(), short(p.UID))
	}
}

// wasAway: nobody heard of the node's kubelet, so that its pods are not said to be ready.
func (h *history) wasAway(it *sighting, name string) bool {
	states := h.nodes[name]
	for i := len(states) - 1; i >= 0; i-- {
		if !isNodeReady(states[i].node) {
			return true
		}
		if it.at.Sub(states[i].since) > staleness {
			break
		}
	}
	return false
}

// count keeps who takes room on which node, and how many pods owners have.
func (h *history) count(it *sighting) {
	p := it.pod
	if p.Spec.NodeName != "" {
		if h.onNode[p.Spec.NodeName] == nil {
			h.onNode[p.Spec.NodeName] = map[types.UID]*pod{}
		}
		if it.gone || p.hasEnded() {
			delete(h.onNode[p.Spec.NodeName], p.UID)
		} else {
			h.onNode[p.Spec.NodeName][p.UID] = p
		}
	}
	owner := controllerOf(p)
	states := h.sets[owner]
	if len(states) == 0 {
		return
	}
	if h.ofOwner[owner] == nil {
		h.ofOwner[owner] = map[types.UID]bool{}
	}
	if it.gone || !p.isLive() {
		delete(h.ofOwner[owner], p.UID)
		return
	}
	if h.ofOwner[owner][p.UID] {
		return
	}
	h.ofOwner[owner][p.UID] = true
	most := 0
	for i := len(states) - 1; i >= 0; i-- {
		if most = max(most, states[i].replicas); it.at.Sub(states[i].since) > staleness {
			break
		}
	}
	if n := len(h.ofOwner[owner]); n > most+h.unanswered(owner) {
		h.find("pod %s %s is one too many: its ReplicaSet has %d and wanted %d at most for %v", p.id(), short(p.UID), n, most, staleness)
	}
}

// unanswered counts the pods of an owner that the server may have made and not said so, because it was killed:
// whoever asked asks again, and takes away what is too much when it sees that.
func (h *history) unanswered(owner types.UID) int {
	n := 0
	for id := range h.ofOwner[owner] {
		made := h.pods[id].last.CreationTimestamp.Time
		if slices.ContainsFunc(h.outages, func(o outage) bool { return made.Before(o.from) && o.from.Sub(made) < 2*rounding }) {
			n++
		}
	}
	return n
}

// judgeDeletion asks who could have wanted it.
func (h *history) judgeDeletion(it *sighting, life *podLife) {
	p := it.pod
	if c := p.condition(corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue && c.Reason == "DeletionByTaintManager" {
		h.judgeEviction(it, life)
		return
	}
	if controllerOf(p) != "" || h.asked[p.id()] || h.asked[p.Namespace+"/"] {
		return
	}
	h.find("pod %s %s is deleted though nobody asked for it", p.id(), short(p.UID))
}

// judgeEviction: there was a taint that the pod did not tolerate, or not for longer.
func (h *history) judgeEviction(it *sighting, life *podLife) {
	p := it.pod
	states := h.nodes[p.Spec.NodeName]
	i := len(states) - 1
	for until := it.at; i >= 0 && stay(p, states[i].node.Spec.Taints) < 0; i-- {
		if until = states[i].since; it.at.Sub(until) > staleness {
			i = -1
			break
		}
	}
	if i < 0 {
		h.find("pod %s %s is evicted from %s, whose taints it tolerates", p.id(), short(p.UID), p.Spec.NodeName)
		return
	}
	least, since := int64(1<<40), it.at
	for ; i >= 0 && stay(p, states[i].node.Spec.Taints) >= 0; i-- {
		least = min(least, stay(p, states[i].node.Spec.Taints))
		since = states[i].since
	}
	if since.Before(life.boundAt) {
		since = life.boundAt
	}
	for _, o := range h.outages {
		if since.After(o.from) && since.Before(o.to.Add(2*time.Second)) {
			since = o.from // it may have happened before we were told
		}
	}
	if stayed := it.at.Sub(since); stayed < time.Duration(least)*time.Second-rounding {
		h.find("pod %s %s is evicted from %s after %v, and tolerates its taints for %d s", p.id(), short(p.UID), p.Spec.NodeName, stayed, least)
	}
}

// succeeded counts the pods of an owner that were ever seen to end well.
func (h *history) succeeded(owner types.UID) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, life := range h.pods {
		if controllerOf(life.last) == owner && life.last.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// disturbed: pods of this owner have failed or were taken away.
func (h *history) disturbed(owner types.UID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, life := range h.pods {
		p := life.last
		if controllerOf(p) == owner && (p.Status.Phase == corev1.PodFailed || life.isGone && p.Status.Phase != corev1.PodSucceeded) {
			return true
		}
	}
	return false
}
