package main

// Whoever uses the cluster meanwhile: workloads are made, scaled, rolled out and deleted, pods come
// and go, nodes are tainted, cordoned and drained. Requests that fail because nobody is there are
// not repeated: the next one comes soon.

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	workDeployments = 4 // in each namespace
	workJobs        = 6
	mostBarePods    = 24
)

var workspaces = []string{"work-a", "work-b"}

type churn struct {
	a        *api
	h        *history
	rand     *rand.Rand
	log      io.Writer
	at       sync.Mutex // held while an action is under way
	stop     chan struct{}
	nodes    []string
	bare     []string // namespace/name of pods without an owner
	serial   int
	brief    string // a namespace that will be deleted; empty: none
	most     int    // replicas of a Deployment
	mu       sync.Mutex
	expected map[string]types.UID // what was made and not deleted since, by kind and name
	codes    map[int]int
}

func newChurn(a *api, h *history, r *rand.Rand, log io.Writer) *churn {
	return &churn{a: a, h: h, rand: r, log: log, expected: map[string]types.UID{}, codes: map[int]int{}}
}

// ---- requests ----

func (c *churn) send(method, path, contentType, body string) (int, []byte) {
	code, data, err := c.a.do(method, path, contentType, []byte(body))
	c.codes[code]++
	note := ""
	if err != nil {
		note = err.Error()
	} else if code >= 300 {
		note = fmt.Sprintf("%.200s", data)
	}
	fmt.Fprintf(c.log, "%s %s %s %d %s %s\n", time.Now().UTC().Format("15:04:05.000"), method, path, code, body, note)
	return code, data
}

// make creates an object, and remembers it if it must stay until it is deleted.
func (c *churn) make(kind, collection, name, body string, stays bool) int {
	what := kind + " " + namespaceIn(collection) + "/" + name
	code, data := c.send("POST", collection, jsonBody, body)
	var made struct {
		metav1.ObjectMeta `json:"metadata"`
	}
	if code == http.StatusCreated && stays && json.Unmarshal(data, &made) == nil {
		c.mu.Lock()
		c.expected[what] = made.UID
		c.mu.Unlock()
	}
	return code
}

func (c *churn) delete(kind, collection, name, options string) {
	what := kind + " " + namespaceIn(collection) + "/" + name
	c.mu.Lock()
	delete(c.expected, what)
	c.mu.Unlock()
	c.send("DELETE", collection+"/"+name, jsonBody, options)
}

