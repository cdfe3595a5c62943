package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
)

// A request for a certificate, as openssl makes it.
const pemRequest = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIRk1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCRkFZUUNpdXRvLzd4ZnRrRHJweEVvZ21vRGFEeXJ3MldETmNlc3BWK0Y3RWJmaGh0bzhrN2dxYS8ybzVCc1hzClBCaFNMNEprbHJ1Zk15ckhWbFVQMG0yZ0FEQUtCZ2dxaGtqT1BRUURBZ05IQURCRUFpQmRZZHJtUW51QWdRK3UKRUZnY1Z3Wm9jS3R6dlpQWWg4Z25OUEYxL0Z0azR3SWdYeDdkdlNFalRNSXEzVWZOcHB4SGxXY0hQRjJHaVIvawpkMy9TSCtUQ0ViVT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="

// generateSubresource writes to a subresource of an object that upstream stored.
func generateSubresource(r *rand.Rand) line {
	name := pick(r, slices.Sorted(maps.Keys(ruled)))
	if ruled[name].kind != "Pod" {
		return generateRequest(r, name)
	}
	s := learn()
	o, gates := s.randomObject(r, "Pod")
	l := line{}
	l.set("kind", "Pod")
	l.set("gates", gates)
	l.set("object", o)
	old := servedObject(r, l)
	delete(l, "object")
	if old == nil {
		return l // cannot be asked
	}
	spec := old["spec"].(object)
	if name == "resize" && chance(r, 70) {
		giveResources(r, spec)
	}
	if chance(r, 30) {
		spec["ephemeralContainers"] = some(r, 2, func() object { return ephemeral(r) })
	}
	maybe(r, 5, old["metadata"].(object), "annotations", object{"kubernetes.io/config.mirror": "x"})
	updated := copyTree(old).(object)
	if name == "resize" {
		resize(r, updated["spec"].(object))
	} else {
		changeEphemeral(r, updated["spec"].(object))
	}
	for range r.IntN(2) {
		s.change(r, "Pod", updated)
	}
	l.set("subresource", name)
	l.set("old", kinds["Pod"].known("Pod", old))
	l.set("new", kinds["Pod"].known("Pod", withoutProposals(updated)))
	return l
}

func ephemeral(r *rand.Rand) object {
	c := object{"name": pick(r, []string{"debug", "shell", "c", "a b", ""}), "image": pick(r, []string{"busybox", ""}), "imagePullPolicy": "IfNotPresent",
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
	maybe(r, 30, c, "targetContainerName", pick(r, []string{"c", "nobody"}))
	maybe(r, 10, c, "resources", object{"requests": object{"cpu": "1"}})
	maybe(r, 10, c, "ports", []any{object{"containerPort": 80}})
	return c
}

func changeEphemeral(r *rand.Rand, spec object) {
	list, _ := spec["ephemeralContainers"].([]any)
	for range 1 + r.IntN(2) {
		switch {
		case len(list) > 0 && chance(r, 15):
			list = list[1:]
		case len(list) > 0 && chance(r, 20):
			if c, ok := pick(r, list).(object); ok {
				c["image"] = "other"
			}
		default:
			list = append(list, ephemeral(r))
		}
	}
	spec["ephemeralContainers"] = list
}

var amounts = []string{"1", "2", "500m", "1Gi", "64Mi", "100Mi"}

func resources(r *rand.Rand) object {
	out := object{}
	for _, part := range []string{"requests", "limits"} {
		list := object{}
		for _, name := range []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu"} {
			if name == "cpu" || name == "memory" || chance(r, 5) {
				maybe(r, 60, list, name, pick(r, amounts))
			}
		}
		maybe(r, 80, out, part, list)
	}
	return out
}

func containersOf(spec object) []object {
	var all []object
	for _, key := range []string{"containers", "initContainers"} {
		list, _ := spec[key].([]any)
		for _, c := range list {
			if o, ok := c.(object); ok {
				all = append(all, o)
			}
		}
	}
	return all
}

