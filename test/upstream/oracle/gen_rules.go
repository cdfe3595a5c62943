package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What was written down about kinds with rules: good objects, by "group Kind", and the values of their members.
type ruleLessons struct {
	objects map[string][]object
	values  map[string]map[string][]any // by kind and member
}

var learnRules = sync.OnceValue(func() *ruleLessons {
	found := &ruleLessons{map[string][]object{}, map[string]map[string][]any{}}
	for _, l := range seedsOf("rules") {
		gvk := gvkOf(l["new"])
		name := gvk.Group + " " + gvk.Kind
		if found.values[name] == nil {
			found.values[name] = map[string][]any{}
		}
		o, _ := tree(l["new"]).(object)
		if strings.HasPrefix(get[string](l, "id"), "good-") {
			found.objects[name] = append(found.objects[name], o)
		}
		found.learn(name, o)
	}
	return found
})

func (s *ruleLessons) learn(kind string, value any) {
	switch v := value.(type) {
	case object:
		for key, member := range v {
			s.values[kind][key] = append(s.values[kind][key], member)
			s.learn(kind, member)
		}
	case []any:
		for _, item := range v {
			s.learn(kind, item)
		}
	}
}

// Kinds in their versions: all of them, or those that RULED_KINDS names.
var ruledVersions = sync.OnceValue(func() (found []schema.GroupVersionKind) {
	only := strings.Fields(os.Getenv("RULED_KINDS"))
	for _, gvk := range kindsOfRows() {
		if slices.Contains(ruledKinds, gvk.Group+" "+gvk.Kind) && (len(only) == 0 || slices.Contains(only, gvk.Kind)) {
			found = append(found, gvk)
		}
	}
	return found
})

// ruledObject is one that was written down, in the given version, with some of its members changed.
func ruledObject(r *rand.Rand, gvk schema.GroupVersionKind, t reflect.Type, changes int) object {
	o := object{}
	if seeds := learnRules().objects[gvk.Group+" "+gvk.Kind]; len(seeds) > 0 {
		o = copyTree(pick(r, seeds)).(object)
	}
	o["apiVersion"], o["kind"] = gvk.GroupVersion().String(), gvk.Kind
	if known, ok := knownOf(t, gvk, o).(object); ok {
		o = known
	}
	if _, ok := o["metadata"].(object); !ok {
		o["metadata"] = object{"name": "a"}
	}
	for range changes {
		bendRuled(r, gvk, t, o)
	}
	addExpressions(r, gvk.Kind, o)
	changeExpressions(r, gvk.Kind, o)
	if chance(r, 10) {
		o["metadata"] = randomMetadata(r)
	}
	return o
}

// bendRuled changes one member somewhere in the object, by its type and by words that mean something to its kind.
func bendRuled(r *rand.Rand, gvk schema.GroupVersionKind, t reflect.Type, o object) {
	before := copyTree(o)
	places := slices.DeleteFunc(typedPlacesOf(gvk.Kind, t, o), func(p typedPlace) bool {
		return p.name == "metadata" || p.name == "managedFields" || p.name == "ownerReferences"
	})
	at := pick(r, places)
	fields := fieldsOf(at.t)
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		if at.name == gvk.Kind {
			delete(fields, key)
		}
	}
	if len(fields) == 0 {
		return
	}
	key := pick(r, slices.Sorted(maps.Keys(fields)))
	if have := slices.Sorted(maps.Keys(at.o)); len(have) > 0 && chance(r, 50) {
		if k := pick(r, have); fields[k] != nil {
			key = k
		}
	}
	list, isList := at.o[key].([]any)
	switch {
	case chance(r, 12):
		delete(at.o, key)
	case isList && len(list) > 0 && chance(r, 40):
		at.o[key] = bendList(r, list)
	default:
		at.o[key] = ruledValue(r, gvk, fields[key], key, 3)
	}
	if knownOf(t, gvk, o) == nil {
		maps.DeleteFunc(o, func(string, any) bool { return true })
		maps.Copy(o, before.(object))
	}
}

