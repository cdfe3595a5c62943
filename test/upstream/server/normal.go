package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The common form of answers: what two servers may differ in gets a name that says no more than clients may rely
// on. Times of now are <time>, ids and made-up names are numbered as they appear, revisions of objects are numbered
// by their order, so that equal ones stay equal and later ones later. Revisions of lists and bookmarks are only
// known to be there: others write too.
type normal struct {
	namespace string
	ids       map[string]string
	revisions map[string]string
	bases     []base
	now       time.Time
}

// A base is what generated names begin with.
type base struct {
	text string
	made *regexp.Regexp
}

var (
	uidPattern   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	agePattern   = regexp.MustCompile(`^\d+[smh](\d+s)?$`)
	revisionText = regexp.MustCompile(`(resourceVersion\\*":\s?\\*"|resource version: |resourceVersion: |ResourceVersion in (?:the )?(?:precondition|record|object meta):? \(?)(\d+)( \(\d+\))?`)
	currentText  = regexp.MustCompile(`(resource version: )\d+, current: \d+`)
	suffix       = `[bcdfghjklmnpqrstvwxz2456789]{5}`
	schemeText   = regexp.MustCompile(`in scheme \\*"[^"\\]*\\*"`) // named after the line of code that made it
	nodePort     = regexp.MustCompile(`(:|Duplicate value: )(3[0-2]\d{3})\b`)
	clusterIP    = regexp.MustCompile(`\b10\.0\.0\.\d+\b`)                              // given by chance
	notFoundText = regexp.MustCompile(`rbac: RBAC: \[[^\]]*\]`)                         // in the order of a map
	allowedText  = regexp.MustCompile(`RBAC: allowed by ClusterRoleBinding "system:.*`) // any of several
	portPattern  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

const nowMeans = 3 * time.Hour

func newNormal(c *sequence, namespace string) *normal {
	n := &normal{namespace: namespace, ids: map[string]string{}, revisions: map[string]string{}, now: time.Now()}
	n.addBase("made-")
	for i := range c.Steps {
		eachText(c.Steps[i].Body, func(key, value string) {
			if key == "generateName" {
				n.addBase(value)
			}
		})
	}
	return n
}

func (n *normal) addBase(text string) {
	if text != "" && !slices.ContainsFunc(n.bases, func(b base) bool { return b.text == text }) {
		n.bases = append(n.bases, base{text, regexp.MustCompile(regexp.QuoteMeta(text) + suffix)})
	}
}

func eachText(v any, f func(key, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[k].(string); ok {
				f(k, s)
			} else {
				eachText(v[k], f)
			}
		}
	case []any:
		for _, item := range v {
			eachText(item, f)
		}
	}
}

// learn numbers the revisions of all objects of a case.
func (n *normal) learn(answers []answer) {
	seen := map[int]bool{}
	for _, a := range answers {
		collect(a.Body, seen)
		for _, e := range a.Events {
			collect(e, seen)
		}
	}
	for i, rv := range slices.Sorted(maps.Keys(seen)) {
		n.revisions[strconv.Itoa(rv)] = fmt.Sprintf("<rv-%d>", i+1)
	}
}

func collect(v any, seen map[int]bool) {
	switch v := v.(type) {
	case map[string]any:
		if m, ok := v["metadata"].(map[string]any); ok && !isCollection(v) {
			if rv, ok := m["resourceVersion"].(string); ok {
				if i, err := strconv.Atoi(rv); err == nil {
					seen[i] = true
				}
			}
		}
		for _, item := range v {
			collect(item, seen)
		}
	case []any:
		for _, item := range v {
			collect(item, seen)
		}
	}
}

// isCollection tells lists, tables and the objects of bookmarks.
func isCollection(v map[string]any) bool {
	kind, _ := v["kind"].(string)
	_, isMarked := v["<bookmark>"]
	return strings.HasSuffix(kind, "List") || kind == "Table" || isMarked
}

func (n *normal) answer(a answer) answer {
	a.Body = n.value("", a.Body)
	for i := range a.Events {
		a.Events[i] = n.value("", a.Events[i])
	}
	for k, v := range a.Headers {
		a.Headers[k] = n.text(v)
	}
	return a
}

