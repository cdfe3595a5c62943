package main

import (
	"math/rand/v2"
	"strings"
)

type object = map[string]any

// some gives up to n things.
func some[T any](r *rand.Rand, n int, make func() T) []T {
	list := []T{}
	for range r.IntN(n + 1) {
		list = append(list, make())
	}
	return list
}

// maybe puts a member now and then.
func maybe(r *rand.Rand, percent int, o object, key string, value any) {
	if chance(r, percent) {
		o[key] = value
	}
}

// near gives one of the first few words, and only now and then another: so that things meet.
func near(r *rand.Rand, words []string) string {
	if chance(r, 75) {
		return words[r.IntN(min(4, len(words)))]
	}
	return pick(r, words)
}

func randomTaint(r *rand.Rand) object {
	t := object{"key": near(r, keys)}
	maybe(r, 70, t, "value", pick(r, [][]string{values, numbers, versions})[r.IntN(16)])
	maybe(r, 95, t, "effect", near(r, effects))
	return t
}

var tolerationOperators = []string{"Exists", "Equal", "", "Lt", "Gt", "exists", "SemverGt", "SemverLt", "SemverEq", "Foo"}

func randomToleration(r *rand.Rand) object {
	t := object{}
	maybe(r, 85, t, "key", near(r, keys))
	maybe(r, 90, t, "operator", pick(r, tolerationOperators))
	maybe(r, 75, t, "value", pick(r, [][]string{values, numbers, versions})[r.IntN(16)])
	maybe(r, 50, t, "effect", near(r, effects))
	maybe(r, 40, t, "tolerationSeconds", pick(r, []int64{0, 1, -1, 30, 300, 9223372036, 9223372037, 1<<63 - 1, -1 << 63}))
	return t
}

func generateTolerate(r *rand.Rand) line {
	l := line{}
	toleration, taint := randomToleration(r), randomTaint(r)
	if chance(r, 60) && toleration["key"] != nil {
		taint["key"] = toleration["key"]
	}
	if chance(r, 10) {
		toleration = object{"expression": (&celMaker{r: r}).make("bool", 1+r.IntN(3))}
	}
	l.set("toleration", toleration)
	l.set("taint", taint)
	l.set("comparison_operators", chance(r, 80))
	l.set("gates", map[string]bool{gateSemver: chance(r, 85), gateCEL: chance(r, 85)})
	return l
}

func generateUntolerated(r *rand.Rand) line {
	l := line{}
	l.set("taints", some(r, 5, func() object { return randomTaint(r) }))
	l.set("tolerations", some(r, 6, func() object {
		if chance(r, 15) {
			return randomExpression(r)
		}
		return randomToleration(r)
	}))
	l.set("comparison_operators", chance(r, 80))
	l.set("gates", map[string]bool{gateSemver: chance(r, 75), gateCEL: chance(r, 75)})
	return l
}

// randomExpression gives a toleration by an expression that is about words which taints have.
func randomExpression(r *rand.Rand) object {
	t := object{"expression": pick(r, []string{`taint.key == "` + near(r, keys) + `"`, `taint.effect != "` + near(r, effects) + `"`,
		`taint.value in ["", "a", "5"]`, `int(taint.value) < 10`, `semver(taint.value, true).isGreaterThan(semver("1.2.0"))`,
		clusterExpression(r)})}
	maybe(r, 40, t, "tolerationSeconds", pick(r, []int64{0, -1, 30, 300}))
	return t
}

var versionPieces = []string{"0", "1", "2", "10", "00", "01", "9", "18446744073709551615", "18446744073709551616", "v", "V", ".", ".", ".", "-",
	"-", "+", "a", "rc", "alpha", "beta", "-1", "x86_64", " ", "é", "_", "007", "", "A", "z", "~", "\t"}

func randomVersion(r *rand.Rand) string {
	if chance(r, 25) {
		return pick(r, append(versions, numbers...))
	}
	text := strings.Join(some(r, 4, func() string { return pick(r, versionPieces) }), "")
	if chance(r, 60) {
		text = pick(r, []string{"1.2.3", "v1.2", "1.2.3-", "0.0.", "1.2.3-rc.", "1.2.3+b", ""}) + text
	}
	return text
}

func generateSemver(r *rand.Rand) line {
	l := line{}
	if chance(r, 40) {
		l.set("kind", "compare")
		l.set("a", randomVersion(r))
		l.set("b", randomVersion(r))
		return l
	}
	l.set("kind", "parse")
	l.set("input", randomVersion(r))
	return l
}

