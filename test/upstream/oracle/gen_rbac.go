package main

import (
	"fmt"
	"math/rand/v2"
)

var (
	rbacVerbs      = []string{"get", "list", "watch", "create", "update", "delete", "*", "impersonate", "bind", "escalate", ""}
	rbacGroups     = []string{"", "", "apps", "batch", "rbac.authorization.k8s.io", "*", "appsx"}
	rbacKinds      = []string{"pods", "pods/log", "pods/exec", "deployments", "deployments/scale", "nodes", "roles", "clusterroles", "*", "*/scale", "*/log", "podsx", "pods/"}
	rbacNames      = []string{"a", "b", "web", "r1", "r2", ""}
	rbacURLs       = []string{"/healthz", "/healthz/*", "/api", "/api/*", "*", "/api/v1", "/apis**", "/", ""}
	rbacUsers      = []string{"joe", "jim", "system:serviceaccount:a:robot", "system:serviceaccount:b:robot", "system:serviceaccount:a:", "\"odd\" <é>", ""}
	rbacTeams      = []string{"dev", "ops", "system:authenticated", "system:serviceaccounts", "joe", ""}
	rbacNamespaces = []string{"a", "b"}
	rbacRoleNames  = []string{"r1", "r2", "r3", "web"}
)

func rbacRule(r *rand.Rand) object {
	rule := object{"verbs": some(r, 3, func() string { return pick(r, rbacVerbs) })}
	if chance(r, 20) {
		rule["nonResourceURLs"] = some(r, 3, func() string { return pick(r, rbacURLs) })
		if chance(r, 90) {
			return rule
		}
	}
	rule["apiGroups"] = some(r, 3, func() string { return pick(r, rbacGroups) })
	rule["resources"] = some(r, 3, func() string { return pick(r, rbacKinds) })
	maybe(r, 20, rule, "resourceNames", some(r, 3, func() string { return pick(r, rbacNames) }))
	return rule
}

func rbacObject(r *rand.Rand, kind, name string) object {
	meta := object{"name": name}
	if kind == "Role" || kind == "RoleBinding" {
		meta["namespace"] = pick(r, rbacNamespaces)
	}
	return object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta}
}

func rbacRole(r *rand.Rand, kind, name string) object {
	o := rbacObject(r, kind, name)
	o["rules"] = some(r, 4, func() object { return rbacRule(r) })
	if kind == "ClusterRole" && chance(r, 5) {
		o["aggregationRule"] = object{"clusterRoleSelectors": some(r, 2, func() object { return object{"matchLabels": object{"a": "b"}} })}
	}
	return o
}

func rbacSubject(r *rand.Rand) object {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return object{"kind": "User", "name": pick(r, rbacUsers)}
	case 4, 5, 6:
		return object{"kind": "Group", "name": pick(r, rbacTeams)}
	case 7, 8:
		s := object{"kind": "ServiceAccount", "name": pick(r, []string{"robot", "other", ""})}
		maybe(r, 60, s, "namespace", pick(r, rbacNamespaces))
		return s
	}
	return object{"kind": pick(r, []string{"user", "Robot", ""}), "name": "joe"}
}

func rbacBinding(r *rand.Rand, kind, name string) object {
	o := rbacObject(r, kind, name)
	o["subjects"] = some(r, 4, func() object { return rbacSubject(r) })
	ref := pick(r, []string{"ClusterRole", "ClusterRole", "Role"})
	if chance(r, 3) {
		ref = pick(r, []string{"Odd", ""})
	}
	o["roleRef"] = object{"apiGroup": "rbac.authorization.k8s.io", "kind": ref, "name": pick(r, rbacRoleNames)}
	return o
}

// rbacCluster is some roles and bindings; no two of a kind and namespace have the same name.
func rbacCluster(r *rand.Rand) (objects []object) {
	for _, name := range rbacRoleNames {
		if chance(r, 75) {
			objects = append(objects, rbacRole(r, "ClusterRole", name))
		}
		if chance(r, 50) {
			objects = append(objects, rbacRole(r, "Role", name))
		}
	}
	for i := range r.IntN(6) {
		objects = append(objects, rbacBinding(r, "ClusterRoleBinding", fmt.Sprintf("b%d", i)))
	}
	for i := range r.IntN(6) {
		objects = append(objects, rbacBinding(r, "RoleBinding", fmt.Sprintf("b%d", i)))
	}
	return objects
}

func rbacAsked(r *rand.Rand) object {
	q := object{"verb": pick(r, rbacVerbs)}
	if chance(r, 15) {
		q["path"] = pick(r, []string{"/healthz", "/healthz/ping", "/api", "/api/v1", "/apis", "/apis/x", "/<x>&", "/api/"})
		return q
	}
	maybe(r, 60, q, "namespace", pick(r, rbacNamespaces))
	maybe(r, 60, q, "group", pick(r, rbacGroups))
	q["resource"] = pick(r, []string{"pods", "deployments", "nodes", "roles", "clusterroles", "podsx", "pods/log"})
	maybe(r, 30, q, "subresource", pick(r, []string{"log", "scale", "exec", "*"}))
	maybe(r, 60, q, "name", pick(r, rbacNames))
	return q
}

func rbacWritten(r *rand.Rand) object {
	kind := pick(r, []string{"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})
	written := func() object {
		if kind == "Role" || kind == "ClusterRole" {
			return rbacRole(r, kind, "new")
		}
		return rbacBinding(r, kind, "new")
	}
	w := object{"object": written()}
	if chance(r, 25) {
		old := written()
		if chance(r, 50) {
			old = tree(encode(w["object"])).(object)
		}
		old["metadata"].(object)["finalizers"] = some(r, 2, func() string { return pick(r, finalizerNames) })
		old["metadata"].(object)["namespace"] = w["object"].(object)["metadata"].(object)["namespace"]
		if old["metadata"].(object)["namespace"] == nil {
			delete(old["metadata"].(object), "namespace")
		}
		w["old"] = old
	}
	return w
}

func generateRBAC(r *rand.Rand) line {
	l := line{}
	who := object{"name": pick(r, rbacUsers)}
	groups := some(r, 3, func() string { return pick(r, rbacTeams) })
	if chance(r, 4) {
		groups = append(groups, "system:masters")
	}
	who["groups"] = groups
	l.set("objects", rbacCluster(r))
	l.set("user", who)
	if chance(r, 60) {
		l.set("question", rbacAsked(r))
	} else {
		l.set("write", rbacWritten(r))
	}
	return l
}
