package main

import (
	"encoding/json"
	"fmt"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a server says about itself. The module of Kubernetes has it in api/discovery, as its kube-apiserver said it: their
// own tests start one and refuse a difference.

var discovered []*metav1.APIResourceList

func discovery() []*metav1.APIResourceList {
	if discovered != nil {
		return discovered
	}
	paths, err := filepath.Glob(filepath.Join(moduleDir("k8s.io/kubernetes"), "api/discovery/api*__v*.json"))
	if err != nil || len(paths) == 0 {
		panic(badQuestion{fmt.Errorf("no api/discovery in the module of Kubernetes")})
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		list := &metav1.APIResourceList{}
		if err == nil {
			err = json.Unmarshal(text, list)
		}
		if err != nil {
			panic(badQuestion{err})
		}
		if list.GroupVersion != "" {
			discovered = append(discovered, list)
		}
	}
	return discovered
}

// moduleDir is where the module that this program was built with lies.
func moduleDir(path string) string {
	info, _ := debug.ReadBuildInfo()
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		cache = filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "pkg", "mod")
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return filepath.Join(cache, m.Path+"@"+m.Version)
		}
	}
	panic(badQuestion{fmt.Errorf("not built with %s", path)})
}

// A kind's resource and its subresources, as a server lists them. A kind that has none has no answer.
func discoveryAnswer(l line) {
	version, kind := get[string](l, "apiVersion"), get[string](l, "kind")
	for _, list := range discovery() {
		at := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool {
			return r.Kind == kind && !strings.Contains(r.Name, "/")
		})
		if list.GroupVersion != version || at < 0 {
			continue
		}
		l.set("resource", shownResource(list.APIResources[at]))
		l.set("subresources", subresources(list, list.APIResources[at].Name))
		return
	}
	panic(badQuestion{fmt.Errorf("no resource of %s %s", version, kind)})
}

type shown struct {
	Name       string   `json:"name"`
	APIVersion string   `json:"apiVersion,omitempty"`
	Kind       string   `json:"kind"`
	Singular   string   `json:"singularName,omitempty"`
	Namespaced bool     `json:"namespaced"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Verbs      []string `json:"verbs"`
}

func shownResource(r metav1.APIResource) shown {
	version := strings.TrimPrefix(r.Group+"/"+r.Version, "/")
	return shown{r.Name, version, r.Kind, r.SingularName, r.Namespaced, r.ShortNames, r.Categories, r.Verbs}
}

func subresources(list *metav1.APIResourceList, name string) []shown {
	found := []shown{}
	for _, r := range list.APIResources {
		if strings.HasPrefix(r.Name, name+"/") {
			found = append(found, shownResource(r))
		}
	}
	return found
}

func generateDiscovery(r *rand.Rand) line {
	list := pick(r, discovery())
	l := line{}
	l.set("apiVersion", list.GroupVersion)
	l.set("kind", pick(r, list.APIResources).Kind)
	return l
}
