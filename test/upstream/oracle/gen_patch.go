package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"
)

// randomStored makes an object of a kind by its Go type, as a server writes it; nil if it came out wrong.
func randomStored(r *rand.Rand, gvk schema.GroupVersionKind) object {
	s := learn()
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(err)
	}
	t := reflect.TypeOf(obj).Elem()
	o := s.structOf(r, t, 6)
	for _, part := range []string{"metadata", "spec", "status"} {
		if f, ok := fieldsOf(t)[part]; ok && chance(r, 70) {
			o[part] = s.structOf(r, inner(f), 6)
		}
	}
	o["apiVersion"], o["kind"] = gvk.GroupVersion().String(), gvk.Kind
	return storedForm(obj, withoutOurTolerations(o).(object))
}

func storedForm(into runtime.Object, o object) object {
	if kjson.UnmarshalCaseSensitivePreserveInts(encode(o), into) != nil {
		return nil
	}
	stored, _ := withoutRepeats(tree(encodeVersioned(into))).(object)
	return stored
}

// withoutRepeats leaves one of equal texts in a list: how upstream merges into a list that has a text twice depends on
// the room that Go has left behind it.
func withoutRepeats(value any) any {
	switch v := value.(type) {
	case object:
		for key := range v {
			v[key] = withoutRepeats(v[key])
		}
	case []any:
		list := []any{}
		for _, item := range v {
			text, ok := item.(string)
			if !ok || !slices.ContainsFunc(list, func(other any) bool { return other == any(text) }) {
				list = append(list, withoutRepeats(item))
			}
		}
		return list
	}
	return value
}

// Kinds of which most patches are made: those with lists that are merged.
var patchedKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "Node"}, {Version: "v1", Kind: "Service"},
	{Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "ServiceAccount"}, {Version: "v1", Kind: "ConfigMap"},
}

func randomPatchedKind(r *rand.Rand) schema.GroupVersionKind {
	if chance(r, 60) {
		return pick(r, patchedKinds)
	}
	return pick(r, kindsOfRows())
}

// vary changes lists and members of an object in place: items go, come, change places.
func vary(r *rand.Rand, value any) any {
	s := learn()
	switch v := value.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch {
			case key == "apiVersion" || key == "kind":
			case chance(r, 6):
				delete(v, key)
			case chance(r, 6):
				v[key] = bend(r, v[key], s.values[key])
			default:
				v[key] = vary(r, v[key])
			}
		}
	case []any:
		list := []any{}
		for _, item := range v {
			if !chance(r, 15) {
				list = append(list, vary(r, item))
			}
			if chance(r, 15) {
				list = append(list, bendInside(r, copyTree(item)))
			}
		}
		if chance(r, 20) {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		return list
	}
	return value
}

var (
	directives = []any{"replace", "delete", "merge", "replace", "delete", "other", json.Number("1"), nil, true, []any{"a"}, object{"a": json.Number("1.5")}}
	oddValues  = []any{nil, true, json.Number("7"), json.Number("1.5"), json.Number("1e3"), json.Number("1e30"), json.Number("18446744073709551615"), "x", "é<&>",
		[]any{}, []any{"a"}, []any{nil}, []any{[]any{}}, []any{json.Number("1"), "a"}, []any{object{}}, object{}, object{"a": object{}}, object{"a": nil}}
)

// direct puts directives of strategic merge patches somewhere.
func direct(r *rand.Rand, patch object) {
	at := pick(r, placesOf("x", patch)).o
	have := slices.Sorted(maps.Keys(at))
	key := "x"
	if len(have) > 0 {
		key = pick(r, have)
	}
	list, _ := at[key].([]any)
	switch r.IntN(9) {
	case 0:
		at["$patch"] = copyTree(pick(r, directives))
	case 1:
		at["$retainKeys"] = pick(r, []any{[]any{key}, toAny(have), []any{}, toAny(append(have, "name")), odd(r)})
	case 2:
		at["$setElementOrder/"+key] = shuffledKeys(r, list)
	case 3:
		at["$deleteFromPrimitiveList/"+key] = pick(r, []any{list, []any{"a"}, []any{}, odd(r)})
	case 4:
		at[pick(r, []string{"$setElementOrder", "$setElementOrderx/a", "$deleteFromPrimitiveList", "$deleteFromPrimitiveListx/", "$setElementOrder/", "$deleteFromPrimitiveList/"})] = pick(r, []any{list, []any{"a"}})
	case 5:
		at["$setElementOrder/"+key] = odd(r)
	case 6:
		at[key] = nil
	case 7:
		at[key] = odd(r)
	case 8:
		if len(list) > 0 {
			if item, ok := pick(r, list).(object); ok {
				item["$patch"] = copyTree(pick(r, directives))
			}
		}
	}
}

func toAny(texts []string) []any {
	out := []any{}
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}

