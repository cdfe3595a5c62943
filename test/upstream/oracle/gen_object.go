package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Objects are made by changing those that were written down: in the design documents, and to show one rule each.
// What may stand where is learned from them all.
type learned struct {
	objects map[string][]example        // by kind
	updates []line                      // old and new objects
	members map[string]map[string][]any // of what stands under a name: their values
	values  map[string][]any            // that stand under a name, wherever it is
	gates   []string                    // that can be set
}

// An example is an object and the gates that it was written down for.
type example struct {
	o     object
	gates map[string]bool
}

var lessons *learned

func learn() *learned {
	if lessons != nil {
		return lessons
	}
	lessons = &learned{objects: map[string][]example{}, members: map[string]map[string][]any{}, values: map[string][]any{}}
	for _, l := range append(readSeeds("test/valid/pods_*.jsonl"), append(seedsOf("validate_create"), seedsOf("validate_update")...)...) {
		gates := get[map[string]bool](l, "gates")
		maps.DeleteFunc(gates, func(name string, _ bool) bool { return !canBeSet(name) })
		for _, key := range []string{"object", "new"} {
			if o, ok := tree(l[key]).(object); ok {
				lessons.add(example{o, gates})
			}
		}
	}
	for _, l := range seedsOf("validate_update") {
		if _, ok := kinds[get[string](l, "kind")]; ok && l.has("old") && l.has("new") {
			lessons.updates = append(lessons.updates, l)
		}
	}
	lessons.gates = settableGates()
	return lessons
}

func (s *learned) add(e example) {
	kind, _ := e.o["kind"].(string)
	if _, ok := kinds[kind]; ok {
		s.objects[kind] = append(s.objects[kind], e)
		s.addMembers(kind, e.o)
	}
}

func (s *learned) addMembers(parent string, value any) {
	switch v := value.(type) {
	case object:
		if s.members[parent] == nil {
			s.members[parent] = map[string][]any{}
		}
		for key, member := range v {
			s.members[parent][key] = append(s.members[parent][key], member)
			s.values[key] = append(s.values[key], member)
			s.addMembers(key, member)
		}
	case []any:
		for _, item := range v {
			s.addMembers(parent, item)
		}
	}
}

// randomObject gives one of the kind, changed in a few places, and gates for it.
func (s *learned) randomObject(r *rand.Rand, kind string) (object, map[string]bool) {
	e := pick(r, s.objects[kind])
	o := copyTree(e.o).(object)
	for range r.IntN(5) {
		s.change(r, kind, o)
	}
	return withoutProposals(o).(object), s.randomGates(r, e.gates)
}

// withoutProposals takes away what upstream's validation has not heard of.
func withoutProposals(value any) any {
	switch v := value.(type) {
	case object:
		delete(v, "expression")
		for key := range v {
			v[key] = withoutProposals(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutProposals(v[i])
		}
	case string:
		if semverOperators[v1.TolerationOperator(v)] != nil {
			return "Gt"
		}
		if strings.Contains(v, `"expression"`) {
			return "[]"
		}
	}
	return value
}

func copyTree(value any) any { return tree(encode(value)) }

// A place is an object in a tree and the name under which it stands.
type place struct {
	name string
	o    object
}

func placesOf(name string, value any) []place {
	var found []place
	switch v := value.(type) {
	case object:
		found = append(found, place{name, v})
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "metadata" || name != "" {
				found = append(found, placesOf(key, v[key])...)
			}
		}
	case []any:
		for _, item := range v {
			found = append(found, placesOf(name, item)...)
		}
	}
	return found
}

// change puts, takes away or bends one member somewhere.
func (s *learned) change(r *rand.Rand, kind string, o object) {
	if chance(r, 25) {
		s.grow(r, kind, o)
		return
	}
	at := pick(r, placesOf(kind, o))
	known := s.members[at.name]
	have := slices.Sorted(maps.Keys(at.o))
	have = slices.DeleteFunc(have, func(k string) bool { return k == "apiVersion" || k == "kind" })
	switch {
	case len(have) > 0 && chance(r, 20):
		delete(at.o, pick(r, have))
	case len(have) > 0 && chance(r, 40):
		key := pick(r, have)
		at.o[key] = bend(r, at.o[key], known[key])
	case len(known) > 0:
		key := pick(r, slices.Sorted(maps.Keys(known)))
		if key != "apiVersion" && key != "kind" {
			at.o[key] = copyTree(pick(r, known[key]))
		}
	}
}

