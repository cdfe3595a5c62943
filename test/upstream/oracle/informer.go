package main

import (
	"time"

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

// beTold makes the factory use such an informer; it must be called before anybody asks for one of the kind.
func beTold(factory informers.SharedInformerFactory, example runtime.Object) {
	factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		return &told{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, example, 0, byNamespace)}
	})
}

func addAll[T runtime.Object](informer cache.SharedIndexInformer, objects []T) {
	for _, o := range objects {
		if err := informer.GetIndexer().Add(o); err != nil {
			panic(badQuestion{err})
		}
		if t, ok := informer.(*told); ok {
			for _, h := range t.handlers {
				h.OnAdd(o, true)
			}
		}
	}
}
