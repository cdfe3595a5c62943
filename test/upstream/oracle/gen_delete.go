package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

var (
	deletions       = []string{"Pod", "Pod", "Pod", "Namespace", "Namespace", "Node", "Job", "Deployment", "PersistentVolume", "ReplicationController", "Event", "PriorityClass"}
	deletionTime    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	finalizerNames  = []string{"orphan", "foregroundDeletion", "example.com/a", "kubernetes.io/pv-protection"}
	propagation     = []string{"Orphan", "Foreground", "Background", "orphan", ""}
	gracePeriods    = []int64{0, 1, 5, 30, 60, -1, -30, 3600, 9223372036, -1 << 63}
	clusterWideKind = map[string]bool{"Namespace": true, "Node": true, "PersistentVolume": true, "PriorityClass": true}
)

// deletionMeta is metadata of an object that may be on its way out.
func deletionMeta(r *rand.Rand, kind string) object {
	meta := object{"name": "x", "uid": "u1", "resourceVersion": "5"}
	if !clusterWideKind[kind] {
		meta["namespace"] = "default"
	}
	if kind == "Namespace" {
		meta["name"] = pick(r, []string{"x", "x", "x", "default", "kube-system", "kube-node-lease"})
	}
	maybe(r, 50, meta, "generation", pick(r, []int{1, 7}))
	finalizers := some(r, 3, func() string { return pick(r, finalizerNames) })
	if chance(r, 40) && len(finalizers) == len(sets.New(finalizers...)) {
		meta["finalizers"] = finalizers
	}
	if chance(r, 40) {
		meta["deletionTimestamp"] = deletionTime.Add(time.Duration(r.IntN(120)-60) * time.Second).Format(time.RFC3339)
		maybe(r, 80, meta, "deletionGracePeriodSeconds", pick(r, []int64{0, 0, 1, 30, 60}))
	}
	return meta
}

func deletionOptions(r *rand.Rand) object {
	options := object{}
	maybe(r, 50, options, "gracePeriodSeconds", pick(r, gracePeriods))
	maybe(r, 10, options, "orphanDependents", chance(r, 50))
	maybe(r, 35, options, "propagationPolicy", pick(r, propagation[:3]))
	maybe(r, 3, options, "propagationPolicy", pick(r, propagation))
	maybe(r, 3, options, "dryRun", some(r, 2, func() string { return pick(r, []string{"All", "all", ""}) }))
	maybe(r, 3, options, "ignoreStoreReadErrorWithClusterBreakingPotential", chance(r, 70))
	if chance(r, 15) {
		conditions := object{}
		maybe(r, 60, conditions, "uid", pick(r, []string{"u1", "u1", "u2", ""}))
		maybe(r, 60, conditions, "resourceVersion", pick(r, []string{"5", "5", "4", ""}))
		options["preconditions"] = conditions
	}
	return options
}

func generateDelete(r *rand.Rand) line {
	l := line{}
	name := pick(r, deletions)
	k, ok := kinds[name]
	if !ok {
		k = deletedKinds[name]
	}
	o := object{"apiVersion": k.version().String(), "kind": name, "metadata": deletionMeta(r, name)}
	switch name {
	case "Pod":
		spec, status := object{"containers": []any{}}, object{}
		maybe(r, 75, spec, "nodeName", "n")
		maybe(r, 60, spec, "terminationGracePeriodSeconds", pick(r, gracePeriods))
		maybe(r, 40, status, "phase", pick(r, []string{"Running", "Failed", "Succeeded"}))
		o["spec"], o["status"] = spec, status
	case "Namespace":
		maybe(r, 60, o, "spec", object{"finalizers": []string{"kubernetes"}})
		maybe(r, 60, o, "status", object{"phase": pick(r, []string{"Active", "Terminating"})})
	}
	l.set("kind", name)
	l.set("object", o)
	l.set("options", deletionOptions(r))
	l.set("now", fmt.Sprint(deletionTime.Format(time.RFC3339)))
	return l
}
