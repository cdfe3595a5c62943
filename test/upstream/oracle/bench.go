package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/blang/semver/v4"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// What upstream costs. Each benchmark reads the cases that a benchmark of bench/ prints, and prints for each one
//
//	name TAB ns TAB what came out, to be the same on both sides
//
// or, of a scheduler, what cmd_schedule_bench prints.
var benchmarks = map[string]func(in io.Reader) error{
	"match":             benchMatch,
	"semver":            benchSemver,
	"validate":          benchValidate,
	"schedule":          func(in io.Reader) error { return benchSchedule(in, 100) },
	"schedule-adaptive": func(in io.Reader) error { return benchSchedule(in, 0) },
}

func bench(name string) error {
	run, ok := benchmarks[name]
	if !ok {
		return fmt.Errorf("no benchmark %q", name)
	}
	return withComparison(func() error { return run(os.Stdin) })
}

func withComparison(f func() error) (err error) {
	gates := map[string]bool{string(features.TaintTolerationComparisonOperators): true}
	withGates(line{"gates": encode(gates)}, func() { err = f() })
	return err
}

const share = 60e6 // ns that one measurement takes at least

func usage() syscall.Rusage {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u
}

// Processor time of the whole process: the garbage collector's threads count, other work on the machine does not.
func processorTime() float64 {
	u := usage()
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// measure gives the ns that f takes for each of n rounds, when it is to do n rounds.
func measure(f func(n int)) float64 {
	f(1)
	for n := 1; ; n *= 2 {
		start := processorTime()
		f(n)
		if ns := processorTime() - start; ns >= share {
			return ns / float64(n)
		}
	}
}

func eachCase(in io.Reader, columns int, f func(column []string) error) error {
	return eachLine(in, func(text []byte) error {
		column := strings.Split(string(text), "\t")
		if len(column) != columns {
			return fmt.Errorf("%d columns instead of %d: %s", len(column), columns, text)
		}
		return f(column)
	})
}

// One toleration against one of 64 taints in turn, which are decoded already.
func benchMatch(in io.Reader) error {
	const taints = 64
	return eachCase(in, 4, func(column []string) error {
		toleration := v1.Toleration{Key: "node.example.com/key", Operator: v1.TolerationOperator(column[1]), Value: column[2],
			Effect: v1.TaintEffectNoExecute}
		list := make([]v1.Taint, taints)
		for i := range list {
			list[i] = v1.Taint{Key: toleration.Key, Value: fmt.Sprintf(column[3], i), Effect: v1.TaintEffectNoExecute}
		}
		matches := 0
		work := func(n int) {
			matches = matchesAmong(toleration, list, n)
		}
		ns := measure(work)
		for turn := 1; turn < 7; turn++ { // the best counts: a nanosecond is easily disturbed
			ns = min(ns, measure(work))
		}
		work(taints)
		fmt.Printf("%s\t%.2f\t%d\n", column[0], ns, matches)
		return nil
	})
}

func matchesAmong(toleration v1.Toleration, list []v1.Taint, n int) int {
	matches, logger, compare := 0, klog.Background(), semverOperators[toleration.Operator]
	for i := range n {
		taint := &list[i%len(list)]
		if compare != nil && matchesVersion(toleration, *taint, compare) ||
			compare == nil && toleration.ToleratesTaint(logger, taint, true) {
			matches++
		}
	}
	return matches
}

// A version is read and compared with one that was read before.
func benchSemver(in io.Reader) error {
	return eachCase(in, 2, func(column []string) error {
		other, result := tolerant(column[1]), 0
		ns := measure(func(n int) {
			for range n {
				v, err := semver.ParseTolerant(column[0])
				if err != nil {
					panic(err)
				}
				result = v.Compare(other)
			}
		})
		fmt.Printf("%s\t%.2f\t%d\n", column[0], ns, result)
		return nil
	})
}

// A pod's way from text to verdict as the API server's: decoding, defaulting, conversion, preparation, validation.
func benchValidate(in io.Reader) error {
	k := kinds["Pod"]
	ctx := request.WithNamespace(k.context(), "shop")
	now := time.Now()
	judged := func(body []byte) int {
		obj, err := k.decode("Pod", body)
		if err != nil {
			panic(err)
		}
		nameObject(obj)
		system, err := meta.Accessor(obj)
		if err != nil {
			panic(err)
		}
		system.SetUID("8f1d") // not a random one, which would cost more
		system.SetCreationTimestamp(metav1.Time{Time: now})
		err = rest.BeforeCreate(k.strategy, ctx, obj)
		if err == nil {
			return 0
		}
		if !apierrors.IsInvalid(err) {
			panic(err)
		}
		return len(err.(*apierrors.StatusError).ErrStatus.Details.Causes)
	}
	return eachCase(in, 2, func(column []string) error {
		body, errors := []byte(column[1]), 0
		ns := measure(func(n int) {
			for range n {
				errors = judged(body)
			}
		})
		fmt.Printf("%s\t%.1f\t%d\n", column[0], ns, errors)
		return nil
	})
}

// The scheduler's core: what lies between a pod that is queued and one that the cache assumes to be bound.
// Neither events nor reserving nor binding are included, and no client is used.
func benchSchedule(in io.Reader, percentage int32) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := fake.NewClientset()
	recorder := profile.RecorderFactory(func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	s, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil, recorder,
		scheduler.WithPercentageOfNodesToScore(&percentage), scheduler.WithParallelism(1))
	if err != nil {
		return err
	}
	pods, err := readCluster(in, s)
	if err != nil {
		return err
	}
	runtime.GC()
	start, scheduled := processorTime(), 0
	for _, pod := range pods {
		s.SchedulingQueue.Add(ctx, pod)
	}
	queued := processorTime()
	for range pods {
		placed, err := placeNext(ctx, s)
		if err != nil {
			return err
		}
		scheduled += placed
	}
	end, n := processorTime(), float64(len(pods))
	fmt.Printf("%.0f\t%.0f\t%d\t%d\n", (end-start)/n, (end-queued)/n, scheduled, usage().Maxrss)
	return nil
}