func (n *normal) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		isList := isCollection(v)
		if key == "columnDefinitions" {
			delete(v, "description") // everybody's own words
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = n.value(k, v[k])
		}
		if m, ok := v["metadata"].(map[string]any); ok && isList && m["resourceVersion"] != nil {
			m["resourceVersion"] = "<list>"
		}
		delete(v, "<bookmark>")
	case []any:
		if key == "managedFields" {
			slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(entry(a), entry(b)) })
		}
		if key == "resourceRules" || key == "nonResourceRules" { // bindings are asked in an order of chance
			slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(quoted(a), quoted(b)) })
		}
		if key == "causes" { // conflicts with several managers come in an order of chance
			slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(conflict(a), conflict(b)) })
		}
		for i := range v {
			item := n.value(inside(key), v[i])
			if s, ok := item.(string); ok && key == "cells" && agePattern.MatchString(s) {
				item = "<age>"
			}
			v[i] = item
		}
	case json.Number:
		if key == "nodePort" || key == "healthCheckNodePort" {
			return n.numbered("port", v.String())
		}
	case float64:
		if key == "nodePort" || key == "healthCheckNodePort" {
			return n.numbered("port", strconv.FormatFloat(v, 'f', -1, 64))
		}
	case string:
		if key == "resourceVersion" {
			if name, ok := n.revisions[v]; ok {
				return name
			}
		}
		if key == "continue" && v != "" {
			return "<continue>"
		}
		if key == "token" && strings.HasPrefix(v, "eyJ") {
			return "<token>"
		}
		return n.text(v)
	}
	return v
}

// entry is what tells managers apart; they are in the order of their times, which is one of chance within a second.
func entry(v any) string {
	m, _ := v.(map[string]any)
	var parts []string
	for _, key := range []string{"manager", "operation", "apiVersion", "subresource"} {
		part, _ := m[key].(string)
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// conflict is what conflicts of managers are ordered by; other causes stay where they are.
func conflict(v any) string {
	m, _ := v.(map[string]any)
	if m["reason"] != "FieldManagerConflict" {
		return ""
	}
	return fmt.Sprint(m["field"], m["message"])
}

// inside is what the items of a list are known by.
func inside(key string) string {
	if key == "columnDefinitions" {
		return key
	}
	return ""
}

// text looks for what may stand in a text before it asks for the pattern: most texts are short, and patterns slow.
func (n *normal) text(s string) string {
	s = strings.ReplaceAll(s, n.namespace, placeholder)
	if len(s) >= len("2020-01-01T00:00:00Z") {
		s = uidPattern.ReplaceAllStringFunc(s, func(id string) string { return n.numbered("uid", id) })
		s = timePattern.ReplaceAllStringFunc(s, n.time)
	}
	if strings.Contains(s, "in scheme") {
		s = schemeText.ReplaceAllString(s, `in scheme <scheme>`)
	}
	if strings.Contains(s, "RBAC: allowed by ClusterRoleBinding") {
		s = allowedText.ReplaceAllString(s, "RBAC: allowed by <binding>")
	}
	if strings.Contains(s, "rbac: RBAC: [") {
		s = notFoundText.ReplaceAllStringFunc(s, func(list string) string {
			roles := strings.Split(strings.TrimSuffix(strings.TrimPrefix(list, "rbac: RBAC: ["), "]"), ", ")
			slices.Sort(roles)
			return "rbac: RBAC: [" + strings.Join(roles, ", ") + "]"
		})
	}
	if before, list, ok := strings.Cut(s, "errors:\n"); ok { // in the order of a map
		lines := strings.Split(list, "\n")
		slices.Sort(lines)
		s = before + "errors:\n" + strings.Join(lines, "\n")
	}
	if strings.Contains(s, "127.0.0.1:") {
		s = portPattern.ReplaceAllString(s, "127.0.0.1:<port>")
	}
	if strings.Contains(s, "10.0.0.") {
		s = clusterIP.ReplaceAllStringFunc(s, func(ip string) string { return n.numbered("ip", ip) })
	}
	if strings.Contains(s, ":3") || strings.Contains(s, "Duplicate value: 3") {
		s = nodePort.ReplaceAllStringFunc(s, func(text string) string {
			port := len(text) - len("30000")
			return text[:port] + n.numbered("port", text[port:])
		})
	}
	if strings.Contains(s, ", current: ") {
		s = currentText.ReplaceAllString(s, "${1}<rv>, current: <rv>")
	}
	if strings.Contains(s, "esource") {
		s = revisionText.ReplaceAllStringFunc(s, n.revision)
	}
	for _, b := range n.bases {
		if strings.Contains(s, b.text) {
			s = b.made.ReplaceAllStringFunc(s, func(name string) string { return b.text + n.numbered("made", name) })
		}
	}
	return s
}

// revision gives the part of a text that tells a revision, with its number in the order of revisions.
func (n *normal) revision(text string) string {
	parts := revisionText.FindStringSubmatch(text)
	name, ok := n.revisions[parts[2]]
	if !ok {
		name = "<rv>"
	}
	if parts[3] != "" {
		name += " (<rv>)"
	}
	return parts[1] + name
}

func (n *normal) numbered(what, id string) string {
	if _, ok := n.ids[id]; !ok {
		count := 1
		for _, name := range n.ids {
			if strings.HasPrefix(name, "<"+what) {
				count++
			}
		}
		n.ids[id] = fmt.Sprintf("<%s-%d>", what, count)
	}
	return n.ids[id]
}

func (n *normal) time(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Sub(n.now).Abs() > nowMeans {
		return text
	}
	if strings.Contains(text, ".") {
		return "<microtime>"
	}
	return "<time>"
}