var oddNumbers = []json.Number{"0", "1", "-1", "5", "100", "101", "65535", "65536", "2147483647", "2147483648", "-2147483648", "9223372036854775807", "1.5", "1e3"}

// bend changes a value: to another that was seen there, to an edge, or to one that is wrong.
func bend(r *rand.Rand, value any, seen []any) any {
	if len(seen) > 0 && chance(r, 30) {
		return copyTree(pick(r, seen))
	}
	switch v := value.(type) {
	case string:
		if inside, ok := jsonIn(v); ok && chance(r, 70) {
			return string(encode(bendInside(r, inside)))
		}
		return pick(r, []string{pick(r, values), pick(r, keys), v + "x", pick(r, numbers), randomVersion(r), randomQuantity(r), pick(r, selectorOperators), pick(r, tolerationOperators)})
	case json.Number:
		return pick(r, oddNumbers)
	case bool:
		return !v
	case []any:
		return bendList(r, v)
	case object:
		key, text := near(r, keys), pick(r, values)
		if chance(r, 50) && !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(m any) bool { _, ok := m.(string); return !ok }) {
			v[key] = text
		}
		return v
	}
	return value
}

// jsonIn reads a text that is JSON itself, as some annotations are.
func jsonIn(text string) (any, bool) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil, false
	}
	value := tree(json.RawMessage(text))
	return value, value != nil
}

// bendInside bends a value somewhere in a tree.
func bendInside(r *rand.Rand, value any) any {
	switch v := value.(type) {
	case object:
		if len(v) > 0 && chance(r, 80) {
			key := pick(r, slices.Sorted(maps.Keys(v)))
			if chance(r, 20) {
				delete(v, key)
				return v
			}
			v[key] = bendInside(r, v[key])
			return v
		}
	case []any:
		if len(v) > 0 && chance(r, 80) {
			i := r.IntN(len(v))
			v[i] = bendInside(r, v[i])
			return v
		}
	}
	if chance(r, 30) {
		return pick(r, []any{nil, true, json.Number("7"), json.Number("1.5"), "x", []any{}, object{}})
	}
	return bend(r, value, nil)
}

func bendList(r *rand.Rand, list []any) any {
	if len(list) == 0 {
		return list
	}
	i := r.IntN(len(list))
	switch r.IntN(3) {
	case 0:
		return append(slices.Clone(list[:i]), list[i+1:]...)
	case 1:
		return append(slices.Clone(list), copyTree(list[i]))
	}
	list = slices.Clone(list)
	list[i] = bend(r, list[i], nil)
	return list
}

// randomGates turns a few gates on or off, mostly beside those that an example needs.
func (s *learned) randomGates(r *rand.Rand, needed map[string]bool) map[string]bool {
	gates := map[string]bool{"TaintTolerationComparisonOperators": chance(r, 70)}
	if chance(r, 80) {
		maps.Copy(gates, needed)
	}
	for range r.IntN(3) {
		gates[pick(r, s.gates)] = chance(r, 50)
	}
	if !gatesFit(gates) {
		return map[string]bool{} // one needs another
	}
	return gates
}

// workload puts a pod's spec into something that makes pods.
func workload(r *rand.Rand, pod object) object {
	labels := object{"app": "w"}
	template := object{"metadata": object{"labels": labels}, "spec": pod["spec"]}
	kind := pick(r, []string{"Deployment", "DaemonSet", "ReplicaSet", "StatefulSet", "Job"})
	spec := object{"selector": object{"matchLabels": labels}, "template": template}
	version := "apps/v1"
	if kind == "Job" {
		version = "batch/v1"
		delete(spec, "selector")
	}
	return object{"apiVersion": version, "kind": kind, "metadata": object{"name": "w"}, "spec": spec}
}

