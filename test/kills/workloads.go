package main

// Workloads and volumes at rest: what their controllers should have made of them.

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func (v *verdict) judgeReplicaSets() {
	for i := range v.replicaSets {
		s := &v.replicaSets[i]
		pods := v.podsOf(s.UID)
		ready := countPods(pods, (*pod).isReady)
		want := int(*s.Spec.Replicas)
		if len(pods) != want || int(s.Status.Replicas) != want || int(s.Status.ReadyReplicas) != ready || s.Status.ObservedGeneration != s.Generation {
			v.bad("replicaset %s/%s wants %d, has %d pods, %d ready; its status says %d and %d, of generation %d of %d", s.Namespace, s.Name, want,
				len(pods), ready, s.Status.Replicas, s.Status.ReadyReplicas, s.Status.ObservedGeneration, s.Generation)
		}
	}
}

// A Deployment with pods that find no place may have stopped half-way.
func (v *verdict) judgeDeployments() {
	for i := range v.deployments {
		d := &v.deployments[i]
		what := fmt.Sprintf("deployment %s/%s", d.Namespace, d.Name)
		all, pending, updated := 0, 0, 0
		for j := range v.replicaSets {
			s := &v.replicaSets[j]
			if controllerOf(s) != d.UID {
				continue
			}
			pods := v.podsOf(s.UID)
			all += len(pods)
			pending += countPods(pods, (*pod).isPending)
			if s.Annotations["deployment.kubernetes.io/revision"] == d.Annotations["deployment.kubernetes.io/revision"] {
				updated += len(pods)
			}
		}
		st := &d.Status
		if st.ObservedGeneration != d.Generation || int(st.Replicas) != all || int(st.UpdatedReplicas) != updated {
			v.bad("%s has %d pods, %d of them updated; its status says %d and %d, of generation %d of %d", what, all, updated, st.Replicas,
				st.UpdatedReplicas, st.ObservedGeneration, d.Generation)
			continue
		}
		want := int(*d.Spec.Replicas)
		if pending == 0 && (all != want || updated != want || int(st.AvailableReplicas) != want) {
			v.bad("%s wants %d, has %d, %d updated, %d available, and none that waits for room", what, want, all, updated, st.AvailableReplicas)
		}
	}
}

func (v *verdict) judgeStatefulSets() {
	for i := range v.statefulSets {
		s := &v.statefulSets[i]
		pods := v.podsOf(s.UID)
		want := int(*s.Spec.Replicas)
		pending := countPods(pods, (*pod).isPending)
		st := &s.Status
		// One that has failed counts until it is replaced, for which it waits behind those before it.
		all := len(v.allPodsOf(s.UID))
		if st.ObservedGeneration != s.Generation || int(st.Replicas) != all || int(st.ReadyReplicas) != countPods(pods, (*pod).isReady) {
			v.bad("statefulset %s/%s has %d pods; its status says %d, %d ready, of generation %d of %d", s.Namespace, s.Name, all, st.Replicas,
				st.ReadyReplicas, st.ObservedGeneration, s.Generation)
			continue
		}
		if pending == 0 && (len(pods) != want || st.CurrentRevision != st.UpdateRevision) {
			v.bad("statefulset %s/%s wants %d and has %d, %d updated, and none that waits for room", s.Namespace, s.Name, want, len(pods), st.UpdatedReplicas)
		}
		for _, p := range pods {
			if !p.isPending() && !v.hasClaims(p) {
				v.bad("pod %s runs without its claims", p.id())
			}
		}
	}
}

// A daemon belongs on a node whose taints it tolerates; it stays where only a NoSchedule taint is in
// the way.
func (v *verdict) judgeDaemonSets() {
	for i := range v.daemonSets {
		d := &v.daemonSets[i]
		on := map[string][]*pod{}
		for _, p := range v.podsOf(d.UID) {
			name := p.Spec.NodeName
			if name == "" {
				name = p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
			}
			on[name] = append(on[name], p)
		}
		wanted := 0
		for j := range v.nodes {
			n := &v.nodes[j]
			should, may := daemonBelongs(d, n)
			if should {
				wanted++
			}
			if got := len(on[n.Name]); got > 1 || should && got == 0 || !may && got > 0 {
				v.bad("daemonset %s/%s has %d pods on %s: should run is %v, should continue is %v", d.Namespace, d.Name, got, n.Name, should, may)
			}
		}
		if int(d.Status.DesiredNumberScheduled) != wanted || d.Status.ObservedGeneration != d.Generation {
			v.bad("daemonset %s/%s is wanted on %d nodes, its status says %d, of generation %d of %d", d.Namespace, d.Name, wanted,
				d.Status.DesiredNumberScheduled, d.Status.ObservedGeneration, d.Generation)
		}
	}
}

// What the controller adds to the tolerations of daemons.
var daemonTolerations = []toleration{
	{Key: corev1.TaintNodeNotReady, Operator: "Exists", Effect: "NoExecute"},
	{Key: corev1.TaintNodeUnreachable, Operator: "Exists", Effect: "NoExecute"},
	{Key: corev1.TaintNodeUnschedulable, Operator: "Exists", Effect: "NoSchedule"},
}

func daemonBelongs(d *appsv1.DaemonSet, n *node) (should, may bool) {
	p := &pod{}
	p.Spec.Tolerations = append([]toleration{}, daemonTolerations...)
	for _, t := range d.Spec.Template.Spec.Tolerations {
		p.Spec.Tolerations = append(p.Spec.Tolerations, toleration{Key: t.Key, Operator: string(t.Operator), Value: t.Value,
			Effect: string(t.Effect), TolerationSeconds: t.TolerationSeconds})
	}
	p.Spec.NodeSelector = d.Spec.Template.Spec.NodeSelector
	if whyElsewhere(p, n) != "" {
		return false, false
	}
	may = true
	for _, t := range n.Spec.Taints {
		may = may && (t.Effect != corev1.TaintEffectNoExecute || tolerance(p.Spec.Tolerations, t) != 0)
	}
	return whyForbidden(p, n) == "", may
}

