package main

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"
)

// Gates of proposals that upstream does not know yet.
const gateSemver, gateCEL = "TolerationAffinitySemverOperators", "TaintTolerationCEL"

func canBeSet(name string) bool {
	spec, known := utilfeature.DefaultMutableFeatureGate.GetAll()[featuregate.Feature(name)]
	return known && !spec.LockToDefault
}

func settableGates() []string {
	var names []string
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if !spec.LockToDefault && name != "AllAlpha" && name != "AllBeta" {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}

// withGates runs f with the line's gates set. All others have their defaults, before and after.
func withGates(l line, f func()) {
	gates := get[map[string]bool](l, "gates")
	if l.has("comparison_operators") {
		if gates == nil {
			gates = map[string]bool{}
		}
		gates[string(features.TaintTolerationComparisonOperators)] = get[bool](l, "comparison_operators")
	}
	delete(gates, gateSemver)
	delete(gates, gateCEL)
	before := map[string]bool{}
	for name := range gates {
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	defer utilfeature.DefaultMutableFeatureGate.SetFromMap(before)
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		panic(badQuestion{err})
	}
	f()
}

// gatesFit tells whether the gates can be set together.
func gatesFit(gates map[string]bool) bool {
	return utilfeature.DefaultMutableFeatureGate.DeepCopy().SetFromMap(gates) == nil
}
