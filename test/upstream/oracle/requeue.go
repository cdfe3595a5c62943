package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A kind of which a line can change an object, and the members of the line that have such.
type changeable struct {
	version schema.GroupVersion
	members []string
}

var changeables = map[string]changeable{
	"Namespace":             {v1.SchemeGroupVersion, []string{"namespaces"}},
	"Node":                  {v1.SchemeGroupVersion, []string{"nodes"}},
	"PersistentVolume":      {v1.SchemeGroupVersion, []string{"volumes"}},
	"PersistentVolumeClaim": {v1.SchemeGroupVersion, []string{"claims"}},
	"Pod":                   {v1.SchemeGroupVersion, []string{"pods", "pending", "pod"}},
	"CSIDriver":             {storagev1.SchemeGroupVersion, []string{"csi_drivers"}},
	"CSINode":               {storagev1.SchemeGroupVersion, []string{"csi_nodes"}},
	"CSIStorageCapacity":    {storagev1.SchemeGroupVersion, []string{"capacities"}},
	"StorageClass":          {storagev1.SchemeGroupVersion, []string{"storage_classes"}},
	"VolumeAttachment":      {storagev1.SchemeGroupVersion, []string{"attachments"}},
}

// Whether a pod that fits on no node is tried again when an object of the kind "changed" comes or becomes as "after"
// says, or when the one of which "gone" has the names goes.
func requeue(l line) {
	withGates(l, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		mustBeStored(l)
		q := inUpstreamsWords(l)
		pod := get[*v1.Pod](q, "pod")
		store(pod)
		s, f := newScheduler(ctx, q, pod)
		for _, pod := range get[[]*v1.Pod](q, "pending") {
			enqueue(f, pod)
		}
		enqueue(f, pod)
		mustNotFit(ctx, s, f, pod)
		if !hasPod(s.SchedulingQueue.PodsInActiveQ(), pod) {
			panic(badQuestion{errors.New("the pod would not be tried")})
		}
		s.ScheduleOne(ctx)
		if !hasPod(s.SchedulingQueue.UnschedulablePods(), pod) {
			panic(badQuestion{errors.New("the pod does not wait for anything")})
		}
		change(f.SharedInformerFactory(), q)
		l.set("requeued", !hasPod(s.SchedulingQueue.UnschedulablePods(), pod))
	})
}

func mustNotFit(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, pod *v1.Pod) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		panic(badQuestion{err})
	}
	nodes, _, _, err := findNodesThatFitPod(s, ctx, f, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
	if err != nil || len(nodes) > 0 {
		panic(badQuestion{errors.New("no reason to wait")})
	}
}

func hasPod(pods []*v1.Pod, pod *v1.Pod) bool {
	return slices.ContainsFunc(pods, func(p *v1.Pod) bool { return p.UID == pod.UID })
}

// change tells the scheduler's handlers what the line says about one object.
func change(factory informers.SharedInformerFactory, l line) {
	kind := get[string](l, "changed")
	names, after := get[v1.ObjectReference](l, "gone"), runtime.Object(nil)
	if l.has("after") {
		after = watchedObject(kind, l["after"], "2")
		names = namesOf(after)
	}
	before := l.find(kind, names)
	switch {
	case before == nil && after == nil:
		panic(badQuestion{errors.New("nothing changes")})
	case before == nil && isPending(after):
		panic(badQuestion{errors.New("another pod that would be tried")})
	case before == nil:
		toldOf(factory, after).add(after)
	case after == nil:
		toldOf(factory, before).remove(before)
	case hasMoved(before, after):
		panic(badQuestion{errors.New("a pod that moves")})
	default:
		toldOf(factory, after).update(before, after)
	}
}

func isPending(obj runtime.Object) bool {
	pod, ok := obj.(*v1.Pod)
	return ok && pod.Spec.NodeName == ""
}

// hasMoved tells of a pod that is on another node than before, which would end the scheduler's process.
func hasMoved(before, after runtime.Object) bool {
	x, ok := before.(*v1.Pod)
	return ok && x.Spec.NodeName != after.(*v1.Pod).Spec.NodeName
}

// find gives the object of the line that has these names, or nil.
func (l line) find(kind string, names v1.ObjectReference) runtime.Object {
	for _, member := range changeables[kind].members {
		list := []json.RawMessage{l[member]}
		if member != "pod" {
			list = get[[]json.RawMessage](l, member)
		}
		for _, raw := range list {
			if o := watchedObject(kind, raw, "1"); namesOf(o) == names {
				return o
			}
		}
	}
	return nil
}

func namesOf(obj runtime.Object) v1.ObjectReference {
	m, err := meta.Accessor(obj)
	if err != nil || m.GetName() == "" {
		panic(badQuestion{errors.New("no object of a cluster")})
	}
	return v1.ObjectReference{Namespace: m.GetNamespace(), Name: m.GetName()}
}

// watchedObject reads an object as a watch would give it.
func watchedObject(kind string, raw json.RawMessage, resourceVersion string) runtime.Object {
	obj, err := legacyscheme.Scheme.New(changeables[kind].version.WithKind(kind))
	if err == nil {
		err = json.Unmarshal(raw, obj)
	}
	if err != nil {
		panic(badQuestion{err})
	}
	legacyscheme.Scheme.Default(obj)
	if pod, ok := obj.(*v1.Pod); ok {
		store(pod)
		if pod.Namespace == "" || pod.UID != types.UID(pod.Namespace+"/"+pod.Name) {
			panic(badQuestion{errors.New("not the same pod")})
		}
	}
	obj.(metav1.Object).SetResourceVersion(resourceVersion)
	return obj
}
