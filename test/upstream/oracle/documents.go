package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
)

// What differs on purpose, or means nothing.
var meantDocuments = []*regexp.Regexp{
	regexp.MustCompile(`\.Toleration/properties/expression$`),                                 // a proposal's
	regexp.MustCompile(`/x-kubernetes-map-type$`),                                             // said where it is the default, or by one version of two that share rows
	regexp.MustCompile(`APIServiceSpec/properties/caBundle/x-kubernetes-list-type$`),          // bytes are no list
	regexp.MustCompile(`^swagger.json/parameters`),                                            // they stand where they are used
	regexp.MustCompile(`^swagger.json/paths/(/logs|/openid|/.well-known)`),                    // not served
	regexp.MustCompile(`^swagger.json/definitions/.*(WatchEvent|DeleteOptions)/x-kubernetes`), // also of versions that nobody serves
	regexp.MustCompile(`^swagger.json/paths/[^ ]*/get/consumes`),                              // of what has no body
}

// Documents of what is not served.
var notServed = []string{"logs_openapi.json", "openid__v1__jwks_openapi.json", ".well-known__openid-configuration_openapi.json"}

type documentCheck struct {
	found     []string
	said      map[string]bool // sentences of upstream
	documents int
}

// documents holds what Berth says about itself against what upstream's server said, all but the descriptions, which must
// be others.
func documents(program string) error {
	dir, err := os.MkdirTemp("", "documents")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command(program, "--documents", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	c := &documentCheck{said: map[string]bool{}}
	api := filepath.Join(moduleDir("k8s.io/kubernetes"), "api")
	for _, pattern := range []string{"discovery/*.json", "openapi-spec/v3/*.json", "openapi-spec/swagger.json"} {
		paths, err := filepath.Glob(filepath.Join(api, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := c.compareFile(path, filepath.Join(dir, filepath.Base(path))); err != nil {
				return err
			}
		}
	}
	if err := c.compareProtobuf(dir); err != nil {
		return err
	}
	sort.Strings(c.found)
	for i, text := range c.found {
		if i < 50 {
			fmt.Println(text)
		}
	}
	fmt.Printf("documents: %d, %d differ\n", c.documents, len(c.found))
	if len(c.found) > 0 {
		return fmt.Errorf("%d places of documents differ", len(c.found))
	}
	return nil
}

func readTree(path string) (tree any, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	return tree, err
}

func (c *documentCheck) compareFile(upstream, ours string) error {
	name := filepath.Base(upstream)
	if slices.Contains(notServed, name) {
		return nil
	}
	want, err := readTree(upstream)
	if err != nil {
		return err
	}
	got, err := readTree(ours)
	if err != nil {
		return err
	}
	c.documents++
	c.collect(want)
	c.complainOfCopies(name, got)
	c.compare(name, resolved(want, want), resolved(got, got))
	return nil
}

// collect remembers what upstream says in sentences of its own.
func (c *documentCheck) collect(v any) {
	eachDescription(v, func(text string) { c.said[text] = true })
}

const longestCommonplace = 30 // characters: "OK", "name of the Pod"

func (c *documentCheck) complainOfCopies(name string, v any) {
	eachDescription(v, func(text string) {
		if len(text) > longestCommonplace && c.said[text] {
			c.found = append(c.found, fmt.Sprintf("%s: upstream's words: %s", name, text))
		}
	})
}

func eachDescription(v any, do func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if text, ok := member.(string); ok && key == "description" {
				do(text)
			}
			eachDescription(member, do)
		}
	case []any:
		for _, item := range v {
			eachDescription(item, do)
		}
	}
}

// resolved leaves descriptions out, and makes alike what means the same: a reference alone or in an allOf, parameters in
// their place or referred to, lists of names in any order.
func resolved(v, document any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = resolved(v[i], document)
		}
		return list
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && strings.HasPrefix(ref, "#/parameters/") {
			parameters := document.(map[string]any)["parameters"].(map[string]any)
			return resolved(parameters[strings.TrimPrefix(ref, "#/parameters/")], document)
		}
		out := map[string]any{}
		for key, member := range v {
			if _, ok := member.(string); !ok || key != "description" {
				out[key] = resolved(member, document)
			}
		}
		if all, ok := out["allOf"].([]any); ok && len(out) == 1 && len(all) == 1 {
			return all[0]
		}
		if names, ok := out["required"].([]any); ok {
			slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		return out
	}
	return v
}

func (c *documentCheck) compare(at string, want, got any) {
	a, isObject := want.(map[string]any)
	b, isObjectToo := got.(map[string]any)
	switch {
	case isObject && isObjectToo:
		for key := range a {
			if _, ok := b[key]; !ok {
				c.differ(at+"/"+key, a[key], nil)
			}
		}
		for key := range b {
			if _, ok := a[key]; ok {
				c.compare(at+"/"+key, a[key], b[key])
			} else {
				c.differ(at+"/"+key, nil, b[key])
			}
		}
	case !reflect.DeepEqual(want, got):
		c.differ(at, want, got)
	}
}

func (c *documentCheck) differ(at string, want, got any) {
	if slices.ContainsFunc(meantDocuments, func(r *regexp.Regexp) bool { return r.MatchString(at) }) {
		return
	}
	short := func(v any) string { text := string(encode(v)); return text[:min(len(text), 200)] }
	c.found = append(c.found, fmt.Sprintf("%s: want %s, got %s", at, short(want), short(got)))
}

// compareProtobuf reads the document in protobuf as clients do, and holds it against what gnostic makes of the JSON.
func (c *documentCheck) compareProtobuf(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "swagger.json"))
	if err != nil {
		return err
	}
	want, err := openapi_v2.ParseDocument(text)
	if err != nil {
		return err
	}
	bytes, err := os.ReadFile(filepath.Join(dir, "swagger.pb"))
	if err != nil {
		return err
	}
	got := &openapi_v2.Document{}
	if err := proto.Unmarshal(bytes, got); err != nil {
		return err
	}
	c.documents++
	for i, path := range want.Paths.Path {
		if i >= len(got.Paths.Path) || path.Name != got.Paths.Path[i].Name {
			c.found = append(c.found, "swagger.pb: no path "+path.Name)
			break
		}
		if a, b := canonicalYAML(path), canonicalYAML(got.Paths.Path[i]); a != b {
			c.found = append(c.found, fmt.Sprintf("swagger.pb%s: want %.300s, got %.300s", path.Name, a, b))
		}
	}
	for i, schema := range want.Definitions.AdditionalProperties {
		if i >= len(got.Definitions.AdditionalProperties) {
			c.found = append(c.found, "swagger.pb: no definition "+schema.Name)
			break
		}
		if a, b := canonicalYAML(schema), canonicalYAML(got.Definitions.AdditionalProperties[i]); a != b {
			c.found = append(c.found, fmt.Sprintf("swagger.pb %s: want %.300s, got %.300s", schema.Name, a, b))
		}
	}
	return nil
}

var space = regexp.MustCompile(`[\s"'\\n{}\[\],-]+`)

// canonicalYAML is a message as text in which it does not matter how a value inside is written.
func canonicalYAML(m proto.Message) string {
	return space.ReplaceAllString(fmt.Sprint(m), "")
}
