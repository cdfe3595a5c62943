package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"sync"
)

// A request is made by a function per plug-in, with the objects that the plug-in looks at.
var admissionGenerators = []struct {
	plugin   string
	generate func(*rand.Rand, line, object)
}{
	{"TaintNodesByCondition", newNode}, {"NamespaceLifecycle", inNamespace}, {"LimitRanger", limited}, {"LimitRanger", limited},
	{"ServiceAccount", withAccount}, {"NodeRestriction", byNode}, {"NodeRestriction", byNode}, {"NodeRestriction", byNode},
	{"PodNodeSelector", withNodeSelector}, {"PodTolerationRestriction", withTolerations}, {"StorageObjectInUseProtection", newStorage},
	{"OwnerReferencesPermissionEnforcement", owned}, {"PersistentVolumeClaimResize", resized}, {"RuntimeClass", withRuntime},
	{"CertificateApproval", certificate}, {"CertificateSigning", certificate}, {"CertificateSubjectRestriction", certificate},
	{"ClusterTrustBundleAttest", bundle}, {"DefaultIngressClass", newIngress}, {"PodTopologyLabels", inZone},
	{"ResourceQuota", charged}, {"ResourceQuota", charged}, {"ResourceQuota", charged},
}

// generateAdmission makes requests until upstream answers one the same each time: its maps have no order.
func generateAdmission(r *rand.Rand) line {
	for {
		g := pick(r, admissionGenerators)
		l, request := line{}, object{"plugin": g.plugin, "operation": "CREATE"}
		g.generate(r, l, request)
		l.set("request", request)
		if isStable(l) {
			return l
		}
	}
}

func isStable(l line) bool {
	a := &area{answer: admissionAnswer}
	var first []byte
	for i := 0; i < 4; i++ {
		again := l.clone()
		if a.ask(again) != nil {
			return false
		}
		text := []byte(again.String())
		if i > 0 && !bytes.Equal(first, text) {
			return false
		}
		first = text
		if again.has("status") && len(get[[]any](l, "objects")) > 1 && get[admissionRequest](l, "request").Plugin == "ResourceQuota" {
			return false // by which of two quotas a request is refused is a matter of luck
		}
	}
	return true
}

func objectOf(kind, name string, members object) object {
	o := object{"apiVersion": "v1", "kind": kind, "metadata": object{"name": name}}
	for key, value := range members {
		o[key] = value
	}
	return o
}

func inDefault(o object) object {
	o["metadata"].(object)["namespace"] = "default"
	return o
}

func about(request object, group, resource, namespace string) {
	request["group"], request["resource"], request["namespace"] = group, resource, namespace
}

