package main

import (
	"fmt"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// What upstream lacks, put together from its own parts as the proposals say.

var semverOperators = map[v1.TolerationOperator]func(taint, toleration semver.Version) bool{
	"SemverLt": semver.Version.LT,
	"SemverGt": semver.Version.GT,
	"SemverEq": semver.Version.EQ,
}

// matchesVersion asks upstream about key and effect, for which every operator is like Exists.
func matchesVersion(toleration v1.Toleration, taint v1.Taint, compare func(a, b semver.Version) bool) bool {
	want, err := semver.ParseTolerant(toleration.Value)
	have, err2 := semver.ParseTolerant(taint.Value)
	toleration.Operator = v1.TolerationOpExists
	return err == nil && err2 == nil && toleration.ToleratesTaint(klog.Background(), &taint, true) && compare(have, want)
}

// isTrueOf evaluates an expression that is stored: whatever goes wrong, it does not match.
func isTrueOf(expression string, taint v1.Taint) bool {
	defer func() {
		if e := recover(); e != nil {
			panic(badQuestion{fmt.Errorf("upstream crashes: %v", e)})
		}
	}()
	ast, issues := storedExpressions.Compile(expression)
	if issues.Err() != nil || !ast.OutputType().IsExactType(cel.BoolType) {
		return false
	}
	program, err := storedExpressions.Program(ast, cel.CostLimit(1000000), cel.InterruptCheckFrequency(100))
	if err != nil {
		return false
	}
	value, _, err := program.Eval(map[string]any{"taint": map[string]any{
		"key": taint.Key, "value": taint.Value, "effect": string(taint.Effect)}})
	return err == nil && value == types.True
}

// inUpstreamsWords gives the question of a cluster without what upstream lacks: a toleration by version or expression
// becomes one with Equal for each taint of the cluster that it matches, and a requirement of a node's version becomes
// one with In for the labels that meet it: with the gate off, none. Which those are, the proposals' parts say one by one.
func inUpstreamsWords(l line) line {
	gates := get[map[string]bool](l, "gates")
	taints, versions := clusterTaints(l), clusterVersions(l)
	q := l.clone()
	for _, key := range []string{"pod", "pods", "pending", "other_pods", "template_spec", "after"} {
		if l.has(key) {
			q.set(key, rewrite(tree(l[key]), gates, taints, versions))
		}
	}
	return q
}

func clusterNodes(l line) []v1.Node {
	nodes := get[[]v1.Node](l, "nodes")
	if l.has("node") {
		nodes = append(nodes, get[v1.Node](l, "node"))
	}
	if get[string](l, "changed") == "Node" {
		nodes = append(nodes, get[v1.Node](l, "after"))
	}
	return nodes
}

// clusterTaints are those of the nodes, and the one that a closed node counts as.
func clusterTaints(l line) []v1.Taint {
	taints := []v1.Taint{{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}}
	for _, node := range clusterNodes(l) {
		taints = append(taints, node.Spec.Taints...)
	}
	return taints
}

// clusterVersions are the values of each label of nodes that are versions.
func clusterVersions(l line) map[string][]string {
	found := map[string][]string{}
	for _, node := range clusterNodes(l) {
		for key, value := range node.Labels {
			if _, err := semver.ParseTolerant(value); err == nil {
				found[key] = append(found[key], value)
			}
		}
	}
	return found
}

// rewrite walks over a value and changes the tolerations and requirements in it.
func rewrite(value any, gates map[string]bool, taints []v1.Taint, versions map[string][]string) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = rewrite(v[i], gates, taints, versions)
		}
	case map[string]any:
		if compare := semverOperators[operatorOf(v)]; compare != nil && v["values"] != nil {
			if !gates[gateSemver] {
				return inVersions(v, compare, nil)
			}
			return inVersions(v, compare, versions)
		}
		for key := range v {
			v[key] = rewrite(v[key], gates, taints, versions)
		}
		if list, ok := v["tolerations"].([]any); ok {
			v["tolerations"] = equalTolerations(list, gates, taints)
		}
	}
	return value
}

func operatorOf(o object) v1.TolerationOperator {
	return v1.TolerationOperator(fmt.Sprint(o["operator"]))
}

func equalTolerations(list []any, gates map[string]bool, taints []v1.Taint) []any {
	plain := []any{}
	for _, item := range list {
		toleration, ok := item.(object)
		if !ok {
			panic(badQuestion{fmt.Errorf("no toleration: %v", item)})
		}
		plain = append(plain, equalsOf(toleration, gates, taints)...)
	}
	return plain
}

// equalsOf gives a toleration that upstream knows as it is, and for another one with Equal for each taint that it matches.
func equalsOf(toleration object, gates map[string]bool, taints []v1.Taint) []any {
	expression, _ := toleration["expression"].(string)
	if expression == "" && semverOperators[operatorOf(toleration)] == nil {
		return []any{toleration}
	}
	equals := []any{}
	for _, taint := range taints {
		one := line{}
		one.set("toleration", toleration)
		one.set("taint", taint)
		one.set("gates", gates)
		tolerate(one)
		if get[bool](one, "match") {
			equals = append(equals, equalOf(taint, toleration["tolerationSeconds"]))
		}
	}
	return equals
}

// equalOf gives a toleration of this taint and of no other.
func equalOf(taint v1.Taint, seconds any) object {
	if taint.Key == "" || taint.Effect == "" {
		panic(badQuestion{fmt.Errorf("no toleration is for this taint alone: %v", taint)})
	}
	equal := object{"key": taint.Key, "operator": "Equal", "value": taint.Value, "effect": taint.Effect}
	if seconds != nil {
		equal["tolerationSeconds"] = seconds
	}
	return equal
}

func inVersions(requirement map[string]any, compare func(a, b semver.Version) bool, versions map[string][]string) any {
	key := fmt.Sprint(requirement["key"])
	values, _ := requirement["values"].([]any)
	if len(values) != 1 {
		panic(badQuestion{fmt.Errorf("not one version: %v", requirement)})
	}
	want, err := semver.ParseTolerant(fmt.Sprint(values[0]))
	met := []any{"no-version-meets-it"}
	for _, value := range versions[key] {
		if have, _ := semver.ParseTolerant(value); err == nil && compare(have, want) {
			met = append(met, value)
		}
	}
	return map[string]any{"key": key, "operator": "In", "values": met}
}
