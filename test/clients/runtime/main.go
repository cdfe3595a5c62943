// A controller of controller-runtime: for each Namespace-like wish, a ConfigMap that is labelled `wanted`, it keeps a
// Secret with the same data, owned by it, and tells in an annotation that it did. It works on through a restart of
// the server. KUBECONFIG says where that is, and RESTART is a command that kills it and starts it again.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	namespace = "controller-runtime"
	patience  = 60 * time.Second
)

func must(err error, what string) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func await(what string, ok func() bool) {
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			log.Fatalf("not within %v: %s", patience, what)
		}
	}
}

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var wish corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &wish); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if wish.Labels["wanted"] != "yes" {
		return ctrl.Result{}, nil
	}
	secret := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: wish.Name, Namespace: wish.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r, &secret, func() error {
		secret.StringData = wish.Data
		return controllerutil.SetControllerReference(&wish, &secret, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := wish.DeepCopy()
	if wish.Annotations == nil {
		wish.Annotations = map[string]string{}
	}
	wish.Annotations["kept"] = wish.Data["v"]
	return ctrl.Result{}, r.Patch(ctx, &wish, client.MergeFrom(before))
}

func main() {
	log.SetFlags(0)
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err, "kubeconfig")
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}, LeaderElection: true, LeaderElectionID: "keeper", LeaderElectionNamespace: "default"})
	must(err, "manager")
	must(ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(&reconciler{manager.GetClient()}), "controller")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	go func() { must(manager.Start(ctx), "manager") }()
	c, err := client.New(config, client.Options{})
	must(err, "client")
	must(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}), "namespace")
	check(ctx, c)
}

func check(ctx context.Context, c client.Client) {
	key := types.NamespacedName{Namespace: namespace, Name: "wish"}
	kept := func(value string) func() bool {
		return func() bool {
			var wish corev1.ConfigMap
			var secret corev1.Secret
			return c.Get(ctx, key, &wish) == nil && wish.Annotations["kept"] == value && c.Get(ctx, key, &secret) == nil &&
				string(secret.Data["v"]) == value && len(secret.OwnerReferences) == 1
		}
	}
	must(c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "wish", Labels: map[string]string{"wanted": "yes"}}, Data: map[string]string{"v": "1"}}), "create")
	await("the wish is kept", kept("1"))
	must(c.Apply(ctx, applycorev1.ConfigMap("wish", namespace).WithData(map[string]string{"v": "2"}), client.FieldOwner("applier"), client.ForceOwnership), "apply")
	await("a change is kept", kept("2"))
	words := strings.Fields(os.Getenv("RESTART"))
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	must(err, "restart: "+string(out))
	must(c.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "wish"}}), "delete")
	await("a secret that is gone is made again", kept("2"))
	var wish corev1.ConfigMap
	must(c.Get(ctx, key, &wish), "get")
	patch := client.StrategicMergeFrom(wish.DeepCopy())
	wish.Data["v"] = "3"
	must(c.Patch(ctx, &wish, patch), "patch")
	await("a change behind the restart is kept", kept("3"))
	var list corev1.SecretList
	must(c.List(ctx, &list, client.InNamespace(namespace)), "list")
	if len(list.Items) != 1 {
		log.Fatalf("secrets: %v", list.Items)
	}
	must(c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace)), "delete all")
	if err := c.Get(ctx, key, &wish); !apierrors.IsNotFound(err) {
		log.Fatalf("it is still there: %v", err)
	}
	fmt.Println("ok controller-runtime: a controller works on through a restart of the server")
}
