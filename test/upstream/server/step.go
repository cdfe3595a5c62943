package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// The name of the namespace in every request and answer of a case. A run gives each case one of its own, of the
// same length, and puts this name back into the answers.
const placeholder = "ns-00000"

// A step is one request. Texts may refer to answers of earlier steps: ${rv:ID}, ${uid:ID}, ${name:ID} and
// ${continue:ID} are members of the metadata that the step named ID got, ${token:ID} the token.
type step struct {
	ID      string            `json:"id,omitempty"`
	Send    string            `json:"send"`             // method, space, path with query
	Type    string            `json:"type,omitempty"`   // Content-Type; the body's own by default
	Accept  string            `json:"accept,omitempty"` // JSON by default
	As      []string          `json:"as,omitempty"`     // a user, and groups, other than the administrator
	Headers map[string]string `json:"headers,omitempty"`
	From    string            `json:"from,omitempty"`   // the body is merged into the answer of this step
	Body    any               `json:"body,omitempty"`   // JSON, or a text that is sent as it is
	Base64  string            `json:"base64,omitempty"` // the body, when it is no text
	Proto   bool              `json:"proto,omitempty"`  // the body is sent as protobuf, if it can be
	Watch   bool              `json:"watch,omitempty"`  // the answer is a stream that is read until the case ends
	Settle  bool              `json:"settle,omitempty"` // wait first, until all parts of a server know of the last write
	Want    *answer           `json:"want,omitempty"`
}

// What a server said, in the common form once it is compared.
type answer struct {
	Code    int               `json:"code"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
	Events  []any             `json:"events,omitempty"`
}

type sequence struct {
	Area  string `json:"area"`
	ID    string `json:"id"`
	Why   string `json:"why,omitempty"` // it is kept
	Steps []step `json:"steps"`
}

func (s *step) method() string { m, _, _ := strings.Cut(s.Send, " "); return m }
func (s *step) path() string   { _, p, _ := strings.Cut(s.Send, " "); return p }

func (c *sequence) clone() *sequence {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	var copied sequence
	if err := json.Unmarshal(text, &copied); err != nil {
		panic(err)
	}
	return &copied
}

// references are the answers so far, by the names of their steps.
type references map[string]any

func (known references) fill(text string, escape func(string) string) string {
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			return text
		}
		end := strings.Index(text[at:], "}")
		if end < 0 {
			return text
		}
		what, id, _ := strings.Cut(text[at+2:at+end], ":")
		value := known.member(what, id)
		text = text[:at] + escape(value) + text[at+end+1:]
	}
}

var members = map[string]string{"rv": "resourceVersion", "uid": "uid", "name": "name", "continue": "continue"}

func (known references) member(what, id string) string {
	body, _ := known[id].(map[string]any)
	if what == "token" {
		status, _ := body["status"].(map[string]any)
		token, _ := status["token"].(string)
		return cmp.Or(token, "none")
	}
	metadata, _ := body["metadata"].(map[string]any)
	if value, ok := metadata[members[what]].(string); ok {
		return value
	}
	return "none"
}

// bytes gives the body to send, with the namespace of this run.
func (s *step) bytes(known references, namespace string) (string, error) {
	var text string
	switch body := s.Body.(type) {
	case nil:
		raw, err := base64.StdEncoding.DecodeString(s.Base64)
		if err != nil {
			return "", err
		}
		text = string(raw)
	case string:
		text = body
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		text = string(encoded)
	}
	text = known.fill(text, func(v string) string { return v })
	if s.From != "" {
		var patch any
		if text != "" {
			if err := json.Unmarshal([]byte(text), &patch); err != nil {
				return "", err
			}
		}
		encoded, err := json.Marshal(merged(known[s.From], patch))
		if err != nil {
			return "", err
		}
		text = string(encoded)
	}
	return strings.ReplaceAll(text, placeholder, namespace), nil
}

func (s *step) url(known references, namespace string) string {
	return strings.ReplaceAll(known.fill(s.path(), url.QueryEscape), placeholder, namespace)
}

// merged is RFC 7386, on copies.
func merged(base, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		if patch == nil {
			return base
		}
		return patch
	}
	out := map[string]any{}
	if b, ok := base.(map[string]any); ok {
		for k, v := range b {
			out[k] = v
		}
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = merged(out[k], v)
		}
	}
	return out
}
