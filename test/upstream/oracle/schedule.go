package main

import (
	"context"
	"errors"
	"slices"
	_ "unsafe" // for linkname

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// The two halves of a scheduling cycle, of which the scheduler itself shows only the outcome.
//
//go:linkname findNodesThatFitPod k8s.io/kubernetes/pkg/scheduler.(*Scheduler).findNodesThatFitPod
func findNodesThatFitPod(*scheduler.Scheduler, context.Context, framework.Framework, fwk.CycleState,
	*framework.QueuedPodInfo) ([]fwk.NodeInfo, framework.Diagnosis, string, error)

//go:linkname prioritizeNodes k8s.io/kubernetes/pkg/scheduler.prioritizeNodes
func prioritizeNodes(context.Context, []fwk.Extender, framework.Framework, fwk.CycleState, *v1.Pod,
	[]fwk.NodeInfo) ([]fwk.NodePluginScores, error)

func init() { metrics.Register() }

// What the pod's profile makes of it and a cluster, when it looks at all nodes.
func schedule(l line) {
	withGates(l, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		q := inUpstreamsWords(l)
		pod := get[*v1.Pod](q, "pod")
		store(pod)
		s, profile := newScheduler(ctx, q, pod)
		for _, pod := range get[[]*v1.Pod](q, "pending") {
			enqueue(profile, pod)
		}
		outcome, result := cycle(ctx, s, profile, pod)
		if l.has("config") {
			hideSilent(result)
		}
		l.set("outcome", outcome)
		l.set("result", result)
	})
}

// A scheduler that knows the cluster of the line as if it had watched it grow, and the pod's profile.
func newScheduler(ctx context.Context, l line, pod *v1.Pod) (*scheduler.Scheduler, framework.Framework) {
	nodes := get[[]*v1.Node](l, "nodes")
	if len(nodes) == 0 {
		panic(badQuestion{errors.New("without nodes there is no cycle")})
	}
	client := fake.NewClientset()
	factory := newToldFactory(client)
	all := int32(100)
	recorder := profile.RecorderFactory(func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	options := append(profilesOf(l), scheduler.WithPercentageOfNodesToScore(&all))
	s, err := scheduler.New(ctx, client, factory, nil, recorder, options...)
	if err != nil {
		panic(badQuestion{err})
	}
	addObjects(factory, l)
	logger := klog.Background()
	before := map[string]*v1.Node{}
	for _, node := range get[[]*v1.Node](l, "nodes_before") {
		if before[node.Name] != nil {
			panic(badQuestion{errors.New("a node that was there twice")})
		}
		corev1.SetObjectDefaults_Node(node)
		s.Cache.AddNode(logger, node)
		before[node.Name] = node
	}
	for _, node := range nodes {
		corev1.SetObjectDefaults_Node(node)
		if before[node.Name] != nil {
			s.Cache.UpdateNode(logger, before[node.Name], node)
		} else {
			s.Cache.AddNode(logger, node)
		}
	}
	for _, pod := range get[[]*v1.Pod](l, "pods") {
		store(pod)
		pod.UID = types.UID(pod.Namespace + "/" + pod.Name) // stored pods have one
		if err := s.Cache.AddPod(logger, pod); err != nil {
			panic(badQuestion{err})
		}
	}
	framework := s.Profiles[pod.Spec.SchedulerName]
	if framework == nil {
		panic(badQuestion{errors.New("no profile has the pod's schedulerName")})
	}
	if err := s.Cache.UpdateSnapshot(logger, framework.SnapshotSharedLister().(*internalcache.Snapshot)); err != nil {
		panic(badQuestion{err})
	}
	return s, framework
}

func addObjects(factory informers.SharedInformerFactory, l line) {
	addAll(factory, get[[]*v1.Namespace](l, "namespaces"))
	addAll(factory, get[[]*v1.Service](l, "services"))
	addAll(factory, get[[]*appsv1.ReplicaSet](l, "replica_sets"))
	addAll(factory, get[[]*appsv1.StatefulSet](l, "stateful_sets"))
	addAll(factory, get[[]*v1.ReplicationController](l, "replication_controllers"))
	addAll(factory, get[[]*storagev1.VolumeAttachment](l, "attachments"))
	classes := get[[]*storagev1.StorageClass](l, "storage_classes")
	for _, class := range classes {
		storagedefaults.SetObjectDefaults_StorageClass(class)
	}
	addAll(factory, classes)
	addAll(factory, get[[]*storagev1.CSINode](l, "csi_nodes"))
	drivers := get[[]*storagev1.CSIDriver](l, "csi_drivers")
	for _, driver := range drivers {
		storagedefaults.SetObjectDefaults_CSIDriver(driver)
	}
	addAll(factory, drivers)
	addAll(factory, get[[]*storagev1.CSIStorageCapacity](l, "capacities"))
	volumes := get[[]*v1.PersistentVolume](l, "volumes")
	for _, volume := range volumes {
		corev1.SetObjectDefaults_PersistentVolume(volume)
	}
	addAll(factory, volumes)
	claims := get[[]*v1.PersistentVolumeClaim](l, "claims")
	for _, claim := range claims {
		corev1.SetObjectDefaults_PersistentVolumeClaim(claim)
	}
	addAll(factory, claims)
}

// store makes of a pod what comes back from where it is kept: with defaults, and without lists that are empty.
func store(pod *v1.Pod) {
	corev1.SetObjectDefaults_Pod(pod)
	kept, err := pod.Marshal()
	if err == nil {
		*pod = v1.Pod{}
		err = pod.Unmarshal(kept)
	}
	if err != nil {
		panic(badQuestion{err})
	}
}

func cycle(ctx context.Context, s *scheduler.Scheduler, f framework.Framework, pod *v1.Pod) (string, map[string]any) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "error", map[string]any{"error": err.Error()}
	}
	state := framework.NewCycleState()
	nodes, diagnosis, _, err := findNodesThatFitPod(s, ctx, f, state, &framework.QueuedPodInfo{PodInfo: info})
	if err != nil {
		return "error", map[string]any{"error": err.Error()}
	}
	all, _ := f.SnapshotSharedLister().NodeInfos().List()
	result := diagnosed(diagnosis, len(all)-len(nodes))
	result["feasible"] = names(nodes)
	if len(nodes) > 1 {
		return prioritized(ctx, f, state, pod, nodes, result), result
	}
	if len(nodes) == 1 {
		return "single", result
	}
	result["message"] = (&framework.FitError{Pod: pod, NumAllNodes: len(all), Diagnosis: diagnosis}).Error()
	return "nofit", result
}