func namespaceIn(path string) string {
	_, rest, _ := strings.Cut(path, "/namespaces/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// expects gives a copy of what must be there.
func (c *churn) expects() map[string]types.UID {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]types.UID{}
	for what, uid := range c.expected {
		all[what] = uid
	}
	return all
}

// ---- manifests ----

var tolerationSets = []string{
	``, ``,
	`{"operator":"Exists"}`,
	`{"key":"sla","operator":"Gt","value":"930","effect":"NoExecute"}`,
	`{"key":"sla","operator":"Lt","value":"950"}`,
	`{"key":"kernel","operator":"SemverGt","value":"5.9.0"}`,
	`{"key":"kernel","operator":"SemverLt","value":"5.12.0"},{"key":"gpu","operator":"Equal","value":"true"}`,
	`{"key":"sla","operator":"Gt","value":"910"},{"key":"kernel","operator":"SemverEq","value":"5.10.0"}`,
	`{"expression":"taint.key == 'sla' && int(taint.value) > 930"}`,
	`{"expression":"taint.key == 'kernel' && semver(taint.value, true).isGreaterThan(semver('5.10.0'))"}`,
	`{"expression":"taint.key in ['gpu', 'sla']"}`,
}

// Of pods that nobody makes again when they are evicted.
var passingTolerations = []string{
	`{"key":"sla","operator":"Gt","value":"920","effect":"NoExecute","tolerationSeconds":%d}`,
	`{"key":"kernel","operator":"SemverGt","value":"5.3.0","effect":"NoExecute","tolerationSeconds":%d},{"key":"sla","operator":"Exists"}`,
	`{"key":"sla","operator":"Lt","value":"950","effect":"NoExecute","tolerationSeconds":%d},{"expression":"taint.key == 'kernel' && semver(taint.value, true).isGreaterThan(semver('5.10.0'))"}`,
	`{"operator":"Exists","effect":"NoExecute","tolerationSeconds":%d}`,
}

func one[T any](c *churn, list []T) T { return list[c.rand.IntN(len(list))] }

func (c *churn) container(command string) string {
	return fmt.Sprintf(`"containers":[{"name":"c","image":"i"%s,"resources":{"requests":{"cpu":"%d","memory":"%dGi"}}}]`, command,
		one(c, []int{1, 2, 4, 8}), one(c, []int{1, 4, 16}))
}

func (c *churn) spec(tolerations, more string) string {
	selector := ""
	if c.rand.IntN(4) == 0 {
		selector = fmt.Sprintf(`"nodeSelector":{"zone":"z%d"},`, c.rand.IntN(2))
	}
	return fmt.Sprintf(`{"terminationGracePeriodSeconds":%d,%s"tolerations":[%s],%s}`, c.rand.IntN(3), selector, tolerations, more)
}

func (c *churn) workload(version, kind, name, labels, spec, more string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"%s","metadata":{"name":"%s"},"spec":{%s"selector":{"matchLabels":{"app":"%s"}},`+
		`"template":{"metadata":{"labels":{"app":"%s"%s},"annotations":{"v":"%s"}},"spec":%s}}}`, kind, name, more, name, name, labels, version, spec)
}

// ---- what is done ----

// act is one step, chosen by chance.
func (c *churn) act() {
	ns := one(c, workspaces)
	switch n := c.rand.IntN(100); {
	case n < 30:
		c.actDeployment(ns)
	case n < 38:
		c.actStatefulSet(ns)
	case n < 43:
		c.actDaemonSet(ns)
	case n < 53:
		c.actJob(ns)
	case n < 72:
		c.actPod(ns)
	case n < 77:
		c.actClaim(ns)
	case n < 95:
		c.actNode()
	case n < 98:
		c.actDrain()
	default:
		c.actNamespace()
	}
}

func (c *churn) actDeployment(ns string) {
	name := fmt.Sprintf("d%d", c.rand.IntN(workDeployments))
	collection := "/apis/apps/v1/namespaces/" + ns + "/deployments"
	code := 0
	switch n := c.rand.IntN(10); {
	case n < 1:
		policy := one(c, []string{"Background", "Foreground"})
		c.delete("deployment", collection, name, `{"propagationPolicy":"`+policy+`"}`)
		return
	case n < 6:
		code, _ = c.send("PATCH", collection+"/"+name, mergePatch, fmt.Sprintf(`{"spec":{"replicas":%d}}`, c.rand.IntN(c.most+1)))
	default:
		c.serial++
		patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"v":"%d"}},"spec":%s}}}`, c.serial,
			c.spec(one(c, tolerationSets), c.container("")))
		code, _ = c.send("PATCH", collection+"/"+name, mergePatch, patch)
	}
	if code == http.StatusNotFound {
		c.serial++
		c.make("deployment", collection, name, c.workload(fmt.Sprint(c.serial), "Deployment", name, "", c.spec(one(c, tolerationSets), c.container("")),
			fmt.Sprintf(`"replicas":%d,`, c.rand.IntN(c.most+1))), true)
	}
}

