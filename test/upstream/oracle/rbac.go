package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	clusterrole "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/policybased"
	clusterrolebinding "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/policybased"
	role "k8s.io/kubernetes/pkg/registry/rbac/role/policybased"
	rolebinding "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/policybased"
	rbacvalidation "k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// rbacObjects answers as the caches of an authorizer do, or the storage of roles. Bindings are in the order of their names,
// where the caches have none.
type rbacObjects struct {
	roles               []*rbacv1.Role
	clusterRoles        []*rbacv1.ClusterRole
	roleBindings        []*rbacv1.RoleBinding
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
	plural              string // "s" of the storage
}

func readRBAC(l line) *rbacObjects {
	o := &rbacObjects{}
	for _, raw := range get[[]json.RawMessage](l, "objects") {
		kind := struct{ Kind string }{}
		if err := json.Unmarshal(raw, &kind); err != nil {
			panic(badQuestion{err})
		}
		switch kind.Kind {
		case "Role":
			o.roles = append(o.roles, read[rbacv1.Role](raw))
		case "ClusterRole":
			o.clusterRoles = append(o.clusterRoles, read[rbacv1.ClusterRole](raw))
		case "RoleBinding":
			o.roleBindings = append(o.roleBindings, read[rbacv1.RoleBinding](raw))
		case "ClusterRoleBinding":
			o.clusterRoleBindings = append(o.clusterRoleBindings, read[rbacv1.ClusterRoleBinding](raw))
		}
	}
	slices.SortFunc(o.roleBindings, func(a, b *rbacv1.RoleBinding) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(o.clusterRoleBindings, func(a, b *rbacv1.ClusterRoleBinding) int { return strings.Compare(a.Name, b.Name) })
	return o
}

func read[T any](raw json.RawMessage) *T {
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		panic(badQuestion{err})
	}
	return v
}

func (o *rbacObjects) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	for _, r := range o.roles {
		if r.Namespace == namespace && r.Name == name {
			return r, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("role"+o.plural), name)
}

func (o *rbacObjects) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	for _, r := range o.clusterRoles {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"+o.plural), name)
}

func (o *rbacObjects) ListRoleBindings(_ context.Context, namespace string) (found []*rbacv1.RoleBinding, err error) {
	for _, b := range o.roleBindings {
		if b.Namespace == namespace {
			found = append(found, b)
		}
	}
	return found, nil
}

func (o *rbacObjects) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return o.clusterRoleBindings, nil
}

func (o *rbacObjects) authorizer() authorizer.Authorizer {
	a, err := union.New(
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/system-privileged-group", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)},
		union.NamedAuthorizer{AuthorizerName: "rbac", Authorizer: rbac.New(o, o, o, o)})
	if err != nil {
		panic(badQuestion{err})
	}
	return a
}

type rbacQuestion struct {
	Verb        string `json:"verb"`
	Namespace   string `json:"namespace,omitempty"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Name        string `json:"name,omitempty"`
	Path        string `json:"path,omitempty"`
}

type rbacUser struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// What roles and bindings allow to a user, and whether the user may write an object to them.
func rbacAnswer(l line) {
	objects, who := readRBAC(l), get[rbacUser](l, "user")
	u := &user.DefaultInfo{Name: who.Name, Groups: who.Groups}
	if l.has("question") {
		answerQuestion(l, objects, u)
	}
	if l.has("write") {
		answerWrite(l, objects, u)
	}
}

func answerQuestion(l line, objects *rbacObjects, u user.Info) {
	q := get[rbacQuestion](l, "question")
	attributes := authorizer.AttributesRecord{User: u, Verb: q.Verb, Namespace: q.Namespace, APIGroup: q.Group, Resource: q.Resource,
		Subresource: q.Subresource, Name: q.Name, Path: q.Path, ResourceRequest: q.Path == ""}
	decision, reason, err := objects.authorizer().Authorize(context.Background(), attributes)
	if err != nil {
		panic(badQuestion{err})
	}
	l.set("allowed", decision == authorizer.DecisionAllow)
	l.set("reason", reason)
	if decision != authorizer.DecisionAllow {
		l.set("status", status(responsewriters.ForbiddenStatusError(attributes, reason)))
	}
}

type rbacWrite struct {
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old,omitempty"`
}

var rbacResources = map[string]string{"Role": "roles", "ClusterRole": "clusterroles", "RoleBinding": "rolebindings",
	"ClusterRoleBinding": "clusterrolebindings"}

func answerWrite(l line, objects *rbacObjects, u user.Info) {
	w := get[rbacWrite](l, "write")
	meta := read[metav1.PartialObjectMetadata](w.Object)
	k := kind{group: "rbac.authorization.k8s.io", resource: rbacResources[meta.Kind]}
	obj, err := k.decode(meta.Kind, w.Object)
	if err != nil {
		panic(badQuestion{err})
	}
	stored := *objects
	stored.plural = "s"
	info := &request.RequestInfo{IsResourceRequest: true, APIGroup: k.group, APIVersion: "v1", Namespace: meta.Namespace, Resource: k.resource}
	ctx := request.WithUser(request.WithRequestInfo(request.WithNamespace(context.Background(), meta.Namespace), info), u)
	accept := &acceptingStorage{}
	storage := policyStorage(meta.Kind, accept, objects.authorizer(), &stored)
	if w.Old == nil {
		_, err = storage.(rest.Creater).Create(ctx, obj, nil, nil)
	} else {
		info.Name = meta.Name
		if accept.old, err = k.decode(meta.Kind, w.Old); err == nil {
			_, _, err = storage.(rest.Updater).Update(ctx, meta.Name, rest.DefaultUpdatedObjectInfo(obj), nil, nil, false, nil)
		}
	}
	l.set("accepted", err == nil)
	if err != nil {
		l.set("refusal", err.Error())
	}
}

func policyStorage(kind string, s rest.StandardStorage, a authorizer.Authorizer, objects *rbacObjects) any {
	resolver := rbacvalidation.NewDefaultRuleResolver(objects, objects, objects, objects)
	switch kind {
	case "Role":
		return role.NewStorage(s, a, resolver)
	case "ClusterRole":
		return clusterrole.NewStorage(s, a, resolver)
	case "RoleBinding":
		return rolebinding.NewStorage(s, a, resolver)
	case "ClusterRoleBinding":
		return clusterrolebinding.NewStorage(s, a, resolver)
	}
	panic(badQuestion{fmt.Errorf("no storage of %s", kind)})
}

// acceptingStorage stores whatever comes as far as it.
type acceptingStorage struct {
	rest.StandardStorage
	old runtime.Object
}

func (s *acceptingStorage) Create(_ context.Context, obj runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	return obj, nil
}

func (s *acceptingStorage) Update(ctx context.Context, _ string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	_ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, err := info.UpdatedObject(ctx, s.old)
	return obj, false, err
}
