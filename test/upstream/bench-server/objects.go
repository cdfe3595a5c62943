package main

// What is written: namespaces, nodes, leases and pods as the pods of ReplicaSets are, in JSON.

import (
	"fmt"
	"strings"
	"time"
)

const podsPerOwner = 25

func namespaceBody(name string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%s"}}`, name)
}

func accountBody() []byte {
	return []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}`)
}

// podBody is the i-th pod; one in twenty is chosen by the selector tier=chosen.
func podBody(i int, node string) []byte {
	owner, tier := i/podsPerOwner, "web"
	if i%20 == 0 {
		tier = "chosen"
	}
	placed := ""
	if node != "" {
		placed = fmt.Sprintf(`"nodeName":"%s",`, node)
	}
	env := make([]string, 4)
	for k := range env {
		env[k] = fmt.Sprintf(`{"name":"SETTING_%d","value":"value-%d-of-owner-%d"}`, k, k, owner)
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","generateName":"web-%d-",`+
		`"labels":{"app":"web-%d","tier":"%s","pod-template-hash":"%08x","rev":"a0"},`+
		`"annotations":{"example.com/build":"%08x"},`+
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-%d","uid":"%08x-1111-4222-8333-444444444444","controller":true,"blockOwnerDeletion":true}]},`+
		`"spec":{%s"containers":[{"name":"main","image":"registry.example.com/shop/web:1.%d","ports":[{"name":"http","containerPort":8080}],`+
		`"env":[%s],"resources":{"requests":{"cpu":"250m","memory":"256Mi"},"limits":{"cpu":"1","memory":"512Mi"}},`+
		`"readinessProbe":{"httpGet":{"path":"/ready","port":"http"},"periodSeconds":5},"livenessProbe":{"httpGet":{"path":"/live","port":"http"}},`+
		`"volumeMounts":[{"name":"config","mountPath":"/etc/web"}]},`+
		`{"name":"proxy","image":"registry.example.com/mesh/proxy:2.4","args":["--upstream","127.0.0.1:8080"],"resources":{"requests":{"cpu":"50m","memory":"64Mi"}}}],`+
		`"volumes":[{"name":"config","configMap":{"name":"web-%d"}}],`+
		`"tolerations":[{"key":"example.com/spot","operator":"Exists","effect":"NoSchedule"}],`+
		`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"web-%d"}}}]}}`,
		podName(i), owner, owner, tier, owner, owner, owner, owner, placed, owner%100, strings.Join(env, ","), owner, owner)
}

func podName(i int) string { return fmt.Sprintf("web-%d-%05x", i/podsPerOwner, i) }

// podStatus is what a kubelet patches when the pod runs.
func podStatus(i int) []byte {
	const since = `"2026-11-18T10:00:00Z"`
	state := func(name, image string) string {
		return fmt.Sprintf(`{"name":"%s","image":"%s","imageID":"%s@sha256:%064x","containerID":"containerd://%064x","ready":true,"started":true,"restartCount":0,"state":{"running":{"startedAt":%s}}}`,
			name, image, image, i/podsPerOwner%100, i, since)
	}
	condition := func(kind string) string {
		return fmt.Sprintf(`{"type":"%s","status":"True","lastProbeTime":null,"lastTransitionTime":%s}`, kind, since)
	}
	ip := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	return fmt.Appendf(nil, `{"status":{"phase":"Running","startTime":%s,"hostIP":"192.0.2.1","podIP":"%s","podIPs":[{"ip":"%s"}],"conditions":[%s,%s,%s,%s],"containerStatuses":[%s,%s]}}`,
		since, ip, ip, condition("Initialized"), condition("PodScheduled"), condition("ContainersReady"), condition("Ready"),
		state("main", fmt.Sprintf("registry.example.com/shop/web:1.%d", i/podsPerOwner%100)), state("proxy", "registry.example.com/mesh/proxy:2.4"))
}

func bindingBody(name, node string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"%s"},"target":{"apiVersion":"v1","kind":"Node","name":"%s"}}`, name, node)
}

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

func nodeBody(i int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"%s","labels":{"kubernetes.io/hostname":"%s","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux",`+
		`"topology.kubernetes.io/zone":"zone-%d","topology.kubernetes.io/region":"region-1","node.kubernetes.io/instance-type":"c%d"}},`+
		`"spec":{"podCIDR":"10.%d.%d.0/24"},`+
		`"status":{"capacity":{"cpu":"32","memory":"128Gi","pods":"110","ephemeral-storage":"500Gi"},"allocatable":{"cpu":"31","memory":"120Gi","pods":"110","ephemeral-storage":"450Gi"},`+
		`"addresses":[{"type":"InternalIP","address":"192.0.2.%d"},{"type":"Hostname","address":"%s"}],`+
		`"nodeInfo":{"machineID":"%032x","systemUUID":"%032x","bootID":"%032x","kernelVersion":"6.1.0","osImage":"Debian GNU/Linux 12","containerRuntimeVersion":"containerd://1.7","kubeletVersion":"v1.37.1","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"},`+
		`"images":[%s],"conditions":%s}}`,
		nodeName(i), nodeName(i), i%3, i%5, i>>8&255, i&255, i&255, nodeName(i), i, i, i, imagesOf(i), conditionsAt(time.Unix(1800000000, 0)))
}

func imagesOf(i int) string {
	images := make([]string, 10)
	for k := range images {
		images[k] = fmt.Sprintf(`{"names":["registry.example.com/shop/image-%d@sha256:%064x","registry.example.com/shop/image-%d:1.%d"],"sizeBytes":%d}`, k, k, k, i%7, 50000000+k)
	}
	return strings.Join(images, ",")
}

func conditionsAt(t time.Time) string {
	kinds := []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}
	for k, kind := range kinds {
		status := "False"
		if kind == "Ready" {
			status = "True"
		}
		kinds[k] = fmt.Sprintf(`{"type":"%s","status":"%s","lastHeartbeatTime":"%s","lastTransitionTime":"2026-11-18T10:00:00Z","reason":"Kubelet%s","message":"kubelet says so"}`,
			kind, status, t.UTC().Format(time.RFC3339), kind)
	}
	return "[" + strings.Join(kinds, ",") + "]"
}

// nodeStatus is what a kubelet patches from time to time.
func nodeStatus(t time.Time) []byte {
	return fmt.Appendf(nil, `{"status":{"$setElementOrder/conditions":[{"type":"MemoryPressure"},{"type":"DiskPressure"},{"type":"PIDPressure"},{"type":"Ready"}],"conditions":%s}}`, conditionsAt(t))
}

// leaseBody is the lease of a node, renewed at a time; of a version that is not empty it is an update.
func leaseBody(b []byte, i int, renewed time.Time, version string) []byte {
	b = fmt.Appendf(b, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"%s","namespace":"kube-node-lease"`, nodeName(i))
	if version != "" {
		b = fmt.Appendf(b, `,"resourceVersion":"%s"`, version)
	}
	b = append(b, `},"spec":{"holderIdentity":"`...)
	b = append(b, nodeName(i)...)
	b = append(b, `","leaseDurationSeconds":40,"renewTime":"`...)
	b = renewed.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	return append(b, `"}}`...)
}
