package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Clusters whose parts meet: few labels, few values, taints that some pods tolerate, nodes that are nearly full.

const (
	zoneKey = "topology.kubernetes.io/zone"
	hostKey = "kubernetes.io/hostname"

	regionKey   = "topology.kubernetes.io/region"
	betaZoneKey = "failure-domain.beta.kubernetes.io/zone"
)

var (
	declaredFeatures = []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions", "Another"}
	apps             = []string{"web", "db", "cache"}
	zones            = []string{"z1", "z2", "z3"}
	tiers            = []string{"1", "2", "10", "07", "x"}
	namespaces       = []string{"default", "ns1", "ns2"}
	semverNames      = []string{"SemverLt", "SemverGt", "SemverEq"}
	nodeVersions     = []string{"1.2.3", "1.10.0", "v1.2", "5.15.0-91-generic", "2"}
	imageNames       = []string{"busybox:latest", "nginx:1", "app:v2", "registry.example.com/app:v2", "app:latest"}
	imageSizes       = []int64{1 << 20, 300 << 20, 900 << 20, 3 << 30}
	taintKeys        = []string{"dedicated", "failure-prob", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"}
)

// What may have made a pod, and decides how it spreads by default.
var owners = []object{
	{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": true},
	{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": true},
	{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ss", "uid": "ss", "controller": true},
	{"apiVersion": "v1", "kind": "ReplicationController", "name": "rc", "uid": "rc", "controller": true},
	{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs"},
	{"apiVersion": "example.com/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": true},
}

func clusterLabels(r *rand.Rand, name string) object {
	labels := object{hostKey: name}
	maybe(r, 30, labels, "kernel", pick(r, nodeVersions))
	maybe(r, 80, labels, zoneKey, pick(r, zones))
	maybe(r, 50, labels, "disk", pick(r, []string{"ssd", "hdd"}))
	maybe(r, 60, labels, "tier", pick(r, tiers))
	maybe(r, 15, labels, regionKey, pick(r, []string{"r1", "r2"}))
	maybe(r, 5, labels, betaZoneKey, pick(r, zones))
	if chance(r, 3) {
		delete(labels, hostKey)
	}
	return labels
}

func clusterTaint(r *rand.Rand) object {
	t := object{"key": pick(r, taintKeys), "effect": effects[r.IntN(3)]}
	maybe(r, 70, t, "value", pick(r, []string{"a", "b", "5", "10", "x"}))
	maybe(r, 10, t, "value", pick(r, nodeVersions))
	return t
}

func clusterToleration(r *rand.Rand) object {
	t := object{"operator": pick(r, []string{"Exists", "Equal", "Lt", "Gt"})}
	maybe(r, 90, t, "key", pick(r, taintKeys))
	if t["operator"] != "Exists" {
		t["value"] = pick(r, []string{"a", "b", "5", "7", "10"})
	}
	if chance(r, 10) {
		t["operator"], t["value"] = pick(r, semverNames), pick(r, nodeVersions)
	}
	maybe(r, 50, t, "effect", effects[r.IntN(3)])
	if chance(r, 10) {
		return object{"expression": clusterExpression(r)}
	}
	return t
}

func clusterExpression(r *rand.Rand) string {
	if chance(r, 20) {
		return (&celMaker{r: r}).make("bool", 1+r.IntN(2))
	}
	return pick(r, []string{`taint.key == "dedicated"`, `taint.value == "a" || taint.effect == "PreferNoSchedule"`, `taint.key.startsWith("node.kubernetes.io/")`,
		`taint.key == "failure-prob" && int(taint.value) > 5`, `semver(taint.value, true).isLessThan(semver("1.10.0"))`, `!taint.value.matches("^[a-z]$")`, "true"})
}

func randomNode(r *rand.Rand, name string) object {
	spec := object{}
	maybe(r, 35, spec, "taints", some(r, 2, func() object { return clusterTaint(r) }))
	maybe(r, 8, spec, "unschedulable", true)
	allocatable := object{"cpu": pick(r, []string{"1", "2", "4", "64", "1500m", "3"}), "memory": pick(r, []string{"2Gi", "8Gi", "16Gi", "1G"}), "pods": pick(r, []string{"110", "3", "1"})}
	maybe(r, 30, allocatable, "ephemeral-storage", pick(r, []string{"20Gi", "20Gi", "18Gi", "26Gi"}))
	maybe(r, 20, allocatable, "example.com/gpu", pick(r, []string{"1", "4"}))
	status := object{"allocatable": allocatable}
	maybe(r, 30, status, "images", some(r, 2, func() object {
		return object{"names": append([]string{pick(r, imageNames)}, some(r, 1, func() string { return pick(r, imageNames) })...), "sizeBytes": pick(r, imageSizes)}
	}))
	maybe(r, 3, allocatable, pick(r, []string{"cpu", "memory", "pods"}), "0")
	maybe(r, 30, status, "declaredFeatures", some(r, 3, func() string { return pick(r, declaredFeatures) }))
	maybe(r, 10, allocatable, "hugepages-2Mi", "64Mi")
	maybe(r, 5, allocatable, "example.com/fpga", pick(r, []string{"0", "2"}))
	return object{"metadata": object{"name": name, "labels": clusterLabels(r, name)}, "spec": spec, "status": status}
}

func clusterSelector(r *rand.Rand) object {
	if chance(r, 70) {
		return object{"matchLabels": object{"app": pick(r, apps)}}
	}
	e := object{"key": pick(r, []string{"app", "tier"}), "operator": pick(r, []string{"In", "NotIn", "Exists", "DoesNotExist"})}
	if op := e["operator"]; op == "In" || op == "NotIn" {
		e["values"] = []string{pick(r, apps), pick(r, apps)}
	}
	return object{"matchExpressions": []any{e}}
}

// oddSelector gives some selectors that choose everything or nothing.
func oddSelector(r *rand.Rand, o object) {
	switch r.IntN(60) {
	case 0:
		delete(o, "labelSelector")
	case 1:
		o["labelSelector"] = object{}
	}
}

func clusterPodTerm(r *rand.Rand) object {
	t := object{"topologyKey": pick(r, []string{zoneKey, hostKey, "disk"}), "labelSelector": clusterSelector(r)}
	maybe(r, 20, t, "namespaces", []string{pick(r, namespaces)})
	maybe(r, 15, t, "namespaceSelector", pick(r, []object{{}, {"matchLabels": object{"team": "x"}},
		{"matchExpressions": []any{object{"key": "team", "operator": "NotIn", "values": []string{"y"}}}}}))
	oddSelector(r, t)
	return t
}

func clusterPodAffinity(r *rand.Rand) object {
	o := object{}
	maybe(r, 50, o, "requiredDuringSchedulingIgnoredDuringExecution", some(r, 2, func() object { return clusterPodTerm(r) }))
	maybe(r, 60, o, "preferredDuringSchedulingIgnoredDuringExecution", some(r, 2, func() object {
		return object{"weight": 1 + r.IntN(100), "podAffinityTerm": clusterPodTerm(r)}
	}))
	return o
}

func clusterTermOfNodes(r *rand.Rand) object {
	op := pick(r, []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
	e := object{"key": pick(r, []string{"disk", "tier", zoneKey, "absent"}), "operator": op}
	switch op {
	case "In", "NotIn":
		e["values"] = []string{pick(r, []string{"ssd", "hdd", "z1", "z2", "1", "x"}), pick(r, zones)}
	case "Gt", "Lt":
		e["key"], e["values"] = "tier", []string{pick(r, []string{"1", "5", "07", "9"})}
	}
	if chance(r, 10) {
		e = versionRequirement(r)
	}
	t := object{"matchExpressions": []any{e}}
	if chance(r, 20) {
		t["matchExpressions"] = []any{e, object{"key": "disk", "operator": "Exists"}}
	}
	field := func() any {
		return object{"key": "metadata.name", "operator": pick(r, []string{"In", "NotIn"}), "values": []string{fmt.Sprintf("n%02d", r.IntN(12))}}
	}
	maybe(r, 10, t, "matchFields", append([]any{field()}, some(r, 1, field)...))
	switch r.IntN(50) {
	case 0:
		delete(t, "matchExpressions")
	case 1:
		e["operator"], e["values"] = "Gt", []string{"x"}
	case 2:
		e["operator"], e["values"] = "In", []string{"{{.bad-value.}}"}
	}
	return t
}

// versionRequirement is about the label of nodes that has versions.
func versionRequirement(r *rand.Rand) object {
	return object{"key": "kernel", "operator": pick(r, semverNames), "values": []string{pick(r, nodeVersions)}}
}

func clusterNodeAffinity(r *rand.Rand) object {
	o := object{}
	maybe(r, 50, o, "requiredDuringSchedulingIgnoredDuringExecution", object{"nodeSelectorTerms": append([]object{clusterTermOfNodes(r)}, some(r, 1, func() object { return clusterTermOfNodes(r) })...)})
	maybe(r, 60, o, "preferredDuringSchedulingIgnoredDuringExecution", some(r, 3, func() object {
		return object{"weight": 1 + r.IntN(100), "preference": clusterTermOfNodes(r)}
	}))
	return o
}

func clusterSpread(r *rand.Rand) object {
	o := object{"maxSkew": 1 + r.IntN(3), "topologyKey": pick(r, []string{zoneKey, hostKey, "disk"}), "labelSelector": clusterSelector(r),
		"whenUnsatisfiable": pick(r, []string{"DoNotSchedule", "ScheduleAnyway"})}
	if o["whenUnsatisfiable"] == "DoNotSchedule" {
		maybe(r, 20, o, "minDomains", 1+r.IntN(4))
	}
	maybe(r, 25, o, "nodeAffinityPolicy", pick(r, []string{"Honor", "Ignore"}))
	maybe(r, 25, o, "nodeTaintsPolicy", pick(r, []string{"Honor", "Ignore"}))
	maybe(r, 20, o, "matchLabelKeys", some(r, 2, func() string { return pick(r, []string{"tier", "app", "absent"}) }))
	oddSelector(r, o)
	return o
}

func clusterRequests(r *rand.Rand) object {
	requests := object{}
	maybe(r, 70, requests, "cpu", pick(r, []string{"100m", "500m", "1", "2", "0", "1.5"}))
	maybe(r, 70, requests, "memory", pick(r, []string{"128Mi", "1Gi", "4Gi", "500M", "0"}))
	maybe(r, 10, requests, "ephemeral-storage", pick(r, []string{"1Gi", "19Gi"}))
	maybe(r, 10, requests, "example.com/gpu", pick(r, []string{"1", "2"}))
	maybe(r, 3, requests, "hugepages-2Mi", "32Mi")
	maybe(r, 3, requests, "example.com/fpga", pick(r, []string{"0", "1"}))
	return requests
}

func clusterPort(r *rand.Rand) object {
	port := object{"containerPort": 80, "hostPort": pick(r, []int{80, 443}), "protocol": pick(r, []string{"TCP", "UDP", "SCTP"})}
	maybe(r, 30, port, "hostIP", pick(r, []string{"127.0.0.1", "0.0.0.0", "10.0.0.1"}))
	return port
}

func clusterContainer(r *rand.Rand, name string) object {
	resources := object{pick(r, []string{"requests", "limits"}): clusterRequests(r)}
	maybe(r, 10, resources, "limits", clusterRequests(r))
	c := object{"name": name, "image": pick(r, []string{"busybox", "nginx:1", "app:v2", "app", "registry.example.com/app:v2"}), "resources": resources}
	if chance(r, 15) {
		c["ports"] = append([]any{clusterPort(r)}, some(r, 1, func() any { return clusterPort(r) })...)
	}
	return c
}

// Containers that run before the others, and beside them if they are sidecars.
func clusterInitContainer(r *rand.Rand, name string) object {
	c := clusterContainer(r, name)
	maybe(r, 50, c, "restartPolicy", "Always")
	return c
}

func randomPod(r *rand.Rand, name string) object {
	affinity := object{}
	maybe(r, 35, affinity, "nodeAffinity", clusterNodeAffinity(r))
	maybe(r, 35, affinity, "podAffinity", clusterPodAffinity(r))
	maybe(r, 35, affinity, "podAntiAffinity", clusterPodAffinity(r))
	spec := object{"containers": append([]object{clusterContainer(r, "c")}, some(r, 1, func() object { return clusterContainer(r, "d") })...)}
	maybe(r, 60, spec, "affinity", affinity)
	maybe(r, 25, spec, "nodeSelector", object{"disk": pick(r, []string{"ssd", "hdd"})})
	maybe(r, 60, spec, "tolerations", some(r, 3, func() object { return clusterToleration(r) }))
	maybe(r, 50, spec, "topologySpreadConstraints", some(r, 2, func() object { return clusterSpread(r) }))
	maybe(r, 15, spec, "initContainers", some(r, 3, func() object { return clusterInitContainer(r, "i") }))
	maybe(r, 5, spec, "overhead", object{"cpu": "250m"})
	maybe(r, 5, spec, "hostNetwork", true)
	maybe(r, 10, spec, "hostUsers", false)
	if chance(r, 3) {
		spec["containers"].([]object)[0]["restartPolicyRules"] = []object{{"action": pick(r, []string{"Restart", "RestartAllContainers"}), "exitCodes": object{"operator": "In", "values": []int{1}}}}
	}
	if chance(r, 5) {
		spec["resources"] = object{"requests": object{"cpu": pick(r, []string{"1", "3"}), "memory": "1Gi"}}
	}
	labels := object{"app": pick(r, apps)}
	maybe(r, 30, labels, "tier", pick(r, tiers))
	namespace := pick(r, namespaces)
	meta := object{"name": name, "namespace": namespace, "uid": namespace + "/" + name, "labels": labels}
	if chance(r, 10) {
		meta["ownerReferences"] = []any{pick(r, owners)}
	}
	pod := object{"metadata": meta, "spec": spec}
	if chance(r, 8) {
		pod["status"] = usedResources(r)
	}
	return pod
}

// What a kubelet reports of containers that are resized, and the scheduler of claims of devices.
func usedResources(r *rand.Rand) object {
	requests := func() object {
		o := clusterRequests(r)
		maybe(r, 90, o, "cpu", pick(r, []string{"250m", "1", "3"}))
		return o
	}
	container := func(name string) object {
		o := object{"name": name, "image": "app", "imageID": "", "ready": true, "restartCount": 0}
		maybe(r, 60, o, "allocatedResources", requests())
		maybe(r, 60, o, "resources", object{"requests": requests()})
		return o
	}
	status := object{}
	maybe(r, 60, status, "containerStatuses", []object{container("c"), container(pick(r, []string{"d", "i"}))})
	maybe(r, 20, status, "resources", object{"requests": requests()})
	maybe(r, 20, status, "allocatedResources", requests())
	maybe(r, 30, status, "conditions", []object{{"type": "PodResizePending", "status": "True", "reason": pick(r, []string{"Infeasible", "Deferred"})}})
	maybe(r, 50, status, "nodeAllocatableResourceClaimStatuses", []object{{"resourceClaimName": "x", "containers": []string{"c"},
		"mapping":  []object{{"name": pick(r, []string{"cpu", "memory", "hugepages-2Mi"}), "quantity": pick(r, []string{"1", "2Gi"})}},
		"overhead": []object{{"name": "cpu", "perPod": "250m", "perContainer": "100m"}}}})
	return status
}

func boundPod(r *rand.Rand, number, nodes int) object {
	pod := randomPod(r, fmt.Sprintf("p%02d", number))
	spec := pod["spec"].(object)
	spec["nodeName"] = fmt.Sprintf("n%02d", r.IntN(nodes))
	if chance(r, 60) {
		delete(spec, "affinity")
	}
	maybe(r, 5, pod["metadata"].(object), "deletionTimestamp", "2026-01-01T00:00:00Z")
	return pod
}

// Gates that change placement, each with those that need it.
var placementGates = [][]string{
	{"NodeInclusionPolicyInPodTopologySpread"},
	{"MatchLabelKeysInPodTopologySpread", "MatchLabelKeysInPodTopologySpreadSelectorMerge"},
	{"PodLevelResources", "InPlacePodLevelResourcesVerticalScaling", "PodLevelResourcesFixKubeletQOSClass", "PodLevelResourcesFixDefaulting"},
	{"StorageCapacityScoring"},
	{"VolumeLimitScaling"},
}

func clusterGates(r *rand.Rand) map[string]bool {
	gates := map[string]bool{"TaintTolerationComparisonOperators": chance(r, 80), gateSemver: chance(r, 50), gateCEL: chance(r, 50)}
	if chance(r, 10) {
		gates["DRANodeAllocatableResources"] = true
	}
	if chance(r, 10) {
		gates["InterPodAffinityHostnameFastPath"] = true
	}
	for _, names := range placementGates {
		if !chance(r, 5) {
			continue
		}
		for _, name := range names {
			if canBeSet(name) {
				gates[name] = false
			}
		}
	}
	return gates
}

// makeRoom lets the pod fit by its size and its choice of nodes, so that the other rules decide.
func makeRoom(r *rand.Rand, nodes []object, pod object) {
	for _, node := range nodes {
		allocatable := node["status"].(object)["allocatable"].(object)
		allocatable["cpu"], allocatable["memory"], allocatable["pods"] = pick(r, []string{"16", "64"}), pick(r, []string{"64Gi", "256Gi"}), "110"
		allocatable["ephemeral-storage"], allocatable["example.com/gpu"], allocatable["hugepages-2Mi"] = "200Gi", "8", "1Gi"
		if chance(r, 70) {
			delete(node["spec"].(object), "taints")
			delete(node["spec"].(object), "unschedulable")
		}
	}
	spec := pod["spec"].(object)
	delete(spec, "nodeSelector")
	if affinity, ok := spec["affinity"].(object); ok && chance(r, 70) {
		delete(affinity, "nodeAffinity")
	}
}

// addSurroundings gives the line gates, and what pods belong to.
func addSurroundings(r *rand.Rand, l line) {
	known := []object{}
	for i, name := range namespaces {
		known = append(known, object{"metadata": object{"name": name, "labels": object{"team": []string{"", "x", "y"}[i]}}})
	}
	l.set("gates", clusterGates(r))
	l.set("namespaces", known)
	l.set("services", some(r, 2, func() object {
		return object{"metadata": object{"name": "s", "namespace": pick(r, namespaces)}, "spec": object{"selector": object{"app": pick(r, apps)}}}
	}))
	l.set("replica_sets", some(r, 1, func() object {
		return object{"metadata": object{"name": "rs", "namespace": pick(r, namespaces), "uid": "rs"}, "spec": object{"selector": clusterSelector(r)}}
	}))
	l.set("stateful_sets", some(r, 1, func() object {
		return object{"metadata": object{"name": "ss", "namespace": pick(r, namespaces), "uid": "ss"}, "spec": object{"selector": clusterSelector(r)}}
	}))
	l.set("replication_controllers", some(r, 1, func() object {
		return object{"metadata": object{"name": "rc", "namespace": pick(r, namespaces), "uid": "rc"}, "spec": object{"selector": object{"app": pick(r, apps)}}}
	}))
}

func generateSchedule(r *rand.Rand) line {
	l := line{}
	nodes, pods := []object{}, []object{}
	for i := range 1 + r.IntN(12) {
		nodes = append(nodes, randomNode(r, fmt.Sprintf("n%02d", i)))
	}
	for i := range r.IntN(2 * len(nodes)) {
		pods = append(pods, boundPod(r, i, len(nodes)))
	}
	addSurroundings(r, l)
	pod := randomPod(r, "p")
	if chance(r, 65) {
		makeRoom(r, nodes, pod)
	}
	if chance(r, 30) {
		addStorage(r, l, nodes, append(pods, pod))
	}
	if chance(r, 25) {
		promise(r, l, len(nodes), pod)
	}
	if chance(r, 10) {
		wantVersion(r, pod)
	}
	if chance(r, 20) {
		before := []object{}
		for _, node := range nodes {
			if chance(r, 60) {
				before = append(before, asItWas(r, node))
			}
		}
		sameSizes(r, nodes, before)
		l.set("nodes_before", before)
	}
	if chance(r, 20) {
		configure(r, l, pod)
	}
	maybe(r, 2, pod["spec"].(object), "nodeName", fmt.Sprintf("n%02d", r.IntN(len(nodes)+1)))
	l.set("nodes", nodes)
	l.set("pods", pods)
	l.set("pod", pod)
	return l
}

// wantVersion gives the pod a choice of nodes that only proposals know.
func wantVersion(r *rand.Rand, pod object) {
	term := object{"matchExpressions": []any{versionRequirement(r)}}
	affinity := object{}
	if chance(r, 50) {
		affinity["requiredDuringSchedulingIgnoredDuringExecution"] = object{"nodeSelectorTerms": []object{term}}
	} else {
		affinity["preferredDuringSchedulingIgnoredDuringExecution"] = []object{{"weight": 1 + r.IntN(100), "preference": term}}
	}
	spec := pod["spec"].(object)
	if _, ok := spec["affinity"].(object); !ok {
		spec["affinity"] = object{}
	}
	spec["affinity"].(object)["nodeAffinity"] = affinity
}

// asItWas gives the node with some things that the scheduler looks at as another one has them.
func asItWas(r *rand.Rand, node object) object {
	name := node["metadata"].(object)["name"].(string)
	before, other := object{"metadata": object{"name": name}}, randomNode(r, name)
	before["spec"], before["status"] = maps.Clone(node["spec"].(object)), maps.Clone(node["status"].(object))
	before["metadata"].(object)["labels"] = node["metadata"].(object)["labels"]
	if chance(r, 30) {
		before["metadata"] = other["metadata"]
	}
	for _, part := range []string{"spec", "status"} {
		for key, value := range other[part].(object) {
			if chance(r, 40) {
				before[part].(object)[key] = value
			}
		}
	}
	if chance(r, 40) {
		allocatable := maps.Clone(node["status"].(object)["allocatable"].(object))
		for key := range allocatable {
			if value, ok := other["status"].(object)["allocatable"].(object)[key]; ok && chance(r, 60) {
				allocatable[key] = value
			}
		}
		before["status"].(object)["allocatable"] = allocatable
	}
	return before
}

// sameSizes makes all images equally large: where nodes report different sizes of one, upstream's depends on who had it
// first, and on who was updated since.
func sameSizes(r *rand.Rand, lists ...[]object) {
	size := pick(r, imageSizes)
	for _, node := range slices.Concat(lists...) {
		images, _ := node["status"].(object)["images"].([]object)
		for _, image := range images {
			image["sizeBytes"] = size
		}
	}
}

// promise nominates the pod, others, or both to nodes, of which the last does not exist.
func promise(r *rand.Rand, l line, nodes int, pod object) {
	pending := []object{}
	for i := range r.IntN(5) {
		pending = append(pending, nominatedPod(r, i, nodes+1))
	}
	l.set("pending", pending)
	setPriority(r, pod, priorities)
	if chance(r, 75) {
		pod["status"] = object{"nominatedNodeName": fmt.Sprintf("n%02d", r.IntN(nodes+1))}
	}
}

// askForVersions lets a node have a version, in a taint and in a label, of which the pod's spec speaks.
func askForVersions(r *rand.Rand, node, spec object) {
	taint := clusterTaint(r)
	taint["value"] = pick(r, nodeVersions)
	node["spec"].(object)["taints"] = []object{taint}
	node["metadata"].(object)["labels"].(object)["kernel"] = pick(r, nodeVersions)
	toleration := object{"key": taint["key"], "operator": pick(r, semverNames), "value": pick(r, nodeVersions)}
	if chance(r, 30) {
		toleration = object{"expression": clusterExpression(r)}
	}
	spec["tolerations"] = []object{toleration}
	if chance(r, 50) {
		wantVersion(r, object{"spec": spec})
	}
}

func generateDaemon(r *rand.Rand) line {
	l := line{}
	l.set("gates", clusterGates(r))
	node, spec := randomNode(r, "n01"), randomPod(r, "p")["spec"].(object)
	if chance(r, 25) {
		askForVersions(r, node, spec)
	}
	l.set("node", node)
	maybe(r, 10, spec, "nodeName", pick(r, []string{"n01", "n02"}))
	maybe(r, 20, spec, "hostNetwork", true)
	l.set("template_spec", spec)
	return l
}

func generateKubelet(r *rand.Rand) line {
	l := line{}
	l.set("gates", clusterGates(r))
	others := []object{}
	for i := range r.IntN(3) {
		others = append(others, boundPod(r, i, 1))
	}
	l.set("other_pods", others)
	pod := randomPod(r, "p")
	pod["spec"].(object)["nodeName"] = pick(r, []string{"n01", "n01", "n01", "n02"})
	maybe(r, 5, pod["spec"].(object), "os", object{"name": pick(r, []string{"linux", "windows"})})
	node := randomNode(r, "n01")
	if chance(r, 25) {
		askForVersions(r, node, pod["spec"].(object))
	}
	l.set("node", node)
	l.set("pod", pod)
	return l
}
