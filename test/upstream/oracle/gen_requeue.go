package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Pods that fit on no node, and one object that comes, changes or goes: of the cluster, or the pod itself.

// A kind of object that may change: the member of the line that has them, and another one to take parts from.
type changing struct {
	kind, member string
	another      func(r *rand.Rand, o object) object
}

var changingKinds = []changing{
	{"Node", "nodes", func(r *rand.Rand, o object) object { return randomNode(r, nameOf(o)) }},
	{"Node", "nodes", func(r *rand.Rand, o object) object { return asItWas(r, o) }},
	{"Pod", "pods", func(r *rand.Rand, o object) object { return changedPod(r, o) }},
	{"Pod", "pending", func(r *rand.Rand, o object) object { return changedPod(r, o) }},
	{"Namespace", "namespaces", func(r *rand.Rand, _ object) object {
		return object{"metadata": object{"labels": object{"team": pick(r, []string{"x", "y", "z"})}}}
	}},
}

var changingStorage = []changing{
	{"PersistentVolumeClaim", "claims", func(r *rand.Rand, o object) object {
		return randomClaim(r, nameOf(o), o["metadata"].(object)["namespace"].(string))
	}},
	{"PersistentVolume", "volumes", func(r *rand.Rand, o object) object { return randomVolume(r, nameOf(o)) }},
	{"StorageClass", "storage_classes", func(r *rand.Rand, _ object) object { return pick(r, randomClasses(r)) }},
	{"CSINode", "csi_nodes", func(r *rand.Rand, o object) object { return randomCSINode(r, o) }},
	{"CSIDriver", "csi_drivers", func(r *rand.Rand, o object) object { return randomDriver(r, nameOf(o)) }},
	{"VolumeAttachment", "attachments", func(r *rand.Rand, _ object) object { return randomAttachment(r, 0, 3) }},
	{"CSIStorageCapacity", "capacities", func(r *rand.Rand, o object) object { return randomCapacity(r, nameOf(o)) }},
}

func nameOf(o object) string { return fmt.Sprint(o["metadata"].(object)["name"]) }

func namesIn(o object) object {
	names := object{"name": nameOf(o)}
	if namespace, ok := o["metadata"].(object)["namespace"]; ok {
		names["namespace"] = namespace
	}
	return names
}

// mixed gives an object with some members of another one, and none where that has none.
func mixed(r *rand.Rand, o, other object, depth int) object {
	m := maps.Clone(o)
	for _, key := range slices.Sorted(maps.Keys(other)) {
		inside, ok := o[key].(object)
		part, same := other[key].(object)
		switch {
		case depth > 0 && ok && same:
			m[key] = mixed(r, inside, part, depth-1)
		case chance(r, 35):
			m[key] = other[key]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if _, ok := other[key]; !ok && key != "metadata" && chance(r, 15) {
			delete(m, key)
		}
	}
	return m
}

// changed gives the object after a change; its names stay.
func (c changing) changed(r *rand.Rand, o object) object {
	after := mixed(r, o, c.another(r, o), 2)
	meta := maps.Clone(after["metadata"].(object))
	for _, key := range []string{"name", "namespace", "uid", "ownerReferences"} {
		delete(meta, key)
		if value, ok := o["metadata"].(object)[key]; ok {
			meta[key] = value
		}
	}
	after["metadata"] = meta
	return after
}

// changedPod gives the pod with what may change of one: labels, tolerations, sizes, and what is reported of it.
func changedPod(r *rand.Rand, pod object) object {
	other := randomPod(r, nameOf(pod))
	meta, spec := maps.Clone(pod["metadata"].(object)), maps.Clone(pod["spec"].(object))
	changed := object{"metadata": meta, "spec": spec}
	maybe(r, 80, changed, "status", pod["status"])
	if changed["status"] == nil {
		delete(changed, "status")
	}
	maybe(r, 30, meta, "labels", other["metadata"].(object)["labels"])
	maybe(r, 10, meta, "annotations", object{"a": "b"})
	maybe(r, 10, meta, "deletionTimestamp", "2026-03-01T00:00:00Z")
	if chance(r, 30) {
		tolerations, _ := spec["tolerations"].([]object)
		spec["tolerations"] = append(slices.Clone(tolerations), object{"key": pick(r, taintKeys), "operator": "Exists"})
	}
	if chance(r, 40) {
		containers := slices.Clone(spec["containers"].([]object))
		containers[0] = maps.Clone(containers[0])
		containers[0]["resources"] = object{"requests": clusterRequests(r)}
		spec["containers"] = containers
	}
	return changed
}

// changeOne lets one object of the kind come, change or go, and says whether there is one.
func (c changing) changeOne(r *rand.Rand, l line) bool {
	list := get[[]object](l, c.member)
	if len(list) == 0 {
		return false
	}
	i := r.IntN(len(list))
	one := list[i]
	l.set("changed", c.kind)
	switch r.IntN(4) {
	case 0:
		l.set("after", one)
		l.set(c.member, slices.Delete(list, i, i+1))
	case 1:
		l.set("gone", namesIn(one))
	default:
		l.set("after", c.changed(r, plain(one)))
	}
	return true
}

// plain gives lists of objects, which reading made lists of anything, their type back.
func plain(pod object) object {
	spec, _ := pod["spec"].(object)
	for _, key := range []string{"containers", "tolerations"} {
		list, ok := spec[key].([]any)
		if !ok {
			continue
		}
		objects := []object{}
		for _, item := range list {
			objects = append(objects, item.(object))
		}
		spec[key] = objects
	}
	return pod
}

func generateRequeue(r *rand.Rand) line {
	l := line{}
	nodes, pods := []object{}, []object{}
	for i := range 1 + r.IntN(4) {
		nodes = append(nodes, randomNode(r, fmt.Sprintf("n%02d", i)))
	}
	for i := range r.IntN(3 * len(nodes)) {
		pods = append(pods, boundPod(r, i, len(nodes)))
	}
	addSurroundings(r, l)
	pod := randomPod(r, "p")
	if chance(r, 40) {
		makeEnemies(r, nodes, pod)
	}
	kinds := changingKinds
	if chance(r, 40) {
		addStorage(r, l, nodes, append(pods, pod))
		kinds = slices.Concat(kinds, changingStorage, changingStorage)
	}
	if chance(r, 25) {
		promise(r, l, len(nodes), pod)
	}
	if chance(r, 15) {
		configure(r, l, pod)
	}
	pod["spec"].(object)["preemptionPolicy"] = "Never"
	l.set("nodes", nodes)
	l.set("pods", pods)
	l.set("pod", pod)
	if chance(r, 20) {
		l.set("changed", "Pod")
		l.set("after", changedPod(r, pod))
		return l
	}
	for !pick(r, kinds).changeOne(r, l) {
	}
	return l
}
