package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Versions of which a server makes others before it stores an object; Berth does not do so.
var convertedVersions = []string{"autoscaling/v1", "resource.k8s.io/v1beta1"}

// Kinds that are stored, in their versions.
var storedKinds = sync.OnceValue(func() (found []schema.GroupVersionKind) {
	for _, gvk := range kindsOfRows() {
		if strategyOf(gvk) != nil && !slices.Contains(convertedVersions, gvk.GroupVersion().String()) {
			found = append(found, gvk)
		}
	}
	return found
})

func typeOfKind(gvk schema.GroupVersionKind) reflect.Type {
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(err)
	}
	return reflect.TypeOf(obj).Elem()
}

// generatePrepare makes an object of any kind by its Go type, one that may replace it, and gates.
func generatePrepare(r *rand.Rand) line {
	s, gvk := learn(), pick(r, storedKinds())
	t := typeOfKind(gvk)
	l := line{}
	l.set("gates", s.gatesOfKind(r, gvk))
	verb := pick(r, []string{"create", "update", "update", "status"})
	_, hasStatus := fieldsOf(t)["status"]
	if verb == "status" && (!hasStatus || statusStrategyOf(gvk) == nil) {
		verb = "update"
	}
	if gvk.Kind == "CertificateSigningRequest" && chance(r, 25) {
		verb = "approval"
	}
	l.set("verb", verb)
	o := s.objectOf(r, gvk, t)
	if verb == "create" {
		l.set("new", o)
		return l
	}
	setStored(r, o["metadata"].(object))
	updated := copyTree(o).(object)
	if chance(r, 15) {
		m := updated["metadata"]
		updated = s.objectOf(r, gvk, t)
		updated["metadata"] = m
	}
	for range r.IntN(4) {
		s.growAt(r, gvk, t, updated)
	}
	if chance(r, 30) {
		spice(r, gvk.Kind, updated)
	}
	if chance(r, 30) {
		name := updated["metadata"].(object)["name"]
		changeMetadata(r, updated["metadata"].(object))
		updated["metadata"].(object)["name"] = name
	}
	l["old"] = servedAgain(l, knownOf(t, gvk, o))
	l.set("new", knownOf(t, gvk, updated))
	return l
}

// servedAgain is an object as a server has it: with defaults, and without what is empty.
func servedAgain(l line, o any) json.RawMessage {
	stored := encode(o)
	withGates(l, func() {
		defer func() {
			if bad := recover(); bad != nil {
				if _, ok := bad.(badQuestion); !ok {
					panic(bad)
				}
			}
		}()
		gvk := gvkOf(stored)
		stored = encode(at(storedTime, tree(encodeAs(gvk, decodeInternal(stored)))))
	})
	return stored
}

// objectOf is a random object of a kind that can be decoded.
func (s *learned) objectOf(r *rand.Rand, gvk schema.GroupVersionKind, t reflect.Type) object {
	for range 5 {
		o := withoutProposals(s.structOf(r, t, 2+r.IntN(4))).(object)
		o["metadata"] = preparedMetadata(r)
		if chance(r, 70) {
			spice(r, gvk.Kind, o)
		}
		if known := knownOf(t, gvk, o); known != nil {
			return known.(object)
		}
	}
	return object{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind, "metadata": preparedMetadata(r)}
}

func preparedMetadata(r *rand.Rand) object {
	m := object{"name": "a"}
	maybe(r, 30, m, "labels", object{near(r, keys): near(r, values)})
	maybe(r, 30, m, "annotations", object{near(r, keys): pick(r, values)})
	maybe(r, 10, m, "namespace", "default")
	if chance(r, 10) {
		delete(m, "name")
		m["generateName"] = "g"
	}
	serveMeta(r, m)
	return m
}

