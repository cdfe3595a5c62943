package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// What was written down shows some members of some structs. Here the Go types of the API say which there are, so that
// every field of every kind is reached: values are those that were seen under the name, or any of the type.

// A typed place is an object in a tree, the name under which it stands, and its type.
type typedPlace struct {
	place
	t reflect.Type
}

func (k kind) typeOf(name string) reflect.Type {
	obj, err := legacyscheme.Scheme.New(k.version().WithKind(name))
	if err != nil {
		panic(err)
	}
	return reflect.TypeOf(obj).Elem()
}

var leaves = map[reflect.Type]func(r *rand.Rand) any{
	reflect.TypeFor[resource.Quantity](): func(r *rand.Rand) any { return randomQuantity(r) },
	reflect.TypeFor[intstr.IntOrString](): func(r *rand.Rand) any {
		return pick(r, []any{json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("65536"), "0%", "25%", "101%", "x", "http", "1"})
	},
	reflect.TypeFor[metav1.Time]():          randomTime,
	reflect.TypeFor[metav1.MicroTime]():     randomTime,
	reflect.TypeFor[metav1.FieldsV1]():      func(*rand.Rand) any { return object{"f:metadata": object{}} },
	reflect.TypeFor[metav1.LabelSelector](): func(r *rand.Rand) any { return randomLabelSelector(r) },
	reflect.TypeFor[runtime.RawExtension](): randomTree,
	reflect.TypeFor[apiextensionsv1.JSON](): randomTree,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray](): func(r *rand.Rand) any {
		return pick(r, []any{randomSchema(r), []any{randomSchema(r), randomSchema(r)}, []any{}, true, "x", nil})
	},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool](): func(r *rand.Rand) any {
		return pick(r, []any{randomSchema(r), true, false, "x", nil, []any{}})
	},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): func(r *rand.Rand) any {
		return pick(r, []any{randomSchema(r), []any{"a", "b"}, []any{json.Number("1")}, true, nil})
	},
}

func randomTree(r *rand.Rand) any {
	return pick(r, []any{object{"apiVersion": "v1", "kind": "X", "a": []any{json.Number("1"), nil}}, object{}, "x", json.Number("1.50"), true, nil, []any{"a"}})
}

// A schema of a custom resource, mostly a good one.
func randomSchema(r *rand.Rand) any {
	return pick(r, []any{object{"type": "string", "minLength": json.Number("1")}, object{}, object{"type": json.Number("1")}, object{"foo": "x"},
		object{"items": object{"type": "object", "x-kubernetes-int-or-string": "yes"}}, object{"properties": object{"a": object{"maximum": json.Number("1e2"), "foo": true}}}, object{"externalDocs": object{"url": true}}})
}

func randomTime(r *rand.Rand) any {
	return pick(r, []any{"2026-01-01T00:00:00Z", "2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z", nil})
}

// fieldsOf gives the types of a struct's members by their JSON names, those of embedded structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(f.Type))
		case name != "" && name != "-":
			fields[name] = f.Type
		}
	}
	return fields
}

func isStruct(t reflect.Type) bool {
	_, leaf := leaves[t]
	return t.Kind() == reflect.Struct && !leaf
}

// inner goes through pointers and lists.
func inner(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func typedPlacesOf(name string, t reflect.Type, value any) []typedPlace {
	var found []typedPlace
	switch v := value.(type) {
	case object:
		if !isStruct(t) {
			return nil
		}
		found = append(found, typedPlace{place{name, v}, t})
		fields := fieldsOf(t)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if f, ok := fields[key]; ok {
				found = append(found, typedPlacesOf(key, inner(f), v[key])...)
			}
		}
	case []any:
		for _, item := range v {
			found = append(found, typedPlacesOf(name, t, item)...)
		}
	}
	return found
}

// grow sets a member, any that the type has, somewhere.
func (s *learned) grow(r *rand.Rand, name string, o object) {
	at := pick(r, typedPlacesOf(name, kinds[name].typeOf(name), o))
	fields := fieldsOf(at.t)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	if len(fields) > 0 {
		key := pick(r, slices.Sorted(maps.Keys(fields)))
		at.o[key] = s.valueOf(r, fields[key], key, 3)
	}
}

// valueOf makes a value of a type for a member of this name.
func (s *learned) valueOf(r *rand.Rand, t reflect.Type, name string, depth int) any {
	if seen := s.values[name]; len(seen) > 0 && chance(r, 50) {
		return copyTree(pick(r, seen))
	}
	if make, ok := leaves[t]; ok {
		return make(r)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.valueOf(r, t.Elem(), name, depth)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "YQ=="
		}
		return some(r, 2, func() any { return s.valueOf(r, t.Elem(), name, depth) })
	case reflect.Map:
		m := object{}
		for range r.IntN(3) {
			m[near(r, keys)] = s.valueOf(r, t.Elem(), "", depth)
		}
		return m
	case reflect.Struct:
		return s.structOf(r, t, depth)
	case reflect.Bool:
		return chance(r, 50)
	case reflect.String:
		return pick(r, []string{pick(r, values), pick(r, keys), "a", "x.y", "True", randomQuantity(r)})
	}
	return pick(r, oddNumbers[:9])
}

func (s *learned) structOf(r *rand.Rand, t reflect.Type, depth int) object {
	o := object{}
	fields := fieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if depth > 0 && chance(r, 30) {
			o[key] = s.valueOf(r, fields[key], key, depth-1)
		}
	}
	return o
}