func (c *churn) actStatefulSet(ns string) {
	collection := "/apis/apps/v1/namespaces/" + ns + "/statefulsets"
	code := 0
	switch n := c.rand.IntN(10); {
	case n < 1:
		c.delete("statefulset", collection, "s", `{"propagationPolicy":"Background"}`)
		return
	case n < 7:
		code, _ = c.send("PATCH", collection+"/s", mergePatch, fmt.Sprintf(`{"spec":{"replicas":%d}}`, c.rand.IntN(5)))
	default:
		c.serial++
		code, _ = c.send("PATCH", collection+"/s", mergePatch, fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"v":"%d"}}}}}`, c.serial))
	}
	if code == http.StatusNotFound {
		c.serial++
		retention := one(c, []string{"Retain", "Delete"})
		claims := `"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"kills",` +
			`"resources":{"requests":{"storage":"1Gi"}}}}],"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"` + retention + `","whenScaled":"` + retention + `"},` +
			`"podManagementPolicy":"` + one(c, []string{"OrderedReady", "Parallel"}) + `",`
		c.make("statefulset", collection, "s", c.workload(fmt.Sprint(c.serial), "StatefulSet", "s", "", c.spec(`{"operator":"Exists"}`, c.container("")),
			claims+fmt.Sprintf(`"replicas":%d,"serviceName":"s",`, c.rand.IntN(4))), true)
	}
}

func (c *churn) actDaemonSet(ns string) {
	collection := "/apis/apps/v1/namespaces/" + ns + "/daemonsets"
	code := 0
	if c.rand.IntN(6) == 0 {
		c.delete("daemonset", collection, "ds", `{"propagationPolicy":"Background"}`)
		return
	}
	c.serial++
	code, _ = c.send("PATCH", collection+"/ds", mergePatch, fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"v":"%d"}}}}}`, c.serial))
	if code == http.StatusNotFound {
		spec := fmt.Sprintf(`{"terminationGracePeriodSeconds":0,"tolerations":[%s],"containers":[{"name":"c","image":"i"}]}`,
			one(c, []string{`{"operator":"Exists"}`, `{"key":"sla","operator":"Gt","value":"930"}`, `{"key":"kernel","operator":"SemverGt","value":"5.9.0"}`}))
		c.make("daemonset", collection, "ds", c.workload(fmt.Sprint(c.serial), "DaemonSet", "ds", "", spec, ""), true)
	}
}

func (c *churn) actJob(ns string) {
	collection := "/apis/batch/v1/namespaces/" + ns + "/jobs"
	name := fmt.Sprintf("j%d", c.rand.IntN(workJobs))
	if c.rand.IntN(3) == 0 {
		c.delete("job", collection, name, `{"propagationPolicy":"`+one(c, []string{"Background", "Foreground"})+`"}`)
		return
	}
	completions, ttl, fails := 1+c.rand.IntN(4), "", `sleep 1`
	stays := c.rand.IntN(3) > 0
	if !stays {
		ttl = fmt.Sprintf(`"ttlSecondsAfterFinished":%d,`, c.rand.IntN(3))
	}
	if c.rand.IntN(6) == 0 {
		fails = `sleep 1; exit 3`
	}
	body := fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"%s"},"spec":{%s"completions":%d,"parallelism":%d,"backoffLimit":0,`+
		`"completionMode":"%s","podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},`+
		`"template":{"metadata":{"labels":{"ends":"yes"}},"spec":%s}}}`, name, ttl, completions, 1+c.rand.IntN(completions),
		one(c, []string{"NonIndexed", "Indexed"}),
		c.spec(one(c, tolerationSets), `"restartPolicy":"Never",`+c.container(`,"command":["sh","-c","`+fails+`"]`)))
	c.make("job", collection, name, body, stays)
}

func (c *churn) actPod(ns string) {
	if len(c.bare) > mostBarePods || len(c.bare) > 0 && c.rand.IntN(3) == 0 {
		i := c.rand.IntN(len(c.bare))
		id := c.bare[i]
		c.bare = append(c.bare[:i], c.bare[i+1:]...)
		c.h.ask(id)
		in, name, _ := strings.Cut(id, "/")
		options := one(c, []string{`{}`, `{}`, `{"gracePeriodSeconds":1}`, `{"gracePeriodSeconds":0}`})
		c.send("DELETE", "/api/v1/namespaces/"+in+"/pods/"+name, jsonBody, options)
		return
	}
	c.serial++
	tolerations := one(c, tolerationSets)
	if c.rand.IntN(2) == 0 {
		tolerations = fmt.Sprintf(one(c, passingTolerations), 1+c.rand.IntN(4))
	}
	c.makePod(ns, fmt.Sprintf("p%d", c.serial), c.spec(tolerations, c.container("")))
}

