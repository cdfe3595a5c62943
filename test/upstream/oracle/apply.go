package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/applyconfigurations"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A write to an object by a manager of fields: what becomes of its managedFields, and by apply of all of it.
func applyAnswer(l line) {
	gvk := schema.FromAPIVersionAndKind(get[string](l, "apiVersion"), get[string](l, "kind"))
	now := get[metav1.Time](l, "now")
	if bytes.Contains([]byte(l.String()), []byte("deprecated.")) {
		panic(badQuestion{errors.New("annotations that conversion takes away")})
	}
	w := write{gvk, get[string](l, "subresource"), get[string](l, "manager"), get[bool](l, "force")}
	live := emptyObject(gvk)
	if l.has("old") {
		live = typedObject(gvk, l["old"])
	}
	if get[string](l, "operation") == "update" {
		after := w.update(live, typedObject(gvk, l["object"]))
		l.set("managedFields", atNow(after, now))
		return
	}
	if get[string](l, "operation") != "apply" {
		panic(badQuestion{errors.New("no such operation")})
	}
	after, err := w.apply(live, l["object"])
	if err != nil {
		failApply(l, err)
		return
	}
	setManaged(after, atNow(after, now))
	l["after"] = withoutNow(encodeVersioned(after))
}

func failApply(l line, err error) {
	s := responsewriters.ErrorToAPIStatus(err)
	message := s.Message
	if strings.HasPrefix(message, "failed to convert new object") {
		message, _, _ = strings.Cut(message, ": ")
	}
	l.set("failure", map[string]any{"code": s.Code, "message": message})
	if apierrors.IsConflict(err) {
		l.set("causes", s.Details.Causes)
	}
}

// A write is a request as far as managed fields are concerned.
type write struct {
	gvk                  schema.GroupVersionKind
	subresource, manager string
	force                bool
}

var typeConverter = applyconfigurations.NewTypeConverter(decodeScheme)

// fieldManager does without the internal version of an object, whose conversion changes more than managers do.
func (w write) fieldManager() *managedfields.FieldManager {
	m, err := managedfields.NewDefaultFieldManager(typeConverter, runtime.UnsafeObjectConvertor(decodeScheme), decodeScheme, decodeScheme,
		w.gvk, w.gvk.GroupVersion(), w.subresource, w.resetFields())
	if err != nil {
		panic(badQuestion{err})
	}
	return m
}

// resetFields are those that the strategy of a resource does not let writes change.
func (w write) resetFields() map[fieldpath.APIVersion]fieldpath.Filter {
	var strategy any = kinds[w.gvk.Kind].strategy
	if w.subresource != "" {
		strategy = statusStrategies[w.gvk.Kind]
	}
	if s, ok := strategy.(rest.ResetFieldsStrategy); ok {
		return fieldpath.NewExcludeFilterSetMap(s.GetResetFields())
	}
	return nil
}

func (w write) update(live, object runtime.Object) runtime.Object {
	return w.fieldManager().UpdateNoErrors(live, object, w.manager)
}

func (w write) apply(live runtime.Object, text json.RawMessage) (runtime.Object, error) {
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &config.Object); err != nil {
		panic(badQuestion{err})
	}
	after, err := w.fieldManager().Apply(live, config, w.manager, w.force)
	if err != nil {
		return nil, err
	}
	return decodeScheme.ConvertToVersion(after, w.gvk.GroupVersion())
}

func emptyObject(gvk schema.GroupVersionKind) runtime.Object {
	obj, err := decodeScheme.New(gvk)
	if err != nil {
		panic(badQuestion{err})
	}
	return obj
}

func typedObject(gvk schema.GroupVersionKind, text json.RawMessage) runtime.Object {
	obj := emptyObject(gvk)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, obj); err != nil {
		panic(badQuestion{err})
	}
	return obj
}

func setManaged(obj runtime.Object, entries []metav1.ManagedFieldsEntry) {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(badQuestion{err})
	}
	m.SetManagedFields(entries)
}

// atNow gives the managed fields with the line's time in place of that of the clock, which is later than all others.
func atNow(obj runtime.Object, now metav1.Time) []metav1.ManagedFieldsEntry {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(badQuestion{err})
	}
	entries := []metav1.ManagedFieldsEntry{}
	for _, e := range m.GetManagedFields() {
		if e.Time != nil && time.Since(e.Time.Time).Abs() < time.Hour {
			e.Time = &now
		}
		entries = append(entries, e)
	}
	return entries
}
