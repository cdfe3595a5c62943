package main

import "math/rand/v2"

var (
	oldNodeLabels = []string{"beta.kubernetes.io/arch", "beta.kubernetes.io/os", "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone", "beta.kubernetes.io/instance-type",
		"app.kubernetes.io/created-by", "scheduler.alpha.kubernetes.io/preferAvoidPods", "node-role.kubernetes.io/master", "kubernetes.io/os"}
	oldAnnotations = []string{"scheduler.alpha.kubernetes.io/critical-pod", "security.alpha.kubernetes.io/sysctls", "security.alpha.kubernetes.io/unsafe-sysctls", "seccomp.security.alpha.kubernetes.io/pod",
		"container.seccomp.security.alpha.kubernetes.io/c", "container.apparmor.security.beta.kubernetes.io/c", "container.apparmor.security.beta.kubernetes.io/d", "other"}
	annotationValues = []string{"runtime/default", "unconfined", "localhost/p", "localhost/", "odd", ""}
	fractions        = []string{"1500m", "1Gi", "0.5", "1", "100m", "1.5Ki", "1e-3", "2.5"}
	filePaths        = []string{"a", "a/b", "a/b/c", "ab", "a/", "b", "", "a//"}
	volumeSources    = []any{object{"photonPersistentDisk": object{"pdID": "p"}}, object{"gitRepo": object{"repository": "r"}}, object{"scaleIO": object{"gateway": "g", "system": "s", "secretRef": object{"name": "s"}, "volumeName": "v"}},
		object{"flocker": object{"datasetName": "d"}}, object{"storageos": object{"volumeName": "v"}}, object{"quobyte": object{"registry": "r:1", "volume": "v"}}, object{"glusterfs": object{"endpoints": "e", "path": "p"}},
		object{"cephfs": object{"monitors": []any{"m"}}}, object{"rbd": object{"monitors": []any{"m"}, "image": "i"}}, object{"emptyDir": object{}}}
)

// Each makes a spec, or the annotations beside it, that a server may warn of.
var warningSpices = []func(r *rand.Rand, spec, annotations object){
	func(r *rand.Rand, spec, _ object) {
		spec["nodeSelector"] = object{pick(r, oldNodeLabels): "a", pick(r, oldNodeLabels): "b"}
	},
	func(r *rand.Rand, spec, _ object) {
		term := func() object {
			return object{"matchExpressions": some(r, 2, func() object {
				return object{"key": pick(r, oldNodeLabels), "operator": "In", "values": some(r, 2, func() string { return pick(r, []string{"a", "a b", "-", ""}) })}
			})}
		}
		spec["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": some(r, 2, term)},
			"preferredDuringSchedulingIgnoredDuringExecution": some(r, 2, func() object { return object{"weight": 1, "preference": term()} })}}
	},
	func(r *rand.Rand, spec, _ object) {
		term := func() object {
			t := object{"topologyKey": "zone"}
			maybe(r, 50, t, "labelSelector", object{})
			return t
		}
		terms := func() object {
			return object{"requiredDuringSchedulingIgnoredDuringExecution": some(r, 2, term),
				"preferredDuringSchedulingIgnoredDuringExecution": some(r, 2, func() object { return object{"weight": 1, "podAffinityTerm": term()} })}
		}
		spec["affinity"] = object{"podAffinity": terms(), "podAntiAffinity": terms()}
	},
	func(r *rand.Rand, spec, _ object) {
		spec["topologySpreadConstraints"] = some(r, 3, func() object {
			c := object{"maxSkew": 1, "topologyKey": pick(r, oldNodeLabels), "whenUnsatisfiable": "DoNotSchedule"}
			maybe(r, 50, c, "labelSelector", object{})
			return c
		})
	},
	func(r *rand.Rand, spec, annotations object) {
		for range 1 + r.IntN(3) {
			annotations[pick(r, oldAnnotations)] = pick(r, annotationValues)
		}
		if chance(r, 40) {
			spec["securityContext"] = pick(r, []object{{"appArmorProfile": object{"type": "RuntimeDefault"}}, {"appArmorProfile": object{"type": "Localhost", "localhostProfile": "p"}}, {"seccompProfile": object{"type": "Unconfined"}}})
		}
		if chance(r, 15) {
			spec["os"] = object{"name": "windows"}
		}
	},
	func(r *rand.Rand, spec, _ object) {
		spec["volumes"] = some(r, 4, func() object {
			v := object{"name": pick(r, []string{"v", "w", "a\"b"})}
			for key, source := range pick(r, volumeSources).(object) {
				v[key] = source
			}
			return v
		})
	},
	func(r *rand.Rand, spec, _ object) {
		spec["volumes"] = some(r, 3, func() object { return volumeOfFiles(r) })
	},
	func(r *rand.Rand, spec, _ object) {
		claim := object{"accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": pick(r, fractions)}, "limits": object{"storage": pick(r, fractions)}}}
		spec["volumes"] = []any{object{"name": "v", "ephemeral": object{"volumeClaimTemplate": object{"spec": claim}}}}
	},
	func(r *rand.Rand, spec, _ object) {
		spec["hostAliases"] = some(r, 4, func() object { return object{"ip": pick(r, someIPs), "hostnames": []any{"h"}} })
	},
	func(r *rand.Rand, spec, _ object) {
		spec["imagePullSecrets"] = some(r, 4, func() object { return object{"name": pick(r, []string{"a", "b", "", "a\nb"})} })
	},
	func(r *rand.Rand, spec, _ object) {
		spec["overhead"] = object{"memory": pick(r, fractions), "ephemeral-storage": pick(r, fractions), "cpu": "100m"}
	},
	func(r *rand.Rand, spec, _ object) {
		spec["terminationGracePeriodSeconds"] = pick(r, []int{-1, 0, 5, -100})
	},
	func(r *rand.Rand, spec, _ object) {
		spec["dnsConfig"] = object{"nameservers": some(r, 3, func() any { return pick(r, someIPs) })}
	},
}

