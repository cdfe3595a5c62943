package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Clusters that are full of less important pods, and a pod that would fit if some of them went.

var (
	priorities = []int{-10, 0, 5, 5, 10}
	startTimes = []string{"2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-02T00:00:00Z", "2026-02-01T00:00:00Z"}
)

// simplify leaves of a pod what takes room, so that going makes some.
func simplify(r *rand.Rand, pod object) {
	spec := pod["spec"].(object)
	for _, key := range []string{"affinity", "nodeSelector", "topologySpreadConstraints", "initContainers", "overhead", "resources"} {
		if chance(r, 70) {
			delete(spec, key)
		}
	}
	requests := object{"cpu": pick(r, []string{"500m", "1", "1", "2"})}
	maybe(r, 40, requests, "memory", pick(r, []string{"1Gi", "2Gi"}))
	maybe(r, 10, requests, "example.com/gpu", "1")
	c := object{"name": "c", "image": "app", "resources": object{"requests": requests}}
	maybe(r, 15, c, "ports", []any{object{"containerPort": 80, "hostPort": 80}})
	spec["containers"] = []object{c}
}

func setPriority(r *rand.Rand, pod object, from []int) {
	maybe(r, 85, pod["spec"].(object), "priority", pick(r, from))
}

// A pod that may have to go, or is going already: because of a preemption, or for some other reason.
func possibleVictim(r *rand.Rand, number, nodes int) object {
	pod := boundPod(r, number, nodes)
	if chance(r, 80) {
		simplify(r, pod)
	}
	setPriority(r, pod, append(priorities, 100))
	status := object{}
	maybe(r, 75, status, "startTime", pick(r, startTimes))
	if chance(r, 12) {
		pod["metadata"].(object)["deletionTimestamp"] = "2026-03-01T00:00:00Z"
		maybe(r, 80, status, "conditions", []any{object{"type": "DisruptionTarget", "status": pick(r, []string{"True", "True", "False"}),
			"reason": pick(r, []string{"PreemptionByScheduler", "PreemptionByScheduler", "TerminationByKubelet"})}})
	}
	pod["status"] = status
	return pod
}

// A pod that was promised a node and does not come yet.
func nominatedPod(r *rand.Rand, number, nodes int) object {
	pod := randomPod(r, fmt.Sprintf("q%02d", number))
	if chance(r, 80) {
		simplify(r, pod)
	}
	setPriority(r, pod, append(priorities, 100, 1000))
	pod["spec"].(object)["schedulingGates"] = []any{object{"name": "example.com/wait"}}
	pod["status"] = object{"nominatedNodeName": fmt.Sprintf("n%02d", r.IntN(nodes))}
	return pod
}

