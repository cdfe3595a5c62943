package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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

// A toleration of a line, and one in upstream's words that stands for it.
type standIn struct {
	upstreams v1.Toleration
	lines     json.RawMessage
}

// standIns are the line's tolerations in upstream's words, in their order.
func standIns(l line) []standIn {
	var found []standIn
	taints, gates := get[[]v1.Taint](l, "taints"), get[map[string]bool](l, "gates")
	for _, raw := range get[[]json.RawMessage](l, "tolerations") {
		toleration, ok := tree(raw).(object)
		if !ok {
			panic(badQuestion{fmt.Errorf("no toleration: %s", raw)})
		}
		for _, plain := range equalsOf(toleration, gates, taints) {
			one := line{}
			one.set("plain", plain)
			found = append(found, standIn{get[v1.Toleration](one, "plain"), asStored(raw)})
		}
	}
	return found
}

// asStored gives a toleration as a server would show it that knows the proposals.
func asStored(raw json.RawMessage) json.RawMessage {
	one := line{"toleration": raw}
	return encode(struct {
		v1.Toleration
		Expression string `json:"expression,omitempty"`
	}{get[v1.Toleration](one, "toleration"), get[struct{ Expression string }](one, "toleration").Expression})
}

// inLinesWords gives for each of upstream's tolerations the one of the line that it stands for. Where several are alike,
// it is the first: upstream takes the first that matches, and what is alike matches alike.
func inLinesWords(all []standIn, used []v1.Toleration) []json.RawMessage {
	words := []json.RawMessage{}
	for _, toleration := range used {
		at := slices.IndexFunc(all, func(s standIn) bool { return reflect.DeepEqual(s.upstreams, toleration) })
		words = append(words, all[at].lines)
	}
	return words
}

func untolerated(l line) {
	taints, all := get[[]v1.Taint](l, "taints"), standIns(l)
	tolerations := []v1.Toleration{}
	for _, s := range all {
		tolerations = append(tolerations, s.upstreams)
	}
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
		tolerated, matching := v1helper.GetMatchingTolerations(logger, taints, tolerations)
		l.set("matching_all_tolerated", tolerated)
		l.set("matching_tolerations", inLinesWords(all, matching))
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
