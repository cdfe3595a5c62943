// What programs do with client-go: typed and dynamic clients, patches and apply, informers that live through a
// restart of the server, leader election. KUBECONFIG says where the server is, and RESTART is a command that
// kills it and starts it again.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

const (
	namespace = "client-go"
	patience  = 60 * time.Second
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// A failure ends the program: what follows depends on what went before.
func must(err error, what string) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func expect(ok bool, format string, args ...any) {
	if !ok {
		log.Fatalf(format, args...)
	}
}

func await(what string, ok func() bool) {
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		expect(time.Now().Before(end), "not within %v: %s", patience, what)
	}
}

func restartServer() {
	words := strings.Fields(os.Getenv("RESTART"))
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	must(err, "restart: "+string(out))
}

func main() {
	log.SetFlags(0)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err, "kubeconfig")
	config.QPS, config.Burst = 200, 200
	client, err := kubernetes.NewForConfig(config)
	must(err, "client")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must(err, "namespace")
	typed(ctx, client)
	untyped(ctx, config)
	informed(ctx, client)
	dynamicallyInformed(ctx, config, client)
	elected(ctx, client)
}

func typed(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "typed"}, Data: map[string]string{"a": "1"}}, metav1.CreateOptions{})
	must(err, "create")
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "typed"}}, metav1.CreateOptions{})
	expect(apierrors.IsAlreadyExists(err), "a second one is made: %v", err)
	stale := made.DeepCopy()
	made.Data["a"] = "2"
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	must(err, "update")
	stale.Data["a"] = "3"
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	expect(apierrors.IsConflict(err), "a stale update passes: %v", err)
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := maps.Get(ctx, "typed", metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Data["a"] = "4"
		_, err = maps.Update(ctx, now, metav1.UpdateOptions{})
		return err
	}), "update with retries")
	for patchType, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"add","path":"/data/json","value":"x"}]`,
		types.MergePatchType:          `{"data":{"merge":"x"}}`,
		types.StrategicMergePatchType: `{"data":{"strategic":"x"}}`,
	} {
		_, err = maps.Patch(ctx, "typed", patchType, []byte(patch), metav1.PatchOptions{})
		must(err, string(patchType))
	}
	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("typed", namespace).WithData(map[string]string{"applied": "x"}), metav1.ApplyOptions{FieldManager: "client"})
	must(err, "apply")
	expect(len(applied.Data) == 5, "data after patches and apply: %v", applied.Data)
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("typed", namespace).WithData(map[string]string{"a": "mine"}), metav1.ApplyOptions{FieldManager: "client"})
	expect(apierrors.IsConflict(err), "apply takes the field of another: %v", err)
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("typed", namespace).WithData(map[string]string{"a": "mine"}), metav1.ApplyOptions{FieldManager: "client", Force: true})
	must(err, "apply by force")
	list, err := maps.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=typed"})
	must(err, "list")
	_, still := list.Items[0].Data["applied"]
	expect(len(list.Items) == 1 && list.Items[0].Data["a"] == "mine" && !still, "list: %v", list.Items)
	must(maps.Delete(ctx, "typed", metav1.DeleteOptions{}), "delete")
	_, err = maps.Get(ctx, "typed", metav1.GetOptions{})
	expect(apierrors.IsNotFound(err), "it is still there: %v", err)
	fmt.Println("ok client-go: create, get, list, update, patch, apply, delete")
}

func untyped(ctx context.Context, config *rest.Config) {
	client, err := dynamic.NewForConfig(config)
	must(err, "dynamic client")
	maps := client.Resource(configMaps).Namespace(namespace)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "dynamic"}, "data": map[string]any{"a": "1"}}}
	_, err = maps.Create(ctx, object, metav1.CreateOptions{})
	must(err, "dynamic create")
	_, err = maps.Patch(ctx, "dynamic", types.MergePatchType, []byte(`{"data":{"b":"2"}}`), metav1.PatchOptions{})
	must(err, "dynamic patch")
	_, err = maps.Apply(ctx, "dynamic", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "dynamic"}, "data": map[string]any{"c": "3"}}}, metav1.ApplyOptions{FieldManager: "dynamic"})
	must(err, "dynamic apply")
	got, err := maps.Get(ctx, "dynamic", metav1.GetOptions{})
	must(err, "dynamic get")
	data, _, _ := unstructured.NestedStringMap(got.Object, "data")
	expect(len(data) == 3, "dynamic data: %v", data)
	must(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=dynamic"}), "dynamic delete")
	fmt.Println("ok client-go: dynamic client")
}

// A log of what an informer has told, by name and value.
type record struct {
	mu   sync.Mutex
	told []string
}

func (r *record) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, text)
}

func (r *record) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.told, " ")
}

func (r *record) handler() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { r.add("+" + text(o)) },
		UpdateFunc: func(_, o any) { r.add("~" + text(o)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			r.add("-" + text(o))
		},
	}
}

func text(o any) string {
	switch o := o.(type) {
	case *corev1.ConfigMap:
		return o.Name + o.Data["v"]
	case *unstructured.Unstructured:
		value, _, _ := unstructured.NestedString(o.Object, "data", "v")
		return o.GetName() + value
	}
	return fmt.Sprintf("%T", o)
}

func write(ctx context.Context, client kubernetes.Interface, name, value string) {
	maps := client.CoreV1().ConfigMaps(namespace)
	await("write "+name+value, func() bool {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"watched": "yes"}}, Data: map[string]string{"v": value}}
		_, err := maps.Update(ctx, o, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = maps.Create(ctx, o, metav1.CreateOptions{})
		}
		return err == nil
	})
}

// witness writes before and after a restart, and waits until a log has each event once, in order. Informers may
// tell an object again that they list again, without a change.
func witness(ctx context.Context, client kubernetes.Interface, r *record, name string) {
	want := []string{"+" + name + "1", "~" + name + "2"}
	write(ctx, client, name, "1")
	await("first event", func() bool { return strings.Contains(r.all(), want[0]) })
	write(ctx, client, name, "2")
	await("second event", func() bool { return strings.Contains(r.all(), want[1]) })
	restartServer()
	write(ctx, client, name, "3")
	await("an event behind the restart", func() bool { return strings.Contains(r.all(), "~"+name+"3") })
	must(client.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{}), "delete")
	await("the deletion", func() bool { return strings.Contains(r.all(), "-"+name+"3") })
	order, at := r.all(), 0
	for _, event := range append(want, "~"+name+"3", "-"+name+"3") {
		i := strings.Index(order, event)
		expect(i >= at, "events out of order: %s", order)
		at = i
	}
}

func informed(ctx context.Context, client kubernetes.Interface) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &record{}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "watched=yes" }))
	informer := factory.Core().V1().ConfigMaps().Informer()
	informer.AddEventHandler(r.handler())
	factory.Start(ctx.Done())
	expect(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "the informer is not in step")
	witness(ctx, client, r, "i")
	fmt.Println("ok client-go: an informer lives through a restart of the server")
}

func dynamicallyInformed(ctx context.Context, config *rest.Config, typed kubernetes.Interface) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client, err := dynamic.NewForConfig(config)
	must(err, "dynamic client")
	r := &record{}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, func(o *metav1.ListOptions) { o.LabelSelector = "watched=yes" })
	informer := factory.ForResource(configMaps).Informer()
	informer.AddEventHandler(r.handler())
	factory.Start(ctx.Done())
	expect(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "the dynamic informer is not in step")
	witness(ctx, typed, r, "d")
	fmt.Println("ok client-go: a dynamic informer lives through a restart of the server")
}

func elected(ctx context.Context, client kubernetes.Interface) {
	leading := make(chan string, 8)
	run := func(ctx context.Context, id string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: namespace}, Client: client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: id}},
			ReleaseOnCancel: true, LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leading <- id }, OnStoppedLeading: func() {}},
		})
	}
	first, stop := context.WithCancel(ctx)
	go run(first, "one")
	expect(<-leading == "one", "somebody else leads")
	second, end := context.WithCancel(ctx)
	defer end()
	go run(second, "two")
	select {
	case id := <-leading:
		log.Fatalf("%s leads beside the other", id)
	case <-time.After(2 * time.Second):
	}
	restartServer()
	stop()
	select {
	case id := <-leading:
		expect(id == "two", "%s leads again", id)
	case <-time.After(patience):
		log.Fatal("nobody takes over")
	}
	fmt.Println("ok client-go: leaders are elected")
}
