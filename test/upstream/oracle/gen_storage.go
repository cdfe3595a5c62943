package main

import (
	"fmt"
	"math/rand/v2"
)

// Claims, volumes and classes that pods of a cluster use: few of each, so that they meet.

const (
	claimCount  = 4
	volumeCount = 5
)

var (
	accessModes  = []string{"ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod"}
	classNames   = []string{"now", "wait", "local", "absent", ""}
	storageSizes = []string{"1Gi", "5Gi", "10Gi"}
	drivers      = []string{"csi.x", "csi.y"}
)

func claimName(r *rand.Rand) string  { return fmt.Sprintf("c%d", r.IntN(claimCount)) }
func volumeName(r *rand.Rand) string { return fmt.Sprintf("v%d", r.IntN(volumeCount)) }

func randomClasses(r *rand.Rand) []object {
	now := object{"metadata": object{"name": "now"}, "provisioner": "csi.x"}
	wait := object{"metadata": object{"name": "wait"}, "provisioner": pick(r, drivers), "volumeBindingMode": "WaitForFirstConsumer"}
	maybe(r, 30, wait, "allowedTopologies", []any{object{"matchLabelExpressions": []any{object{"key": zoneKey, "values": []string{pick(r, zones), pick(r, zones)}}}}})
	local := object{"metadata": object{"name": "local"}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
	return []object{now, wait, local}
}

func randomClaim(r *rand.Rand, name, namespace string) object {
	meta := object{"name": name, "namespace": namespace, "uid": namespace + "/" + name}
	spec := object{"accessModes": []string{pick(r, accessModes)}, "resources": object{"requests": object{"storage": pick(r, storageSizes)}}}
	spec["storageClassName"] = pick(r, []string{"wait", "wait", "local"})
	maybe(r, 10, spec, "storageClassName", pick(r, classNames))
	if chance(r, 50) {
		spec["volumeName"] = volumeName(r)
		maybe(r, 90, meta, "annotations", object{"pv.kubernetes.io/bind-completed": "yes"})
	}
	maybe(r, 2, meta, "deletionTimestamp", "2026-01-01T00:00:00Z")
	maybe(r, 8, spec, "selector", object{"matchLabels": object{"disk": "ssd"}})
	o := object{"metadata": meta, "spec": spec}
	maybe(r, 2, o, "status", object{"phase": "Lost"})
	return o
}

func volumeSource(r *rand.Rand, name string) (string, object) {
	switch r.IntN(8) {
	case 0, 1:
		return "hostPath", object{"path": "/x"}
	case 2, 3:
		return "local", object{"path": "/x"}
	case 4:
		return "gcePersistentDisk", object{"pdName": name}
	}
	return "csi", object{"driver": pick(r, drivers), "volumeHandle": name}
}

func randomVolume(r *rand.Rand, name string) object {
	meta, labels := object{"name": name}, object{}
	maybe(r, 20, labels, zoneKey, pick(r, []string{"z1", "z2", "z1__z2"}))
	maybe(r, 30, labels, "disk", "ssd")
	maybe(r, 10, labels, regionKey, pick(r, []string{"r1", "r2"}))
	maybe(r, 5, labels, betaZoneKey, pick(r, []string{"z1", "z2"}))
	meta["labels"] = labels
	source, value := volumeSource(r, name)
	spec := object{"capacity": object{"storage": pick(r, storageSizes)}, "accessModes": []string{pick(r, accessModes), "ReadWriteOnce"}, source: value}
	spec["storageClassName"] = pick(r, []string{"wait", "wait", "local"})
	maybe(r, 10, spec, "storageClassName", pick(r, classNames))
	maybe(r, 40, spec, "nodeAffinity", object{"required": object{"nodeSelectorTerms": []any{object{"matchExpressions": []any{
		object{"key": zoneKey, "operator": "In", "values": []string{pick(r, zones)}}}}}}})
	if chance(r, 30) {
		claim, namespace := claimName(r), pick(r, namespaces)
		ref := object{"kind": "PersistentVolumeClaim", "name": claim, "namespace": namespace}
		maybe(r, 70, ref, "uid", namespace+"/"+claim)
		spec["claimRef"] = ref
	}
	return object{"metadata": meta, "spec": spec, "status": object{"phase": pick(r, []string{"Available", "Available", "Bound", "Released"})}}
}

func randomCSINode(r *rand.Rand, node object) object {
	found := []object{}
	for _, name := range drivers {
		driver := object{"name": name, "nodeID": "x", "topologyKeys": []string{zoneKey}}
		maybe(r, 70, driver, "allocatable", object{"count": 1 + r.IntN(3)})
		if chance(r, 70) {
			found = append(found, driver)
		}
	}
	if chance(r, 20) {
		found = append(found, object{"name": "pd.csi.storage.gke.io", "nodeID": "x", "topologyKeys": []string{zoneKey}, "allocatable": object{"count": 1 + r.IntN(2)}})
	}
	meta := object{"name": node["metadata"].(object)["name"]}
	maybe(r, 30, meta, "annotations", object{"storage.alpha.kubernetes.io/migrated-plugins": pick(r, []string{"kubernetes.io/gce-pd", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"})})
	return object{"metadata": meta, "spec": object{"drivers": found}}
}

func randomDriver(r *rand.Rand, name string) object {
	spec := object{"storageCapacity": chance(r, 50)}
	maybe(r, 30, spec, "preventPodSchedulingIfMissing", chance(r, 70))
	return object{"metadata": object{"name": name}, "spec": spec}
}

func randomDrivers(r *rand.Rand) []object {
	found := []object{}
	for i, name := range []string{"csi.x", "csi.y", "pd.csi.storage.gke.io"} {
		if chance(r, []int{90, 20, 20}[i]) {
			found = append(found, randomDriver(r, name))
		}
	}
	return found
}

// A volume that is attached to a node, whether or not a pod there uses it.
func randomAttachment(r *rand.Rand, number, nodes int) object {
	return object{"metadata": object{"name": fmt.Sprintf("a%d", number)}, "spec": object{"attacher": pick(r, drivers),
		"nodeName": fmt.Sprintf("n%02d", r.IntN(nodes)), "source": object{"persistentVolumeName": volumeName(r)}}, "status": object{"attached": chance(r, 80)}}
}

func randomCapacity(r *rand.Rand, name string) object {
	c := object{"metadata": object{"name": name, "namespace": "default"}, "storageClassName": pick(r, classNames[:2]), "capacity": pick(r, storageSizes)}
	maybe(r, 80, c, "nodeTopology", pick(r, []object{{}, {"matchLabels": object{zoneKey: pick(r, zones)}}}))
	maybe(r, 20, c, "maximumVolumeSize", "5Gi")
	return c
}

func podVolume(r *rand.Rand, number int) object {
	v := object{"name": fmt.Sprintf("x%d", number)}
	switch r.IntN(14) {
	case 11:
		v["iscsi"] = object{"targetPortal": "127.0.0.1:3260", "iqn": pick(r, []string{"iqn.2016-12.server:a", "iqn.2016-12.server:b"}), "lun": 0, "readOnly": chance(r, 50)}
	case 12:
		v["rbd"] = object{"monitors": []string{"a", pick(r, []string{"b", "c"})}, "pool": "foo", "image": pick(r, []string{"bar", "baz"}), "readOnly": chance(r, 50)}
	case 13:
		v["image"] = object{"reference": pick(r, imageNames)}
	case 10:
		v["ephemeral"] = object{"volumeClaimTemplate": object{"spec": object{"accessModes": []string{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}}}}}
	case 0:
		v["gcePersistentDisk"] = object{"pdName": pick(r, []string{"d1", "d2"}), "readOnly": chance(r, 50)}
	case 1:
		v["awsElasticBlockStore"] = object{"volumeID": pick(r, []string{"d1", "d2"})}
	case 2:
		v["csi"] = object{"driver": pick(r, drivers)}
	case 3:
		v["emptyDir"] = object{}
	default:
		v["persistentVolumeClaim"] = object{"claimName": claimName(r), "readOnly": chance(r, 20)}
	}
	return v
}

// ephemeralClaims gives the claims that were made for volumes of the pod: some are missing yet, some are another's.
func ephemeralClaims(r *rand.Rand, pod object) []object {
	found := []object{}
	meta := pod["metadata"].(object)
	for _, volume := range pod["spec"].(object)["volumes"].([]object) {
		if volume["ephemeral"] == nil || chance(r, 10) {
			continue
		}
		claim := randomClaim(r, fmt.Sprint(meta["name"], "-", volume["name"]), meta["namespace"].(string))
		owner := object{"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": true}
		if chance(r, 10) {
			owner["uid"] = "another"
		}
		claim["metadata"].(object)["ownerReferences"] = []object{owner}
		found = append(found, claim)
	}
	return found
}

// bindClaims makes most volumes of claims say so themselves.
func bindClaims(r *rand.Rand, claims, volumes []object) {
	for _, claim := range claims {
		for _, volume := range volumes {
			meta := claim["metadata"].(object)
			if claim["spec"].(object)["volumeName"] == volume["metadata"].(object)["name"] && chance(r, 70) {
				volume["spec"].(object)["claimRef"] = object{"kind": "PersistentVolumeClaim", "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]}
				volume["status"] = object{"phase": "Bound"}
			}
		}
	}
}

// addStorage gives the line things to store on, and some of its pods volumes.
func addStorage(r *rand.Rand, l line, nodes, pods []object) {
	claims, volumes, csiNodes, capacities := []object{}, []object{}, []object{}, []object{}
	for _, namespace := range namespaces {
		for i := range claimCount {
			claims = append(claims, randomClaim(r, fmt.Sprintf("c%d", i), namespace))
		}
	}
	for i := range volumeCount {
		volumes = append(volumes, randomVolume(r, fmt.Sprintf("v%d", i)))
	}
	bindClaims(r, claims, volumes)
	for _, node := range nodes {
		csiNodes = append(csiNodes, randomCSINode(r, node))
	}
	for i := range r.IntN(3) {
		capacities = append(capacities, randomCapacity(r, fmt.Sprintf("s%d", i)))
	}
	for i, pod := range pods {
		if i == len(pods)-1 || chance(r, 30) {
			number := 0
			pod["spec"].(object)["volumes"] = some(r, 3, func() object { number++; return podVolume(r, number) })
			claims = append(claims, ephemeralClaims(r, pod)...)
		}
	}
	l.set("storage_classes", randomClasses(r))
	l.set("claims", claims)
	l.set("volumes", volumes)
	l.set("csi_nodes", csiNodes)
	l.set("csi_drivers", randomDrivers(r))
	number := 0
	l.set("attachments", some(r, 3, func() object { number++; return randomAttachment(r, number, len(nodes)) }))
	l.set("capacities", capacities)
}
