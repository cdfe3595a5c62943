package main

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of which the metadata is judged, in all their versions.
var metadataKinds = sync.OnceValue(func() (found []schema.GroupVersionKind) {
	for _, gvk := range kindsOfRows() {
		if metadataStrategies[gvk.Group+" "+gvk.Kind] != nil {
			found = append(found, gvk)
		}
	}
	return found
})

// Names that are good by some rule and bad by another.
var objectNames = []string{"a", "a-b", "a.b", "1a", "a1", "A", "a_b", "a:b", "system:a", "a/b", "a%b", "a b", ".", "..", "a.", ".a", "-a", "a-", "é", "",
	"10.0.0.1", "10.0.0.01", "::1", "::ffff:1.2.3.4", "2001:db8::1", "2001:DB8::1", "1.2.3", "kubernetes", "catch-all", "a.static.k8s.io", ".static.k8s.io", "v1.", "v1.example.com", "example.com:signer:a",
	strings.Repeat("n", 63), strings.Repeat("n", 64), strings.Repeat("n", 253), strings.Repeat("n", 254), strings.Repeat("n.", 126) + "n"}

func generateMetadata(r *rand.Rand) line {
	s := learn()
	gvk := pick(r, metadataKinds())
	if chance(r, 40) {
		return s.wholeObject(r)
	}
	o := s.objectWithMetadata(r, gvk)
	l := line{}
	l.set("gates", s.randomGates(r, nil))
	if chance(r, 70) {
		l.set("object", o)
		return l
	}
	setStored(r, o["metadata"].(object))
	updated := copyTree(o).(object)
	changeMetadata(r, updated["metadata"].(object))
	l.set("old", o)
	l.set("new", updated)
	return l
}

// wholeObject is one of a kind of which everything is judged, mostly with values that mean something to it.
func (s *learned) wholeObject(r *rand.Rand) line {
	var gvk schema.GroupVersionKind
	for gvk = pick(r, metadataKinds()); !slices.Contains(judgedWhole, gvk.Group+" "+gvk.Kind); {
		gvk = pick(r, metadataKinds())
	}
	t, l := typeOfKind(gvk), line{}
	l.set("gates", s.gatesOfKind(r, gvk))
	o := s.objectOf(r, gvk, t)
	o["metadata"] = object{"name": "a"}
	if chance(r, 20) {
		o["metadata"] = randomMetadata(r)
	}
	if chance(r, 60) {
		l.set("object", o)
		return l
	}
	setStored(r, o["metadata"].(object))
	updated := copyTree(o).(object)
	for range r.IntN(4) {
		s.growAt(r, gvk, t, updated)
	}
	if chance(r, 50) {
		spice(r, gvk.Kind, updated)
	}
	l["old"] = servedAgain(l, knownOf(t, gvk, o))
	l.set("new", knownOf(t, gvk, updated))
	return l
}

func (s *learned) objectWithMetadata(r *rand.Rand, gvk schema.GroupVersionKind) object {
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(err)
	}
	o := object{}
	if chance(r, 50) {
		o = withoutOurTolerations(s.structOf(r, reflect.TypeOf(obj).Elem(), 3)).(object)
	}
	o["apiVersion"], o["kind"] = gvk.GroupVersion().String(), gvk.Kind
	o["metadata"] = randomMetadata(r)
	nameBySpec(r, gvk.Kind, o)
	return o
}

func randomMetadata(r *rand.Rand) object {
	m := object{"name": near(r, objectNames)}
	if chance(r, 15) {
		delete(m, "name")
	}
	maybe(r, 15, m, "generateName", pick(r, objectNames))
	maybe(r, 10, m, "namespace", "default")
	maybe(r, 30, m, "labels", object{near(r, keys): near(r, values)})
	maybe(r, 30, m, "annotations", object{near(r, keys): pick(r, values)})
	maybe(r, 2, m, "annotations", object{"a": strings.Repeat("x", 256<<10-pick(r, []int{0, 1, 2}))})
	serveMeta(r, m)
	return m
}

// setStored adds what every stored object has.
func setStored(r *rand.Rand, m object) {
	m["uid"], m["resourceVersion"], m["creationTimestamp"] = storedUID, "7", "2026-01-01T00:00:00Z"
	if _, ok := m["name"]; !ok || chance(r, 50) {
		m["name"] = "a"
	}
}

func changeMetadata(r *rand.Rand, m object) {
	if name := pick(r, objectNames); name != "" { // an update is sent to a name
		maybe(r, 10, m, "name", name)
	}
	maybe(r, 10, m, "uid", pick(r, []string{"", "x"}))
	maybe(r, 10, m, "resourceVersion", pick(r, []string{"", "8"}))
	maybe(r, 20, m, "generation", pick(r, []int{-1, 0, 9}))
	maybe(r, 20, m, "labels", object{near(r, keys): near(r, values)})
	maybe(r, 20, m, "annotations", object{near(r, keys): pick(r, values)})
	serveMeta(r, m)
	for _, key := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "creationTimestamp", "finalizers"} {
		if chance(r, 10) {
			delete(m, key)
		}
	}
}

// nameBySpec gives an object the name that the rest of it asks for, more often than chance would.
func nameBySpec(r *rand.Rand, kind string, o object) {
	m := o["metadata"].(object)
	switch kind {
	case "CustomResourceDefinition":
		group := pick(r, []string{"example.com", "example.com", "x.k8s.io", "kubernetes.io"})
		o["spec"] = object{"group": group, "names": object{"plural": "as", "kind": "A"}, "scope": "Cluster", "versions": []any{}}
		maybe(r, 60, m, "name", "as."+group)
		maybe(r, 60, m, "annotations", object{"api-approved.kubernetes.io": pick(r, []string{"", "unapproved", "https://example.com/1", "https:///x", "example.com", "no url", "x://y"})})
	case "APIService":
		o["spec"] = object{"group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
		maybe(r, 60, m, "name", "v1.example.com")
	case "ClusterTrustBundle":
		o["spec"] = object{"trustBundle": "", "signerName": pick(r, []string{"", "example.com/signer", "a/b/c", "x"})}
		maybe(r, 40, m, "name", pick(r, []string{"example.com:signer:a", "example.com:signer:A", "example.com:signer:", "a:b:c:d"}))
	}
}