func (c *churn) makePod(ns, name, spec string) {
	c.bare = append(c.bare, ns+"/"+name)
	c.send("POST", "/api/v1/namespaces/"+ns+"/pods", jsonBody, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":%s}`, name, spec))
}

// actClaim makes a claim with a pod that uses it, or deletes both in one order or the other.
func (c *churn) actClaim(ns string) {
	name := fmt.Sprintf("c%d", c.rand.IntN(4))
	collection := "/api/v1/namespaces/" + ns + "/persistentvolumeclaims"
	id := ns + "/user-" + name
	if c.rand.IntN(2) == 0 {
		steps := []func(){
			func() { c.delete("persistentvolumeclaim", collection, name, `{}`) },
			func() { c.h.ask(id); c.send("DELETE", "/api/v1/namespaces/"+ns+"/pods/user-"+name, jsonBody, `{}`) },
		}
		first := c.rand.IntN(2)
		steps[first]()
		steps[1-first]()
		return
	}
	c.make("persistentvolumeclaim", collection, name, fmt.Sprintf(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"%s"},"spec":{`+
		`"accessModes":["ReadWriteOnce"],"storageClassName":"%s","resources":{"requests":{"storage":"1Gi"}}}}`, name,
		one(c, []string{"kills", "kills-now"})), true)
	c.send("POST", "/api/v1/namespaces/"+ns+"/pods", jsonBody, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"user-%s"},"spec":%s}`, name,
		c.spec(one(c, tolerationSets), c.container(``)+`,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"`+name+`"}}]`)))
}

// ---- nodes ----

// change reads a node, changes it and writes it back on condition that nobody else has.
func (c *churn) change(name string, f func(n *node)) {
	var n node
	if c.a.get("/api/v1/nodes/"+name, &n) != nil {
		return
	}
	f(&n)
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": n.ResourceVersion},
		"spec": map[string]any{"taints": n.Spec.Taints, "unschedulable": n.Spec.Unschedulable}})
	c.send("PATCH", "/api/v1/nodes/"+name, mergePatch, string(patch))
}

func (c *churn) actNode() {
	c.change(one(c, c.nodes), func(n *node) {
		if c.rand.IntN(5) == 0 {
			c.cordon(n, !n.Spec.Unschedulable)
			return
		}
		var kept []corev1.Taint
		for _, t := range n.Spec.Taints {
			if strings.Contains(t.Key, "/") {
				kept = append(kept, t)
			}
		}
		if c.rand.IntN(2) == 0 {
			kept = append(kept, corev1.Taint{Key: "sla", Value: one(c, []string{"900", "925", "940", "960"}), Effect: "NoExecute"})
		}
		if c.rand.IntN(4) == 0 {
			kept = append(kept, corev1.Taint{Key: "kernel", Value: one(c, []string{"5.4.0", "5.10.0", "v5.15.0"}),
				Effect: one(c, []corev1.TaintEffect{"NoExecute", "NoSchedule"})})
		}
		if c.rand.IntN(6) == 0 {
			kept = append(kept, corev1.Taint{Key: "gpu", Value: "true", Effect: "NoSchedule"})
		}
		if c.rand.IntN(3) == 0 {
			c.cordon(n, false)
			kept = kept[:0:0]
		}
		n.Spec.Taints = kept
	})
}

// cordon does what kubectl does. The taint that goes with it is the node lifecycle controller's.
func (c *churn) cordon(n *node, on bool) { n.Spec.Unschedulable = on }

