package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
)

var statusStrategies = map[string]rest.RESTUpdateStrategy{
	"Pod":                 pod.StatusStrategy,
	"Node":                node.StatusStrategy,
	"Namespace":           namespace.StatusStrategy,
	"PersistentVolume":    persistentvolume.StatusStrategy,
	"PodDisruptionBudget": poddisruptionbudget.StatusStrategy,
	"ReplicaSet":          replicaset.StatusStrategy,
	"Deployment":          deployment.StatusStrategy,
	"DaemonSet":           daemonset.StatusStrategy,
	"StatefulSet":         statefulset.StatusStrategy,
	"Job":                 job.StatusStrategy,
	"CronJob":             cronjob.StatusStrategy,
}

// The time at which a status is written, where upstream lets it be set.
var statusTime = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func init() { persistentvolume.NowFunc = func() metav1.Time { return statusTime } }

// A write to the status of an object: whether it is accepted, and what becomes of it.
func validateStatus(l line) {
	if !l.has("old") {
		panic(badQuestion{errors.New("nothing is stored")})
	}
	withGates(l, func() {
		name, k := kindOf(l)
		strategy := statusStrategies[name]
		if strategy == nil {
			panic(badQuestion{fmt.Errorf("no status of %s", name)})
		}
		old, err := k.decode(name, l["old"])
		if err != nil {
			panic(badQuestion{err})
		}
		obj, err := k.decode(name, l["new"])
		if err != nil {
			panic(badQuestion{err})
		}
		ctx := k.statusContext()
		err = rest.BeforeUpdate(strategy, ctx, obj, old)
		judge(l, err, func() field.ErrorList { return rest.ValidateUpdate(ctx, obj, old, strategy) })
		l.set("after", statusAfter(k.encode(obj)))
	})
}

func (k kind) statusContext() context.Context {
	info, _ := request.RequestInfoFrom(k.context())
	info.Subresource = "status"
	return request.WithRequestInfo(k.context(), info)
}

// What a write to the status may change.
func statusAfter(served json.RawMessage) map[string]json.RawMessage {
	var o struct {
		Metadata struct {
			Labels          json.RawMessage `json:"labels,omitempty"`
			OwnerReferences json.RawMessage `json:"ownerReferences,omitempty"`
		}
		Status json.RawMessage
	}
	if err := json.Unmarshal(served, &o); err != nil {
		panic(badQuestion{err})
	}
	after := map[string]json.RawMessage{}
	for key, value := range map[string]json.RawMessage{"labels": o.Metadata.Labels, "ownerReferences": o.Metadata.OwnerReferences, "status": o.Status} {
		if value != nil {
			after[key] = value
		}
	}
	return after
}