// Nodes go to the cache; pods are given back.
func readCluster(in io.Reader, s *scheduler.Scheduler) ([]*v1.Pod, error) {
	var pods []*v1.Pod
	err := eachLine(bufio.NewReader(in), func(text []byte) error {
		if bytes.Contains(text, []byte(`"kind":"Node"`)) {
			node := &v1.Node{}
			err := json.Unmarshal(text, node)
			corev1.SetObjectDefaults_Node(node)
			s.Cache.AddNode(klog.Background(), node)
			return err
		}
		pod := &v1.Pod{}
		err := json.Unmarshal(text, pod)
		corev1.SetObjectDefaults_Pod(pod)
		pod.UID = types.UID(pod.Name)
		pods = append(pods, pod)
		return err
	})
	return pods, err
}

// placeNext takes a pod from the queue, finds its node and assumes it there: 1, or 0 when there is no node for it.
func placeNext(ctx context.Context, s *scheduler.Scheduler) (int, error) {
	logger := klog.FromContext(ctx)
	entity, err := s.NextEntity(logger)
	if err != nil {
		return 0, err
	}
	info := entity.(*framework.QueuedPodInfo)
	defer s.SchedulingQueue.Done(info.Pod.UID)
	f := s.Profiles[info.Pod.Spec.SchedulerName]
	if err := s.Cache.UpdateSnapshot(logger, f.SnapshotSharedLister().(*internalcache.Snapshot)); err != nil {
		return 0, err
	}
	result, err := s.SchedulePod(ctx, f, framework.NewCycleState(), info)
	if _, unfit := err.(*framework.FitError); unfit {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	assumed := info.Pod.DeepCopy()
	assumed.Spec.NodeName = result.SuggestedHost
	return 1, s.Cache.AssumePod(logger, assumed)
}