var (
	quantityNumbers = []string{"0", "1", "-1", "+1", "5", "10", "1.5", "0.1", ".5", "1.", "", ".", "007", "999999999999999999", "1000000000000000000",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "0.000000001", "0.0000000001", "123456789.987654321", "1.1.1", "1_0", "--1", "100", "1024", "2.25", "8", "16"}
	quantitySuffixes = []string{"", "", "", "n", "u", "m", "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "ki", "e3", "E3", "e-3", "e+3", "e", "e0", "E-9", "e-12",
		"e18", "e19", "e20", " ", "i", "mm", "e1.5", "e99", "é", "kk", "Mi "}
)

func randomQuantity(r *rand.Rand) string {
	number := pick(r, quantityNumbers)
	if chance(r, 40) {
		digits := some(r, 22, func() string { return string(rune('0' + r.IntN(10))) })
		number = strings.Join(digits, "")
		if chance(r, 50) && len(digits) > 0 {
			at := r.IntN(len(digits))
			number = number[:at] + "." + number[at:]
		}
		if chance(r, 30) {
			number = "-" + number
		}
	}
	return number + pick(r, quantitySuffixes)
}

func generateQuantity(r *rand.Rand) line {
	l := line{}
	if chance(r, 45) {
		l.set("kind", "compare")
		l.set("a", randomQuantity(r))
		l.set("b", randomQuantity(r))
		return l
	}
	l.set("kind", "parse")
	l.set("input", randomQuantity(r))
	return l
}

var selectorOperators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Foo", "", "in"}

func randomRequirement(r *rand.Rand, key string) object {
	o := object{"key": key, "operator": near(r, selectorOperators)}
	if chance(r, 30) {
		o["operator"] = pick(r, selectorOperators)
	}
	maybe(r, 80, o, "values", some(r, 3, func() string { return near(r, append([]string{"a", "v", "5", "10"}, values...)) }))
	return o
}

func randomTerm(r *rand.Rand) object {
	t := object{}
	maybe(r, 80, t, "matchExpressions", some(r, 3, func() object { return randomRequirement(r, near(r, keys)) }))
	maybe(r, 25, t, "matchFields", some(r, 2, func() object {
		o := randomRequirement(r, pick(r, []string{"metadata.name", "metadata.name", "metadata.name", "x", ""}))
		maybe(r, 60, o, "values", some(r, 2, func() string { return pick(r, []string{"node-1", "node-2", ""}) }))
		return o
	}))
	return t
}

func randomLabels(r *rand.Rand) map[string]string {
	labels := map[string]string{}
	for range r.IntN(5) {
		labels[near(r, keys)] = near(r, append([]string{"a", "v", "5", "10"}, values...))
	}
	return labels
}

func generateNodeSelector(r *rand.Rand) line {
	l := line{}
	required := object{"nodeSelectorTerms": some(r, 3, func() object { return randomTerm(r) })}
	if chance(r, 20) {
		l.set("kind", "pv")
		l.set("node_labels", randomLabels(r))
		l.set("spec", object{"nodeAffinity": object{"required": required}})
		return l
	}
	affinity, spec := object{}, object{}
	maybe(r, 80, affinity, "requiredDuringSchedulingIgnoredDuringExecution", required)
	maybe(r, 50, affinity, "preferredDuringSchedulingIgnoredDuringExecution", some(r, 3, func() object {
		return object{"weight": pick(r, []int{1, 5, 100, 0, -1}), "preference": randomTerm(r)}
	}))
	maybe(r, 90, spec, "nodeAffinity", affinity)
	maybe(r, 30, spec, "nodeSelector", randomLabels(r))
	l.set("kind", "pod")
	l.set("node", object{"name": pick(r, []string{"node-1", "node-2", ""}), "labels": randomLabels(r)})
	l.set("spec", spec)
	return l
}

var selectorPieces = []string{"a", "app", "example.com/app", "in", "notin", "(", ")", ",", "=", "==", "!=", "!", ">", "<", " ", " ", "5", "v", "-", "é", "exists", "\t", "1.0", "In", "a b", "''", "\n", "x,y"}

func generateLabelSelector(r *rand.Rand) line {
	l := line{}
	l.set("labels", randomLabels(r))
	if chance(r, 50) {
		text := pick(r, []string{"a", "app in (v,a)", "a=v", "app notin (5)", "!a", "a>5", "a<10,app", "example.com/app!=v", "a in ()"})
		if chance(r, 60) {
			text = strings.Join(some(r, 9, func() string { return pick(r, selectorPieces) }), "")
		} else if chance(r, 50) {
			text = mutateTokens(r, text)
		}
		l.set("kind", "string")
		l.set("selector", text)
		return l
	}
	l.set("kind", "object")
	l.set("selector", randomLabelSelector(r))
	return l
}

func randomLabelSelector(r *rand.Rand) any {
	if chance(r, 5) {
		return nil
	}
	s := object{}
	maybe(r, 50, s, "matchLabels", randomLabels(r))
	maybe(r, 60, s, "matchExpressions", some(r, 3, func() object { return randomRequirement(r, near(r, keys)) }))
	return s
}