func generateCreate(r *rand.Rand) line {
	l := newObject(r)
	if chance(r, 15) {
		if o := servedObject(r, l); o != nil { // exported from one cluster to be created in another
			l.set("object", o)
		}
	}
	return l
}

func newObject(r *rand.Rand) line {
	s := learn()
	kind := "Pod"
	if chance(r, 50) {
		kind = pick(r, slices.Sorted(maps.Keys(s.objects)))
	}
	o, gates := s.randomObject(r, kind)
	if kind == "Pod" && chance(r, 15) {
		o = workload(r, o)
		kind = o["kind"].(string)
	}
	l := line{}
	l.set("kind", kind)
	l.set("gates", gates)
	l.set("object", o)
	return l
}

// generateUpdate changes an update that was written down, or an object that upstream stored by its own rules, whether
// it is valid or not.
func generateUpdate(r *rand.Rand) line {
	s := learn()
	if chance(r, 30) {
		return s.changedUpdate(r)
	}
	l := newObject(r)
	old := servedObject(r, l)
	if old == nil {
		return l // cannot be asked
	}
	updated := copyTree(old).(object)
	for range r.IntN(3) {
		s.change(r, get[string](l, "kind"), updated)
	}
	l.set("old", old)
	l.set("new", withoutProposals(updated))
	delete(l, "object")
	if chance(r, 20) {
		l.set("gates", s.randomGates(r, nil))
	}
	return l
}

func (s *learned) changedUpdate(r *rand.Rand) line {
	from := pick(r, s.updates)
	gates := get[map[string]bool](from, "gates")
	maps.DeleteFunc(gates, func(name string, _ bool) bool { return !canBeSet(name) })
	l := line{"kind": from["kind"]}
	l.set("gates", s.randomGates(r, gates))
	for _, key := range []string{"old", "new"} {
		o := tree(from[key]).(object)
		for range r.IntN(2) {
			s.change(r, get[string](l, "kind"), o)
		}
		l.set(key, withoutProposals(o))
	}
	return l
}

// servedObject is the line's object as a server would give it back later, or nil.
func servedObject(r *rand.Rand, l line) object {
	name, k := kindOf(l)
	var o object
	withGates(l, func() { o = k.stored(name, l["object"]) })
	if o == nil {
		return nil
	}
	s := learn()
	if f, ok := fieldsOf(k.typeOf(name))["status"]; ok && chance(r, 50) {
		o["status"] = s.structOf(r, f, 3)
	}
	if m, ok := o["metadata"].(object); ok {
		serveMeta(r, m)
	}
	return withoutProposals(o).(object)
}

// serveMeta adds what controllers and the server itself leave in metadata.
func serveMeta(r *rand.Rand, m object) {
	maybe(r, 50, m, "generation", pick(r, []int{1, 2, 7}))
	maybe(r, 30, m, "managedFields", []any{object{"manager": near(r, []string{"kubectl", "kube-controller-manager"}), "operation": pick(r, []string{"Update", "Apply", "x"}),
		"apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": object{"f:metadata": object{}}}})
	maybe(r, 20, m, "ownerReferences", some(r, 2, func() object {
		return object{"apiVersion": pick(r, []string{"apps/v1", "v1", "", "a/b/c"}), "kind": pick(r, []string{"ReplicaSet", "Event", "Job"}), "name": "o",
			"uid": pick(r, []string{"u-2", ""}), "controller": chance(r, 70)}
	}))
	maybe(r, 20, m, "finalizers", some(r, 2, func() string {
		return pick(r, []string{"orphan", "foregroundDeletion", "example.com/x", "kubernetes", "x"})
	}))
	if chance(r, 15) {
		m["deletionTimestamp"], m["deletionGracePeriodSeconds"] = "2026-01-01T00:00:30Z", 30
	}
	maybe(r, 5, m, "selfLink", "/api/v1/x")
}

