package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// What the default profile does for a pod that fits on no node: whom it preempts, where, and what it says.
// Nodes are fewer than the candidates that are looked for, so that it does not matter where the search starts.
func preempt(l line) {
	withGates(l, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		mustBeStored(l)
		q := inUpstreamsWords(l)
		pod := get[*v1.Pod](q, "pod")
		store(pod)
		s, f := newScheduler(ctx, q, pod)
		budgets := get[[]*policyv1.PodDisruptionBudget](q, "budgets")
		addAll(f.SharedInformerFactory(), budgets)
		for _, pod := range get[[]*v1.Pod](q, "pending") {
			enqueue(f, pod)
		}
		enqueue(f, pod)
		l.set("result", postFilter(ctx, s, f, pod))
	})
}

// mustBeStored refuses objects that nobody could have stored, or not there: two of them might be taken for one.
func mustBeStored(l line) {
	seen := map[string]bool{}
	check := func(o metav1.Object, good bool) {
		name := o.GetNamespace() + "/" + o.GetName()
		if o.GetName() == "" || seen[name] || !good {
			panic(badQuestion{fmt.Errorf("no object of a cluster: %s", name)})
		}
		seen[name] = true
	}
	for _, node := range get[[]*v1.Node](l, "nodes") {
		check(node, node.Namespace == "")
	}
	for _, pod := range get[[]*v1.Pod](l, "pods") {
		check(pod, pod.Namespace != "" && pod.Spec.NodeName != "")
	}
	for _, pod := range get[[]*v1.Pod](l, "pending") {
		check(pod, pod.Namespace != "" && pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) > 0)
	}
	pod := get[*v1.Pod](l, "pod")
	check(pod, pod.Namespace != "" && pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0)
}

// enqueue makes a pod known that waits; if it is nominated, so is that.
func enqueue(f framework.Framework, pod *v1.Pod) {
	store(pod)
	pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	addAll(f.SharedInformerFactory(), []*v1.Pod{pod})
}

func postFilter(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, pod *v1.Pod) map[string]any {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		panic(badQuestion{err})
	}
	state := framework.NewCycleState()
	nodes, diagnosis, _, err := findNodesThatFitPod(s, ctx, f, state, &framework.QueuedPodInfo{PodInfo: info})
	if err != nil || len(nodes) > 0 {
		panic(badQuestion{errors.New("no reason to preempt anybody")})
	}
	all, _ := f.SnapshotSharedLister().NodeInfos().List()
	watched := watch(f)
	found, status := f.RunPostFilterPlugins(ctx, state, pod, diagnosis.NodeToStatus)
	diagnosis.PostFilterMsg = status.Message()
	result := map[string]any{
		"message":   (&framework.FitError{Pod: pod, NumAllNodes: len(all), Diagnosis: diagnosis}).Error(),
		"nominated": pod.Status.NominatedNodeName,
		"victims":   []string{},
	}
	if found != nil {
		result["nominated"] = found.NominatedNodeName
	}
	if status.IsSuccess() {
		result["victims"] = watched.victims[found.NominatedNodeName]
	}
	return result
}

// watchedPreemption is DefaultPreemption that remembers whom it would preempt on which node.
type watchedPreemption struct {
	*defaultpreemption.DefaultPreemption
	lock    sync.Mutex
	victims map[string][]string
}

// watch puts itself between the plug-in of the framework and its evaluator; nobody is really preempted.
func watch(f framework.Framework) *watchedPreemption {
	plugins := reflect.ValueOf(f).Elem().FieldByName("postFilterPlugins")
	for _, plugin := range *(*[]fwk.PostFilterPlugin)(unsafe.Pointer(plugins.UnsafeAddr())) {
		if p, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
			w := &watchedPreemption{DefaultPreemption: p, victims: map[string][]string{}}
			p.Evaluator.Interface = w
			p.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
				return false, nil
			}
			return w
		}
	}
	panic(badQuestion{errors.New("the profile does not preempt")})
}

func (w *watchedPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo,
	possible []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := w.DefaultPreemption.SelectVictimsOnNode(ctx, state, preemptor, node, possible, budgets)
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, victim := range victims {
		w.victims[node.Node().Name] = append(w.victims[node.Node().Name], victim.Namespace+"/"+victim.Name)
	}
	return victims, violations, status
}
