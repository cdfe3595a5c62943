package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	requestTimeout = 30 * time.Second
	quietFor       = 250 * time.Millisecond // after which a stream is taken to have told all
	settleTime     = 400 * time.Millisecond
	uncachedTime   = 100 * time.Millisecond // kube-apiserver has no cache of events: what a watch begins with is read behind its answer
)

var comparedHeaders = []string{"Content-Type", "Warning", "Retry-After", "Cache-Control", "Location", "Allow"}

// A stream that is being read.
type stream struct {
	mu     sync.Mutex
	events []any
	last   time.Time
	closed bool
	cancel context.CancelFunc
}

func (w *stream) add(e any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	w.last = time.Now()
}

func (w *stream) state() (n int, quiet bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events), w.closed || time.Since(w.last) > quietFor
}

// A case while it runs on one server.
type execution struct {
	s         *server
	c         *sequence
	namespace string
	known     references
	answers   []answer
	streams   map[int]*stream
	made      []string // paths of objects outside of the namespace
}

func newExecution(s *server, c *sequence, namespace string) *execution {
	return &execution{s: s, c: c, namespace: namespace, known: references{}, streams: map[int]*stream{}}
}

// setUp makes the namespace and the account that pods in it run under.
func (x *execution) setUp() error {
	account := `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"},"automountServiceAccountToken":false}`
	for _, s := range []step{
		{Send: "POST /api/v1/namespaces", Body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + placeholder + `"}}`},
		{Send: "POST /api/v1/namespaces/" + placeholder + "/serviceaccounts", Body: account},
	} {
		a, err := x.request(-1, &s)
		if err != nil || a.Code != 201 {
			return fmt.Errorf("%s: %s: %d %v %v", x.s.name, s.Send, a.Code, a.Body, err)
		}
	}
	return nil
}

func (x *execution) run() error {
	if err := x.setUp(); err != nil {
		return err
	}
	for i := range x.c.Steps {
		s := &x.c.Steps[i]
		if s.Settle {
			time.Sleep(settleTime)
		}
		a, err := x.request(i, s)
		if err != nil {
			return fmt.Errorf("%s: step %d: %w", x.s.name, i+1, err)
		}
		x.answers = append(x.answers, a)
		if s.ID != "" {
			x.known[s.ID] = a.Body
		}
		x.remember(s, &a)
	}
	return nil
}