// stored is the object as it would be read back, or nil. Its uid, which labels of Jobs repeat, is not that of a new one.
func (k kind) stored(name string, body []byte) object {
	obj, err := k.decode(name, body)
	if err != nil {
		return nil
	}
	nameObject(obj)
	_ = k.create(obj)
	text := bytes.ReplaceAll(k.encode(obj), []byte(newUID), []byte(storedUID))
	o, ok := tree(text).(object)
	if !ok {
		return nil
	}
	if m, ok := o["metadata"].(object); ok {
		m["resourceVersion"], m["creationTimestamp"] = "7", "2026-01-01T00:00:00Z"
	}
	return o
}

const storedUID = "00000000-0000-4000-8000-000000000001"

func generateMerge(r *rand.Rand) line {
	s := learn()
	pod, _ := s.randomObject(r, "Pod")
	l := line{}
	if spec, ok := pod["spec"].(object); ok {
		maybe(r, 60, spec, "topologySpreadConstraints", some(r, 2, func() object { return randomSpread(r) }))
		maybe(r, 60, spec, "affinity", object{"podAffinity": randomPodAffinity(r), "podAntiAffinity": randomPodAffinity(r)})
	}
	l.set("gates", map[string]bool{"MatchLabelKeysInPodTopologySpreadSelectorMerge": chance(r, 70)})
	l.set("pod", known(pod))
	return l
}

// known takes away the members that a pod does not have, which Berth keeps and upstream does not.
func known(pod object) any {
	var typed v1.Pod
	if json.Unmarshal(encode(pod), &typed) != nil {
		return pod
	}
	typed.APIVersion, typed.Kind = "v1", "Pod"
	return typed
}

func labelKeys(r *rand.Rand) []string {
	return some(r, 2, func() string {
		return near(r, []string{"app", "k", "pod-template-hash", "a", "example.com/app", "", "a b"})
	})
}

func randomSpread(r *rand.Rand) object {
	o := object{"maxSkew": pick(r, []int{1, 2, 0, 5}), "topologyKey": near(r, []string{"topology.kubernetes.io/zone", "kubernetes.io/hostname", "zone", "a", ""}),
		"whenUnsatisfiable": near(r, []string{"DoNotSchedule", "ScheduleAnyway", "DoNotSchedule", "ScheduleAnyway", "", "X"})}
	maybe(r, 80, o, "labelSelector", randomLabelSelector(r))
	maybe(r, 60, o, "matchLabelKeys", labelKeys(r))
	maybe(r, 20, o, "minDomains", pick(r, []int{0, 1, 3, -1}))
	maybe(r, 20, o, "nodeAffinityPolicy", pick(r, []string{"Honor", "Ignore", "x"}))
	maybe(r, 20, o, "nodeTaintsPolicy", pick(r, []string{"Honor", "Ignore", "x"}))
	return o
}

func randomPodTerm(r *rand.Rand) object {
	o := object{"topologyKey": near(r, []string{"topology.kubernetes.io/zone", "kubernetes.io/hostname", "zone", "a", ""})}
	maybe(r, 80, o, "labelSelector", randomLabelSelector(r))
	maybe(r, 50, o, "matchLabelKeys", labelKeys(r))
	maybe(r, 40, o, "mismatchLabelKeys", labelKeys(r))
	maybe(r, 20, o, "namespaces", []string{pick(r, []string{"default", "ns1", "N"})})
	maybe(r, 20, o, "namespaceSelector", randomLabelSelector(r))
	return o
}

func randomPodAffinity(r *rand.Rand) object {
	o := object{}
	maybe(r, 60, o, "requiredDuringSchedulingIgnoredDuringExecution", some(r, 2, func() object { return randomPodTerm(r) }))
	maybe(r, 50, o, "preferredDuringSchedulingIgnoredDuringExecution", some(r, 2, func() object {
		return object{"weight": pick(r, []int{1, 50, 100, 0, 101}), "podAffinityTerm": randomPodTerm(r)}
	}))
	return o
}
