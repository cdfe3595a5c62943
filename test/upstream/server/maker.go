package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// A maker makes the steps of one case by chance.
type maker struct {
	*rand.Rand
	steps []step
}

var areas = []area{
	{"crud", makeCRUD, 10},
	{"list", makeList, 10},
	{"watch", makeWatch, 5},
	{"patch", makePatch, 10},
	{"apply", makeApply, 10},
	{"delete", makeDelete, 8},
	{"status", makeStatus, 8},
	{"subresources", makeSubresources, 8},
	{"negotiation", makeNegotiation, 8},
	{"errors", makeErrors, 8},
	{"rbac", makeRBAC, 5},
	{"tables", makeTables, 5},
	{"collections", makeCollections, 8},
	{"pods", makePods, 5},
	{"reviews", makeReviews, 4},
	{"tokens", makeTokens, 3},
	{"discovery", makeDiscovery, 3},
}

// add appends a step and gives it a name.
func (m *maker) add(s step) string {
	s.ID = fmt.Sprintf("s%d", len(m.steps)+1)
	m.steps = append(m.steps, s)
	return s.ID
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m *maker, list []T) T { return list[m.IntN(len(list))] }

// query gives each of some parameters with its chance.
type parameter struct {
	name    string
	percent int
	values  []string
}

func (m *maker) query(parameters ...parameter) string {
	var parts []string
	for _, p := range parameters {
		if m.chance(p.percent) {
			parts = append(parts, p.name+"="+escaped(pick(m, p.values)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// escaped leaves references to earlier answers alone.
func escaped(value string) string {
	if strings.HasPrefix(value, "${") {
		return value
	}
	return url.QueryEscape(value)
}

var writeParameters = []parameter{
	{"fieldManager", 30, []string{"one", "two", ""}},
	{"fieldValidation", 30, []string{"Strict", "Warn", "Ignore", "Loose"}},
	{"dryRun", 15, []string{"All", "All", "None"}},
	{"pretty", 5, []string{"true"}},
}

func object(text string) map[string]any {
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return v
}

// withName gives the template of a kind as an object of that name.
func (k *kind) withName(name string) map[string]any {
	o := object(k.template)
	metadata, _ := o["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		o["metadata"] = metadata
	}
	metadata["name"] = k.name(name)
	o["apiVersion"], o["kind"] = k.apiVersion(), k.kind
	return o
}

// name keeps objects that no namespace holds apart from those of other cases.
func (k *kind) name(name string) string {
	if k.cluster {
		return placeholder + "-" + name
	}
	return name
}

func (k *kind) apiVersion() string {
	return strings.TrimPrefix(strings.TrimPrefix(k.prefix, "/apis/"), "/api/")
}

func (k *kind) collection() string {
	if k.cluster {
		return k.prefix + "/" + k.resource
	}
	return k.prefix + "/namespaces/" + placeholder + "/" + k.resource
}

func (k *kind) item(name string) string { return k.collection() + "/" + k.name(name) }

// vary adds to an object what clients add: labels, annotations, fields that nobody knows, wrong values.
func (m *maker) vary(k *kind, o map[string]any) map[string]any {
	for range m.IntN(3) {
		if len(k.changes) > 0 && m.chance(70) {
			o = merged(o, object(pick(m, k.changes))).(map[string]any)
		} else {
			o = merged(o, object(pick(m, commonChanges))).(map[string]any)
		}
	}
	return o
}

var commonChanges = []string{
	`{"metadata":{"labels":{"app":"web"}}}`,
	`{"metadata":{"labels":{"tier":"front","app":"db"}}}`,
	`{"metadata":{"annotations":{"note":"x"}}}`,
	`{"metadata":{"finalizers":["example.com/hold"]}}`,
	`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"11111111-1111-1111-1111-111111111111"}]}}`,
	`{"metadata":{"labels":{"bad key!":"x"}}}`,
	`{"metadata":{"annotations":{"n":"<&>"}}}`,
	`{"metadata":{"generation":7,"creationTimestamp":"2020-01-01T00:00:00Z","uid":"22222222-2222-2222-2222-222222222222"}}`,
	`{"metadata":{"zz":1}}`,
	`{"zz":{"a":1}}`,
	`{"metadata":{"managedFields":[]}}`,
	`{"metadata":{"selfLink":"/x"}}`,
	`{"metadata":{"labels":{"app":null,"x":""}}}`,
	`{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`,
	`{"metadata":{"finalizers":["nodomain"]}}`,
	`{"metadata":{"generateName":"made-"}}`,
}

// post makes an object of the kind, mostly in the plain way.
func (m *maker) post(k *kind, name string) string {
	return m.add(step{Send: "POST " + k.collection(), Body: k.withName(name)})
}

// The kinds that cases are about, where they may be about any.
var chosen []*kind

func choose(resources string) {
	for i := range kinds {
		if resources == "" || slices.Contains(strings.Split(resources, ","), kinds[i].resource) {
			chosen = append(chosen, &kinds[i])
		}
	}
}

func (m *maker) kind(namespaced bool) *kind {
	for {
		k := chosen[m.IntN(len(chosen))]
		if !namespaced || !k.cluster {
			return k
		}
	}
}

func (m *maker) kindNamed(resource string) *kind {
	for i := range kinds {
		if kinds[i].resource == resource {
			return &kinds[i]
		}
	}
	panic(resource)
}
