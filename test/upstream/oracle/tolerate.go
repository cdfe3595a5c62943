package main

import (
	"context"
	"time"
	_ "unsafe" // for linkname

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	_ "k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

// The controller's own minimum: private, and too small to be had through a running controller.
//
//go:linkname getMinTolerationTime k8s.io/kubernetes/pkg/controller/tainteviction.getMinTolerationTime
func getMinTolerationTime(tolerations []v1.Toleration) time.Duration

func tolerate(l line) {
	toleration, taint := get[v1.Toleration](l, "toleration"), get[v1.Taint](l, "taint")
	if expression := get[struct{ Expression string }](l, "toleration").Expression; expression != "" {
		l.set("match", get[map[string]bool](l, "gates")[gateCEL] && isTrueOf(expression, taint))
		return
	}
	if compare := semverOperators[toleration.Operator]; compare != nil {
		l.set("match", get[map[string]bool](l, "gates")[gateSemver] && matchesVersion(toleration, taint, compare))
		return
	}
	l.set("match", toleration.ToleratesTaint(klog.Background(), &taint, get[bool](l, "comparison_operators")))
}

func untolerated(l line) {
	taints, tolerations := get[[]v1.Taint](l, "taints"), get[[]v1.Toleration](l, "tolerations")
	comparison := get[bool](l, "comparison_operators")
	logger := klog.Background()
	first, found := corev1helpers.FindMatchingUntoleratedTaint(logger, taints, tolerations,
		helper.DoNotScheduleTaintsFilterFunc(), comparison)
	l.set("first_untolerated", nil)
	if found {
		l.set("first_untolerated", first)
	}
	l.set("prefer_intolerable_count", intolerable(taints, tolerations, comparison))
	withGates(l, func() {
		all, matching := v1helper.GetMatchingTolerations(logger, taints, tolerations)
		l.set("matching_all_tolerated", all)
		l.set("matching_tolerations", matching)
		l.set("eviction", eviction(taints, tolerations))
	})
}

// The score that the plug-in gives before it is normalised.
func intolerable(taints []v1.Taint, tolerations []v1.Toleration, comparison bool) int64 {
	ctx := context.Background()
	plugin, err := tainttoleration.New(ctx, nil, nil,
		feature.Features{EnableTaintTolerationComparisonOperators: comparison})
	if err != nil {
		panic(err)
	}
	p := plugin.(*tainttoleration.TaintToleration)
	pod := &v1.Pod{Spec: v1.PodSpec{Tolerations: tolerations}}
	node := framework.NewNodeInfo()
	node.SetNode(&v1.Node{Spec: v1.NodeSpec{Taints: taints}})
	state := framework.NewCycleState()
	p.PreScore(ctx, state, pod, nil)
	score, status := p.Score(ctx, state, pod, node)
	if !status.IsSuccess() {
		panic(status.AsError())
	}
	return score
}

// What the taint-eviction controller does when it sees the pod on the node: only taints that evict count.
func eviction(taints []v1.Taint, tolerations []v1.Toleration) map[string]any {
	evicting := []v1.Taint{}
	for _, t := range taints {
		if t.Effect == v1.TaintEffectNoExecute {
			evicting = append(evicting, t)
		}
	}
	if len(evicting) == 0 {
		return map[string]any{"decision": "never"}
	}
	all, used := v1helper.GetMatchingTolerations(klog.Background(), evicting, tolerations)
	if !all {
		return map[string]any{"decision": "immediate"}
	}
	after := getMinTolerationTime(used)
	if after < 0 {
		return map[string]any{"decision": "never"}
	}
	return map[string]any{"decision": "after", "nanoseconds": int64(after), "seconds": int64(after / time.Second)}
}
