package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Configurations of the scheduler: other weights, orders and arguments of plug-ins, and some of them left out.

var (
	scorers   = []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"}
	filterers = []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
		"NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"}
	// From where a sum of scores has more than 32 bits on.
	weights         = []int32{1, 2, 7, 100, 100000, 21474837, 22000000, 43000000, 2147483647}
	scoredResources = []string{"cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi"}
)

func named(names ...string) []object {
	list := []object{}
	for _, name := range names {
		list = append(list, object{"name": name})
	}
	return list
}

// A plug-in that scores or filters without what it prepares before that would fail.
func randomPlugins(r *rand.Rand) object {
	plugins, off := object{}, ""
	if chance(r, 15) {
		off = pick(r, filterers)
		plugins["multiPoint"] = object{"disabled": named(off)}
	}
	if chance(r, 60) {
		scores := []object{}
		for _, name := range scorers {
			if name != off && chance(r, 40) {
				scores = append(scores, object{"name": name, "weight": pick(r, weights)})
			}
		}
		r.Shuffle(len(scores), func(i, k int) { scores[i], scores[k] = scores[k], scores[i] })
		plugins["score"] = object{"enabled": scores}
	}
	if chance(r, 40) {
		plugins["filter"] = randomFilters(r, off)
	}
	return plugins
}

// Some filters before all others, in any order, or one left out.
func randomFilters(r *rand.Rand, off string) object {
	names := slices.DeleteFunc(slices.Clone(filterers), func(name string) bool { return name == off })
	r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	if chance(r, 30) {
		return object{"disabled": named(names[0])}
	}
	return object{"enabled": named(names[:1+r.IntN(4)]...)}
}

func weightedResources(r *rand.Rand, heaviest int) []object {
	list := []object{}
	for _, name := range scoredResources {
		if chance(r, 45) {
			list = append(list, object{"name": name, "weight": 1 + r.IntN(heaviest)})
		}
	}
	return list
}

// A broken line from 0 to 100 percent.
func shape(r *rand.Rand) []object {
	points := []object{{"utilization": 0, "score": r.IntN(11)}}
	for at := r.IntN(60); at > 0 && at < 100; at += 1 + r.IntN(60) {
		points = append(points, object{"utilization": at, "score": r.IntN(11)})
	}
	return append(points, object{"utilization": 100, "score": r.IntN(11)})
}

func fitStrategy(r *rand.Rand) object {
	o := object{"type": pick(r, []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"}), "resources": weightedResources(r, 100)}
	if o["type"] == "RequestedToCapacityRatio" {
		o["requestedToCapacityRatio"] = object{"shape": shape(r)}
	}
	return o
}

func defaultSpread(r *rand.Rand) object {
	constraints := []object{}
	for _, key := range []string{zoneKey, hostKey} {
		if chance(r, 60) {
			constraints = append(constraints, object{"maxSkew": 1 + r.IntN(3), "topologyKey": key, "whenUnsatisfiable": pick(r, []string{"DoNotSchedule", "ScheduleAnyway"})})
		}
	}
	return object{"defaultingType": "List", "defaultConstraints": constraints}
}

func randomArgs(r *rand.Rand) []object {
	list := []object{}
	add := func(percent int, name string, args object) {
		if chance(r, percent) {
			list = append(list, object{"name": name, "args": args})
		}
	}
	fit := object{"scoringStrategy": fitStrategy(r)}
	maybe(r, 20, fit, "ignoredResources", []string{"example.com/gpu"})
	maybe(r, 10, fit, "ignoredResourceGroups", []string{"example.com"})
	add(50, "NodeResourcesFit", fit)
	add(25, "NodeResourcesBalancedAllocation", object{"resources": weightedResources(r, 1)})
	add(25, "NodeAffinity", object{"addedAffinity": clusterNodeAffinity(r)})
	add(25, "PodTopologySpread", defaultSpread(r))
	add(25, "InterPodAffinity", object{"hardPodAffinityWeight": r.IntN(101), "ignorePreferredTermsOfExistingPods": chance(r, 50)})
	return list
}

// configure gives the line a configuration with one or two profiles, of which pods that wait have one each.
func configure(r *rand.Rand, l line, pod object) {
	profiles := []object{}
	for i := range 1 + r.IntN(2) {
		profiles = append(profiles, object{"schedulerName": fmt.Sprintf("scheduler-%d", i), "plugins": randomPlugins(r), "pluginConfig": randomArgs(r)})
	}
	l.set("config", object{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles})
	mine := func(pod object) {
		pod["spec"].(object)["schedulerName"] = fmt.Sprintf("scheduler-%d", r.IntN(len(profiles)))
	}
	mine(pod)
	pending := get[[]object](l, "pending")
	for _, other := range pending {
		mine(other)
	}
	l.set("pending", pending)
}
