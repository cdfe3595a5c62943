package main

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// A told informer watches nothing: what it is told, its handlers know at once.
type told struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func (t *told) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	t.handlers = append(t.handlers, h)
	return t.SharedIndexInformer.AddEventHandler(h)
}

// Objects of the kinds that lines have. Informers for them must be made before anybody asks for one.
var toldKinds = []runtime.Object{
	&v1.Namespace{}, &v1.Node{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &v1.Pod{}, &v1.ReplicationController{}, &v1.Service{},
	&appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{},
	&storagev1.CSIDriver{}, &storagev1.CSINode{}, &storagev1.CSIStorageCapacity{}, &storagev1.StorageClass{}, &storagev1.VolumeAttachment{},
}

func newToldFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, example := range toldKinds {
		factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
			return &told{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, example, 0, byNamespace)}
		})
	}
	return factory
}

func (t *told) add(o runtime.Object) {
	mustStore(t.GetIndexer().Add(o))
	for _, h := range t.handlers {
		h.OnAdd(o, false)
	}
}

func (t *told) update(before, after runtime.Object) {
	mustStore(t.GetIndexer().Update(after))
	for _, h := range t.handlers {
		h.OnUpdate(before, after)
	}
}

func (t *told) remove(o runtime.Object) {
	mustStore(t.GetIndexer().Delete(o))
	for _, h := range t.handlers {
		h.OnDelete(o)
	}
}

func mustStore(err error) {
	if err != nil {
		panic(badQuestion{err})
	}
}

// toldOf gives the informer for objects like this one.
func toldOf(factory informers.SharedInformerFactory, example runtime.Object) *told {
	return factory.InformerFor(example, nil).(*told)
}

func addAll[T runtime.Object](factory informers.SharedInformerFactory, objects []T) {
	for _, o := range objects {
		toldOf(factory, o).add(o)
	}
}
