package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// generateConvert makes an object of a kind that has two versions.
func generateConvert(r *rand.Rand) line {
	kind := pick(r, slices.Sorted(maps.Keys(versionsOf)))
	versions := versionsOf[kind]
	from := r.IntN(2)
	o := filled(r, kind, versions[from])
	switch kind {
	case "HorizontalPodAutoscaler":
		if from == 0 && chance(r, 80) { // with what a conversion has left in its annotations
			o = filled(r, kind, versions[1])
			mean(r, o)
			to, _ := schema.ParseGroupVersion(versions[0])
			if text, err := convert(encode(o), to); err == nil {
				o = tree(text).(object)
			}
			bendAnnotations(r, o)
		} else {
			mean(r, o)
		}
	case "PodDisruptionBudget":
		key := "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
		one := func(operator string) object {
			return object{"matchExpressions": []any{object{"key": key, "operator": operator}}}
		}
		selectors := []any{object{}, one("Exists"), one("DoesNotExist"), object{"matchLabels": object{"a": "b"}},
			object{"matchLabels": object{"a": "b"}, "matchExpressions": []any{object{"key": key, "operator": "Exists"}}}, nil}
		o["spec"] = object{"selector": pick(r, selectors), "minAvailable": 1}
	}
	l := line{}
	l.set("object", o)
	l.set("to", versions[1-from])
	return l
}

func filled(r *rand.Rand, kind, version string) object {
	gv, _ := schema.ParseGroupVersion(version)
	obj, err := decodeScheme.New(gv.WithKind(kind))
	if err != nil {
		panic(err)
	}
	for {
		fill(r, reflect.ValueOf(obj).Elem(), 7, 20+r.IntN(60))
		obj.GetObjectKind().SetGroupVersionKind(gv.WithKind(kind))
		if sayable(reflect.ValueOf(obj)) {
			break
		}
	}
	text, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return tree(text).(object)
}

// mean gives metrics types and names that conversions look at.
func mean(r *rand.Rand, o object) {
	for _, part := range []string{"spec", "status"} {
		inside, _ := o[part].(object)
		for _, key := range []string{"metrics", "currentMetrics"} {
			list, _ := inside[key].([]any)
			for _, m := range list {
				metric, ok := m.(object)
				if !ok {
					continue
				}
				maybe(r, 60, metric, "type", pick(r, []string{"Resource", "Pods", "Object", "External", "ContainerResource"}))
				if resource, ok := metric["resource"].(object); ok {
					maybe(r, 60, resource, "name", pick(r, []string{"cpu", "memory"}))
				}
			}
		}
	}
}

func bendAnnotations(r *rand.Rand, o object) {
	meta, _ := o["metadata"].(object)
	annotations, _ := meta["annotations"].(object)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if chance(r, 10) {
			annotations[key] = pick(r, []string{"", "null", "[]", "{}", "[{}]", "[null]", "x", `[{"type":1}]`, `{"scaleup":{"policies":[{"type":"Pods","value":1,"periodseconds":2}]}}`})
		}
	}
}
