package main

import (
	"encoding/json"
	"io"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// isOneDocument tells whether nothing follows the first document. Upstream does not look there: it drops what it
// finds, be it a document or nonsense, which Berth refuses to do.
func isOneDocument(text string) bool {
	var first, second any
	d := yamlv2.NewDecoder(strings.NewReader(text))
	return d.Decode(&first) == io.EOF || d.Decode(&second) == io.EOF
}

// yamlAnswer reads a document as kubectl does: the JSON that it makes of it, or that it refuses it. Keys that stand
// twice, of which kubectl takes the last, are refused, as the server does; but not where one of them may be merged.
func yamlAnswer(l line) {
	text := get[string](l, "text")
	read, err := yaml.YAMLToJSON([]byte(text))
	_, strict := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil && strict != nil && strings.Contains(text, "<<") {
		panic(badQuestion{strict})
	}
	if strict != nil || !isOneDocument(text) {
		l.set("refused", true)
		return
	}
	l.set("json", json.RawMessage(read))
}