func shuffledKeys(r *rand.Rand, list []any) []any {
	out := []any{}
	for _, item := range list {
		o, ok := item.(object)
		if !ok {
			out = append(out, item)
			continue
		}
		short := object{}
		for _, key := range []string{"name", "type", "containerPort", "port", "mountPath", "ip", "uid", "topologyKey", "devicePath"} {
			if v, ok := o[key]; ok {
				short[key] = v
			}
		}
		out = append(out, short)
	}
	if chance(r, 30) {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	if len(out) > 0 && chance(r, 20) {
		out = out[:r.IntN(len(out))]
	}
	return out
}

// randomStrategic is what kubectl would send for a changed object, or parts of another one; and then bent.
func randomStrategic(r *rand.Rand, gvk schema.GroupVersionKind, o object) any {
	changed := vary(r, copyTree(o)).(object)
	patch := changed
	obj, _ := decodeScheme.New(gvk)
	if chance(r, 70) {
		if made, err := twoWay(o, changed, obj); err == nil {
			patch = tree(made).(object)
		}
	}
	for range r.IntN(4) {
		direct(r, patch)
	}
	return patch
}

// twoWay may panic on values that no client sends.
func twoWay(o, changed object, obj runtime.Object) (made []byte, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%v", e)
		}
	}()
	return strategicpatch.CreateTwoWayMergePatch(encode(o), encode(changed), obj)
}

func randomMerge(r *rand.Rand, o object) any {
	changed := vary(r, copyTree(o))
	if chance(r, 70) {
		if made, err := jsonpatch.CreateMergePatch(encode(o), encode(changed)); err == nil {
			changed = tree(made)
		}
	}
	for range r.IntN(3) {
		at := pick(r, placesOf("x", changed)).o
		at[pick(r, append(slices.Sorted(maps.Keys(at)), "x"))] = odd(r)
	}
	return changed
}

// paths of all values in a tree, as JSON pointers.
func pathsOf(prefix string, value any) []string {
	found := []string{prefix}
	switch v := value.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			found = append(found, pathsOf(prefix+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), v[key])...)
		}
	case []any:
		for i, item := range v {
			found = append(found, pathsOf(fmt.Sprintf("%s/%d", prefix, i), item)...)
		}
	}
	return found
}

func randomPath(r *rand.Rand, paths []string) string {
	path := pick(r, paths)
	if chance(r, 35) {
		path += "/" + pick(r, []string{"-", "0", "1", "-1", "-2", "x", "foo~1bar", "a~01", "99", "+1", "01", "", "99999999999999999999", "1x", "name"})
	}
	if chance(r, 5) {
		path = pick(r, []string{"", "/", "x", "x/y", "//", "/metadata/labels/a~b", "/spec/-"})
	}
	return path
}

func valueAt(o any, path string) any {
	for _, part := range strings.Split(path, "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := o.(type) {
		case object:
			o = v[part]
		case []any:
			i := 0
			if _, err := fmt.Sscan(part, &i); err != nil || i < 0 || i >= len(v) {
				return nil
			}
			o = v[i]
		default:
			return nil
		}
	}
	return o
}

func randomOperation(r *rand.Rand, o object, paths []string) any {
	kind := pick(r, []string{"add", "add", "remove", "replace", "move", "copy", "test"})
	op := object{"op": kind, "path": randomPath(r, paths)}
	switch kind {
	case "move", "copy":
		op["from"] = randomPath(r, paths)
	case "add", "replace", "test":
		path := op["path"].(string)
		op["value"] = odd(r)
		if chance(r, 50) && strings.HasPrefix(path, "/") {
			op["value"] = valueAt(o, path)
		}
	}
	if chance(r, 4) {
		op[pick(r, []string{"op", "path", "from", "value", "foo"})] = odd(r)
	}
	if chance(r, 3) {
		delete(op, pick(r, []string{"op", "path", "from", "value"}))
	}
	if chance(r, 1) {
		return odd(r)
	}
	return op
}

func randomOperations(r *rand.Rand, o object) any {
	paths := pathsOf("", o)
	ops := []any{}
	for range 1 + r.IntN(4) {
		ops = append(ops, randomOperation(r, o, paths))
	}
	return ops
}

// Texts with keys that stand twice.
var repeatedKeys = map[string][]string{
	"json":      {`[{"op":"add","op":"remove","path":"/metadata/labels"},{"path":"/a","foo":1,"foo":{"a":1,"a":2},"op":"add","value":{"x":{"y":1,"y":2,"y":3}}}]`},
	"merge":     {`{"metadata":{"labels":{"a":"1","a":"2"},"labels":{"b":"1","b":null,"c":"d"}}}`, `{"a":[{"b":1,"b":2}],"a":[{"b":1,"b":2}]}`},
	"strategic": {`{"metadata":{"labels":{"a":"1","a":"2"},"labels":{"b":"1"}}}`, `{"spec":{"containers":[{"name":"a","name":"b"}],"$patch":"merge","$patch":"replace"}}`},
}

func generatePatch(r *rand.Rand) line {
	l := line{}
	gvk := randomPatchedKind(r)
	o := randomStored(r, gvk)
	for o == nil {
		o = randomStored(r, gvk)
	}
	how := pick(r, []string{"json", "merge", "strategic", "strategic", "strategic"})
	var patch any
	switch how {
	case "json":
		patch = randomOperations(r, o)
	case "merge":
		patch = randomMerge(r, o)
	case "strategic":
		patch = randomStrategic(r, gvk, o)
	}
	if chance(r, 1) {
		patch = odd(r)
	}
	if chance(r, 1) {
		l.set("text", pick(r, repeatedKeys[how]))
	}
	l.set("apiVersion", gvk.GroupVersion().String())
	l.set("kind", gvk.Kind)
	l.set("type", how)
	l.set("object", o)
	l.set("patch", patch)
	l.set("validated", chance(r, 70))
	return l
}

func odd(r *rand.Rand) any { return copyTree(pick(r, oddValues)) }
