package main

// The server as a client sees it: requests, lists, and watches that go on where they ended.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	requestPatience = 10 * time.Second
	watchPause      = 20 * time.Millisecond // before a watch that ended begins again
	mergePatch      = "application/merge-patch+json"
	jsonBody        = "application/json"
)

type api struct {
	base   string
	client *http.Client
}

func newAPI(kubeconfig string) (*api, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	return &api{config.Host, client}, err
}

// do sends a request. The code is 0 when there was no answer.
func (a *api) do(method, path, contentType string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Accept", jsonBody)
	answer, err := a.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, err
	}
	return answer.StatusCode, data, nil
}

// get reads an object.
func (a *api) get(path string, into any) error {
	code, data, err := a.do("GET", path, jsonBody, nil)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		return fmt.Errorf("GET %s: %d %.200s", path, code, data)
	}
	return json.Unmarshal(data, into)
}

func (a *api) isReady() bool {
	code, _, err := a.do("GET", "/readyz", jsonBody, nil)
	return err == nil && code == http.StatusOK
}

// list reads a collection and gives its revision.
func list[T any](a *api, path string, into *[]T) (string, error) {
	var all struct {
		Metadata metav1.ListMeta `json:"metadata"`
		Items    []T             `json:"items"`
	}
	err := a.get(path, &all)
	*into = all.Items
	return all.Metadata.ResourceVersion, err
}

type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watch tells of all changes behind a revision, until the context ends. Whenever the connection
// breaks it goes on behind the last event; an error is that the server does not let it.
func (a *api) watch(ctx context.Context, path, revision string, tell func(event) (string, error)) error {
	for ctx.Err() == nil {
		if err := a.watchOnce(ctx, path, &revision, tell); err != nil {
			return err
		}
		time.Sleep(watchPause)
	}
	return nil
}

func (a *api) watchOnce(ctx context.Context, path string, revision *string, tell func(event) (string, error)) error {
	request, err := http.NewRequestWithContext(ctx, "GET",
		a.base+path+"?watch=1&allowWatchBookmarks=true&resourceVersion="+*revision, nil)
	if err != nil {
		return err
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return nil // the server is not there
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusGone {
		return fmt.Errorf("the watch of %s cannot go on behind revision %s: it is gone", path, *revision)
	}
	if answer.StatusCode != http.StatusOK {
		return nil
	}
	for lines := json.NewDecoder(answer.Body); ; {
		var e event
		if lines.Decode(&e) != nil {
			return nil
		}
		if e.Type == "ERROR" {
			return fmt.Errorf("the watch of %s behind revision %s: %.300s", path, *revision, e.Object)
		}
		seen, err := tell(e)
		if err != nil {
			return err
		}
		*revision = seen
	}
}

// everything lists all that is judged.
func (a *api) everything() (*snapshot, error) {
	s := &snapshot{}
	for _, read := range []func() (string, error){
		func() (string, error) { return list(a, "/apis/apps/v1/deployments", &s.deployments) },
		func() (string, error) { return list(a, "/apis/apps/v1/replicasets", &s.replicaSets) },
		func() (string, error) { return list(a, "/apis/apps/v1/statefulsets", &s.statefulSets) },
		func() (string, error) { return list(a, "/apis/apps/v1/daemonsets", &s.daemonSets) },
		func() (string, error) { return list(a, "/apis/apps/v1/controllerrevisions", &s.revisions) },
		func() (string, error) { return list(a, "/apis/batch/v1/jobs", &s.jobs) },
		func() (string, error) { return list(a, "/api/v1/persistentvolumeclaims", &s.claims) },
		func() (string, error) { return list(a, "/api/v1/persistentvolumes", &s.volumes) },
		func() (string, error) { return list(a, "/api/v1/namespaces", &s.namespaces) },
		func() (string, error) { return list(a, "/api/v1/serviceaccounts", &s.accounts) },
		func() (string, error) { return list(a, "/api/v1/configmaps", &s.configMaps) },
		func() (string, error) { return list(a, "/api/v1/services", &s.services) },
		func() (string, error) { return list(a, "/apis/discovery.k8s.io/v1/endpointslices", &s.slices) },
		func() (string, error) { return list(a, "/apis/policy/v1/poddisruptionbudgets", &s.budgets) },
		func() (string, error) { return list(a, "/api/v1/resourcequotas", &s.quotas) },
		func() (string, error) { return list(a, "/apis/coordination.k8s.io/v1/leases", &s.leases) },
		func() (string, error) { return list(a, "/api/v1/nodes", &s.nodes) },
		func() (string, error) { return list(a, "/api/v1/pods", &s.pods) },
	} {
		if _, err := read(); err != nil {
			return nil, err
		}
	}
	return s, nil
}
