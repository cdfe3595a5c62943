package main

import (
	"context"
	"errors"
	"reflect"
	"time"
	"unsafe"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/event"
	namespacestorage "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
)

// Kinds whose deletion is asked for, though not their validation.
var deletedKinds = map[string]kind{
	"ReplicationController": {"", "replicationcontrollers", replicationcontroller.Strategy},
	"Event":                 {"", "events", event.Strategy},
}

// What becomes of an object that is to be deleted at the time "now", and its metadata then.
func deleteAnswer(l line) {
	k, name := deletedKinds[get[string](l, "kind")], get[string](l, "kind")
	if k.strategy == nil {
		name, k = kindOf(l)
	}
	obj, err := k.decode(name, l["object"])
	if err != nil {
		panic(badQuestion{err})
	}
	options := get[*metav1.DeleteOptions](l, "options")
	moved := time.Now().Truncate(time.Second).Sub(get[metav1.Time](l, "now").Time)
	moveDeletion(obj, moved)
	stored := &oneObject{object: obj}
	if err := k.delete(stored, options); err != nil {
		l.set("outcome", "refused")
		l.set("status", status(err))
		return
	}
	moveDeletion(stored.object, -moved)
	l.set("outcome", stored.outcome())
	l.set("after", marksOf(stored.object))
}

// delete does what the handler of the request does, and lets upstream's store do the rest.
func (k kind) delete(stored *oneObject, options *metav1.DeleteOptions) error {
	if errs := validation.ValidateDeleteOptions(options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	if unreadable := options.IgnoreStoreReadErrorWithClusterBreakingPotential; unreadable != nil && *unreadable {
		panic(badQuestion{errors.New("another deleter's business")})
	}
	options.DryRun = nil // is the storage's business
	m, err := meta.Accessor(stored.object)
	if err != nil {
		panic(badQuestion{err})
	}
	var deleter rest.GracefulDeleter = k.store(stored)
	if _, ok := stored.object.(*core.Namespace); ok {
		deleter = namespaceREST(k.store(stored))
	}
	gvk := k.version().WithKind("")
	if gvks, _, err := k.strategy.ObjectKinds(stored.object); err == nil {
		gvk.Kind = gvks[0].Kind
	}
	plugin, err := lifecycle.NewLifecycle(sets.New("default", "kube-system", "kube-public"))
	if err != nil {
		panic(badQuestion{err})
	}
	attributes := admission.NewAttributesRecord(nil, nil, gvk, m.GetNamespace(), m.GetName(), k.version().WithResource(k.resource), "",
		admission.Delete, options, false, nil)
	ctx := request.WithNamespace(k.context(), m.GetNamespace())
	_, _, err = deleter.Delete(ctx, m.GetName(), rest.AdmissionToValidateObjectDeleteFunc(plugin, attributes, nil), options)
	return err
}

func (k kind) store(stored *oneObject) *registry.Store {
	return &registry.Store{
		NewFunc: func() runtime.Object {
			return reflect.New(reflect.TypeOf(stored.object).Elem()).Interface().(runtime.Object)
		},
		DefaultQualifiedResource: schema.GroupResource{Group: k.group, Resource: k.resource},
		KeyFunc:                  func(_ context.Context, name string) (string, error) { return "/" + name, nil },
		DeleteStrategy:           k.strategy,
		EnableGarbageCollection:  true,
		Storage:                  registry.DryRunnableStorage{Storage: stored},
	}
}

// namespaceREST has a way of its own, which is private.
func namespaceREST(store *registry.Store) *namespacestorage.REST {
	r := &namespacestorage.REST{}
	field := reflect.ValueOf(r).Elem().FieldByName("store")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(store))
	return r
}

// oneObject is a storage with one object in it.
type oneObject struct {
	storage.Interface
	object           runtime.Object
	isMarked, isGone bool
}

func (s *oneObject) outcome() string {
	switch {
	case s.isGone:
		return "deleted"
	case s.isMarked:
		return "marked"
	}
	return "pending"
}

func copyObject(from, to runtime.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

func (s *oneObject) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (s *oneObject) Get(_ context.Context, _ string, _ storage.GetOptions, out runtime.Object) error {
	copyObject(s.object, out)
	return nil
}

func (s *oneObject) Delete(ctx context.Context, key string, out runtime.Object, conditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	if err := conditions.Check(key, s.object); err != nil {
		return err
	}
	if err := validate(ctx, s.object); err != nil {
		return err
	}
	s.isGone = true
	copyObject(s.object, out)
	return nil
}

func (s *oneObject) GuaranteedUpdate(_ context.Context, key string, out runtime.Object, _ bool, conditions *storage.Preconditions,
	update storage.UpdateFunc, _ runtime.Object) error {
	if err := conditions.Check(key, s.object); err != nil {
		return err
	}
	updated, _, err := update(s.object.DeepCopyObject(), storage.ResponseMeta{})
	if err != nil {
		return err
	}
	s.object, s.isMarked = updated, true
	copyObject(updated, out)
	return nil
}

// moveDeletion lets upstream, which looks at the clock, see the deletion of an object as it is at the line's time.
func moveDeletion(obj runtime.Object, by time.Duration) {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(badQuestion{err})
	}
	if at := m.GetDeletionTimestamp(); at != nil {
		moved := metav1.NewTime(at.Add(by))
		m.SetDeletionTimestamp(&moved)
	}
}

type marks struct {
	DeletionTimestamp          *metav1.Time `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64       `json:"deletionGracePeriodSeconds,omitempty"`
	Generation                 int64        `json:"generation,omitempty"`
	Finalizers                 []string     `json:"finalizers,omitempty"`
	Phase                      string       `json:"phase,omitempty"`
}

func marksOf(obj runtime.Object) marks {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(badQuestion{err})
	}
	found := marks{m.GetDeletionTimestamp(), m.GetDeletionGracePeriodSeconds(), m.GetGeneration(), m.GetFinalizers(), ""}
	if namespace, ok := obj.(*core.Namespace); ok {
		found.Phase = string(namespace.Status.Phase)
	}
	return found
}