// remember notes what is to be removed afterwards because no namespace holds it.
func (x *execution) remember(s *step, a *answer) {
	if a.Code != 201 || strings.Contains(s.path(), "/namespaces/") {
		return
	}
	body, _ := a.Body.(map[string]any)
	metadata, _ := body["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	path, _, _ := strings.Cut(s.path(), "?")
	if name != "" && s.method() == "POST" {
		x.made = append(x.made, path+"/"+name)
	} else if name != "" {
		x.made = append(x.made, strings.ReplaceAll(path, placeholder, x.namespace))
	}
}

func (x *execution) cleanUp() {
	for _, w := range x.streams {
		w.cancel()
	}
	for _, path := range x.made {
		x.request(-1, &step{Send: "PATCH " + path, Type: "application/merge-patch+json", Body: `{"metadata":{"finalizers":null}}`})
		x.request(-1, &step{Send: "DELETE " + path + "?gracePeriodSeconds=0"})
	}
}

func (x *execution) request(i int, s *step) (answer, error) {
	path := s.url(x.known, x.namespace)
	body, err := s.bytes(x.known, x.namespace)
	if err != nil {
		return answer{}, err
	}
	mediaType := s.mediaType(body)
	if s.Proto {
		if encoded := packed(body); encoded != "" {
			mediaType, body = protobufType, encoded
		}
	}
	timeout := requestTimeout
	if s.Watch {
		timeout = 10 * requestTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	req, err := http.NewRequestWithContext(ctx, s.method(), x.s.base+path, strings.NewReader(body))
	if err != nil {
		cancel()
		return answer{}, err
	}
	x.setHeaders(req, s, mediaType)
	resp, err := x.s.client.Do(req)
	if err != nil {
		cancel()
		return answer{}, err
	}
	a := answer{Code: resp.StatusCode, Headers: headersOf(resp)}
	if s.Watch && resp.StatusCode == 200 {
		w := &stream{cancel: cancel, last: time.Now()}
		x.streams[i] = w
		go w.read(resp)
		if strings.Contains(path, "/events") {
			time.Sleep(uncachedTime)
		}
		return a, nil
	}
	defer cancel()
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return a, err
	}
	if isDocument := strings.HasPrefix(path, "/openapi/") || strings.HasPrefix(path, "/metrics"); isDocument && resp.StatusCode == 200 {
		a.Body = "<document>"
		return a, nil
	}
	a.Body, err = readBody(resp.Header.Get("Content-Type"), text)
	return a, err
}

func (s *step) mediaType(body string) string {
	if s.Type == "" && body != "" && s.Base64 == "" {
		return "application/json"
	}
	return s.Type
}

func (x *execution) setHeaders(req *http.Request, s *step, mediaType string) {
	authorize(req)
	req.Header.Set("User-Agent", "compare/1")
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if s.Accept != "" {
		req.Header.Set("Accept", s.Accept)
	}
	for i, who := range s.As {
		who = strings.ReplaceAll(who, placeholder, x.namespace)
		if i == 0 {
			req.Header.Set("Impersonate-User", who)
		} else {
			req.Header.Add("Impersonate-Group", who)
		}
	}
	for k, v := range s.Headers {
		v = strings.ReplaceAll(x.known.fill(v, func(v string) string { return v }), placeholder, x.namespace)
		if req.Header.Set(k, v); v == "" {
			req.Header.Del(k)
		}
	}
}

func headersOf(resp *http.Response) map[string]string {
	out := map[string]string{}
	for _, name := range comparedHeaders {
		if v := resp.Header.Values(name); len(v) > 0 {
			out[name] = strings.Join(v, " | ")
		}
	}
	return out
}

// readBody makes JSON of an answer; what is neither JSON nor protobuf stays text.
func readBody(mediaType string, text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if strings.HasPrefix(mediaType, protobufType) {
		return fromProtobuf(text)
	}
	if strings.HasPrefix(mediaType, "application/yaml") {
		if converted, err := yaml.YAMLToJSON(text); err == nil {
			return readBody("application/json", converted)
		}
	}
	if !strings.HasPrefix(mediaType, "application/json") {
		return string(text), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var body any
	if err := decoder.Decode(&body); err != nil {
		return string(text), nil
	}
	return body, nil
}

func (w *stream) read(resp *http.Response) {
	defer resp.Body.Close()
	next := jsonEvents(resp.Body)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), protobufType) {
		next = protobufEvents(resp.Body)
	}
	for {
		e, err := next()
		if err != nil {
			break
		}
		if isPeriodicBookmark(e) {
			continue
		}
		w.add(e)
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
}

func jsonEvents(r io.Reader) func() (any, error) {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	return func() (e any, err error) { err = decoder.Decode(&e); return e, err }
}

// isPeriodicBookmark tells the bookmarks that come when they come from the one behind the initial events, and
// marks the object of that one.
func isPeriodicBookmark(e any) bool {
	event, _ := e.(map[string]any)
	object, _ := event["object"].(map[string]any)
	if event["type"] != "BOOKMARK" || object == nil {
		return false
	}
	object["<bookmark>"] = true
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if rows, ok := object["rows"].([]any); ok && len(rows) == 1 {
		if row, _ := rows[0].(map[string]any); row != nil {
			if shown, _ := row["object"].(map[string]any); shown != nil {
				shown["<bookmark>"] = true
			}
		}
		return !strings.Contains(fmt.Sprint(rows), "initial-events-end")
	}
	return annotations["k8s.io/initial-events-end"] == nil
}

// finish waits until the streams of both sides are quiet, and longer while they have not told the same number.
func finish(a, b *execution) {
	deadline := time.Now().Add(3 * time.Second)
	for time.Now().Before(deadline) {
		calm := true
		for i, w := range a.streams {
			other := b.streams[i]
			n, quiet := w.state()
			if other == nil {
				calm = calm && quiet
				continue
			}
			m, alsoQuiet := other.state()
			calm = calm && quiet && alsoQuiet && n == m
		}
		if calm {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, x := range []*execution{a, b} {
		for i, w := range x.streams {
			w.mu.Lock()
			x.answers[i].Events = append([]any{}, w.events...)
			w.mu.Unlock()
		}
	}
}