func finished(j *batchv1.Job) batchv1.JobConditionType {
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.Type
		}
	}
	return ""
}

// Jobs end, unless their pods wait for room; and they have counted what they were to count.
func (v *verdict) judgeJobs(h *history) {
	for i := range v.jobs {
		j := &v.jobs[i]
		what := fmt.Sprintf("job %s/%s", j.Namespace, j.Name)
		pods := v.podsOf(j.UID)
		completions := int(*j.Spec.Completions)
		st := &j.Status
		if u := st.UncountedTerminatedPods; u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
			v.bad("%s has pods that are still to be counted", what)
		}
		if int(st.Active) != len(pods) {
			v.bad("%s has %d live pods, its status says %d", what, len(pods), st.Active)
		}
		ran := h.succeeded(j.UID)
		if ran > completions || int(st.Succeeded) > completions {
			v.bad("%s wants %d completions; %d pods succeeded, its status says %d", what, completions, ran, st.Succeeded)
		}
		switch finished(j) {
		case batchv1.JobComplete:
			if int(st.Succeeded) != completions || len(pods) > 0 {
				v.bad("%s is complete: %d of %d, with %d live pods", what, st.Succeeded, completions, len(pods))
			}
			if j.Spec.TTLSecondsAfterFinished != nil {
				v.bad("%s is complete, and should go %d s later", what, *j.Spec.TTLSecondsAfterFinished)
			}
		case batchv1.JobFailed:
			if !h.disturbed(j.UID) {
				v.bad("%s has failed, and none of its pods", what)
			}
			if j.Spec.TTLSecondsAfterFinished != nil {
				v.bad("%s has failed, and should go %d s later", what, *j.Spec.TTLSecondsAfterFinished)
			}
		default:
			if countPods(pods, (*pod).isPending) == 0 {
				v.bad("%s does not end: %d live pods, %d succeeded, %d failed", what, len(pods), st.Succeeded, st.Failed)
			}
		}
	}
}

// ---- volumes ----

func (v *verdict) claim(p *pod, name string) *corev1.PersistentVolumeClaim {
	for i := range v.claims {
		if c := &v.claims[i]; c.Namespace == p.Namespace && c.Name == name {
			return c
		}
	}
	return nil
}

// hasClaims: all claims that the pod names are there, and stay.
func (v *verdict) hasClaims(p *pod) bool {
	for _, name := range p.claims() {
		if c := v.claim(p, name); c == nil || c.DeletionTimestamp != nil {
			return false
		}
	}
	return true
}

// volumesReach: the volumes that the pod's claims have may be used on the node.
func (v *verdict) volumesReach(p *pod, n *node) bool {
	for _, name := range p.claims() {
		c := v.claim(p, name)
		for i := range v.volumes {
			volume := &v.volumes[i]
			if volume.Name == c.Spec.VolumeName && volume.Spec.NodeAffinity != nil && volume.Spec.NodeAffinity.Required != nil &&
				!anyTerm(volume.Spec.NodeAffinity.Required.NodeSelectorTerms, n) {
				return false
			}
		}
	}
	return true
}

func (v *verdict) isUsed(c *corev1.PersistentVolumeClaim) bool {
	for i := range v.pods {
		p := &v.pods[i]
		if p.Namespace != c.Namespace || p.hasEnded() || p.Spec.NodeName == "" {
			continue
		}
		for _, name := range p.claims() {
			if name == c.Name {
				return true
			}
		}
	}
	return false
}

func (v *verdict) judgeStorage() {
	for i := range v.claims {
		c := &v.claims[i]
		what := fmt.Sprintf("claim %s/%s", c.Namespace, c.Name)
		used := v.isUsed(c)
		if c.DeletionTimestamp != nil && !used {
			v.bad("%s is going and not used, finalizers %v", what, c.Finalizers)
		}
		if used && c.Status.Phase != corev1.ClaimBound {
			v.bad("%s is used and %s", what, c.Status.Phase)
		}
		if c.Status.Phase == corev1.ClaimLost {
			v.bad("%s is lost", what)
		}
		if c.Spec.VolumeName == "" {
			continue
		}
		found := false
		for j := range v.volumes {
			ref := v.volumes[j].Spec.ClaimRef
			found = found || v.volumes[j].Name == c.Spec.VolumeName && ref != nil && ref.UID == c.UID
		}
		if !found {
			v.bad("%s has the volume %s, which is not its own", what, c.Spec.VolumeName)
		}
	}
	for i := range v.volumes {
		v.judgeVolume(&v.volumes[i])
	}
}

// A volume was made for a claim and goes with it.
func (v *verdict) judgeVolume(volume *corev1.PersistentVolume) {
	ref := volume.Spec.ClaimRef
	for i := range v.claims {
		c := &v.claims[i]
		if ref != nil && c.UID == ref.UID && c.Spec.VolumeName == volume.Name && volume.Status.Phase == corev1.VolumeBound &&
			volume.DeletionTimestamp == nil {
			return
		}
	}
	v.bad("volume %s is %s and of no claim that has it: %+v, going=%v, finalizers %v", volume.Name, volume.Status.Phase, ref,
		volume.DeletionTimestamp != nil, volume.Finalizers)
}
