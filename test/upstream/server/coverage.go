package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"mime"
	"os"
	"slices"
	"strings"
)

// What a request was about, as it is counted.
type reach struct {
	resource, verb string
	code           int
	sent, got      string // media types
}

// coverage counts the requests of cases, so that what no case reaches is seen.
type coverage map[reach]int

func (seen coverage) add(c *sequence, answers []answer) {
	for i := range answers {
		s := &c.Steps[i]
		resource, verb := s.target()
		seen[reach{resource, verb, answers[i].Code, s.sent(), mediaOf(answers[i].Headers["Content-Type"])}]++
	}
}

// target gives the resource, with its group, version and subresource, and the verb of a request.
func (s *step) target() (resource, verb string) {
	path, query, _ := strings.Cut(s.path(), "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	prefix := ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		prefix, parts = "", parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		prefix, parts = parts[1]+"/"+parts[2]+"/", parts[3:]
	default:
		return "/" + strings.Join(parts, "/"), strings.ToLower(s.method())
	}
	if parts[0] == "watch" && len(parts) > 1 {
		parts = parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	resource = prefix + parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return resource, s.verb(len(parts) > 1, query)
}

var plainVerbs = map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

func (s *step) verb(one bool, query string) string {
	verb, ok := plainVerbs[s.method()]
	switch {
	case !ok:
		return strings.ToLower(s.method())
	case s.Watch || strings.Contains(query, "watch=") || strings.Contains(s.Send, "/watch/"):
		return "watch"
	case verb == "get" && !one:
		return "list"
	case verb == "delete" && !one:
		return "deletecollection"
	case verb == "patch" && strings.HasPrefix(s.Type, "application/"):
		kind, _, _ := strings.Cut(strings.TrimPrefix(s.Type, "application/"), "+")
		return verb + " " + kind
	}
	return verb
}

func (s *step) sent() string {
	switch {
	case s.Body == nil && s.Base64 == "" && s.From == "":
		return "-"
	case s.Proto:
		return "protobuf"
	case s.Type == "":
		return "json"
	}
	return mediaOf(s.Type)
}

// mediaOf is a media type in short.
func mediaOf(value string) string {
	if value == "" {
		return "-"
	}
	media, parameters, err := mime.ParseMediaType(value)
	if err != nil {
		return value
	}
	media = strings.TrimPrefix(strings.TrimPrefix(media, "application/"), "vnd.kubernetes.")
	if as := parameters["as"]; as != "" {
		media += " " + as
	}
	return media
}

// summarize prints how much was reached, by one thing at a time.
func (seen coverage) summarize(out io.Writer) {
	verbs, codes, media, resources := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	total := 0
	for r, n := range seen {
		resources[r.resource] += n
		verbs[r.verb] += n
		codes[fmt.Sprint(r.code)] += n
		media[r.got] += n
		total += n
	}
	fmt.Fprintf(out, "%d requests of %d kinds: %d resources and paths\n", total, len(seen), len(resources))
	for _, part := range []struct {
		name   string
		counts map[string]int
	}{{"verbs", verbs}, {"codes", codes}, {"answers", media}} {
		var words []string
		for _, k := range slices.Sorted(maps.Keys(part.counts)) {
			words = append(words, fmt.Sprintf("%s %d", k, part.counts[k]))
		}
		fmt.Fprintf(out, "%s: %s\n", part.name, strings.Join(words, ", "))
	}
}

// write makes a file of all that was reached, a line of tab-separated values for each.
func (seen coverage) write(path string) error {
	order := slices.SortedFunc(maps.Keys(seen), func(a, b reach) int {
		return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.verb, b.verb), cmp.Compare(a.code, b.code),
			cmp.Compare(a.sent, b.sent), cmp.Compare(a.got, b.got))
	})
	var text strings.Builder
	text.WriteString("resource\tverb\tcode\tsent\tgot\trequests\n")
	for _, r := range order {
		fmt.Fprintf(&text, "%s\t%s\t%d\t%s\t%s\t%d\n", r.resource, r.verb, r.code, r.sent, r.got, seen[r])
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}
