package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	managerNames = []string{"kubectl", "controller", "a", "b", "kube-controller-manager", "é\"<", ""}
	applyTime    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	manyManagers = []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12"}
)

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// pruneTree leaves out parts of a tree, as whoever applies an object says only what it cares about.
func pruneTree(r *rand.Rand, value any, percent int) any {
	switch v := value.(type) {
	case object:
		out := object{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			isKey := slices.Contains([]string{"name", "type", "containerPort", "protocol", "port", "uid", "ip", "topologyKey", "mountPath", "devicePath", "key"}, key)
			if (isKey && chance(r, 97)) || !chance(r, percent) {
				out[key] = pruneTree(r, v[key], percent)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if !chance(r, percent/2) {
				out = append(out, pruneTree(r, item, percent))
			}
		}
		return out
	}
	return value
}

func randomConfig(r *rand.Rand, gvk schema.GroupVersionKind, o object) object {
	config := pruneTree(r, copyTree(o), 20+r.IntN(50)).(object)
	config["apiVersion"], config["kind"] = gvk.GroupVersion().String(), gvk.Kind
	if chance(r, 40) {
		config = vary(r, config).(object)
	}
	m, _ := config["metadata"].(object)
	if m == nil {
		m = object{}
		config["metadata"] = m
	}
	for _, key := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "generation"} {
		delete(m, key)
	}
	switch r.IntN(60) {
	case 0:
		config["kind"] = "Other"
	case 1:
		m["managedFields"] = pick(r, []any{[]any{}, nil, []any{object{}}})
	case 2, 3:
		pick(r, placesOf("x", config)).o[pick(r, []string{"foo", "spec", "name"})] = odd(r)
	case 4:
		delete(config, "metadata")
	}
	return config
}

// changedBody is what a client that read an object sends back.
func changedBody(r *rand.Rand, gvk schema.GroupVersionKind, o object) object {
	body := vary(r, copyTree(o)).(object)
	body["apiVersion"], body["kind"] = gvk.GroupVersion().String(), gvk.Kind
	m, _ := body["metadata"].(object)
	old, _ := o["metadata"].(object)
	if m == nil || old == nil {
		return body
	}
	m["uid"] = "u"
	if managed, ok := old["managedFields"]; ok {
		m["managedFields"] = managed
	}
	switch r.IntN(30) {
	case 0:
		m["managedFields"] = []any{}
	case 1:
		m["managedFields"] = []any{object{}}
	case 2, 3:
		delete(m, "managedFields")
	case 4:
		m["managedFields"] = []any{object{"manager": "x", "operation": pick(r, []any{"Update", "Apply", "x"}), "apiVersion": pick(r, []any{"v1", "", "nobody/v1"}),
			"fieldsType": pick(r, []any{"FieldsV1", "", "x"}), "fieldsV1": pick(r, []any{object{"f:spec": object{}}, object{"f:metadata": object{"f:labels": object{"f:a": object{}, ".": object{}}}}, object{"x": object{}}, nil,
				object{"f:spec": object{"f:selector": object{"f:matchLabels": object{}}, "f:tolerations": object{"i:0": object{}}}}})}}
	}
	return body
}

func randomManager(r *rand.Rand, many bool) string {
	if many {
		return pick(r, manyManagers)
	}
	return near(r, managerNames)
}

// A history of writes, of which the last is asked for.
func generateApply(r *rand.Rand) line {
	names := slices.Sorted(maps.Keys(kinds))
	name := pick(r, names)
	if chance(r, 60) {
		name = pick(r, []string{"Pod", "Node", "Deployment"})
	}
	gvk := kinds[name].version().WithKind(name)
	var o object
	for o == nil {
		o = randomStored(r, gvk)
	}
	delete(o["metadata"].(object), "managedFields")
	var old object
	many := chance(r, 10)
	steps := 1 + r.IntN(5)
	if many {
		steps = 14
	}
	for i := range steps {
		l := randomWrite(r, gvk, old, o, many)
		if i == steps-1 {
			return l
		}
		if !answerApply(l) {
			return l
		}
		old = outcomeOf(l, old, i)
	}
	return nil
}

// answerApply asks upstream; false if it cannot be asked that.
func answerApply(l line) (ok bool) {
	defer func() { ok = recover() == nil }()
	applyAnswer(l)
	return true
}

func randomWrite(r *rand.Rand, gvk schema.GroupVersionKind, old, o object, many bool) line {
	l := line{}
	l.set("apiVersion", gvk.GroupVersion().String())
	l.set("kind", gvk.Kind)
	l.set("manager", randomManager(r, many))
	l.set("now", applyTime)
	subresource := ""
	if old != nil {
		l.set("old", old)
		o = old
		if _, ok := statusStrategies[gvk.Kind]; ok && chance(r, 20) {
			subresource = "status"
		}
	}
	l.set("subresource", subresource)
	if chance(r, 50) && !many {
		l.set("operation", "apply")
		l.set("force", chance(r, 40))
		l.set("object", randomConfig(r, gvk, o))
		return l
	}
	l.set("operation", "update")
	body := o
	if old != nil {
		body = changedBody(r, gvk, o)
	}
	if stored := storedForm(emptyObject(gvk), body); stored != nil {
		if m, ok := body["metadata"].(object); ok && m["managedFields"] != nil {
			if sm, ok := stored["metadata"].(object); ok {
				sm["managedFields"] = m["managedFields"]
			}
		}
		body = stored
	}
	if chance(r, 5) {
		if m, ok := body["metadata"].(object); ok {
			m["annotations"] = object{lastAppliedAnnotation: string(encode(randomConfig(r, gvk, o))) + "\n"}
		}
	}
	l.set("object", body)
	return l
}

// outcomeOf is the object as a server has it after a write; those that fail change nothing.
func outcomeOf(l line, old object, step int) object {
	var o object
	if l.has("after") {
		o, _ = tree(l["after"]).(object)
	} else if l.has("managedFields") {
		o, _ = tree(l["object"]).(object)
		if m, ok := o["metadata"].(object); ok {
			delete(m, "managedFields")
			if managed := get[[]metav1.ManagedFieldsEntry](l, "managedFields"); len(managed) > 0 {
				m["managedFields"] = tree(encode(managed))
			}
		}
	}
	if o == nil {
		return old
	}
	age(o, step)
	return o
}

// age makes what was written now older, each step by another time.
func age(o object, step int) {
	m, _ := o["metadata"].(object)
	if m == nil {
		return
	}
	m["uid"] = "u"
	entries, _ := m["managedFields"].([]any)
	for _, entry := range entries {
		e := entry.(object)
		if e["time"] == applyTime.Format(time.RFC3339) {
			e["time"] = applyTime.Add(time.Duration(step/2-100) * time.Hour).Format(time.RFC3339)
		}
	}
}