func giveResources(r *rand.Rand, spec object) {
	for _, c := range containersOf(spec) {
		maybe(r, 80, c, "resources", resources(r))
		maybe(r, 30, c, "resizePolicy", []any{object{"resourceName": pick(r, []string{"cpu", "memory"}), "restartPolicy": pick(r, []string{"NotRequired", "RestartContainer"})}})
	}
	maybe(r, 20, spec, "resources", resources(r))
	maybe(r, 20, spec, "volumes", []any{object{"name": "v", "emptyDir": object{"medium": pick(r, []string{"Memory", ""}), "sizeLimit": pick(r, amounts)}}})
}

func resize(r *rand.Rand, spec object) {
	for range 1 + r.IntN(2) {
		if all := containersOf(spec); len(all) > 0 {
			c := pick(r, all)
			if have, ok := c["resources"].(object); ok && chance(r, 70) {
				changeAmount(r, have)
			} else {
				c["resources"] = resources(r)
			}
			maybe(r, 10, c, "name", "renamed")
			maybe(r, 10, c, "resizePolicy", []any{object{"resourceName": "cpu", "restartPolicy": "RestartContainer"}})
		}
	}
	if have, ok := spec["resources"].(object); ok && chance(r, 50) {
		changeAmount(r, have)
	} else if chance(r, 10) {
		spec["resources"] = resources(r)
	} else if chance(r, 10) {
		delete(spec, "resources")
	}
	maybe(r, 10, spec, "volumes", []any{object{"name": pick(r, []string{"v", "w"}), "emptyDir": object{"medium": pick(r, []string{"Memory", ""}), "sizeLimit": pick(r, amounts)}}})
	if list, ok := spec["containers"].([]any); ok && len(list) > 0 && chance(r, 5) {
		spec["containers"] = append(list, copyTree(list[0]))
	}
}

func changeAmount(r *rand.Rand, have object) {
	for _, part := range []string{"requests", "limits"} {
		list, _ := have[part].(object)
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if chance(r, 50) {
				list[name] = pick(r, amounts)
			} else if chance(r, 10) {
				delete(list, name)
			}
		}
	}
}

// generateRequest writes to the status or the approval of a request for a certificate.
func generateRequest(r *rand.Rand, name string) line {
	old := object{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
		"metadata": object{"name": "x", "uid": "u", "resourceVersion": "1"},
		"spec":     object{"request": pemRequest, "signerName": "example.com/a", "usages": []any{"client auth"}, "username": "u"},
		"status":   object{"conditions": requestConditions(r, 100)}}
	updated := copyTree(old).(object)
	status := updated["status"].(object)
	if chance(r, 80) {
		list, _ := status["conditions"].([]any)
		status["conditions"] = append(list, requestConditions(r, 40)...)
	} else {
		status["conditions"] = requestConditions(r, 40)
	}
	maybe(r, 10, updated["spec"].(object), "signerName", "example.com/b")
	maybe(r, 10, updated["metadata"].(object), "labels", object{"a": "b"})
	l := line{"kind": json.RawMessage(`"CertificateSigningRequest"`)}
	l.set("subresource", name)
	l.set("old", old)
	l.set("new", updated)
	return l
}

func requestConditions(r *rand.Rand, times int) []any {
	list := []any{}
	for range r.IntN(3) {
		c := object{"type": pick(r, []string{"Approved", "Approved", "Denied", "Failed", "Other", ""}), "status": pick(r, []string{"True", "True", "True", "False", "Unknown", "x", ""}),
			"reason": pick(r, []string{"a", "b", ""})}
		maybe(r, times, c, "lastUpdateTime", pick(r, []string{"2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z"}))
		maybe(r, times, c, "lastTransitionTime", pick(r, []string{"2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z"}))
		list = append(list, c)
	}
	return list
}
