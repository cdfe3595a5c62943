package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/lifecycle/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

// How objects of any kind are read: by the API server's scheme and, for two groups, by those of the servers that it
// is made of.
var decodeScheme = legacyscheme.Scheme

func init() {
	apiextensions.Install(decodeScheme)
	apiregistration.Install(decodeScheme)
}

var kindRow = regexp.MustCompile(`(?m)^(?:KIND|ALSO)\(\w+, (?:\w+, )?"(\w+)", "([^"]+)",`)

// kindsOfRows are the kinds that Berth has rows for, but for lists of other objects.
var kindsOfRows = sync.OnceValue(func() (found []schema.GroupVersionKind) {
	text, err := os.ReadFile("src/api/schema/kinds.def")
	if err != nil {
		panic(err)
	}
	for _, m := range kindRow.FindAllStringSubmatch(string(text), -1) {
		gvk := schema.FromAPIVersionAndKind(m[2], m[1])
		if !decodeScheme.Recognizes(gvk) {
			panic(gvk)
		}
		if gvk.Kind != "List" && gvk.Kind != "Status" {
			found = append(found, gvk)
		}
	}
	return found
})

// decodeAnswer reads a body as strictly as the API server does for kubectl, and sets the defaults of its version; the
// server's own form of it must exist.
func decodeAnswer(l line) {
	withGates(l, func() {
		codec := serializer.NewCodecFactory(decodeScheme, serializer.EnableStrict)
		info, _ := runtime.SerializerInfoForMediaType(codec.SupportedMediaTypes(), runtime.ContentTypeJSON)
		obj, gvk, err := info.StrictSerializer.Decode(l["object"], nil, nil)
		if err != nil {
			into, _ := decodeScheme.New(*gvk)
			l.set("decode_error", transformDecodeError(decodeScheme, err, into, gvk, l["object"]).Error())
			return
		}
		decodeScheme.Default(obj)
		if _, err := decodeScheme.ConvertToVersion(obj.DeepCopyObject(), schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal}); err != nil {
			l.set("decode_error", transformDecodeError(decodeScheme, err, obj, gvk, l["object"]).Error())
			return
		}
		l["defaulted"] = withoutNow(encodeVersioned(obj))
	})
}

func encodeVersioned(obj runtime.Object) json.RawMessage {
	var b bytes.Buffer
	s := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, nil, nil, jsonserializer.SerializerOptions{})
	if err := s.Encode(obj, &b); err != nil {
		panic(badQuestion{err})
	}
	return bytes.TrimSpace(b.Bytes())
}

// withoutNow takes the times away that upstream sets to those of its clock.
func withoutNow(text json.RawMessage) json.RawMessage {
	return encode(dropNow(tree(text)))
}

func dropNow(value any) any {
	switch v := value.(type) {
	case object:
		if added, ok := v["timeAdded"].(string); ok {
			if t, err := time.Parse(time.RFC3339, added); err == nil && time.Since(t).Abs() < time.Hour {
				delete(v, "timeAdded")
			}
		}
		for key := range v {
			v[key] = dropNow(v[key])
		}
	case []any:
		for i := range v {
			v[i] = dropNow(v[i])
		}
	}
	return value
}

// generateDecode makes an object of any kind by its Go type, and bends it here and there.
func generateDecode(r *rand.Rand) line {
	s := learn()
	gvk := pick(r, kindsOfRows())
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(err)
	}
	t := reflect.TypeOf(obj).Elem()
	o := s.structOf(r, t, 7)
	if spec, ok := fieldsOf(t)["spec"]; ok && chance(r, 70) {
		o["spec"] = s.structOf(r, inner(spec), 7)
	}
	o["apiVersion"], o["kind"] = gvk.GroupVersion().String(), gvk.Kind
	for range r.IntN(4) {
		s.bendAny(r, t, o)
	}
	l := line{}
	l.set("object", withoutOurTolerations(o))
	l.set("gates", s.randomGates(r, nil))
	return l
}

// withoutOurTolerations takes away what upstream's tolerations do not have; expressions of other types are its own.
func withoutOurTolerations(value any) any {
	switch v := value.(type) {
	case object:
		for key := range v {
			if key == "tolerations" {
				v[key] = withoutProposals(v[key])
			}
			withoutOurTolerations(v[key])
		}
	case []any:
		for _, item := range v {
			withoutOurTolerations(item)
		}
	}
	return value
}

// bendAny changes a value somewhere, or puts one where none belongs.
func (s *learned) bendAny(r *rand.Rand, t reflect.Type, o object) {
	at := pick(r, placesOf("", o))
	have := slices.Sorted(maps.Keys(at.o))
	have = slices.DeleteFunc(have, func(k string) bool { return k == "apiVersion" || k == "kind" })
	switch {
	case chance(r, 15):
		at.o[pick(r, []string{"foo", "Name", "spec", "items", "x y"})] = pick(r, []any{"a", true, object{}})
	case chance(r, 30) && len(have) > 0:
		at.o[pick(r, have)] = pick(r, []any{nil, true, json.Number("7"), json.Number("1.5"), "x", "aGk=", []any{}, []any{"a"}, []any{json.Number("1")}, object{}, object{"a": object{}}})
	case len(have) > 0:
		key := pick(r, have)
		at.o[key] = bend(r, at.o[key], s.values[key])
	}
}
