package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
)

// Words that mean something in a status, by the member that they stand under.
var statusWords = map[string][]any{
	"type":              {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended", "Ready", "PodScheduled", "example.com/x", "a b", ""},
	"status":            {"True", "True", "True", "False", "Unknown", ""},
	"reason":            {"Good", "a b", "x:", "A,B", ""},
	"phase":             {"Active", "Terminating", "Pending", "Running", "Failed", "Bound"},
	"completedIndexes":  {"0", "0-2", "1,3-5", "5-3", "a", "", "1,1", "0-1-2", "9", "+1"},
	"failedIndexes":     {"0", "2-3", "4", "", "x"},
	"completions":       {json.Number("5"), json.Number("3")},
	"name":              {"c", "d", "i", "a", "cpu", "claim:a/b"},
	"exitCode":          {json.Number("0"), json.Number("1"), json.Number("42")},
	"health":            {"Healthy", "Unhealthy", "Unknown", "Good"},
	"ip":                {"10.0.0.1", "10.0.0.2", "fd00::1", "010.0.0.1", "::ffff:1.2.3.4", "x"},
	"podIP":             {"10.0.0.1", "fd00::1", ""},
	"hostIP":            {"10.0.0.1", "10.0.0.2"},
	"qosClass":          {"BestEffort", "Burstable", ""},
	"nominatedNodeName": {"n1", "N1", ""},
	"resourceClaimName": {"a", "A"},
}

var statusNumbers = []json.Number{"0", "1", "1", "2", "3", "5", "-1"}

// speak puts words that mean something into a status.
func speak(r *rand.Rand, value any) any {
	switch v := value.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			_, isText := v[key].(string)
			if words := statusWords[key]; isText && len(words) > 0 && chance(r, 80) {
				v[key] = pick(r, words)
			} else if _, ok := v[key].(json.Number); ok && chance(r, 90) {
				v[key] = pick(r, statusNumbers)
			} else {
				v[key] = speak(r, v[key])
			}
		}
	case []any:
		for i := range v {
			v[i] = speak(r, v[i])
		}
	}
	return value
}

// generateStatus writes another status to an object that upstream stored.
func generateStatus(r *rand.Rand) line {
	s, l := learn(), newObject(r)
	name, k := kindOf(l)
	t, ok := fieldsOf(k.typeOf(name))["status"]
	old := servedObject(r, l)
	if old == nil || !ok {
		return l // cannot be asked
	}
	old["status"] = speak(r, copyTree(s.structOf(r, t, 3)))
	updated := copyTree(old).(object)
	if chance(r, 40) {
		updated["status"] = speak(r, copyTree(s.structOf(r, t, 3)))
	}
	for range r.IntN(4) {
		fields := fieldsOf(t)
		key := pick(r, slices.Sorted(maps.Keys(fields)))
		updated["status"].(object)[key] = speak(r, copyTree(object{key: s.valueOf(r, fields[key], key, 3)})).(object)[key]
	}
	if meta, ok := updated["metadata"].(object); ok && chance(r, 20) {
		meta["labels"] = object{"a": "b"}
		delete(meta, "ownerReferences")
	}
	if chance(r, 10) {
		s.change(r, name, updated)
	}
	l.set("old", k.known(name, old))
	l.set("new", k.known(name, withoutProposals(updated)))
	delete(l, "object")
	return l
}

// known takes away the members that the kind does not have, which Berth keeps and upstream does not.
func (k kind) known(name string, o any) any {
	typed := reflect.New(k.typeOf(name)).Interface()
	if json.Unmarshal(encode(o), typed) != nil {
		return o
	}
	found := tree(encode(typed)).(object)
	found["apiVersion"], found["kind"] = k.version().String(), name
	return found
}