// actDrain cordons a node and has its pods evicted.
func (c *churn) actDrain() {
	name := one(c, c.nodes)
	c.change(name, func(n *node) { n.Spec.Unschedulable = true })
	var pods []pod
	if _, err := list(c.a, "/api/v1/pods?fieldSelector=spec.nodeName="+name, &pods); err != nil {
		return
	}
	for i := range pods {
		p := &pods[i]
		c.h.ask(p.id())
		c.send("POST", "/api/v1/namespaces/"+p.Namespace+"/pods/"+p.Name+"/eviction", jsonBody,
			fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}`, p.Name, p.Namespace))
	}
}

// actNamespace makes a namespace with some things in it, or deletes it.
func (c *churn) actNamespace() {
	if c.brief != "" {
		c.h.ask(c.brief + "/")
		c.send("DELETE", "/api/v1/namespaces/"+c.brief, jsonBody, `{}`)
		c.brief = ""
		return
	}
	c.serial++
	c.brief = fmt.Sprintf("brief-%d", c.serial)
	c.send("POST", "/api/v1/namespaces", jsonBody, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+c.brief+`"}}`)
	c.send("POST", "/apis/apps/v1/namespaces/"+c.brief+"/deployments", jsonBody,
		c.workload("1", "Deployment", "d", "", c.spec(one(c, tolerationSets), c.container("")), `"replicas":3,`))
	c.send("POST", "/apis/apps/v1/namespaces/"+c.brief+"/statefulsets", jsonBody, c.workload("1", "StatefulSet", "s", "", c.spec(``, c.container("")),
		`"replicas":2,"serviceName":"s","volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],`+
			`"storageClassName":"kills","resources":{"requests":{"storage":"1Gi"}}}}],`))
}

// ---- life ----

// prepare makes what stays from the beginning to the end.
func (c *churn) prepare(far []string) error {
	for _, name := range far {
		c.send("POST", "/api/v1/nodes", jsonBody, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"`+name+`"},`+
			`"status":{"capacity":{"cpu":"8","memory":"40Gi","pods":"12"}}}`)
	}
	for _, class := range [][2]string{{"kills", "WaitForFirstConsumer"}, {"kills-now", "Immediate"}} {
		c.send("POST", "/apis/storage.k8s.io/v1/storageclasses", jsonBody, fmt.Sprintf(`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass",`+
			`"metadata":{"name":"%s"},"provisioner":"kills.example.com","volumeBindingMode":"%s"}`, class[0], class[1]))
	}
	for _, ns := range workspaces {
		c.send("POST", "/api/v1/namespaces", jsonBody, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+ns+`"}}`)
		c.make("resourcequota", "/api/v1/namespaces/"+ns+"/resourcequotas", "all",
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"all"},"spec":{"hard":{"pods":"400","persistentvolumeclaims":"100"}}}`, true)
		for i := range workDeployments {
			name := fmt.Sprintf("d%d", i)
			c.make("service", "/api/v1/namespaces/"+ns+"/services", name, fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"%s"},"spec":{`+
				`"selector":{"app":"%s"},"ports":[{"port":80}]}}`, name, name), true)
		}
		for i := range 2 {
			name := fmt.Sprintf("d%d", i)
			c.make("poddisruptionbudget", "/apis/policy/v1/namespaces/"+ns+"/poddisruptionbudgets", name, fmt.Sprintf(`{"apiVersion":"policy/v1",`+
				`"kind":"PodDisruptionBudget","metadata":{"name":"%s"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"%s"}}}}`, name, name), true)
		}
	}
	return nil
}

// label gives the nodes zones when they are there.
func (c *churn) label(nodes []node) {
	for i := range nodes {
		c.nodes = append(c.nodes, nodes[i].Name)
		c.send("PATCH", "/api/v1/nodes/"+nodes[i].Name, mergePatch, fmt.Sprintf(
			`{"metadata":{"labels":{"zone":"z%d","topology.kubernetes.io/zone":"z%d"}}}`, i%2, i%2))
	}
}

func (c *churn) begin() {
	c.stop = make(chan struct{})
	c.most = one(c, []int{4, 8, 14}) // with the last one there is not room for all
	c.at.Lock()
	go func() {
		defer c.at.Unlock()
		for {
			select {
			case <-c.stop:
				return
			case <-time.After(time.Duration(10+c.rand.IntN(50)) * time.Millisecond):
			}
			c.act()
		}
	}()
}

// rest ends the churn when what is under way is done.
func (c *churn) rest() {
	close(c.stop)
	c.at.Lock()
	c.at.Unlock()
}