func ruledValue(r *rand.Rand, gvk schema.GroupVersionKind, t reflect.Type, key string, depth int) any {
	if text, ok := expressionOf(r, gvk.Kind, key); ok && t.Kind() == reflect.String && chance(r, 85) {
		return text
	}
	if words := ruleWords[gvk.Kind+"."+key]; len(words) > 0 && chance(r, 70) {
		return copyTree(pick(r, words))
	}
	if words := ruleWords[key]; len(words) > 0 && chance(r, 60) && t.Kind() != reflect.Struct {
		return copyTree(pick(r, words))
	}
	if seen := learnRules().values[gvk.Group+" "+gvk.Kind][key]; len(seen) > 0 && chance(r, 50) {
		return copyTree(pick(r, seen))
	}
	switch {
	case leaves[t] != nil:
		return leaves[t](r)
	case t.Kind() == reflect.Pointer:
		return ruledValue(r, gvk, t.Elem(), key, depth)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return some(r, 3, func() any { return ruledValue(r, gvk, t.Elem(), key, depth) })
	case t.Kind() == reflect.Struct:
		o, fields := object{}, fieldsOf(t)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if depth > 0 && chance(r, 40) {
				o[name] = ruledValue(r, gvk, fields[name], name, depth-1)
			}
		}
		return o
	case t.Kind() == reflect.Map:
		m := object{}
		for range r.IntN(3) {
			m[near(r, keys)] = ruledValue(r, gvk, t.Elem(), "", depth-1)
		}
		return m
	}
	return learn().valueOf(r, t, "no such member", depth)
}

func generateRules(r *rand.Rand) line {
	gvk := pick(r, ruledVersions())
	t, l := typeOfKind(gvk), line{}
	gates := map[string]bool{}
	if chance(r, 40) {
		gates = learn().gatesOfKind(r, gvk)
	}
	if slices.Contains(deviceKinds, gvk.Kind) && gates != nil && chance(r, 40) {
		gates["DRAConsumableCapacity"], gates["DRAListTypeAttributes"] = chance(r, 60), chance(r, 60)
	}
	if !gatesFit(gates) {
		gates = map[string]bool{}
	}
	l.set("gates", gates)
	verb := pick(r, []string{"create", "create", "update", "update", "status"})
	if _, hasStatus := fieldsOf(t)["status"]; verb == "status" && (!hasStatus || statusStrategyOf(gvk) == nil) {
		verb = "update"
	}
	if gvk.Kind == "CertificateSigningRequest" && chance(r, 20) {
		verb = "approval"
	}
	l.set("verb", verb)
	o := ruledObject(r, gvk, t, r.IntN(4))
	if verb == "create" {
		l.set("new", knownOf(t, gvk, withoutTolerationProposals(gvk.Kind, o)))
		return l
	}
	setStored(r, o["metadata"].(object))
	updated := copyTree(o).(object)
	if chance(r, 15) {
		m := updated["metadata"]
		updated = ruledObject(r, gvk, t, 2)
		updated["metadata"] = m
	}
	for range r.IntN(4) {
		bendRuled(r, gvk, t, updated)
	}
	if chance(r, 30) {
		changeExpressions(r, gvk.Kind, updated)
	}
	if chance(r, 10) {
		changeMetadata(r, updated["metadata"].(object))
	}
	l["old"] = ruledStored(l, knownOf(t, gvk, withoutTolerationProposals(gvk.Kind, o)))
	l.set("new", knownOf(t, gvk, withoutTolerationProposals(gvk.Kind, updated)))
	return l
}

func ruledStored(l line, o any) json.RawMessage {
	if o == nil {
		return json.RawMessage("null")
	}
	return servedAgain(l, o)
}

// withoutTolerationProposals takes away what upstream's tolerations have not heard of.
func withoutTolerationProposals(kind string, o object) any {
	if slices.Contains([]string{"PodTemplate", "ReplicationController", "RuntimeClass"}, kind) {
		return withoutProposals(o)
	}
	return o
}
