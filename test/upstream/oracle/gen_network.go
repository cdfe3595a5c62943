package main

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Addresses, ranges and names that are good by some rule and bad by another.
var (
	someIPs = choices("10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2", "1.2.3.4", "010.0.0.1", "::ffff:1.2.3.4", "FD00::1", "fd00:0:0:0:0:0:0:1", "127.0.0.1", "::1", "0.0.0.0", "::",
		"169.254.1.1", "fe80::1", "224.0.0.1", "ff02::1", "224.1.0.1", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "x", "", "None", "256.0.0.1", "1.2.3")
	someRanges = choices("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "fd00::/64", "fd00::/48", "fd00::/112", "0.0.0.0/0", "::/0", "10.0.0.1/8", "010.0.0.0/8", "10.0.0.0/08", "::ffff:10.0.0.0/104", "::ffff:10.1.0.0/112",
		"FD00::/64", "fd00:0::/64", "::ffff:10.0.0.1/104", "fd00::1/64", " 10.0.0.0/8 ", "10.0.0.0/33", "10.0.0.0", "x", "", "192.168.0.0/16")
	someHosts = choices("a.example.com", "example.com", "*.example.com", "*", "*.*.a.b", "a.*.b", "*a.b", "10.0.0.1", "fd00::1", "A.b", "a_b", "", ".", "a.", "*.", strings.Repeat("h", 253), "*."+strings.Repeat("h", 252),
		"*."+strings.Repeat("h", 251), "*."+strings.Repeat("h", 254), strings.Repeat("h", 64)+".x", "-a.b", "a")
	someLabels = choices("a", "a-b", "1a", "a.b", "A", "a_b", "", "-a", strings.Repeat("n", 63), strings.Repeat("n", 64), "a1")
	somePorts  = choices(80, 81, 443, 0, -1, 65535, 65536, 30000)
	portNames  = choices("http", "a", "1", "a--b", "-a", "A", "a.b", strings.Repeat("p", 15), strings.Repeat("p", 16), "")
	protocols  = choices("TCP", "UDP", "SCTP", "tcp", "", nil)
	appWords   = choices("http", "example.com/http", "a b", "", "/x", "kubernetes.io/h2c")
	segments   = choices("a", "A", "a/b", "a%b", ".", "..", "", "a b", "services")
	domains    = choices("a.example", "example.com", "A", "a_b", "", "x")
	stringMaps = []any{object{"a": "b"}, object{"a b": "c"}, object{"a": "x y"}, object{}, nil}
)

func choices(from ...any) []any { return from }

// listsOf makes lists of none, one, two or three of the values.
func listsOf(r *rand.Rand, from []any) any {
	list := []any{}
	for range pick(r, []int{0, 1, 1, 1, 2, 2, 3}) {
		list = append(list, pick(r, from[:min(len(from), 4+r.IntN(len(from)))]))
	}
	return list
}

// A place in an object, with numbers for the items of lists, and values for it; `lists` are made of several of them.
type networkSpice struct {
	path   string
	values []any
	lists  bool
}

var (
	backends = []any{object{"service": object{"name": "s", "port": object{"number": 80}}}, object{"service": object{"name": "s", "port": object{"name": "http"}}}, object{"service": object{"name": "1s", "port": object{"number": 80}}},
		object{"service": object{"name": "S", "port": object{"name": "A", "number": 1}}}, object{"service": object{"name": "", "port": object{}}}, object{"service": object{"name": "s", "port": object{"name": "a--b"}}}, object{"service": object{"name": "s", "port": object{"number": 65536}}},
		object{"resource": object{"kind": "K", "name": "n", "apiGroup": "a.b"}}, object{"resource": object{"kind": "", "name": "", "apiGroup": ""}}, object{"resource": object{"kind": "a/b", "name": "."}},
		object{"resource": object{"kind": "K", "name": "n"}, "service": object{"name": "s"}}, object{}}
	selectors = []any{object{}, object{"matchLabels": object{"a": "b"}}, object{"matchLabels": object{"a": "b c"}}, object{"matchExpressions": []any{object{"key": "a", "operator": "In", "values": []any{"x y"}}}},
		object{"matchExpressions": []any{object{"key": "a b", "operator": "In"}}}, object{"matchExpressions": []any{object{"key": "a", "operator": "X", "values": []any{"b"}}}}}
	policyPeers = []any{object{"podSelector": object{}}, object{"ipBlock": object{"cidr": "10.0.0.0/8", "except": []any{"10.1.0.0/16"}}}, object{"ipBlock": object{"cidr": "", "except": []any{"x"}}}, object{}, object{"namespaceSelector": object{}, "podSelector": object{"matchLabels": object{"a": "b"}}},
		object{"podSelector": object{}, "ipBlock": object{"cidr": "fd00::/64"}}, object{"ipBlock": object{}}, object{"ipBlock": object{"cidr": "10.0.0.0/8", "except": []any{"10.0.0.0/8", "11.0.0.0/16", "10.0.0.0/07", "fd00::/64"}}}}
	parents = []any{object{"resource": "services", "name": "a", "namespace": "default"}, object{"resource": "services", "name": "b"}, object{"resource": "", "name": ""}, object{"resource": "a/b", "name": "..", "group": "A", "namespace": "a/b"}, object{"name": "a", "group": "x.y"}, object{}, nil}
	hosts8  = strings.Split("a b c d e f g h", " ")
)

