package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Whether the DaemonSet controller wants a pod of the template on the node.
func daemonAnswer(l line) {
	withGates(l, func() {
		node := get[v1.Node](l, "node")
		set := &appsv1.DaemonSet{}
		set.Spec.Template.Spec = get[v1.PodSpec](inUpstreamsWords(l), "template_spec")
		run, keep := daemon.NodeShouldRunDaemonPod(klog.Background(), &node, set)
		l.set("should_run", run)
		l.set("should_continue_running", keep)
	})
}

// What failed, in order; nothing is done about it.
type failures []string

func (f *failures) HandleAdmissionFailure(_ context.Context, _ *v1.Pod, reasons []lifecycle.PredicateFailureReason,
	_ lifecycle.Operation) ([]lifecycle.PredicateFailureReason, error) {
	for _, reason := range reasons {
		*f = append(*f, reason.(error).Error())
	}
	return reasons, nil
}

// Whether the kubelet lets the pod in.
func kubeletAnswer(l line) {
	withGates(l, func() {
		q := inUpstreamsWords(l)
		node, pod, others := get[v1.Node](q, "node"), get[*v1.Pod](q, "pod"), get[[]*v1.Pod](q, "other_pods")
		for _, p := range append(others, pod) {
			store(p)
		}
		failed := failures{}
		handler := lifecycle.NewPredicateAdmitHandler(
			func(context.Context, bool) (*v1.Node, error) { return node.DeepCopy(), nil }, &failed,
			func(*framework.NodeInfo, *lifecycle.PodAdmitAttributes) error { return nil })
		result := handler.Admit(context.Background(), &lifecycle.PodAdmitAttributes{Pod: pod, OtherPods: others})
		l.set("admit", result.Admit)
		l.set("reason", result.Reason)
		l.set("message", result.Message)
		l.set("all_failures", failed)
	})
}
