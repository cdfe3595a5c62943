package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// One place where two answers differ.
type difference struct {
	step      int
	what      string // method and resource
	path      string
	want, got string
}

func (d difference) String() string {
	return fmt.Sprintf("step %d %s %s: want %s, got %s", d.step+1, d.what, d.path, d.want, d.got)
}

var (
	indexPattern  = regexp.MustCompile(`\[\d+\]`)
	detailPattern = regexp.MustCompile(`"[^"]*"|\d+|<[a-z0-9-]+>`)
)

// cause is what differences of one origin have in common, roughly.
func (d difference) cause() string {
	method, _, _ := strings.Cut(d.what, " ")
	return fmt.Sprintf("%s %s: %s / %s", method, indexPattern.ReplaceAllString(d.path, "[]"), general(d.want), general(d.got))
}

func general(text string) string {
	if text == `"<absent>"` {
		return "absent"
	}
	if len(text) > 200 {
		text = text[:200]
	}
	if strings.HasPrefix(text, `"`) && len(text) > 2 {
		text = strings.Trim(text, `"`)
	}
	return detailPattern.ReplaceAllString(text, "*")
}

// about names a request by its method and resource.
func (s *step) about() string {
	path, _, _ := strings.Cut(s.path(), "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	}
	if len(parts) > 1 && parts[0] == "watch" { // the old path of a watch
		parts = parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	what := s.method() + " " + parts[0]
	if len(parts) > 1 {
		what += "/x"
	}
	if len(parts) > 2 {
		what += "/" + strings.Join(parts[2:], "/")
	}
	if s.Watch {
		what = strings.Replace(what, "GET", "WATCH", 1)
	}
	return what
}

// compare lists where the answers to a case differ, both in the common form.
func compare(c *sequence, want, got []answer) (found []difference) {
	for i := range c.Steps {
		about := c.Steps[i].about()
		add := func(path, w, g string) { found = append(found, difference{i, about, path, w, g}) }
		if want[i].Code != got[i].Code {
			add("code", describe(want[i]), describe(got[i]))
			continue
		}
		for _, name := range comparedHeaders {
			if want[i].Headers[name] != got[i].Headers[name] {
				add("header "+name, quoted(want[i].Headers[name]), quoted(got[i].Headers[name]))
			}
		}
		leaves("", want[i].Body, got[i].Body, add)
		leaves("events", toAny(want[i].Events), toAny(got[i].Events), add)
	}
	return found
}

func toAny(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

func describe(a answer) string {
	body, _ := a.Body.(map[string]any)
	if message, ok := body["message"].(string); ok {
		return fmt.Sprintf("%d %s", a.Code, message)
	}
	return fmt.Sprint(a.Code)
}

func leaves(path string, want, got any, add func(path, want, got string)) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			leaves(path+"."+k, member(w, k), member(g, k), add)
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			leaves(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], add)
		}
		return
	}
	if a, b := quoted(want), quoted(got); a != b {
		add(path, a, b)
	}
}

type absent struct{}

func (absent) MarshalJSON() ([]byte, error) { return []byte(`"<absent>"`), nil }

func member(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return absent{}
}

func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}
