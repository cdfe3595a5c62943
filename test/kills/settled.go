package main

// What must be true of a cluster at rest, some time after all of its parts are back: pods where they
// may be, and nothing that waits for what will not come. Each rule looks at lists and says what is
// wrong; that a rule is broken for a moment is nothing, that it stays so is a finding.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	leaseFresh  = 40 * time.Second
	quotaResync = 6 * time.Minute // five, and some time to do it
)

// The findings about one snapshot.
type verdict struct {
	*snapshot
	wrong  []string
	byNode map[string][]*pod // those that take room there
	nodeOf map[string]*node
}

func (v *verdict) bad(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

// judgeRest gives all that is wrong with a cluster at rest.
func judgeRest(s *snapshot, h *history, elects bool, expected map[string]types.UID) []string {
	v := &verdict{snapshot: s, byNode: map[string][]*pod{}, nodeOf: map[string]*node{}}
	for i := range s.nodes {
		v.nodeOf[s.nodes[i].Name] = &s.nodes[i]
	}
	for i := range s.pods {
		if p := &s.pods[i]; p.Spec.NodeName != "" && !p.hasEnded() {
			v.byNode[p.Spec.NodeName] = append(v.byNode[p.Spec.NodeName], p)
		}
	}
	v.judgeNodes()
	for i := range s.pods {
		v.judgePod(&s.pods[i])
	}
	v.judgeAddresses()
	v.judgeOwners(expected)
	v.judgeReplicaSets()
	v.judgeDeployments()
	v.judgeStatefulSets()
	v.judgeDaemonSets()
	v.judgeJobs(h)
	v.judgeStorage()
	v.judgeNamespaces()
	v.judgeServices()
	v.judgeBudgets()
	v.judgeQuotas(h)
	if elects {
		v.judgeLeases()
	}
	return v.wrong
}

func isNodeReady(n *node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func (v *verdict) judgeNodes() {
	beats := map[string]time.Time{}
	for i := range v.leases {
		if l := &v.leases[i]; l.Namespace == "kube-node-lease" && l.Spec.RenewTime != nil {
			beats[l.Name] = l.Spec.RenewTime.Time
		}
	}
	for i := range v.nodes {
		n := &v.nodes[i]
		if !isNodeReady(n) {
			v.bad("node %s is not ready", n.Name)
		}
		for _, t := range n.Spec.Taints {
			if t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable {
				v.bad("node %s has the taint %s", n.Name, t.Key)
			}
		}
		if time.Since(beats[n.Name]) > leaseFresh {
			v.bad("node %s: its Lease was renewed at %v", n.Name, beats[n.Name])
		}
		if why := whyFull(n, v.byNode[n.Name]); why != "" {
			v.bad("node %s has more pods than it has room for: %s", n.Name, why)
		}
	}
}

// whereTo names a node that a pending pod could go to.
func (v *verdict) whereTo(p *pod) string {
	if !v.hasClaims(p) {
		return ""
	}
	for i := range v.nodes {
		n := &v.nodes[i]
		if whyForbidden(p, n) == "" && whyFull(n, append([]*pod{p}, v.byNode[n.Name]...)) == "" && v.volumesReach(p, n) {
			return n.Name
		}
	}
	return ""
}

func (v *verdict) judgePod(p *pod) {
	what := fmt.Sprintf("pod %s %s", p.id(), short(p.UID))
	switch {
	case p.isGoing():
		v.bad("%s is going since %s (%s, finalizers %v)", what, p.DeletionTimestamp.UTC().Format("15:04:05"), p.Status.Phase, p.Finalizers)
	case p.hasEnded():
		if slices.Contains(p.Finalizers, "batch.kubernetes.io/job-tracking") {
			v.bad("%s has ended and is still to be counted by its Job", what)
		}
	case p.isPending():
		if to := v.whereTo(p); to != "" {
			v.bad("%s is pending and could go to %s: %s", what, to, v.saidOf(p))
		} else if c := p.condition(corev1.PodScheduled); v.hasClaims(p) && (c == nil || c.Reason != corev1.PodReasonUnschedulable) {
			v.bad("%s is pending and not said to be unschedulable: %s", what, v.saidOf(p))
		}
	default:
		v.judgeRunning(p, what)
	}
}

func (v *verdict) saidOf(p *pod) string {
	if c := p.condition(corev1.PodScheduled); c != nil {
		return c.Reason + " " + c.Message
	}
	return "nothing is said"
}

func (v *verdict) judgeRunning(p *pod, what string) {
	n := v.nodeOf[p.Spec.NodeName]
	if n == nil {
		v.bad("%s is on %s, which is not there", what, p.Spec.NodeName)
		return
	}
	if p.Labels["ends"] != "" && p.Labels["ends"] != "never" {
		v.bad("%s on %s is %s and should come to its end", what, n.Name, p.Status.Phase)
		return
	}
	if p.Status.Phase != corev1.PodRunning || !p.isReady() {
		v.bad("%s on %s is %s, ready=%v", what, n.Name, p.Status.Phase, p.isReady())
	}
	if c := p.condition(corev1.PodScheduled); c == nil || c.Status != corev1.ConditionTrue {
		v.bad("%s is on %s, and its condition PodScheduled is another: %s", what, n.Name, v.saidOf(p))
	}
	if seconds := stay(p, n.Spec.Taints); seconds >= 0 {
		v.bad("%s is on %s, and tolerates its taints for %d s only", what, n.Name, seconds)
	}
	if why := whyElsewhere(p, n); why != "" {
		v.bad("%s is on %s, where it may not be: %s", what, n.Name, why)
	}
}

func (v *verdict) judgeAddresses() {
	has := map[string]*pod{}
	for i := range v.pods {
		p := &v.pods[i]
		if p.hasEnded() || p.Status.PodIP == "" {
			continue
		}
		if other := has[p.Status.PodIP]; other != nil {
			v.bad("pods %s on %s and %s on %s have the same address %s", other.id(), other.Spec.NodeName, p.id(), p.Spec.NodeName, p.Status.PodIP)
		}
		has[p.Status.PodIP] = p
	}
}

// each calls f with all namespaced objects.
func (v *verdict) each(f func(kind string, o metav1.Object)) {
	walk(v.pods, "pod", f)
	walk(v.replicaSets, "replicaset", f)
	walk(v.deployments, "deployment", f)
	walk(v.statefulSets, "statefulset", f)
	walk(v.daemonSets, "daemonset", f)
	walk(v.revisions, "controllerrevision", f)
	walk(v.jobs, "job", f)
	walk(v.claims, "persistentvolumeclaim", f)
	walk(v.services, "service", f)
	walk(v.slices, "endpointslice", f)
	walk(v.budgets, "poddisruptionbudget", f)
	walk(v.quotas, "resourcequota", f)
}

func walk[T any, P interface {
	*T
	metav1.Object
}](list []T, kind string, f func(string, metav1.Object)) {
	for i := range list {
		f(kind, P(&list[i]))
	}
}

// judgeOwners: nothing is there whose owner is gone, nothing goes for long, and nothing is gone that
// nobody deleted.
func (v *verdict) judgeOwners(expected map[string]types.UID) {
	there := map[types.UID]bool{}
	v.each(func(_ string, o metav1.Object) { there[o.GetUID()] = true })
	v.each(func(kind string, o metav1.Object) {
		what := fmt.Sprintf("%s %s/%s", kind, o.GetNamespace(), o.GetName())
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind != "Node" && !there[owner.UID] {
				v.bad("%s is there, and its owner %s %s is not", what, owner.Kind, owner.Name)
			}
		}
		if at := o.GetDeletionTimestamp(); at != nil && kind != "pod" && kind != "persistentvolumeclaim" {
			v.bad("%s is going since %s, finalizers %v", what, at.UTC().Format("15:04:05"), o.GetFinalizers())
		}
	})
	for what, uid := range expected {
		if !there[uid] {
			v.bad("%s %s is gone, and nobody deleted it", what, short(uid))
		}
	}
}

// podsOf gives the live pods of a controller.
func (v *verdict) podsOf(owner types.UID) []*pod {
	return slices.DeleteFunc(v.allPodsOf(owner), func(p *pod) bool { return !p.isLive() })
}

// allPodsOf has those that have ended or are going, too.
func (v *verdict) allPodsOf(owner types.UID) []*pod {
	var found []*pod
	for i := range v.pods {
		if p := &v.pods[i]; controllerOf(p) == owner {
			found = append(found, p)
		}
	}
	return found
}

func countPods(pods []*pod, is func(*pod) bool) int {
	n := 0
	for _, p := range pods {
		if is(p) {
			n++
		}
	}
	return n
}

func (v *verdict) judgeNamespaces() {
	has := map[string]bool{}
	for i := range v.accounts {
		has["account "+v.accounts[i].Namespace+"/"+v.accounts[i].Name] = true
	}
	for i := range v.configMaps {
		has["map "+v.configMaps[i].Namespace+"/"+v.configMaps[i].Name] = true
	}
	for i := range v.namespaces {
		ns := &v.namespaces[i]
		if ns.DeletionTimestamp != nil {
			v.bad("namespace %s is going since %s", ns.Name, ns.DeletionTimestamp.UTC().Format("15:04:05"))
			continue
		}
		if !has["account "+ns.Name+"/default"] {
			v.bad("namespace %s has no service account", ns.Name)
		}
		if !has["map "+ns.Name+"/kube-root-ca.crt"] {
			v.bad("namespace %s has no kube-root-ca.crt", ns.Name)
		}
	}
}

func (v *verdict) judgeLeases() {
	for _, name := range []string{"kube-scheduler", "kube-controller-manager"} {
		fresh := false
		for i := range v.leases {
			l := &v.leases[i]
			fresh = fresh || l.Name == name && l.Spec.RenewTime != nil && time.Since(l.Spec.RenewTime.Time) < 4*time.Second &&
				l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != ""
		}
		if !fresh {
			v.bad("nobody has the Lease %s", name)
		}
	}
}

func selects(selector map[string]string, o metav1.Object) bool {
	for key, value := range selector {
		if o.GetLabels()[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

// judgeServices: their slices have the addresses of their pods that are ready, each once.
func (v *verdict) judgeServices() {
	for i := range v.services {
		s := &v.services[i]
		if len(s.Spec.Selector) == 0 {
			continue
		}
		var want, have []string
		for j := range v.pods {
			if p := &v.pods[j]; p.Namespace == s.Namespace && selects(s.Spec.Selector, p) && p.isLive() && p.isReady() {
				want = append(want, p.Status.PodIP)
			}
		}
		for j := range v.slices {
			slice := &v.slices[j]
			if slice.Namespace != s.Namespace || slice.Labels["kubernetes.io/service-name"] != s.Name {
				continue
			}
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready {
					have = append(have, e.Addresses...)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			v.bad("service %s/%s has the addresses %s, its ready pods %s", s.Namespace, s.Name, strings.Join(have, " "), strings.Join(want, " "))
		}
	}
}

func (v *verdict) judgeBudgets() {
	for i := range v.budgets {
		b := &v.budgets[i]
		healthy := 0
		for j := range v.pods {
			if p := &v.pods[j]; p.Namespace == b.Namespace && selects(b.Spec.Selector.MatchLabels, p) && p.isLive() && p.isReady() {
				healthy++
			}
		}
		if int(b.Status.CurrentHealthy) != healthy || b.Status.ObservedGeneration != b.Generation {
			v.bad("budget %s/%s: %d are healthy, says its status of generation %d; of %d it is %d", b.Namespace, b.Name,
				b.Status.CurrentHealthy, b.Status.ObservedGeneration, b.Generation, healthy)
		}
	}
}

// judgeQuotas: what was charged for a request with which the server died is given back when all is counted anew.
func (v *verdict) judgeQuotas(h *history) {
	for i := range v.quotas {
		q := &v.quotas[i]
		pods, claims := 0, 0
		for j := range v.pods {
			if p := &v.pods[j]; p.Namespace == q.Namespace && !p.hasEnded() {
				pods++
			}
		}
		for j := range v.claims {
			if v.claims[j].Namespace == q.Namespace {
				claims++
			}
		}
		for name, want := range map[corev1.ResourceName]int{corev1.ResourcePods: pods, corev1.ResourcePersistentVolumeClaims: claims} {
			used := q.Status.Used[name]
			if more := used.Value() - int64(want); more < 0 || more > 0 && !h.hadOutage(quotaResync) {
				v.bad("quota %s/%s: %s %s are used, and there are %d", q.Namespace, q.Name, used.String(), name, want)
			}
		}
	}
}