func volumeOfFiles(r *rand.Rand) object {
	items := func() []object {
		return some(r, 4, func() object { return object{"key": "k", "path": pick(r, filePaths)} })
	}
	files := func() []object {
		return some(r, 4, func() object {
			return object{"path": pick(r, filePaths), "fieldRef": object{"fieldPath": "metadata.name"}}
		})
	}
	source := func() object {
		return pick(r, []object{{"configMap": object{"name": "c", "items": items()}}, {"secret": object{"name": "s", "items": items()}}, {"downwardAPI": object{"items": files()}}, {"serviceAccountToken": object{"path": pick(r, filePaths)}},
			{"clusterTrustBundle": object{"name": "b", "path": pick(r, filePaths)}}, {"clusterTrustBundle": object{"signerName": "a/b", "path": pick(r, filePaths)}}, {},
			{"podCertificate": object{"signerName": "a/b", "keyType": "ED25519", "credentialBundlePath": pick(r, filePaths), "keyPath": pick(r, filePaths), "certificateChainPath": pick(r, filePaths)}}})
	}
	v := pick(r, []object{{"configMap": object{"name": "c", "items": items()}}, {"secret": object{"secretName": "s", "items": items()}}, {"downwardAPI": object{"items": files()}}, {"projected": object{"sources": some(r, 4, source)}}})
	v["name"] = pick(r, []string{"v", "w"})
	return v
}