func itemsNamed(names ...string) []any {
	var list []any
	for _, name := range names {
		list = append(list, object{"name": name})
	}
	return list
}

func manyOf(n int, value any) []any {
	var list []any
	for range n {
		list = append(list, value)
	}
	return list
}

// Good objects, and what may be changed in them, by kind.
var networkSeeds = map[string][]object{
	"Service": {
		{"spec": object{"ports": []any{object{"port": 80}}, "clusterIP": "10.0.0.1", "clusterIPs": []any{"10.0.0.1"}, "ipFamilies": []any{"IPv4"}, "ipFamilyPolicy": "SingleStack"}},
		{"spec": object{"type": "NodePort", "ports": []any{object{"port": 80, "nodePort": 30000}}, "clusterIP": "10.0.0.1", "clusterIPs": []any{"10.0.0.1"}, "ipFamilies": []any{"IPv4"}, "ipFamilyPolicy": "SingleStack"}},
		{"spec": object{"type": "LoadBalancer", "ports": []any{object{"port": 80, "nodePort": 30000, "name": "a"}, object{"port": 81, "nodePort": 30001, "name": "b", "protocol": "UDP"}}, "clusterIP": "10.0.0.1", "clusterIPs": []any{"10.0.0.1", "fd00::1"},
			"ipFamilies": []any{"IPv4", "IPv6"}, "ipFamilyPolicy": "RequireDualStack"}, "status": object{"loadBalancer": object{"ingress": []any{object{"ip": "1.2.3.4", "ipMode": "VIP"}, object{"hostname": "a.b"}}}}},
		{"spec": object{"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30100, "ports": []any{object{"port": 80}}, "clusterIP": "10.0.0.1", "clusterIPs": []any{"10.0.0.1"}, "loadBalancerClass": "a/b"}, "status": object{"loadBalancer": object{"ingress": []any{object{"ip": "10.0.0.1"}}}}},
		{"spec": object{"clusterIP": "None", "clusterIPs": []any{"None"}, "ipFamilies": []any{"IPv4", "IPv6"}, "ipFamilyPolicy": "RequireDualStack"}},
		{"spec": object{"type": "ExternalName", "externalName": "example.com"}},
	},
	"Endpoints": {
		{"subsets": []any{object{"addresses": []any{object{"ip": "10.0.0.1"}}, "ports": []any{object{"port": 80}}}}},
		{"subsets": []any{object{"addresses": []any{object{"ip": "10.0.0.1", "hostname": "h", "nodeName": "n"}}, "notReadyAddresses": []any{object{"ip": "fd00::1"}}, "ports": []any{object{"port": 80, "name": "a"}, object{"port": 81, "name": "b"}}}}},
	},
	"EndpointSlice": {
		{"addressType": "IPv4", "endpoints": []any{object{"addresses": []any{"10.0.0.1"}}}, "ports": []any{object{"name": "a", "port": 80}}},
		{"addressType": "IPv6", "endpoints": []any{object{"addresses": []any{"fd00::1"}, "nodeName": "n", "hints": object{"forZones": itemsNamed("z")}}}},
		{"addressType": "FQDN", "endpoints": []any{object{"addresses": []any{"a.example.com"}, "hostname": "h"}}, "ports": []any{object{"name": "a"}, object{"name": "b"}}},
	},
	"Ingress": {
		{"spec": object{"defaultBackend": object{"service": object{"name": "s", "port": object{"number": 80}}}}},
		{"spec": object{"ingressClassName": "c", "rules": []any{object{"host": "a.b", "http": object{"paths": []any{object{"path": "/", "pathType": "Prefix", "backend": object{"service": object{"name": "s", "port": object{"name": "http"}}}}}}}},
			"tls": []any{object{"hosts": []any{"a.b"}, "secretName": "s"}}}, "status": object{"loadBalancer": object{"ingress": []any{object{"ip": "1.2.3.4"}, object{"hostname": "a.b"}}}}},
		{"spec": object{"rules": []any{object{"host": "*.a.b", "http": object{"paths": []any{object{"path": "x", "pathType": "Exact", "backend": object{}}}}}}, "tls": []any{object{"secretName": "S"}}}},
	},
	"IngressClass": {
		{"spec": object{"controller": "a.b/c"}},
		{"spec": object{"controller": "a.b/c", "parameters": object{"kind": "K", "name": "n", "scope": "Namespace", "namespace": "ns", "apiGroup": "a.b"}}},
		{"spec": object{"controller": "a.b/c", "parameters": object{"kind": "", "name": "n"}}},
	},
	"NetworkPolicy": {
		{"spec": object{"podSelector": object{}}},
		{"spec": object{"podSelector": object{"matchLabels": object{"a": "b"}}, "ingress": []any{object{"ports": []any{object{"port": 80}}, "from": []any{object{"podSelector": object{}}}}}, "egress": []any{object{"to": []any{object{"ipBlock": object{"cidr": "10.0.0.0/8", "except": []any{"10.1.0.0/16"}}}}, "ports": []any{object{"port": "http"}}}}, "policyTypes": []any{"Ingress", "Egress"}}},
		{"spec": object{"podSelector": object{"matchExpressions": []any{object{"key": "a", "operator": "In", "values": []any{"x y"}}}}, "ingress": []any{object{"from": []any{object{"ipBlock": object{"cidr": "010.0.0.0/8", "except": []any{"10.1.0.1/16"}}}}}}}},
	},
	"ServiceCIDR": {{"spec": object{"cidrs": []any{"10.0.0.0/8"}}}, {"spec": object{"cidrs": []any{"10.0.0.0/8", "fd00::/64"}}}, {"spec": object{}}},
	"IPAddress":   {{"spec": object{"parentRef": object{"resource": "services", "name": "a", "namespace": "default"}}}, {"spec": object{}}},
}

var networkSpices = map[string][]networkSpice{
	"Service": {
		{path: "spec.type", values: choices("ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "X")},
		{path: "spec.clusterIP", values: someIPs}, {path: "spec.clusterIPs", values: someIPs, lists: true}, {path: "spec.clusterIPs", values: []any{[]any{"None"}, []any{"None", "10.0.0.1"}, []any{"10.0.0.1", "fd00::1"}, nil}}, {path: "spec.clusterIP", values: choices("None", "", "10.0.0.1")},
		{path: "spec.ipFamilies", values: choices("IPv4", "IPv6", "IPv6", "X", ""), lists: true}, {path: "spec.ipFamilyPolicy", values: choices("SingleStack", "PreferDualStack", "RequireDualStack", "X", "", nil)},
		{path: "spec.ports", values: []any{nil, []any{}, []any{object{"port": 80}, object{"port": 80}}, []any{object{"port": 80, "name": "a", "nodePort": 30000}, object{"port": 80, "name": "a", "nodePort": 30000}}, []any{object{"port": 80, "name": "a", "protocol": "UDP", "nodePort": 30000}, object{"port": 80, "name": "b", "nodePort": 30000}}}},
		{path: "spec.ports.0.port", values: somePorts}, {path: "spec.ports.0.nodePort", values: somePorts}, {path: "spec.ports.0.targetPort", values: append(somePorts, portNames...)}, {path: "spec.ports.0.name", values: someLabels}, {path: "spec.ports.0.protocol", values: protocols}, {path: "spec.ports.0.appProtocol", values: appWords}, {path: "spec.ports.1.name", values: someLabels},
		{path: "spec.selector", values: stringMaps}, {path: "spec.sessionAffinity", values: choices("None", "ClientIP", "X", "")}, {path: "spec.sessionAffinityConfig", values: []any{object{"clientIP": object{"timeoutSeconds": 10}}, object{"clientIP": object{"timeoutSeconds": 0}}, object{"clientIP": object{"timeoutSeconds": 86401}}, object{"clientIP": object{}}, object{}, nil}},
		{path: "spec.externalIPs", values: someIPs, lists: true}, {path: "spec.loadBalancerIP", values: someIPs}, {path: "spec.loadBalancerSourceRanges", values: someRanges, lists: true}, {path: "spec.externalName", values: someHosts}, {path: "spec.externalTrafficPolicy", values: choices("Local", "Cluster", "X", "")},
		{path: "spec.healthCheckNodePort", values: choices(0, 30100, 30101, -1, 65536)}, {path: "spec.allocateLoadBalancerNodePorts", values: choices(true, false)}, {path: "spec.loadBalancerClass", values: append(appWords, nil)}, {path: "spec.internalTrafficPolicy", values: choices("Local", "Cluster", "X", "")},
		{path: "spec.trafficDistribution", values: choices("PreferClose", "PreferSameZone", "PreferSameNode", "X", "")},
		{path: "metadata.annotations", values: []any{object{"service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "auto"}, object{"service.kubernetes.io/topology-aware-hints": "auto"}, object{"service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8, x"},
			object{"service.beta.kubernetes.io/load-balancer-source-ranges": " "}, object{"service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.1/8 ,, fd00::/64"}}},
		{path: "status.loadBalancer.ingress", values: []any{nil, []any{object{"ip": "1.2.3.4"}}, []any{object{"ip": "010.0.0.1", "ipMode": "VIP"}, object{"ip": "fd00:0::1", "ipMode": "Proxy"}}, []any{object{"hostname": "10.0.0.1"}, object{"hostname": "A", "ipMode": "VIP"}, object{"ip": "x", "ipMode": "X"}}}},
		{path: "status.loadBalancer.ingress.0.ip", values: someIPs}, {path: "status.loadBalancer.ingress.0.ipMode", values: choices("VIP", "Proxy", "X", "", nil)}, {path: "status.loadBalancer.ingress.0.hostname", values: someHosts},
	},
	"Endpoints": {
		{path: "subsets", values: []any{nil, []any{}, []any{object{}}, []any{object{"ports": []any{object{"port": 80}, object{"port": 81}}}}}},
		{path: "subsets.0.addresses.0.ip", values: someIPs}, {path: "subsets.0.addresses.0.hostname", values: someLabels}, {path: "subsets.0.addresses.0.nodeName", values: append(someHosts, nil)}, {path: "subsets.0.notReadyAddresses.0.ip", values: someIPs}, {path: "subsets.0.addresses", values: []any{[]any{}, nil}},
		{path: "subsets.0.ports.0.port", values: somePorts}, {path: "subsets.0.ports.0.name", values: someLabels}, {path: "subsets.0.ports.0.protocol", values: protocols}, {path: "subsets.0.ports.0.appProtocol", values: appWords},
		{path: "metadata.labels", values: []any{object{"endpoints.kubernetes.io/managed-by": "endpoint-controller"}, object{"endpoints.kubernetes.io/managed-by": "x"}}},
	},
	"EndpointSlice": {
		{path: "addressType", values: choices("IPv4", "IPv6", "FQDN", "X", "")}, {path: "endpoints", values: []any{nil, []any{}, []any{object{"addresses": []any{}}}, manyOf(1001, object{"addresses": []any{}})}},
		{path: "endpoints.0.addresses", values: append(slices.Clone(someIPs), someHosts...), lists: true}, {path: "endpoints.0.addresses.0", values: someIPs}, {path: "endpoints.0.addresses.0", values: someHosts}, {path: "endpoints.0.addresses", values: []any{manyOf(101, "10.0.0.1"), []any{}}},
		{path: "endpoints.0.nodeName", values: append(someHosts, nil)}, {path: "endpoints.0.hostname", values: append(someLabels, nil)}, {path: "endpoints.0.deprecatedTopology", values: []any{object{"topology.kubernetes.io/zone": "z"}, object{"a b": "c"}}},
		{path: "endpoints.0.hints", values: []any{object{"forZones": itemsNamed("a", "a", "x y")}, object{"forNodes": itemsNamed("a", "a", "A b", "")}, object{"forZones": itemsNamed(append(hosts8, "i")...)}, object{"forNodes": itemsNamed(append(hosts8, "i")...)}, object{"forZones": itemsNamed(hosts8...), "forNodes": itemsNamed(hosts8...)}, object{}, nil}},
		{path: "ports", values: []any{nil, []any{object{"name": "a"}, object{"name": "a"}}, []any{object{}, object{}}}}, {path: "ports.0.name", values: someLabels}, {path: "ports.0.protocol", values: protocols}, {path: "ports.0.appProtocol", values: appWords}, {path: "ports.0.port", values: somePorts},
		{path: "metadata.labels", values: []any{object{"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}, object{"endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io"}, object{"endpointslice.kubernetes.io/managed-by": "x"}}},
	},
	"Ingress": {
		{path: "spec.defaultBackend", values: append(slices.Clone(backends), nil)}, {path: "spec.rules", values: []any{nil, []any{}, []any{object{}}, []any{object{"host": "a.b", "http": object{"paths": []any{}}}}}}, {path: "spec.ingressClassName", values: append(someHosts, nil)},
		{path: "spec.rules.0.host", values: someHosts}, {path: "spec.rules.0.http.paths.0.path", values: choices("/", "/a", "", "a", "//", "/a/./b", "/a/../b", "/a%2fb%2F", "/..", "/.", "/a/..", "/a/.", "é")}, {path: "spec.rules.0.http.paths.0.pathType", values: choices("Exact", "Prefix", "ImplementationSpecific", "X", "", nil)},
		{path: "spec.rules.0.http.paths.0.backend", values: backends}, {path: "spec.tls", values: []any{nil, []any{object{}}, []any{object{"secretName": "S_"}, object{"hosts": []any{"*.a", "*"}}}}}, {path: "spec.tls.0.hosts", values: someHosts, lists: true}, {path: "spec.tls.0.secretName", values: someHosts},
		{path: "metadata.annotations", values: []any{object{"kubernetes.io/ingress.class": "c"}, object{"kubernetes.io/ingress.class": "d"}, object{"kubernetes.io/ingress.class": ""}}},
		{path: "status.loadBalancer.ingress", values: []any{nil, []any{object{"ip": "010.0.0.1"}, object{"ip": "fd00:0::1"}}, []any{object{"hostname": "A"}, object{"ip": "x"}}}}, {path: "status.loadBalancer.ingress.0.ip", values: someIPs}, {path: "status.loadBalancer.ingress.0.hostname", values: someHosts},
	},
	"IngressClass": {
		{path: "spec.controller", values: choices("a.b/c", "a.b/d", "", "x", "/x", "a/", "A/b", "a.b/c d", "a.b/é", "a.b/"+strings.Repeat("c", 246), "a.b/"+strings.Repeat("c", 247), "a/b/~%!$&'()*+,;=:", "a_/b\"")},
		{path: "spec.parameters", values: []any{nil, object{}, object{"kind": "K", "name": "n"}, object{"kind": "K", "name": "n", "scope": "Cluster", "namespace": "x"}}}, {path: "spec.parameters.kind", values: segments}, {path: "spec.parameters.name", values: segments}, {path: "spec.parameters.apiGroup", values: append(domains, nil)},
		{path: "spec.parameters.scope", values: choices("Cluster", "Namespace", "X", "")}, {path: "spec.parameters.namespace", values: append(someLabels, nil)},
	},
	"NetworkPolicy": {
		{path: "spec.podSelector", values: selectors}, {path: "spec.ingress", values: []any{nil, []any{}, []any{object{}}, []any{object{"from": []any{object{"ipBlock": object{}}}}}}}, {path: "spec.egress", values: []any{nil, []any{object{"to": []any{object{"ipBlock": object{}}, object{}}}}}},
		{path: "spec.ingress.0.from", values: policyPeers, lists: true}, {path: "spec.egress.0.to", values: policyPeers, lists: true}, {path: "spec.ingress.0.from.0.podSelector", values: selectors}, {path: "spec.egress.0.to.0.namespaceSelector", values: selectors},
		{path: "spec.egress.0.to.0.ipBlock.cidr", values: someRanges}, {path: "spec.egress.0.to.0.ipBlock.except", values: someRanges, lists: true}, {path: "spec.ingress.0.from.0.ipBlock.cidr", values: someRanges}, {path: "spec.ingress.0.from.0.ipBlock.except", values: someRanges, lists: true},
		{path: "spec.ingress.0.ports.0.port", values: append(slices.Concat(somePorts, portNames), nil)}, {path: "spec.ingress.0.ports.0.endPort", values: append(somePorts, nil)}, {path: "spec.ingress.0.ports.0.protocol", values: protocols}, {path: "spec.egress.0.ports.0.port", values: slices.Concat(somePorts, portNames)}, {path: "spec.egress.0.ports.0.endPort", values: somePorts},
		{path: "spec.policyTypes", values: choices("Ingress", "Egress", "X", ""), lists: true},
	},
	"ServiceCIDR": {{path: "spec.cidrs", values: someRanges, lists: true}, {path: "spec.cidrs.0", values: someRanges}, {path: "spec.cidrs", values: []any{[]any{"10.0.0.0/8"}, []any{"10.0.0.0/8", "fd00::/64"}, []any{"10.0.0.0/8", "192.168.0.0/16"}}},
		{path: "status.conditions", values: []any{[]any{object{"type": "Ready", "status": "True"}}, nil}}},
	"IPAddress": {{path: "spec.parentRef", values: parents}, {path: "spec.parentRef.resource", values: segments}, {path: "spec.parentRef.name", values: segments}, {path: "spec.parentRef.namespace", values: segments}, {path: "spec.parentRef.group", values: domains}},
}

// setPlace puts a value at a path, as far as what stands before it is there or can be made; nil takes away.
func setPlace(in any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		list, _ := in.([]any)
		for len(list) <= i && i < 2 {
			list = append(list, nil)
		}
		list[i] = setPlace(list[i], path[1:], value)
		return list
	}
	o, ok := in.(object)
	if !ok {
		o = object{}
	}
	if next := setPlace(o[path[0]], path[1:], value); next == nil {
		delete(o, path[0])
	} else {
		o[path[0]] = next
	}
	return o
}

func season(r *rand.Rand, kind string, o object) {
	s := pick(r, networkSpices[kind])
	value := pick(r, s.values)
	if s.lists {
		value = listsOf(r, s.values)
	}
	setPlace(o, strings.Split(s.path, "."), copyTree(value))
}

// Kinds of the network, in their versions.
var networkRows = sync.OnceValue(func() (found []schema.GroupVersionKind) {
	for _, gvk := range kindsOfRows() {
		if slices.Contains(networkKinds, gvk.Group+" "+gvk.Kind) && (gvk.Version == "v1" || gvk.Version == "v1beta1") {
			found = append(found, gvk)
		}
	}
	return found
})

// generateNetwork changes a good object in a few places.
func generateNetwork(r *rand.Rand) line {
	s, gvk, l := learn(), pick(r, networkRows()), line{}
	if chance(r, 35) {
		gvk = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	}
	t := typeOfKind(gvk)
	gates := s.gatesOfKind(r, gvk)
	for _, name := range []string{"StrictIPCIDRValidation", "RelaxedServiceNameValidation", "PreferSameTrafficDistribution", "DeclarativeValidationBeta"} {
		if tried := map[string]bool{name: chance(r, 50)}; chance(r, 15) && canBeSet(name) && gatesFit(tried) {
			gates[name] = tried[name]
		}
	}
	if !gatesFit(gates) {
		gates = nil
	}
	l.set("gates", gates)
	o := copyTree(pick(r, networkSeeds[gvk.Kind])).(object)
	o["apiVersion"], o["kind"] = gvk.GroupVersion().String(), gvk.Kind
	o["metadata"] = object{"name": networkName(r, gvk.Kind)}
	verb := pick(r, []string{"create", "create", "update", "update", "status"})
	if _, ok := fieldsOf(t)["status"]; verb == "status" && !ok {
		verb = "update"
	}
	l.set("verb", verb)
	if verb == "create" {
		s.bend(r, gvk, o, 5)
		l["new"] = encode(knownOr(gvk, o))
		return l
	}
	s.bend(r, gvk, o, 3)
	setStored(r, o["metadata"].(object))
	updated := copyTree(o).(object)
	s.bend(r, gvk, updated, 4)
	if chance(r, 10) {
		changeMetadata(r, updated["metadata"].(object))
	}
	l["old"] = servedAgain(l, knownOr(gvk, o))
	l.set("new", knownOr(gvk, updated))
	return l
}

func networkName(r *rand.Rand, kind string) string {
	if kind == "IPAddress" && chance(r, 90) {
		return pick(r, []string{"10.0.0.1", "fd00::1", "10.0.0.01", "FD00::1"})
	}
	return near(r, objectNames)
}

func (s *learned) bend(r *rand.Rand, gvk schema.GroupVersionKind, o object, most int) {
	for range r.IntN(most) {
		season(r, gvk.Kind, o)
	}
	if chance(r, 10) {
		s.growAt(r, gvk, typeOfKind(gvk), o)
	}
}

// knownOr is the object without members that its kind does not have, or as it is.
func knownOr(gvk schema.GroupVersionKind, o object) any {
	if known := knownOf(typeOfKind(gvk), gvk, o); known != nil {
		return known
	}
	return o
}
