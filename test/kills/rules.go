package main

// Where a pod may be, as the documents say it: one pod, one node, nothing remembered and nothing
// shared with the program that is judged.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The expressions that the churn uses, and what they mean.
var expressions = map[string]func(t corev1.Taint) bool{
	`taint.key == 'sla' && int(taint.value) > 930`: func(t corev1.Taint) bool {
		n, err := strconv.Atoi(t.Value)
		return t.Key == "sla" && err == nil && n > 930
	},
	`taint.key == 'kernel' && semver(taint.value, true).isGreaterThan(semver('5.10.0'))`: func(t corev1.Taint) bool {
		return t.Key == "kernel" && compareVersions(t.Value, "5.10.0") > 0
	},
	`taint.key in ['gpu', 'sla']`: func(t corev1.Taint) bool {
		return t.Key == "gpu" || t.Key == "sla"
	},
}

// Versions of three numbers, with or without a v.
func compareVersions(a, b string) int {
	return slices.Compare(versionOf(a), versionOf(b))
}

func versionOf(text string) []int {
	var out []int
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			panic("not a version of the churn: " + text)
		}
		out = append(out, n)
	}
	return out
}

func (t *toleration) matches(taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != string(taint.Effect) {
		return false
	}
	if t.Expression != "" {
		means, known := expressions[t.Expression]
		if !known {
			panic("an expression that the churn does not have: " + t.Expression)
		}
		return means(taint)
	}
	if t.Key == "" {
		return t.Operator == "Exists"
	}
	if t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", "Equal":
		return t.Value == taint.Value
	case "Exists":
		return true
	case "Gt", "Lt":
		have, err1 := strconv.ParseInt(taint.Value, 10, 64)
		want, err2 := strconv.ParseInt(t.Value, 10, 64)
		return err1 == nil && err2 == nil && (t.Operator == "Gt" && have > want || t.Operator == "Lt" && have < want)
	case "SemverGt":
		return compareVersions(taint.Value, t.Value) > 0
	case "SemverLt":
		return compareVersions(taint.Value, t.Value) < 0
	case "SemverEq":
		return compareVersions(taint.Value, t.Value) == 0
	}
	panic("an operator that the churn does not have: " + t.Operator)
}

// tolerance is how long a pod may stay with a taint: -1 for ever, 0 not at all, else seconds. As
// upstream has it, the first toleration that matches decides.
func tolerance(tolerations []toleration, taint corev1.Taint) int64 {
	for i := range tolerations {
		t := &tolerations[i]
		if !t.matches(taint) {
			continue
		}
		if t.TolerationSeconds == nil {
			return -1
		}
		return max(0, *t.TolerationSeconds)
	}
	return 0
}

// stay is how long a pod may stay on a node with these taints.
func stay(p *pod, taints []corev1.Taint) int64 {
	least := int64(-1)
	for _, taint := range taints {
		if taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if t := tolerance(p.Spec.Tolerations, taint); t >= 0 && (least < 0 || t < least) {
			least = t
		}
	}
	return least
}

// whyForbidden says why no new pod like p may come to the node; room is another question.
func whyForbidden(p *pod, n *node) string {
	for _, taint := range n.Spec.Taints {
		if taint.Effect == corev1.TaintEffectPreferNoSchedule {
			continue
		}
		tolerated := slices.ContainsFunc(p.Spec.Tolerations, func(t toleration) bool { return t.matches(taint) })
		if !tolerated {
			return fmt.Sprintf("taint %s=%s:%s", taint.Key, taint.Value, taint.Effect)
		}
	}
	if n.Spec.Unschedulable {
		taint := corev1.Taint{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}
		if !slices.ContainsFunc(p.Spec.Tolerations, func(t toleration) bool { return t.matches(taint) }) {
			return "unschedulable"
		}
	}
	return whyElsewhere(p, n)
}

// whyElsewhere says which of the pod's wishes the node does not fulfil.
func whyElsewhere(p *pod, n *node) string {
	for key, value := range p.Spec.NodeSelector {
		if n.Labels[key] != value {
			return fmt.Sprintf("node selector %s=%s", key, value)
		}
	}
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	if !anyTerm(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, n) {
		return "node affinity"
	}
	return ""
}

func anyTerm(terms []corev1.NodeSelectorTerm, n *node) bool {
	return slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		for _, r := range t.MatchFields {
			if !matchesRequirement(r, n.Name, true) {
				return false
			}
		}
		for _, r := range t.MatchExpressions {
			value, has := n.Labels[r.Key]
			if !matchesRequirement(r, value, has) {
				return false
			}
		}
		return len(t.MatchFields)+len(t.MatchExpressions) > 0
	})
}

func matchesRequirement(r corev1.NodeSelectorRequirement, value string, has bool) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return has && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return has
	}
	panic("an operator of node affinity that the churn does not have: " + string(r.Operator))
}

var counted = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}

// whyFull says what the node lacks for all of these pods together.
func whyFull(n *node, pods []*pod) string {
	for _, name := range counted {
		free := n.Status.Allocatable[name]
		all := free.DeepCopy()
		for _, p := range pods {
			free.Sub(p.requests(name))
		}
		if free.Sign() < 0 {
			return fmt.Sprintf("%s: %s more than the %s of the node", name, strings.TrimPrefix(free.String(), "-"), all.String())
		}
	}
	return ""
}