// knownOf takes away the members that the kind does not have, which Berth keeps and upstream does not; nil if
// the object is none of the kind.
func knownOf(t reflect.Type, gvk schema.GroupVersionKind, o any) any {
	typed := reflect.New(t).Interface()
	if json.Unmarshal(encode(o), typed) != nil {
		return nil
	}
	var found object
	kept := keepEmpty(tree(encode(typed)), o, t)
	found, _ = kept.(object)
	found["apiVersion"], found["kind"] = gvk.GroupVersion().String(), gvk.Kind
	return found
}

// keepEmpty gives empty lists and maps back to a tree that has lost them.
func keepEmpty(known, from any, t reflect.Type) any {
	k, ok := known.(object)
	f, ok2 := from.(object)
	if !ok || !ok2 || !isStruct(t) {
		return known
	}
	for key, ft := range fieldsOf(t) {
		if list, ok := f[key].([]any); ok && len(list) == 0 && k[key] == nil && ft.Kind() == reflect.Slice {
			k[key] = list
		} else if m, ok := f[key].(object); ok && k[key] != nil {
			k[key] = keepEmpty(k[key], m, inner(ft))
		}
	}
	return k
}

// growAt sets a member, any that the type has, somewhere.
func (s *learned) growAt(r *rand.Rand, gvk schema.GroupVersionKind, t reflect.Type, o object) {
	before := copyTree(o)
	place := pick(r, typedPlacesOf(gvk.Kind, t, o))
	fields := fieldsOf(place.t)
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		delete(fields, key)
	}
	if len(fields) == 0 {
		return
	}
	key := pick(r, slices.Sorted(maps.Keys(fields)))
	if chance(r, 25) {
		delete(place.o, key)
	} else {
		place.o[key] = withoutProposals(s.valueOf(r, fields[key], key, 3))
	}
	if knownOf(t, gvk, o) == nil {
		maps.DeleteFunc(o, func(string, any) bool { return true })
		maps.Copy(o, before.(object))
	}
}

// Gates that strategies ask beside those of pods.
var gatesOfGroups = map[string][]string{
	"autoscaling":         {"HPAGeneration"},
	"coordination.k8s.io": {"CoordinatedLeaderElection"},
	"networking.k8s.io":   {"ServiceCIDRStatusFieldWiping"},
	"storage.k8s.io":      {"CSIVolumeHealth", "VolumeLimitScaling"},
	"resource.k8s.io": {"DeclarativeValidationBeta", "DRAFractionalCapacityRange", "DRAConsumableCapacity", "DRADerivedAttributes", "DRADeviceBindingConditions", "DRADeviceCompatibilityGroups",
		"DRADeviceTaints", "DRAListTypeAttributes", "DRANodeAllocatableResources", "DRAOptionalNodeOperations", "DRAPartitionableDevices",
		"DRAPartitionableDevicesType", "DRAResourcePoolStatus", "DRADeviceTaintRules"},
	"scheduling.k8s.io": {"GenericWorkload", "TopologyAwareWorkloadScheduling", "PodGroupPreemptionPolicy", "CompositePodGroup", "DRAWorkloadResourceClaims"},
	"":                  {"CSIVolumeHealth", "CrossNamespaceVolumeDataSource"},
}

func (s *learned) gatesOfKind(r *rand.Rand, gvk schema.GroupVersionKind) map[string]bool {
	gates := s.randomGates(r, nil)
	for range 6 {
		tried := maps.Clone(gates)
		for _, name := range gatesOfGroups[gvk.Group] {
			if chance(r, 40) {
				tried[name] = chance(r, 60)
			}
		}
		if gatesFit(tried) {
			return tried
		}
	}
	return gates
}

// A spice is a member, by its path, and values for it that mean something to its kind.
type spiceOf struct {
	path   string
	values []any
}