var (
	admissionAmounts   = []string{"100m", "200m", "1", "2", "1500m", "0", "3000m", "1.5"}
	admissionBytes     = []string{"64Mi", "128Mi", "1Gi", "2G", "0", "1000000000", "1500m"}
	admissionResources = []string{"cpu", "cpu", "memory", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi", "storage"}
)

func amount(r *rand.Rand, resource string) string {
	if resource == "cpu" || resource == "example.com/gpu" {
		return pick(r, admissionAmounts)
	}
	return pick(r, admissionBytes)
}

// amounts of at most n resources, or nothing.
func amounts(r *rand.Rand, n int) object {
	list := object{}
	for range r.IntN(n + 1) {
		name := pick(r, admissionResources)
		list[name] = amount(r, name)
	}
	return list
}

func requirements(r *rand.Rand) object {
	o := object{}
	maybe(r, 60, o, "requests", amounts(r, 3))
	maybe(r, 60, o, "limits", amounts(r, 3))
	return o
}

func admissionContainers(r *rand.Rand, prefix string, n int) []any {
	list := []any{}
	for i := range n {
		c := object{"name": fmt.Sprintf("%s%d", prefix, i), "image": "x"}
		maybe(r, 70, c, "resources", requirements(r))
		if prefix == "i" {
			maybe(r, 30, c, "restartPolicy", "Always")
		}
		maybe(r, 10, c, "env", []any{object{"name": "E", "valueFrom": object{"secretKeyRef": object{"name": pick(r, []string{"s1", "s2", ""}), "key": "k"}}}})
		maybe(r, 10, c, "envFrom", []any{object{pick(r, []string{"secretRef", "configMapRef"}): object{"name": pick(r, []string{"s1", "s2"})}}})
		maybe(r, 10, c, "volumeMounts", []any{object{"name": "v", "mountPath": pick(r, []string{"/x", "/var/run/secrets/kubernetes.io/serviceaccount"})}})
		list = append(list, c)
	}
	return list
}

func admissionPod(r *rand.Rand) object {
	spec := object{"containers": admissionContainers(r, "c", 1+r.IntN(2))}
	maybe(r, 30, spec, "initContainers", admissionContainers(r, "i", 1+r.IntN(2)))
	pod := inDefault(objectOf("Pod", "p", object{"spec": spec}))
	if chance(r, 10) {
		delete(pod["metadata"].(object), "name")
		pod["metadata"].(object)["generateName"] = "p-"
	}
	return pod
}

func podSpec(o object) object { return o["spec"].(object) }

func metaOf(o object) object { return o["metadata"].(object) }

// ---- one for each plug-in ----

func newNode(r *rand.Rand, l line, request object) {
	about(request, "", "nodes", "")
	spec := object{}
	maybe(r, 60, spec, "taints", some(r, 3, func() object {
		return object{"key": pick(r, []string{"node.kubernetes.io/not-ready", "a"}), "effect": pick(r, []string{"NoSchedule", "NoExecute"}), "value": pick(r, []string{"", "x"})}
	}))
	l.set("object", objectOf("Node", "n", object{"spec": spec}))
}

func inNamespace(r *rand.Rand, l line, request object) {
	phase := pick(r, []string{"Active", "Terminating", ""})
	objects := []object{}
	if chance(r, 70) {
		objects = append(objects, objectOf("Namespace", "ns", object{"status": object{"phase": phase}}))
	}
	l.set("objects", objects)
	request["operation"] = pick(r, []string{"CREATE", "CREATE", "UPDATE", "DELETE"})
	if chance(r, 30) {
		about(request, "", "namespaces", "")
		name := pick(r, []string{"ns", "default", "kube-system", "kube-public", "kube-node-lease"})
		request["namespace"] = name
		o := objectOf("Namespace", name, nil)
		l.set("object", o)
		if request["operation"] == "UPDATE" {
			l.set("old", o)
		}
		return
	}
	about(request, "", "configmaps", "ns")
	o := objectOf("ConfigMap", "c", nil)
	metaOf(o)["namespace"] = "ns"
	l.set("object", o)
	if request["operation"] == "UPDATE" {
		l.set("old", o)
	}
}

func limitItem(r *rand.Rand, kind string) object {
	item := object{"type": kind}
	for _, key := range []string{"min", "max", "maxLimitRequestRatio"} {
		maybe(r, 40, item, key, amounts(r, 1))
	}
	if kind == "Container" {
		maybe(r, 40, item, "default", amounts(r, 3))
		maybe(r, 40, item, "defaultRequest", amounts(r, 3))
	}
	return item
}

func limited(r *rand.Rand, l line, request object) {
	kind := pick(r, []string{"Pod", "Pod", "PersistentVolumeClaim"})
	items := some(r, 3, func() object {
		return limitItem(r, pick(r, []string{"Container", "Container", "Pod", "PersistentVolumeClaim"}))
	})
	l.set("objects", []object{inDefault(objectOf("LimitRange", "limits", object{"spec": object{"limits": items}}))})
	update := chance(r, 20)
	if update {
		request["operation"] = "UPDATE"
	}
	if kind == "Pod" {
		about(request, "", "pods", "default")
		if update && chance(r, 50) {
			request["subresource"] = "resize"
		}
		pod := admissionPod(r)
		maybe(r, 15, podSpec(pod), "resources", requirements(r))
		l.set("object", pod)
		if update {
			old := admissionPod(r)
			maybe(r, 30, metaOf(old), "deletionTimestamp", "2026-01-01T00:00:00Z")
			l.set("old", old)
		}
		return
	}
	about(request, "", "persistentvolumeclaims", "default")
	claim := inDefault(objectOf("PersistentVolumeClaim", "c", object{"spec": object{"resources": object{"requests": object{"storage": amount(r, "storage")}}}}))
	l.set("object", claim)
	if update {
		l.set("old", claim)
	}
}

func withAccount(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	accounts := []object{}
	for _, name := range []string{"default", "robot"} {
		account := inDefault(objectOf("ServiceAccount", name, nil))
		maybe(r, 30, metaOf(account), "annotations", object{"kubernetes.io/enforce-mountable-secrets": pick(r, []string{"true", "T", "false", "yes"})})
		maybe(r, 50, account, "secrets", []any{object{"name": "s1"}})
		maybe(r, 40, account, "imagePullSecrets", []any{object{"name": "s1"}, object{"name": "s3"}})
		maybe(r, 20, account, "automountServiceAccountToken", chance(r, 50))
		accounts = append(accounts, account)
	}
	l.set("objects", accounts)
	pod := admissionPod(r)
	spec := podSpec(pod)
	maybe(r, 50, spec, "serviceAccountName", pick(r, []string{"default", "robot", "nobody"}))
	maybe(r, 20, spec, "automountServiceAccountToken", chance(r, 50))
	maybe(r, 20, spec, "imagePullSecrets", []any{object{"name": pick(r, []string{"s1", "s2"})}})
	maybe(r, 40, spec, "volumes", []any{admissionVolume(r)})
	maybe(r, 20, metaOf(pod), "annotations", object{"kubernetes.io/config.mirror": "x"})
	l.set("object", pod)
	if chance(r, 15) {
		request["operation"], request["subresource"] = "UPDATE", pick(r, []string{"", "ephemeralcontainers"})
		maybe(r, 80, spec, "ephemeralContainers", admissionContainers(r, "e", 1))
		l.set("old", pod)
	}
}

func admissionVolume(r *rand.Rand) object {
	v := object{"name": pick(r, []string{"v", "kube-api-access-abcde"})}
	switch r.IntN(8) {
	case 0:
		v["secret"] = object{"secretName": pick(r, []string{"s1", "s2"})}
	case 1:
		v["configMap"] = object{"name": "m"}
	case 2:
		v["projected"] = object{"sources": []any{pick(r, []object{
			{"serviceAccountToken": object{"path": "t", "audience": pick(r, []string{"", "a"})}}, {"secret": object{"name": "s1"}},
			{"configMap": object{"name": "m"}}, {"downwardAPI": object{}}, {"clusterTrustBundle": object{"name": "b", "path": "p"}}})}}
	case 3:
		v["persistentVolumeClaim"] = object{"claimName": "c"}
	case 4:
		v["csi"] = object{"driver": pick(r, []string{"d", "e"})}
	case 5:
		v["hostPath"] = object{"path": "/x"}
	case 6:
		v["azureFile"] = object{"secretName": "s1", "shareName": "x"}
	default:
		v["emptyDir"] = object{}
	}
	return v
}

func admissionUser(r *rand.Rand) object {
	return object{"name": pick(r, []string{"system:node:n", "system:node:n", "system:node:n", "system:node:m", "system:node:", "joe"}),
		"groups": pick(r, [][]string{{"system:nodes"}, {"system:nodes", "system:authenticated"}, {"system:nodes"}, {"dev"}})}
}

func byNode(r *rand.Rand, l line, request object) {
	request["user"] = admissionUser(r)
	pod := admissionPod(r)
	metaOf(pod)["name"], metaOf(pod)["uid"] = "p", "u1"
	podSpec(pod)["nodeName"] = pick(r, []string{"n", "n", "m"})
	maybe(r, 50, podSpec(pod), "volumes", []any{admissionVolume(r)})
	objects := []object{objectOf("Node", "n", object{"metadata": object{"name": "n", "uid": "u1"}})}
	if chance(r, 85) {
		objects = append(objects, pod)
	}
	if chance(r, 60) {
		objects = append(objects, inDefault(objectOf("PersistentVolumeClaim", "c", object{"spec": object{"volumeName": "pv"}})))
	}
	if chance(r, 60) {
		objects = append(objects, objectOf("PersistentVolume", "pv", object{"spec": object{"csi": object{"driver": "d", "volumeHandle": "h"}}}))
	}
	if chance(r, 60) {
		objects = append(objects, object{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": object{"name": "d"},
			"spec": object{"tokenRequests": []any{object{"audience": "a"}}}})
	}
	l.set("objects", objects)
	if chance(r, 15) {
		l.set("allowed", []string{"request-serviceaccounts-token-audience  a  default robot"})
	}
	[]func(*rand.Rand, line, object){nodeCreatesPod, nodeChangesPod, nodeChangesPod, nodeChangesNode, nodeChangesNode, nodeAsksToken,
		nodeAsksToken, nodeChangesOwn, nodeAsksCertificate, nodeChangesClaim}[r.IntN(10)](r, l, request)
}

func nodeCreatesPod(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	pod := inDefault(objectOf("Pod", "p", object{"spec": object{"containers": admissionContainers(r, "c", 1), "nodeName": pick(r, []string{"n", "n", "n", "m"})}}))
	maybe(r, 90, metaOf(pod), "annotations", object{"kubernetes.io/config.mirror": "x"})
	maybe(r, 90, metaOf(pod), "ownerReferences", some(r, 2, func() object {
		ref := object{"apiVersion": "v1", "kind": pick(r, []string{"Node", "Node", "Node", "Pod"}), "name": "n", "uid": pick(r, []string{"u1", "u1", "u1", "u2"})}
		maybe(r, 90, ref, "controller", true)
		maybe(r, 10, ref, "blockOwnerDeletion", chance(r, 50))
		return ref
	}))
	maybe(r, 40, podSpec(pod), "volumes", []any{admissionVolume(r)})
	maybe(r, 10, podSpec(pod), "serviceAccountName", "robot")
	maybe(r, 10, podSpec(pod), "resourceClaims", []any{object{"name": "r", "resourceClaimName": "x"}})
	l.set("object", pod)
}

func nodeChangesPod(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	pod := inDefault(objectOf("Pod", "p", object{"spec": object{"containers": []any{}, "nodeName": pick(r, []string{"n", "n", "m"})}, "status": object{}}))
	switch r.IntN(5) {
	case 0:
		request["operation"] = "DELETE"
		objects := []object{pod}
		l.set("objects", objects)
		l.set("object", pod)
	case 1:
		request["operation"], request["subresource"] = "UPDATE", pick(r, []string{"", "resize", "ephemeralcontainers"})
		l.set("object", pod)
		l.set("old", pod)
	case 2:
		request["subresource"], request["name"] = "eviction", "p"
		eviction := inDefault(objectOf("Eviction", "p", nil))
		eviction["apiVersion"] = "policy/v1"
		l.set("object", eviction)
	default:
		request["operation"], request["subresource"] = "UPDATE", "status"
		l.set("old", pod)
		after := copyTree(pod).(object)
		maybe(r, 20, metaOf(after), "labels", object{"a": "b"})
		maybe(r, 20, after, "status", object{"resourceClaimStatuses": []any{object{"name": "r", "resourceClaimName": "x"}}})
		l.set("object", after)
	}
}

var nodeLabelKeys = []string{"a", "kubernetes.io/hostname", "kubernetes.io/x", "x.kubernetes.io/y", "node.kubernetes.io/y", "a.kubelet.kubernetes.io/y",
	"node-restriction.kubernetes.io/y", "b.node-restriction.kubernetes.io/y", "k8s.io/x", "a.k8s.io/x", "xk8s.io/y", "beta.kubernetes.io/os"}

func nodeChangesNode(r *rand.Rand, l line, request object) {
	about(request, "", "nodes", "")
	labels := func() object {
		o := object{}
		for range r.IntN(3) {
			o[pick(r, nodeLabelKeys)] = pick(r, []string{"1", "2"})
		}
		return o
	}
	node := func() object {
		o := objectOf("Node", pick(r, []string{"n", "n", "n", "n", "m"}), object{"spec": object{}})
		maybe(r, 60, metaOf(o), "labels", labels())
		maybe(r, 10, o, "spec", object{"taints": []any{object{"key": "a", "effect": "NoSchedule"}}})
		maybe(r, 5, metaOf(o), "ownerReferences", []any{object{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u1"}})
		maybe(r, 5, o, "spec", object{"configSource": object{"configMap": object{"namespace": "a", "name": "b", "kubeletConfigKey": "c"}}})
		return o
	}
	o := node()
	l.set("object", o)
	request["name"] = metaOf(o)["name"]
	request["operation"] = pick(r, []string{"CREATE", "UPDATE", "UPDATE", "DELETE"})
	if request["operation"] == "UPDATE" {
		request["subresource"] = pick(r, []string{"", "status"})
		old := node()
		metaOf(old)["name"] = metaOf(o)["name"]
		l.set("old", old)
	}
}

func nodeAsksToken(r *rand.Rand, l line, request object) {
	about(request, "", "serviceaccounts", "default")
	request["subresource"], request["name"] = "token", "robot"
	spec := object{"audiences": some(r, 2, func() string { return pick(r, []string{"a", "b", ""}) })}
	ref := object{"kind": "Pod", "apiVersion": "v1", "name": "p"}
	maybe(r, 90, ref, "uid", pick(r, []string{"u1", "u1", "u1", "u2"}))
	maybe(r, 10, ref, "kind", "Secret")
	maybe(r, 90, spec, "boundObjectRef", ref)
	l.set("object", object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": object{}, "spec": spec})
}

func nodeAsksCertificate(r *rand.Rand, l line, request object) {
	about(request, "certificates.k8s.io", "podcertificaterequests", "default")
	request["operation"] = pick(r, []string{"CREATE", "CREATE", "CREATE", "CREATE", "DELETE"})
	uid := func() string { return pick(r, []string{"u1", "u1", "u1", "u1", "u1", "u2"}) }
	pod := inDefault(objectOf("Pod", "p", object{"spec": object{"containers": []any{}, "nodeName": pick(r, []string{"n", "n", "n", "m"}), "serviceAccountName": "robot"}}))
	metaOf(pod)["uid"] = "u1"
	maybe(r, 10, metaOf(pod), "annotations", object{"kubernetes.io/config.mirror": "x"})
	maybe(r, 60, podSpec(pod), "volumes", []any{object{"name": "v", "projected": object{"sources": []any{object{"podCertificate": object{"signerName": "example.com/x", "keyType": "ED25519"}}}}}})
	account := inDefault(objectOf("ServiceAccount", "robot", nil))
	metaOf(account)["uid"] = "u1"
	objects := []object{}
	for _, o := range []object{pod, account, objectOf("Node", "n", object{"metadata": object{"name": "n", "uid": "u1"}})} {
		if chance(r, 95) {
			objects = append(objects, o)
		}
	}
	l.set("objects", objects)
	if chance(r, 30) {
		l.set("allowed", []string{"request-serviceaccounts-podcertificate-signer certificates.k8s.io example.com:x  default robot"})
	}
	l.set("object", inDefault(objectOf("PodCertificateRequest", "r", object{"apiVersion": "certificates.k8s.io/v1", "spec": object{
		"signerName": "example.com/x", "podName": "p", "podUID": uid(), "serviceAccountName": pick(r, []string{"robot", "robot", "robot", "robot", "x"}),
		"serviceAccountUID": uid(), "nodeName": pick(r, []string{"n", "n", "n", "n", "m"}), "nodeUID": uid(), "stubPKCS10Request": "eA=="}})))
}

func nodeChangesClaim(r *rand.Rand, l line, request object) {
	about(request, "", "persistentvolumeclaims", "default")
	request["operation"], request["subresource"] = "UPDATE", pick(r, []string{"status", "status", "status", ""})
	claim := quotaClaim(r, request)
	after := copyTree(claim).(object)
	status := after["status"].(object)
	maybe(r, 50, status, "capacity", object{"storage": "3Gi"})
	maybe(r, 50, status, "allocatedResources", object{"storage": "3Gi"})
	maybe(r, 50, metaOf(after), "resourceVersion", "7")
	maybe(r, 20, metaOf(after), "labels", object{"a": "b"})
	l.set("old", claim)
	l.set("object", after)
}

func nodeChangesOwn(r *rand.Rand, l line, request object) {
	request["operation"] = pick(r, []string{"CREATE", "DELETE"})
	name := pick(r, []string{"n", "n", "m"})
	switch r.IntN(4) {
	case 0:
		namespace := pick(r, []string{"kube-node-lease", "kube-node-lease", "default"})
		about(request, "coordination.k8s.io", "leases", namespace)
		o := objectOf("Lease", name, object{"apiVersion": "coordination.k8s.io/v1"})
		metaOf(o)["namespace"] = namespace
		l.set("object", o)
	case 1:
		about(request, "storage.k8s.io", "csinodes", "")
		l.set("object", objectOf("CSINode", name, object{"apiVersion": "storage.k8s.io/v1", "spec": object{"drivers": []any{}}}))
	case 2:
		about(request, "resource.k8s.io", "resourceslices", "")
		l.set("object", objectOf("ResourceSlice", "s", object{"apiVersion": "resource.k8s.io/v1",
			"spec": object{"driver": "d", "nodeName": name, "pool": object{"name": "p", "resourceSliceCount": 1}}}))
	default:
		request["operation"] = "CREATE"
		certificate(r, l, request)
	}
}

func withNodeSelector(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	ns := objectOf("Namespace", "default", nil)
	maybe(r, 80, metaOf(ns), "annotations", object{"scheduler.alpha.kubernetes.io/node-selector": pick(r, []string{"a=b", "a=b, c = d", "", "a", "a=b=c", "a=b,", "-=x", "a=-", "a=c"})})
	l.set("objects", []object{ns})
	pod := admissionPod(r)
	maybe(r, 60, podSpec(pod), "nodeSelector", object{pick(r, []string{"a", "c", "x"}): pick(r, []string{"b", "d"})})
	l.set("object", pod)
}

func admissionToleration(r *rand.Rand) object {
	t := object{}
	maybe(r, 80, t, "key", pick(r, []string{"a", "b", "node.kubernetes.io/memory-pressure"}))
	maybe(r, 80, t, "operator", pick(r, []string{"Exists", "Equal", "Gt"}))
	maybe(r, 40, t, "value", pick(r, []string{"x", "y"}))
	maybe(r, 60, t, "effect", pick(r, []string{"NoSchedule", "NoExecute"}))
	maybe(r, 30, t, "tolerationSeconds", pick(r, []int{0, 10, 300}))
	return t
}

func admissionTolerations(r *rand.Rand) []object {
	return some(r, 3, func() object { return admissionToleration(r) })
}

func withTolerations(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	ns, annotations := objectOf("Namespace", "default", nil), object{}
	maybe(r, 60, annotations, "scheduler.alpha.kubernetes.io/defaultTolerations", string(encode(admissionTolerations(r))))
	maybe(r, 60, annotations, "scheduler.alpha.kubernetes.io/tolerationsWhitelist", string(encode(admissionTolerations(r))))
	maybe(r, 5, annotations, "scheduler.alpha.kubernetes.io/tolerationsWhitelist", pick(r, []string{"", "null", "{}", "1", `"x"`}))
	metaOf(ns)["annotations"] = annotations
	l.set("objects", []object{ns})
	pod := admissionPod(r)
	maybe(r, 60, podSpec(pod), "tolerations", admissionTolerations(r))
	l.set("object", pod)
	if chance(r, 25) {
		request["operation"] = "UPDATE"
		l.set("old", pod)
	}
}

func newStorage(r *rand.Rand, l line, request object) {
	o := objectOf("PersistentVolumeClaim", "x", object{"spec": object{}})
	about(request, "", "persistentvolumeclaims", "default")
	switch r.IntN(3) {
	case 0:
		o = objectOf("PersistentVolume", "x", object{"spec": object{}})
		about(request, "", "persistentvolumes", "")
	case 1:
		o = objectOf("VolumeAttributesClass", "x", object{"apiVersion": "storage.k8s.io/v1", "driverName": "d"})
		about(request, "storage.k8s.io", "volumeattributesclasses", "")
	}
	maybe(r, 50, metaOf(o), "finalizers", some(r, 2, func() string {
		return pick(r, []string{"kubernetes.io/pv-protection", "kubernetes.io/pvc-protection", "kubernetes.io/vac-protection", "a/b"})
	}))
	l.set("object", o)
}

func owned(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	request["user"] = object{"name": "joe", "groups": []string{}}
	refs := func() []object {
		return some(r, 3, func() object {
			ref := object{"apiVersion": pick(r, []string{"v1", "v1", "apps/v1", "v2", "a/b/c"}), "kind": pick(r, []string{"Pod", "Node", "ReplicaSet"}), "name": "o", "uid": pick(r, []string{"u1", "u2", "u3"})}
			maybe(r, 60, ref, "blockOwnerDeletion", chance(r, 70))
			return ref
		})
	}
	l.set("allowed", some(r, 3, func() string {
		return pick(r, []string{"delete  pods  default p", "update  pods finalizers default o", "update  nodes finalizers  o", "update apps replicasets finalizers default o", "update * * finalizers  *"})
	}))
	pod := admissionPod(r)
	metaOf(pod)["name"] = "p"
	maybe(r, 80, metaOf(pod), "ownerReferences", refs())
	l.set("object", pod)
	if chance(r, 50) {
		request["operation"], request["subresource"] = "UPDATE", pick(r, []string{"", "", "status"})
		old := copyTree(pod).(object)
		maybe(r, 60, metaOf(old), "ownerReferences", refs())
		l.set("old", old)
	}
}

func resized(r *rand.Rand, l line, request object) {
	about(request, "", "persistentvolumeclaims", "default")
	request["operation"] = "UPDATE"
	claim := func() object {
		spec := object{"resources": object{"requests": object{"storage": amount(r, "storage")}}}
		maybe(r, 80, spec, "storageClassName", pick(r, []string{"fast", "fast", "slow", ""}))
		o := inDefault(objectOf("PersistentVolumeClaim", "c", object{"spec": spec, "status": object{"phase": pick(r, []string{"Bound", "Bound", "Pending"})}}))
		maybe(r, 10, metaOf(o), "annotations", object{"volume.beta.kubernetes.io/storage-class": "fast"})
		return o
	}
	class := objectOf("StorageClass", "fast", object{"apiVersion": "storage.k8s.io/v1", "provisioner": "p"})
	maybe(r, 80, class, "allowVolumeExpansion", chance(r, 80))
	l.set("objects", []object{class})
	l.set("object", claim())
	l.set("old", claim())
}

func withRuntime(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	class := objectOf("RuntimeClass", "kata", object{"apiVersion": "node.k8s.io/v1", "handler": "h"})
	if chance(r, 60) {
		overhead := object{}
		maybe(r, 90, overhead, "podFixed", amounts(r, 2))
		class["overhead"] = overhead
	}
	if chance(r, 60) {
		scheduling := object{}
		maybe(r, 60, scheduling, "nodeSelector", object{"a": pick(r, []string{"b", "c"})})
		maybe(r, 60, scheduling, "tolerations", admissionTolerations(r))
		class["scheduling"] = scheduling
	}
	l.set("objects", []object{class})
	pod := admissionPod(r)
	maybe(r, 75, podSpec(pod), "runtimeClassName", pick(r, []string{"kata", "kata", "kata", "none"}))
	maybe(r, 20, podSpec(pod), "overhead", amounts(r, 2))
	maybe(r, 40, podSpec(pod), "nodeSelector", object{pick(r, []string{"a", "x"}): "b"})
	maybe(r, 40, podSpec(pod), "tolerations", admissionTolerations(r))
	l.set("object", pod)
}

// Requests for certificates, made once: they hold a signature, which is never the same.
var certificateRequests = sync.OnceValue(func() [][]byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		panic(err)
	}
	var list [][]byte
	for _, name := range []pkix.Name{{CommonName: "system:node:n", Organization: []string{"system:nodes"}}, {CommonName: "joe"},
		{CommonName: "admin", Organization: []string{"dev", "system:masters"}}} {
		der, err := x509.CreateCertificateRequest(crand.Reader, &x509.CertificateRequest{Subject: name}, key)
		if err != nil {
			panic(err)
		}
		list = append(list, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	}
	return append(list, []byte("no request"))
})

func certificate(r *rand.Rand, l line, request object) {
	about(request, "certificates.k8s.io", "certificatesigningrequests", "")
	if request["user"] == nil {
		request["user"] = object{"name": "joe", "groups": []string{}}
	}
	signer := pick(r, []string{"kubernetes.io/kube-apiserver-client", "kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet", "example.com/x"})
	o := objectOf("CertificateSigningRequest", "x", object{"apiVersion": "certificates.k8s.io/v1",
		"spec": object{"request": pick(r, certificateRequests()), "signerName": signer, "usages": []string{"client auth"}}, "status": object{}})
	old := copyTree(o)
	if plugin := request["plugin"]; plugin == "CertificateApproval" || plugin == "CertificateSigning" {
		request["operation"], request["subresource"] = "UPDATE", pick(r, []string{"approval", "status", ""})
		l.set("old", old)
		l.set("allowed", some(r, 2, func() string {
			return pick(r, []string{"approve", "sign"}) + " certificates.k8s.io signers   " + pick(r, []string{"kubernetes.io/*", "example.com/x", "kubernetes.io/kubelet-serving"})
		}))
		maybe(r, 70, o, "status", object{"conditions": []any{object{"type": "Approved", "status": "True"}}})
	}
	l.set("object", o)
}

func bundle(r *rand.Rand, l line, request object) {
	about(request, "certificates.k8s.io", "clustertrustbundles", "")
	request["user"] = object{"name": "joe", "groups": []string{}}
	spec := object{"trustBundle": "x"}
	maybe(r, 80, spec, "signerName", pick(r, []string{"example.com/x", "kubernetes.io/y"}))
	o := objectOf("ClusterTrustBundle", "x", object{"apiVersion": "certificates.k8s.io/v1", "spec": spec})
	l.set("allowed", some(r, 2, func() string {
		return "attest certificates.k8s.io signers   " + pick(r, []string{"kubernetes.io/*", "example.com/x"})
	}))
	if chance(r, 40) {
		request["operation"] = "UPDATE"
		old := copyTree(o).(object)
		maybe(r, 30, metaOf(old), "finalizers", []string{"a/b"})
		maybe(r, 30, metaOf(old), "labels", object{"a": "b"})
		l.set("old", old)
	}
	l.set("object", o)
}

func newIngress(r *rand.Rand, l line, request object) {
	about(request, "networking.k8s.io", "ingresses", "default")
	classes := []object{}
	for i := range r.IntN(3) {
		class := objectOf("IngressClass", fmt.Sprintf("c%d", i), object{"apiVersion": "networking.k8s.io/v1", "spec": object{"controller": "x"}})
		metaOf(class)["creationTimestamp"] = fmt.Sprintf("2026-01-0%dT00:00:00Z", 1+r.IntN(3))
		maybe(r, 80, metaOf(class), "annotations", object{"ingressclass.kubernetes.io/is-default-class": pick(r, []string{"true", "true", "false"})})
		classes = append(classes, class)
	}
	l.set("objects", classes)
	spec := object{"defaultBackend": object{"service": object{"name": "s", "port": object{"number": 80}}}}
	maybe(r, 30, spec, "ingressClassName", "mine")
	o := inDefault(objectOf("Ingress", "i", object{"apiVersion": "networking.k8s.io/v1", "spec": spec}))
	maybe(r, 20, metaOf(o), "annotations", object{"kubernetes.io/ingress.class": "x"})
	l.set("object", o)
}

func inZone(r *rand.Rand, l line, request object) {
	about(request, "", "pods", "default")
	node := objectOf("Node", "n", nil)
	labels := object{}
	for _, key := range []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.kubernetes.io/other"} {
		maybe(r, 60, labels, key, "z")
	}
	maybe(r, 80, metaOf(node), "labels", labels)
	l.set("objects", []object{node})
	if chance(r, 30) {
		l.set("gates", map[string]bool{"PodTopologyLabelsAdmission": chance(r, 50)})
	}
	if chance(r, 50) {
		pod := admissionPod(r)
		maybe(r, 70, podSpec(pod), "nodeName", pick(r, []string{"n", "m"}))
		maybe(r, 30, metaOf(pod), "labels", object{"topology.kubernetes.io/zone": "mine"})
		l.set("object", pod)
		return
	}
	request["subresource"], request["name"] = "binding", "p"
	binding := inDefault(objectOf("Binding", "p", object{"target": object{"kind": pick(r, []string{"Node", "Node", "Pod", ""}), "name": pick(r, []string{"n", "n", "m"})}}))
	l.set("object", binding)
}

// ---- quotas ----

var quotaNames = []string{"pods", "count/pods", "cpu", "requests.cpu", "limits.cpu", "memory", "requests.memory", "limits.memory", "requests.ephemeral-storage",
	"requests.example.com/gpu", "hugepages-2Mi", "requests.hugepages-2Mi", "services", "services.nodeports", "services.loadbalancers", "count/services",
	"persistentvolumeclaims", "requests.storage", "fast.storageclass.storage.k8s.io/requests.storage", "fast.storageclass.storage.k8s.io/persistentvolumeclaims",
	"configmaps", "count/configmaps", "secrets", "count/deployments.apps", "count/resourceclaims.resource.k8s.io", "a.deviceclass.resource.k8s.io/devices"}

func quotaAmount(r *rand.Rand) string {
	return pick(r, []string{"0", "1", "2", "3", "10", "500m", "1Gi", "2Gi", "128Mi", "1500m"})
}

func resourceQuota(r *rand.Rand, name string) object {
	hard, used := object{}, object{}
	for range 1 + r.IntN(5) {
		key := pick(r, quotaNames)
		hard[key] = quotaAmount(r)
		maybe(r, 95, used, key, pick(r, []string{"0", "0", "1", "2", "100m", "64Mi"}))
	}
	spec := object{"hard": hard}
	if chance(r, 25) {
		spec["scopes"] = some(r, 2, func() string {
			return pick(r, []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass"})
		})
	}
	if chance(r, 20) {
		spec["scopeSelector"] = object{"matchExpressions": []any{pick(r, []object{
			{"scopeName": "PriorityClass", "operator": "In", "values": []string{"high", "low"}},
			{"scopeName": "PriorityClass", "operator": "NotIn", "values": []string{"high"}},
			{"scopeName": "PriorityClass", "operator": "Exists"}, {"scopeName": "PriorityClass", "operator": "DoesNotExist"},
			{"scopeName": "VolumeAttributesClass", "operator": "In", "values": []string{"gold"}},
			{"scopeName": "VolumeAttributesClass", "operator": "DoesNotExist"}})}}
	}
	return inDefault(objectOf("ResourceQuota", name, object{"spec": spec, "status": object{"hard": hard, "used": used}}))
}

func charged(r *rand.Rand, l line, request object) {
	quotas := []object{resourceQuota(r, "q1")}
	if chance(r, 30) {
		quotas = append(quotas, resourceQuota(r, "q2"))
	}
	l.set("objects", quotas)
	make := pick(r, []func(*rand.Rand, object) object{quotaPod, quotaPod, quotaPod, quotaService, quotaClaim, quotaDevices, quotaOther})
	o := make(r, request)
	metaOf(o)["resourceVersion"] = "1"
	l.set("object", o)
	if chance(r, 35) {
		request["operation"] = "UPDATE"
		old := make(r, request)
		metaOf(old)["resourceVersion"] = "1"
		for old["kind"] != o["kind"] {
			old = make(r, request)
			metaOf(old)["resourceVersion"] = "1"
		}
		l.set("old", old)
		request["subresource"] = pick(r, []string{"", "", "status", "resize"})
	}
}

func quotaPod(r *rand.Rand, request object) object {
	about(request, "", "pods", "default")
	pod := admissionPod(r)
	metaOf(pod)["name"] = "p"
	spec := podSpec(pod)
	maybe(r, 25, spec, "activeDeadlineSeconds", 10)
	maybe(r, 25, spec, "priorityClassName", pick(r, []string{"high", "low", "other"}))
	maybe(r, 15, spec, "overhead", amounts(r, 2))
	maybe(r, 15, spec, "resources", requirements(r))
	maybe(r, 10, spec, "affinity", object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []any{
		object{"topologyKey": "k", "namespaces": some(r, 1, func() string { return "x" })}}}})
	status := object{}
	maybe(r, 10, status, "phase", pick(r, []string{"Running", "Failed", "Succeeded"}))
	if chance(r, 20) {
		list := []any{}
		for _, c := range spec["containers"].([]any) {
			s := object{"name": c.(object)["name"], "image": "x", "imageID": "x", "ready": true, "restartCount": 0}
			maybe(r, 50, s, "allocatedResources", amounts(r, 2))
			maybe(r, 50, s, "resources", requirements(r))
			list = append(list, s)
		}
		status["containerStatuses"] = list
		maybe(r, 30, status, "conditions", []any{object{"type": "PodResizePending", "status": "True", "reason": pick(r, []string{"Infeasible", "Deferred"})}})
	}
	pod["status"] = status
	return pod
}

func quotaService(r *rand.Rand, request object) object {
	about(request, "", "services", "default")
	spec := object{"type": pick(r, []string{"ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer"})}
	spec["ports"] = some(r, 3, func() object {
		port := object{"port": 80, "name": "x"}
		maybe(r, 50, port, "nodePort", 30000)
		return port
	})
	maybe(r, 40, spec, "allocateLoadBalancerNodePorts", chance(r, 50))
	return inDefault(objectOf("Service", "s", object{"spec": spec}))
}

func quotaClaim(r *rand.Rand, request object) object {
	about(request, "", "persistentvolumeclaims", "default")
	spec := object{"resources": object{"requests": object{"storage": amount(r, "storage")}}}
	maybe(r, 50, spec, "storageClassName", pick(r, []string{"fast", "slow", ""}))
	maybe(r, 30, spec, "volumeAttributesClassName", pick(r, []string{"gold", "iron"}))
	status := object{}
	maybe(r, 30, status, "allocatedResources", object{"storage": amount(r, "storage")})
	maybe(r, 20, status, "currentVolumeAttributesClassName", pick(r, []string{"gold", "iron"}))
	return inDefault(objectOf("PersistentVolumeClaim", "c", object{"spec": spec, "status": status}))
}

func quotaDevices(r *rand.Rand, request object) object {
	about(request, "resource.k8s.io", "resourceclaims", "default")
	devices := func() object {
		return object{"deviceClassName": pick(r, []string{"a", "b"}), "allocationMode": pick(r, []string{"ExactCount", "All"}), "count": 1 + r.IntN(3)}
	}
	requests := some(r, 3, func() object {
		if chance(r, 30) {
			return object{"name": "r", "firstAvailable": some(r, 3, devices)}
		}
		return object{"name": "r", "exactly": devices()}
	})
	return inDefault(objectOf("ResourceClaim", "c", object{"apiVersion": "resource.k8s.io/v1", "spec": object{"devices": object{"requests": requests}}}))
}

func quotaOther(r *rand.Rand, request object) object {
	switch r.IntN(4) {
	case 0:
		about(request, "apps", "deployments", "default")
		return inDefault(objectOf("Deployment", "d", object{"apiVersion": "apps/v1", "spec": object{"selector": object{}, "template": object{"metadata": object{}, "spec": object{"containers": []any{}}}}}))
	case 1:
		about(request, "", "secrets", "default")
		return inDefault(objectOf("Secret", "s", nil))
	case 2:
		about(request, "", "events", "default")
		return inDefault(objectOf("Event", "e", object{"involvedObject": object{}, "reason": "x"}))
	}
	about(request, "", "configmaps", "default")
	return inDefault(objectOf("ConfigMap", "c", nil))
}
