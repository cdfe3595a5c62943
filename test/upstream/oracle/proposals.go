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