var (
	ruleSpices    = []any{[]any{object{"verbs": []any{"get"}, "apiGroups": []any{""}, "resources": []any{"pods"}}}, []any{object{"verbs": []any{}, "apiGroups": []any{""}}, object{"nonResourceURLs": []any{"/x"}, "verbs": []any{"get"}}}, []any{object{"nonResourceURLs": []any{"/x"}, "resources": []any{"pods"}}}}
	roleSpices    = []any{object{"kind": "Role", "name": "a"}, object{"kind": "ClusterRole", "name": "a:b", "apiGroup": "rbac.authorization.k8s.io"}, object{"kind": "X", "name": "a/b", "apiGroup": "x"}, object{"kind": "ClusterRole", "name": ""}}
	subjectSpices = []any{[]any{object{"kind": "User", "name": "a"}, object{"kind": "Group", "name": "", "apiGroup": "x"}}, []any{object{"kind": "ServiceAccount", "name": "a", "namespace": "b"}}, []any{object{"kind": "ServiceAccount", "name": "A b", "apiGroup": "x"}, object{"kind": "", "name": ""}}}
)

var spices = map[string][]spiceOf{
	"Service": {
		{"spec.type", []any{"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}},
		{"spec.clusterIP", []any{"10.0.0.1", "None", ""}},
		{"spec.clusterIPs", []any{[]any{"10.0.0.1"}, []any{"10.0.0.1", "fd00::1"}}},
		{"spec.ipFamilies", []any{[]any{"IPv4"}, []any{"IPv4", "IPv6"}, []any{}}},
		{"spec.ipFamilyPolicy", []any{"SingleStack", "PreferDualStack"}},
		{"spec.ports", []any{[]any{object{"port": 80, "nodePort": 30000}}, []any{object{"port": 80, "nodePort": 30000}, object{"port": 81, "name": "b", "nodePort": 30001}}, []any{object{"port": 80}}}},
		{"spec.externalTrafficPolicy", []any{"Local", "Cluster"}},
		{"spec.healthCheckNodePort", []any{30100, 30101}},
		{"spec.allocateLoadBalancerNodePorts", []any{true, false}},
		{"spec.loadBalancerClass", []any{"a/b", "a/c"}},
		{"spec.externalIPs", []any{[]any{"1.2.3.4"}}},
		{"status", []any{object{"loadBalancer": object{"ingress": []any{object{"ip": "1.2.3.4"}}}}}},
	},
	"Secret": {
		{"type", []any{"Opaque", "kubernetes.io/tls", "", "kubernetes.io/service-account-token", "kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson", "kubernetes.io/basic-auth", "kubernetes.io/ssh-auth"}},
		{"data", []any{object{"a": "YQ==", "b": "Yg=="}, object{}, object{"tls.crt": "YQ==", "username": "", "a/b": "", ".dockercfg": "e30=", ".dockerconfigjson": "W10="}, object{"tls.key": "", "ssh-privatekey": "YQ==", ".dockercfg": "eyJhIjo=", ".dockerconfigjson": "eyJhIjp4fQ=="}}},
		{"immutable", []any{true, false}},
		{"stringData", []any{object{"b": "text", "c": "text"}, object{"a": ""}, object{}}},
	},
	"ServiceAccount": {{"secrets", []any{[]any{object{"name": "s", "namespace": "n", "uid": "u", "kind": "Secret"}}}}},
	"PersistentVolumeClaim": {
		{"spec.dataSource", []any{object{"kind": "PersistentVolumeClaim", "name": "a"}, object{"kind": "VolumeSnapshot", "apiGroup": "snapshot.storage.k8s.io", "name": "a"}, object{"kind": "X", "apiGroup": "x.y", "name": "a"}}},
		{"spec.dataSourceRef", []any{object{"kind": "PersistentVolumeClaim", "name": "a"}, object{"kind": "X", "apiGroup": "x.y", "name": "a", "namespace": "n"}, object{"kind": "X", "apiGroup": "x.y", "name": "a", "namespace": ""}}},
		{"status.healthStatus", []any{object{}}},
	},
	"EndpointSlice": {
		{"addressType", []any{"IPv4"}},
		{"endpoints", []any{[]any{object{"addresses": []any{"10.0.0.1"}, "deprecatedTopology": object{"kubernetes.io/hostname": "n1", "x": "y"}}},
			[]any{object{"addresses": []any{"10.0.0.2"}, "deprecatedTopology": object{"kubernetes.io/hostname": "n1"}}, object{"addresses": []any{"10.0.0.3"}, "deprecatedTopology": object{"kubernetes.io/hostname": "N 1"}}},
			[]any{object{"addresses": []any{"10.0.0.2"}, "nodeName": "n2", "deprecatedTopology": object{"kubernetes.io/hostname": "n1"}}}}},
	},
	"CertificateSigningRequest": {
		{"status.conditions", []any{[]any{object{"type": "Approved", "status": "True", "reason": "x"}}, []any{object{"type": "Failed", "status": "True"}, object{"type": "Approved", "status": "True", "message": "other", "lastUpdateTime": "2026-01-02T03:04:05Z", "lastTransitionTime": "2026-01-02T03:04:05Z"}},
			[]any{object{"type": "Denied", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}}}},
		{"status.certificate", []any{"YQ==", "Yg=="}},
	},
	"CustomResourceDefinition": {
		{"spec.versions", []any{[]any{object{"name": "v1", "served": true, "storage": true}}, []any{object{"name": "v1", "served": true, "storage": false}, object{"name": "v2", "served": true, "storage": true}}}},
		{"status.storedVersions", []any{[]any{"v1"}, []any{"v2", "v1"}}},
	},
	"APIService": {{"spec", []any{object{"group": "a", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}}}},
	"Lease": {{"spec.strategy", []any{"OldestEmulationVersion", "x", "a/b", "a/b/c", ""}}, {"spec.preferredHolder", []any{"a", ""}},
		{"spec.leaseDurationSeconds", []any{0, 1, -1}}, {"spec.leaseTransitions", []any{0, -1, 1}}},
	"NetworkPolicy": {
		{"spec.podSelector", []any{object{}, object{"matchLabels": object{}}}},
		{"spec.ingress", []any{[]any{}, []any{object{}}}},
		{"spec.policyTypes", []any{[]any{"Ingress"}, []any{}}},
	},
	"DeviceTaintRule": {
		{"spec.taint.effect", []any{"NoSchedule", "NoExecute", "None"}},
		{"spec.taint.timeAdded", []any{"2026-01-02T03:04:05Z"}},
	},
	"ResourceClaim": {
		{"status.allocation", []any{object{"devices": object{"results": []any{object{"request": "r", "driver": "d", "pool": "p", "device": "x"}, object{"request": "r", "driver": "d", "pool": "p", "device": "y", "shareID": "s"}}}},
			object{"devices": object{"results": []any{object{"request": "r", "driver": "d", "pool": "p", "device": "x", "skipNodeOperations": []any{"a"}, "bindingConditions": []any{"c"}}}}}}},
		{"status.devices", []any{[]any{object{"driver": "d", "pool": "p", "device": "x"}, object{"driver": "d", "pool": "p", "device": "y", "shareID": "s"}, object{"driver": "d", "pool": "p", "device": "z"}}}},
	},
	"Workload": {
		{"spec.podGroupTemplates", []any{[]any{object{"name": "a", "preemptionPolicy": "PreemptLowerPriority", "schedulingConstraints": object{}}, object{"name": "b", "resourceClaims": []any{object{"name": "c"}}}}}},
		{"spec.compositePodGroupTemplates", []any{[]any{object{"name": "a", "preemptionPolicy": "Never", "podGroupTemplates": []any{object{"name": "x", "preemptionPolicy": "Never"}}, "compositePodGroupTemplates": []any{object{"name": "i", "preemptionPolicy": "Never"}}}}, []any{object{"name": "a"}, object{"name": "b", "preemptionPolicy": "Never"}}}},
	},
	"PodGroup": {
		{"spec.resourceClaims", []any{[]any{object{"name": "c"}}}},
		{"status.resourceClaimStatuses", []any{[]any{object{"name": "c", "resourceClaimName": "x"}}}},
		{"spec.preemptionPolicy", []any{"Never"}},
	},
	"Role":               {{"rules", ruleSpices}},
	"ClusterRole":        {{"rules", ruleSpices}, {"aggregationRule", []any{object{}, object{"clusterRoleSelectors": []any{object{"matchLabels": object{"a": "b"}}, object{"matchExpressions": []any{object{"key": "a b", "operator": "In", "values": []any{"x y"}}}}}}}}},
	"RoleBinding":        {{"roleRef", roleSpices}, {"subjects", subjectSpices}},
	"ClusterRoleBinding": {{"roleRef", roleSpices}, {"subjects", subjectSpices}},
	"ConfigMap": {
		{"data", []any{object{"a": "b"}, object{"a": "", "B_.-": "x"}, object{"a/b": "x", "..": "y"}, object{"": "x"}}},
		{"binaryData", []any{object{"a": "YQ=="}, object{"c": "YWJj", "...": ""}, object{"d": "YQ=="}}},
		{"immutable", []any{true, false}},
	},
	"LimitRange": {
		{"spec.limits", []any{[]any{object{"type": "Pod", "max": object{"cpu": "1"}, "min": object{"cpu": "2"}, "default": object{"cpu": "1"}}},
			[]any{object{"type": "Container", "max": object{"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "2Mi"}, "min": object{"cpu": "1"}, "default": object{"cpu": "3", "memory": "2Gi", "a/b": "1"}, "defaultRequest": object{"cpu": "500m", "memory": "3Gi", "a/b": "2"}, "maxLimitRequestRatio": object{"cpu": "4", "memory": "0.5"}}},
			[]any{object{"type": "PersistentVolumeClaim", "max": object{"x": "1"}}, object{"type": "PersistentVolumeClaim", "min": object{"storage": "1Gi"}}, object{"type": "x/y", "max": object{"requests.cpu": "1", "no such": "1"}}, object{"type": "Other"}},
			[]any{object{"type": "Container", "max": object{"cpu": "1500m"}, "min": object{"cpu": "700m"}, "maxLimitRequestRatio": object{"cpu": "2.5"}}}}},
	},
	"ResourceQuota": {
		{"spec.hard", []any{object{"pods": "10", "cpu": "1"}, object{"pods": "1.5", "requests.storage": "-1"}, object{"a/b": "1.5", "foo": "1", "count/jobs.batch": "2", "requests.hugepages-2Mi": "1"}, object{"persistentvolumeclaims": "1", "services": "x"}}},
		{"spec.scopes", []any{[]any{"BestEffort"}, []any{"BestEffort", "NotBestEffort"}, []any{"Terminating", "NotTerminating", "X"}, []any{"VolumeAttributesClass"}, []any{"PriorityClass", "CrossNamespacePodAffinity"}}},
		{"spec.scopeSelector", []any{object{"matchExpressions": []any{object{"scopeName": "PriorityClass", "operator": "In", "values": []any{"a"}}}}, object{"matchExpressions": []any{object{"scopeName": "BestEffort", "operator": "In"}, object{"scopeName": "NotBestEffort", "operator": "Exists", "values": []any{"x"}}, object{"scopeName": "Y", "operator": "Z"}}}}},
	},
	"CSINode": {{"status.storageHealth", []any{[]any{object{"name": "a"}}}}},
}

// spice puts some of the values that mean something to the kind into the object.
func spice(r *rand.Rand, kind string, o object) {
	for _, s := range spices[kind] {
		if !chance(r, 40) {
			continue
		}
		in := o
		path := strings.Split(s.path, ".")
		for _, name := range path[:len(path)-1] {
			next, ok := in[name].(object)
			if !ok {
				next = object{}
				in[name] = next
			}
			in = next
		}
		in[path[len(path)-1]] = copyTree(pick(r, s.values))
	}
}
