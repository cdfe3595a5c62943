package main

import (
	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/resource"
)

func parsed(v semver.Version, err error) any {
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	pre, build := []string{}, append([]string{}, v.Build...)
	for _, p := range v.Pre {
		pre = append(pre, p.String())
	}
	return map[string]any{"string": v.String(), "major": v.Major, "minor": v.Minor, "patch": v.Patch,
		"pre": pre, "build": build}
}

func tolerant(text string) semver.Version {
	v, err := semver.ParseTolerant(text)
	if err != nil {
		panic(badQuestion{err})
	}
	return v
}

func semverAnswer(l line) {
	if get[string](l, "kind") == "compare" {
		l.set("result", tolerant(get[string](l, "a")).Compare(tolerant(get[string](l, "b"))))
		return
	}
	input := get[string](l, "input")
	l.set("tolerant", parsed(semver.ParseTolerant(input)))
	l.set("strict", parsed(semver.Parse(input)))
}

// The text that is written anew, not the one that was read and kept.
func canonical(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

func quantity(text string) resource.Quantity {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		panic(badQuestion{err})
	}
	return q
}

func quantityAnswer(l line) {
	if get[string](l, "kind") == "compare" {
		a, b := quantity(get[string](l, "a")), quantity(get[string](l, "b"))
		l.set("result", a.Cmp(b))
		sum, difference := a.DeepCopy(), a.DeepCopy()
		sum.Add(b)
		difference.Sub(b)
		l.set("sum", canonical(sum))
		l.set("difference", canonical(difference))
		return
	}
	q, err := resource.ParseQuantity(get[string](l, "input"))
	if err != nil {
		l.set("error", err.Error())
		return
	}
	l.set("string", q.String())
	l.set("canonical", canonical(q))
	l.set("format", q.Format)
	l.set("value", q.Value())
	l.set("milli", q.MilliValue())
	l.set("sign", q.Sign())
}
