package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/capabilities"
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
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
)

type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// What the API server knows about a kind: where it is served and by which rules.
type kind struct {
	group, resource string
	strategy        strategy
}

var kinds = map[string]kind{
	"Pod":                 {"", "pods", pod.Strategy},
	"Node":                {"", "nodes", node.Strategy},
	"Namespace":           {"", "namespaces", namespace.Strategy},
	"PersistentVolume":    {"", "persistentvolumes", persistentvolume.Strategy},
	"PriorityClass":       {"scheduling.k8s.io", "priorityclasses", priorityclass.Strategy},
	"PodDisruptionBudget": {"policy", "poddisruptionbudgets", poddisruptionbudget.Strategy},
	"ReplicaSet":          {"apps", "replicasets", replicaset.Strategy},
	"Deployment":          {"apps", "deployments", deployment.Strategy},
	"DaemonSet":           {"apps", "daemonsets", daemonset.Strategy},
	"StatefulSet":         {"apps", "statefulsets", statefulset.Strategy},
	"Job":                 {"batch", "jobs", job.Strategy},
	"CronJob":             {"batch", "cronjobs", cronjob.Strategy},
}

func init() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
}

func (k kind) version() schema.GroupVersion {
	return schema.GroupVersion{Group: k.group, Version: "v1"}
}

// A request to the namespace "default".
func (k kind) context() context.Context {
	ctx := request.WithNamespace(context.Background(), "default")
	return request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, APIGroup: k.group,
		APIVersion: "v1", Namespace: "default", Resource: k.resource})
}

// decode reads, defaults and converts as the API server does for a body that it got.
func (k kind) decode(name string, body []byte) (runtime.Object, error) {
	into, err := legacyscheme.Scheme.New(schema.GroupVersionKind{Group: k.group, Version: runtime.APIVersionInternal, Kind: name})
	if err != nil {
		return nil, err
	}
	decoder := legacyscheme.Codecs.UniversalDecoder(schema.GroupVersion{Group: k.group, Version: runtime.APIVersionInternal})
	gvk := k.version().WithKind(name)
	obj, got, err := decoder.Decode(body, &gvk, into)
	if err != nil {
		return nil, transformDecodeError(legacyscheme.Scheme, err, into, got, body)
	}
	return obj, nil
}
