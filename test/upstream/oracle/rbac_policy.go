package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// policyObjects are the roles and bindings of a kind that every cluster has, by namespace and name.
func policyObjects(kind string) (objects []runtime.Object) {
	switch kind {
	case "ClusterRole":
		for _, r := range append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...) {
			objects = append(objects, &r)
		}
	case "ClusterRoleBinding":
		for _, b := range append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...) {
			objects = append(objects, &b)
		}
	case "Role":
		for _, list := range bootstrappolicy.NamespaceRoles() {
			for _, r := range list {
				objects = append(objects, &r)
			}
		}
	case "RoleBinding":
		for _, list := range bootstrappolicy.NamespaceRoleBindings() {
			for _, b := range list {
				objects = append(objects, &b)
			}
		}
	}
	for _, o := range objects {
		o.GetObjectKind().SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind(kind))
	}
	slices.SortFunc(objects, func(a, b runtime.Object) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return objects
}

func keyOf(o runtime.Object) string {
	m, err := meta.Accessor(o)
	if err != nil {
		panic(badQuestion{err})
	}
	return m.GetNamespace() + "/" + m.GetName()
}

// All objects of a kind; or what a server does about one that is stored.
func policyAnswer(l line) {
	kind := get[string](l, "kind")
	if !l.has("stored") {
		l.set("objects", policyObjects(kind))
		return
	}
	for _, o := range policyObjects(kind) {
		if keyOf(o) == get[string](l, "name") {
			reconcile(l, o)
			return
		}
	}
	panic(badQuestion{fmt.Errorf("no such object")})
}

func reconcile(l line, expected runtime.Object) {
	var operation reconciliation.ReconcileOperation
	var after runtime.Object
	var protected bool
	switch o := expected.(type) {
	case *rbacv1.ClusterRole:
		stored := reconciliation.ClusterRoleRuleOwner{ClusterRole: get[*rbacv1.ClusterRole](l, "stored")}
		operation, after, protected = reconcileRole(reconciliation.ClusterRoleRuleOwner{ClusterRole: o}, stored)
	case *rbacv1.Role:
		stored := reconciliation.RoleRuleOwner{Role: get[*rbacv1.Role](l, "stored")}
		operation, after, protected = reconcileRole(reconciliation.RoleRuleOwner{Role: o}, stored)
	case *rbacv1.ClusterRoleBinding:
		stored := reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: get[*rbacv1.ClusterRoleBinding](l, "stored")}
		operation, after, protected = reconcileBinding(reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: o}, stored)
	case *rbacv1.RoleBinding:
		stored := reconciliation.RoleBindingAdapter{RoleBinding: get[*rbacv1.RoleBinding](l, "stored")}
		operation, after, protected = reconcileBinding(reconciliation.RoleBindingAdapter{RoleBinding: o}, stored)
	}
	if protected {
		operation = reconciliation.ReconcileNone
	}
	l.set("operation", operation)
	if operation != reconciliation.ReconcileNone {
		l.set("after", after)
	}
}

func reconcileRole(expected, stored reconciliation.RuleOwner) (reconciliation.ReconcileOperation, runtime.Object, bool) {
	options := reconciliation.ReconcileRoleOptions{Role: expected, Client: storedRole{stored}}
	result, err := options.Run()
	if err != nil {
		panic(badQuestion{err})
	}
	return result.Operation, result.Role.GetObject(), result.Protected
}

func reconcileBinding(expected, stored reconciliation.RoleBinding) (reconciliation.ReconcileOperation, runtime.Object, bool) {
	options := reconciliation.ReconcileRoleBindingOptions{RoleBinding: expected, Client: storedBinding{stored}}
	result, err := options.Run()
	if err != nil {
		panic(badQuestion{err})
	}
	return result.Operation, result.RoleBinding.GetObject(), result.Protected
}

type storedRole struct{ reconciliation.RuleOwner }

func (s storedRole) Get(string, string) (reconciliation.RuleOwner, error) { return s.RuleOwner, nil }
func (s storedRole) Create(reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	return nil, apierrors.NewInternalError(fmt.Errorf("not confirmed"))
}
func (s storedRole) Update(reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	return nil, apierrors.NewInternalError(fmt.Errorf("not confirmed"))
}

type storedBinding struct{ reconciliation.RoleBinding }

func (s storedBinding) Get(string, string) (reconciliation.RoleBinding, error) {
	return s.RoleBinding, nil
}
func (s storedBinding) Delete(string, string, types.UID) error { return nil }
func (s storedBinding) Create(reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	return nil, apierrors.NewInternalError(fmt.Errorf("not confirmed"))
}
func (s storedBinding) Update(reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	return nil, apierrors.NewInternalError(fmt.Errorf("not confirmed"))
}

// A stored object is an expected one of which something was taken, changed or added.
func generatePolicy(r *rand.Rand) line {
	l := line{}
	kind := pick(r, []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"})
	l.set("kind", kind)
	if chance(r, 10) {
		return l
	}
	expected := pick(r, policyObjects(kind))
	stored := tree(encode(expected)).(object)
	l.set("name", keyOf(expected))
	m := stored["metadata"].(object)
	for _, key := range []string{"labels", "annotations"} {
		if chance(r, 20) {
			m[key] = object{"x": "y"}
		}
		if chance(r, 10) {
			delete(m, key)
		}
	}
	if chance(r, 5) {
		m["annotations"] = object{"rbac.authorization.k8s.io/autoupdate": "false"}
	}
	dropSome(r, stored, "rules", func() any { return rbacRule(r) })
	dropSome(r, stored, "subjects", func() any { return rbacSubject(r) })
	if ref, ok := stored["roleRef"].(object); ok && chance(r, 5) {
		ref["name"] = "other"
	}
	if kind == "ClusterRole" && chance(r, 10) {
		stored["aggregationRule"] = object{"clusterRoleSelectors": []object{{"matchLabels": object{"a": "b"}}}}
	}
	if kind == "ClusterRole" && chance(r, 10) {
		delete(stored, "aggregationRule")
	}
	l.set("stored", stored)
	return l
}

func dropSome(r *rand.Rand, o object, key string, more func() any) {
	list, ok := o[key].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(slices.Clone(list), func(any) bool { return chance(r, 15) })
	if chance(r, 20) {
		list = append(list, tree(encode(more())))
	}
	o[key] = list
}
