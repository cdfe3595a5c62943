package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	_ "unsafe" // for linkname

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	_ "k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/features"
)

// The text of a body that cannot be read is made by the handlers, privately.
//
//go:linkname transformDecodeError k8s.io/apiserver/pkg/endpoints/handlers.transformDecodeError
func transformDecodeError(typer runtime.ObjectTyper, err error, into runtime.Object, gvk *schema.GroupVersionKind, body []byte) error

func kindOf(l line) (string, kind) {
	name := get[string](l, "kind")
	k, ok := kinds[name]
	if !ok {
		panic(badQuestion{fmt.Errorf("no kind %q", name)})
	}
	return name, k
}

func validateCreate(l line) {
	withGates(l, func() {
		name, k := kindOf(l)
		obj, err := k.decode(name, l["object"])
		if err != nil {
			refuse(l, err)
			return
		}
		nameObject(obj)
		judge(l, k.create(obj), func() field.ErrorList { return rest.ValidateCreate(k.context(), obj, k.strategy) })
	})
}

// Upstream's uids are random; here every new object has this one, and Berth gives it the same.
const newUID = "00000000-0000-4000-8000-000000000000"

// create does what is done before an object is stored: by the handler of the request, by the store, by the strategy.
func (k kind) create(obj runtime.Object) error {
	return beforeCreate(k.strategy, k.context(), obj)
}

func beforeCreate(s rest.RESTCreateStrategy, ctx context.Context, obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	rest.WipeObjectMetaSystemFields(accessor)
	rest.FillObjectMetaSystemFields(accessor)
	accessor.SetUID(newUID)
	return rest.BeforeCreate(s, ctx, obj)
}

// Upstream's names are random; here all end alike.
func nameObject(obj runtime.Object) {
	const longestBase, ending = 58, "xxxxx"
	m, err := meta.Accessor(obj)
	if err != nil || m.GetGenerateName() == "" || m.GetName() != "" {
		return
	}
	base := m.GetGenerateName()
	m.SetName(base[:min(len(base), longestBase)] + ending)
}

func validateUpdate(l line) {
	if !l.has("old") {
		panic(badQuestion{errors.New("nothing is stored")})
	}
	withGates(l, func() {
		name, k := kindOf(l)
		old, err := k.decode(name, l["old"])
		if err != nil {
			refuse(l, err)
			return
		}
		obj, err := k.decode(name, l["new"])
		if err != nil {
			refuse(l, err)
			return
		}
		err = rest.BeforeUpdate(k.strategy, k.context(), obj, old)
		judge(l, err, func() field.ErrorList { return rest.ValidateUpdate(k.context(), obj, old, k.strategy) })
	})
}

// judge notes a verdict. The errors of one that is against the object are asked for again, as the status does
// not hold their details; where their order is random, until they come as in the status, if they do so soon.
func judge(l line, err error, again func() field.ErrorList) {
	list := []shownError{}
	if apierrors.IsInvalid(err) {
		for range askedAgain {
			if list = listed(again()); slices.Equal(textsOf(list), causesOf(err)) {
				break
			}
		}
	} else if err != nil {
		panic(badQuestion{err}) // such as a namespace that is not the request's
	}
	l.set("valid", err == nil)
	l.set("errors", list)
	l.set("status", status(err))
}

type shownError struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Detail string `json:"detail"`
	Text   string `json:"text"`
}

func listed(errs field.ErrorList) []shownError {
	list, seen := []shownError{}, map[string]bool{}
	for _, e := range errs {
		if text := e.Error(); !seen[text] {
			seen[text] = true
			list = append(list, shownError{string(e.Type), e.Field, e.Detail, text})
		}
	}
	return list
}

func textsOf(list []shownError) []string {
	var texts []string
	for _, e := range list {
		texts = append(texts, e.Text)
	}
	return texts
}

// causesOf gives the texts of a status, each once.
func causesOf(err error) []string {
	var texts []string
	for _, cause := range status(err).(metav1.Status).Details.Causes {
		if text := cause.Field + ": " + cause.Message; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func status(err error) any {
	var found apierrors.APIStatus
	if !errors.As(err, &found) {
		if err != nil {
			panic(badQuestion{err})
		}
		return nil
	}
	s := found.Status()
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return s
}

// refuse notes that a body was not read.
func refuse(l line, err error) {
	l.set("decode_error", err.Error())
	l.set("valid", false)
	l.set("errors", []any{})
	l.set("status", status(err))
}

func merge(l line) {
	gates := get[map[string]bool](l, "gates")
	if gates == nil {
		gates = map[string]bool{}
	}
	gates[string(features.TaintTolerationComparisonOperators)] = false
	withGates(line{"gates": encode(gates)}, func() {
		k := kinds["Pod"]
		obj, err := k.decode("Pod", l["pod"])
		if err != nil {
			panic(badQuestion{err})
		}
		texts := []string{}
		if err := k.create(obj); apierrors.IsInvalid(err) {
			for _, cause := range status(err).(metav1.Status).Details.Causes {
				texts = append(texts, cause.Field+": "+cause.Message)
			}
		} else if err != nil {
			panic(badQuestion{err}) // not for its selectors
		}
		l.set("valid", len(texts) == 0)
		l.set("errors", texts)
		spec := specOf(k, obj.(*core.Pod))
		l["affinity_after"], l["topologySpreadConstraints_after"] = orNull(spec["affinity"]), orNull(spec["topologySpreadConstraints"])
	})
}

// encode gives an object as it is served.
func (k kind) encode(obj runtime.Object) json.RawMessage {
	text, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(k.version()), obj)
	if err != nil {
		panic(err)
	}
	return text
}

// The members of a pod's spec as they are served.
func specOf(k kind, pod *core.Pod) map[string]json.RawMessage {
	var served struct{ Spec map[string]json.RawMessage }
	if err := json.Unmarshal(k.encode(pod), &served); err != nil {
		panic(err)
	}
	return served.Spec
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}