func names(nodes []fwk.NodeInfo) []string {
	names := []string{}
	for _, n := range nodes {
		names = append(names, n.Node().Name)
	}
	slices.Sort(names)
	return names
}

func shownStatus(s *fwk.Status) map[string]any {
	return map[string]any{"code": s.Code().String(), "plugin": s.Plugin(), "reasons": s.Reasons()}
}

// diagnosed shows why nodes are not feasible; unfit is how many.
func diagnosed(d framework.Diagnosis, unfit int) map[string]any {
	rejected := map[string]any{}
	d.NodeToStatus.ForEachExplicitNode(func(name string, s *fwk.Status) { rejected[name] = shownStatus(s) })
	result := map[string]any{"node_status": rejected}
	if d.PreFilterMsg != "" {
		result["prefilter_message"] = d.PreFilterMsg
	}
	if absent := d.NodeToStatus.AbsentNodesStatus(); len(absent.Reasons()) > 0 && len(rejected) < unfit {
		result["absent_nodes_status"] = shownStatus(absent)
	}
	return result
}

func prioritized(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo,
	result map[string]any) string {
	found, err := prioritizeNodes(ctx, nil, f, state, pod, nodes)
	if err != nil {
		result["score_error"] = err.Error()
		return "score_error"
	}
	best, top, scores := int64(0), []string{}, map[string]any{}
	for _, node := range found {
		scores[node.Name] = map[string]any{"plugins": unweighted(f, node.Scores), "total": node.TotalScore}
		best = max(best, node.TotalScore)
	}
	for _, node := range found {
		if node.TotalScore == best {
			top = append(top, node.Name)
		}
	}
	slices.Sort(top)
	result["scores"], result["top"] = scores, top
	return "scored"
}

// hideSilent leaves out scores of 0 of plug-ins that may have nothing to say.
func hideSilent(result map[string]any) {
	scores, _ := result["scores"].(map[string]any)
	for _, node := range scores {
		plugins := node.(map[string]any)["plugins"].(map[string]int64)
		for name := range silentPlugins {
			if plugins[name] == 0 {
				delete(plugins, name)
			}
		}
	}
}

// The framework gives each score with its weight in it.
func unweighted(f framework.Framework, scores []fwk.PluginScore) map[string]int64 {
	plain := map[string]int64{}
	weights := f.ListPlugins().Score.Enabled
	for _, score := range scores {
		i := slices.IndexFunc(weights, func(p config.Plugin) bool { return p.Name == score.Name })
		plain[score.Name] = score.Score / int64(weights[i].Weight)
	}
	return plain
}