func randomBudget(r *rand.Rand, number int) object {
	spec := object{"minAvailable": 1}
	maybe(r, 90, spec, "selector", clusterSelector(r))
	maybe(r, 5, spec, "selector", object{})
	disrupted := object{}
	maybe(r, 30, disrupted, fmt.Sprintf("p%02d", r.IntN(6)), "2026-03-01T00:00:00Z")
	return object{"metadata": object{"name": fmt.Sprintf("b%d", number), "namespace": pick(r, namespaces)}, "spec": spec,
		"status": object{"disruptionsAllowed": r.IntN(3), "disruptedPods": disrupted, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}
}

// A node with room for a few pods.
func smallNode(r *rand.Rand, name string) object {
	node := randomNode(r, name)
	if chance(r, 70) {
		delete(node["spec"].(object), "taints")
		delete(node["spec"].(object), "unschedulable")
	}
	allocatable := node["status"].(object)["allocatable"].(object)
	allocatable["cpu"], allocatable["memory"] = pick(r, []string{"1", "2", "3", "4"}), pick(r, []string{"2Gi", "8Gi", "16Gi"})
	maybe(r, 80, allocatable, "pods", pick(r, []string{"110", "110", "4"}))
	maybe(r, 50, allocatable, "example.com/gpu", pick(r, []string{"1", "4"}))
	return node
}

func preemptor(r *rand.Rand, nodes int) object {
	pod := randomPod(r, "p")
	if chance(r, 85) {
		simplify(r, pod)
	}
	spec := pod["spec"].(object)
	setPriority(r, pod, []int{-10, 10, 100, 100, 1000, 1000})
	maybe(r, 4, spec, "preemptionPolicy", pick(r, []string{"Never", "PreemptLowerPriority"}))
	if chance(r, 30) {
		pod["status"] = object{"nominatedNodeName": fmt.Sprintf("n%02d", r.IntN(nodes+1))}
	}
	return pod
}

// keepApart leaves each host port of a node and each name of a claim to one of the pods. Upstream takes a port for
// free when one of several pods that have it goes, and counts claims that are for one pod only by their name alone.
func keepApart(pods []object, pod object) {
	taken := map[string]bool{}
	isFree := func(parts ...any) bool {
		key := fmt.Sprint(parts...)
		defer func() { taken[key] = true }()
		return !taken[key]
	}
	for _, other := range pods {
		spec := other["spec"].(object)
		for _, list := range []string{"containers", "initContainers"} {
			containers, _ := spec[list].([]object)
			for _, c := range containers {
				ports, _ := c["ports"].([]any)
				c["ports"] = slices.DeleteFunc(ports, func(port any) bool { return !isFree(spec["nodeName"], port.(object)["hostPort"]) })
			}
		}
		near := other["metadata"].(object)["namespace"] == pod["metadata"].(object)["namespace"]
		volumes, _ := spec["volumes"].([]object)
		spec["volumes"] = slices.DeleteFunc(volumes, func(v object) bool {
			claim, ok := v["persistentVolumeClaim"].(object)
			return ok && (!near || !isFree("claim", claim["claimName"]))
		})
	}
}

// makeEnemies gives the nodes room, and the pod rules that others may be in the way of.
func makeEnemies(r *rand.Rand, nodes []object, pod object) {
	makeRoom(r, nodes, pod)
	term := func() object {
		return object{"topologyKey": pick(r, []string{hostKey, hostKey, zoneKey}), "labelSelector": clusterSelector(r), "namespaceSelector": object{}}
	}
	spec := pod["spec"].(object)
	switch r.IntN(4) {
	case 0:
		spec["affinity"] = object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []object{term()}}}
	case 1:
		spec["affinity"] = object{"podAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []object{term()}},
			"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []object{term()}}}
	case 2:
		spread := clusterSpread(r)
		spread["whenUnsatisfiable"], spread["maxSkew"] = "DoNotSchedule", 1
		spec["topologySpreadConstraints"] = []object{spread}
	case 3:
		spec["containers"].([]object)[0]["ports"] = []any{object{"containerPort": 80, "hostPort": 80}}
	}
}

// letLive ends the end of pods that the pod might have to spread from: upstream does not count them where they are,
// but where they go.
func letLive(l line, pods []object, pod object) {
	_, spreads := pod["spec"].(object)["topologySpreadConstraints"]
	_, mightSpread := l["config"] // by a profile's default
	for _, other := range pods {
		meta := other["metadata"].(object)
		if (spreads || mightSpread) && meta["namespace"] == pod["metadata"].(object)["namespace"] {
			delete(meta, "deletionTimestamp")
		}
	}
}

func generatePreempt(r *rand.Rand) line {
	l := line{}
	nodes, pods, pending, budgets := []object{}, []object{}, []object{}, []object{}
	for i := range 1 + r.IntN(5) {
		nodes = append(nodes, smallNode(r, fmt.Sprintf("n%02d", i)))
	}
	for i := range r.IntN(5 * len(nodes)) {
		pods = append(pods, possibleVictim(r, i, len(nodes)))
	}
	for i := range max(0, r.IntN(6)-2) {
		pending = append(pending, nominatedPod(r, i, len(nodes)))
	}
	for i := range r.IntN(4) {
		budgets = append(budgets, randomBudget(r, i))
	}
	addSurroundings(r, l)
	pod := preemptor(r, len(nodes))
	if chance(r, 50) {
		makeEnemies(r, nodes, pod)
	}
	if chance(r, 15) {
		addStorage(r, l, nodes, append(pods, pod))
	}
	if chance(r, 15) {
		askForVersions(r, pick(r, nodes), pod["spec"].(object))
	}
	l.set("pending", pending)
	if chance(r, 20) {
		configure(r, l, pod)
	}
	keepApart(pods, pod)
	letLive(l, pods, pod)
	l.set("nodes", nodes)
	l.set("pods", pods)
	l.set("budgets", budgets)
	l.set("pod", pod)
	return l
}
