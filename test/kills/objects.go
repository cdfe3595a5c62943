package main

// Objects as the server sends them. Upstream's types are used where they know all that is there; of
// pods they do not know the expressions of tolerations.

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type toleration struct {
	Key               string `json:"key,omitempty"`
	Operator          string `json:"operator,omitempty"`
	Value             string `json:"value,omitempty"`
	Effect            string `json:"effect,omitempty"`
	Expression        string `json:"expression,omitempty"`
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

type podSpec struct {
	corev1.PodSpec `json:",inline"`
	Tolerations    []toleration `json:"tolerations"`
}

type pod struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              podSpec          `json:"spec"`
	Status            corev1.PodStatus `json:"status"`
}

// The workloads' templates are of upstream's types: what is asked of them is in their pods.
type (
	node       = corev1.Node
	deployment = appsv1.Deployment
	replicaSet = appsv1.ReplicaSet
)

// Everything that is in the cluster, list by list.
type snapshot struct {
	pods         []pod
	nodes        []node
	replicaSets  []replicaSet
	deployments  []deployment
	statefulSets []appsv1.StatefulSet
	daemonSets   []appsv1.DaemonSet
	revisions    []appsv1.ControllerRevision
	jobs         []batchv1.Job
	claims       []corev1.PersistentVolumeClaim
	volumes      []corev1.PersistentVolume
	namespaces   []corev1.Namespace
	accounts     []corev1.ServiceAccount
	configMaps   []corev1.ConfigMap
	services     []corev1.Service
	slices       []discoveryv1.EndpointSlice
	budgets      []policyv1.PodDisruptionBudget
	quotas       []corev1.ResourceQuota
	leases       []coordinationv1.Lease
}

func (p *pod) id() string { return p.Namespace + "/" + p.Name }

func (p *pod) hasEnded() bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// isRejected: its kubelet asked again when it started, and the containers are gone.
func (p *pod) isRejected() bool {
	return p.Status.Phase == corev1.PodFailed && strings.HasPrefix(p.Status.Message, "Pod was rejected: ")
}

func (p *pod) isGoing() bool { return p.DeletionTimestamp != nil }

// isLive: it is there for whoever owns it.
func (p *pod) isLive() bool { return !p.hasEnded() && !p.isGoing() }

func (p *pod) condition(kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func (p *pod) is(kind corev1.PodConditionType) bool {
	c := p.condition(kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

func (p *pod) isReady() bool { return p.is(corev1.PodReady) }

func (p *pod) isPending() bool { return p.isLive() && p.Spec.NodeName == "" }

// What a pod asks a node for: the churn makes pods of containers alone, without overhead.
func (p *pod) requests(name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourcePods {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	var sum resource.Quantity
	for i := range p.Spec.Containers {
		sum.Add(p.Spec.Containers[i].Resources.Requests[name])
	}
	return sum
}

func (p *pod) claims() []string {
	var names []string
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

func controllerOf(owned metav1.Object) types.UID {
	if owner := metav1.GetControllerOf(owned); owner != nil {
		return owner.UID
	}
	return ""
}

func short(uid types.UID) string {
	first, _, _ := strings.Cut(string(uid), "-")
	return first
}