// warningContainer is one of those about which there is something to say.
func warningContainer(r *rand.Rand, name string) object {
	c := object{"name": name, "image": "i"}
	if chance(r, 40) {
		c["ports"] = some(r, 3, func() object {
			p := object{"containerPort": pick(r, []int{80, 81}), "protocol": pick(r, []string{"TCP", "UDP"})}
			maybe(r, 40, p, "hostPort", pick(r, []int{80, 81}))
			maybe(r, 40, p, "hostIP", pick(r, []string{"1.2.3.4", "10.0.0.1"}))
			maybe(r, 60, p, "name", pick(r, []string{"http", "web"}))
			return p
		})
	}
	if chance(r, 30) {
		c["env"] = some(r, 4, func() object {
			e := object{"name": pick(r, []string{"A", "B"})}
			maybe(r, 80, e, "value", pick(r, []string{"$(A)", "x$(A)", "$(B)y", "x", ""}))
			if chance(r, 15) {
				e["valueFrom"] = object{"fieldRef": object{"fieldPath": "metadata.name"}}
			}
			return e
		})
	}
	if chance(r, 30) {
		amounts := object{"memory": pick(r, fractions), "ephemeral-storage": pick(r, fractions)}
		c["resources"] = pick(r, []object{{"requests": amounts}, {"limits": amounts}})
	}
	if chance(r, 15) {
		c["securityContext"] = pick(r, []object{{"seccompProfile": object{"type": "Unconfined"}}, {"appArmorProfile": object{"type": "Unconfined"}}})
	}
	return c
}

func warningTemplate(r *rand.Rand) object {
	spec, annotations := object{}, object{}
	for range r.IntN(4) {
		pick(r, warningSpices)(r, spec, annotations)
	}
	spec["containers"] = []any{warningContainer(r, "c"), warningContainer(r, "d")}
	if chance(r, 40) {
		spec["initContainers"] = []any{warningContainer(r, "i")}
	}
	return object{"metadata": object{"labels": object{"app": "w"}, "annotations": annotations}, "spec": spec}
}

// whatMakesPods wraps a template, or makes a pod of it.
func whatMakesPods(r *rand.Rand, kind, name string, template object) object {
	meta := object{"name": name, "namespace": "default"}
	selector := object{"matchLabels": object{"app": "w"}}
	job := object{"template": template, "completionMode": pick(r, []string{"Indexed", "NonIndexed"}), "completions": pick(r, []int{1, 100001}), "parallelism": pick(r, []int{1, 10001})}
	switch kind {
	case "Pod":
		meta["annotations"] = template["metadata"].(object)["annotations"]
		return object{"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": template["spec"]}
	case "PodTemplate":
		return object{"apiVersion": "v1", "kind": kind, "metadata": meta, "template": template}
	case "ReplicationController":
		return object{"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": object{"selector": object{"app": "w"}, "template": template}}
	case "Job":
		template["spec"].(object)["restartPolicy"] = "Never"
		return object{"apiVersion": "batch/v1", "kind": kind, "metadata": meta, "spec": job}
	case "CronJob":
		template["spec"].(object)["restartPolicy"] = "Never"
		schedule := pick(r, []string{"* * * * *", "TZ=UTC * * * * *"})
		return object{"apiVersion": "batch/v1", "kind": kind, "metadata": meta, "spec": object{"schedule": schedule, "jobTemplate": object{"spec": job}}}
	case "StatefulSet":
		claim := object{"metadata": object{"name": "v"}, "spec": object{"accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": pick(r, fractions)}}}}
		return object{"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": object{"selector": selector, "template": template, "serviceName": "s",
			"volumeClaimTemplates": []any{claim}, "revisionHistoryLimit": pick(r, []int{-1, 0, 10})}}
	}
	return object{"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": object{"selector": selector, "template": template}}
}

func generateWarnings(r *rand.Rand) line {
	kind := pick(r, []string{"Pod", "Pod", "PodTemplate", "ReplicationController", "Job", "CronJob", "StatefulSet", "Deployment", "ReplicaSet", "DaemonSet"})
	name := pick(r, []string{"a", "a.b", "w-1"})
	l := line{}
	l.set("gates", learn().randomGates(r, nil))
	l.set("new", whatMakesPods(r, kind, name, warningTemplate(r)))
	if chance(r, 30) {
		o := whatMakesPods(r, kind, name, warningTemplate(r))
		if chance(r, 30) {
			o = tree(l["new"]).(object)
		}
		meta := o["metadata"].(object)
		meta["uid"], meta["resourceVersion"], meta["generation"] = "u", "1", 3
		l.set("old", o)
		now := tree(l["new"]).(object)
		now["metadata"].(object)["resourceVersion"] = "1"
		l.set("new", now)
	}
	return l
}
