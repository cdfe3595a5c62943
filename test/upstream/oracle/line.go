package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A line is one question, and after it was asked its answer too: the members that a line of a file of
// vectors has, and "area", the name of that file.
type line map[string]json.RawMessage

func readLine(text []byte) (line, error) {
	var l line
	err := json.Unmarshal(text, &l)
	return l, err
}

func (l line) String() string { return string(encode(map[string]json.RawMessage(l))) }

func (l line) clone() line {
	c := make(line, len(l))
	for k, v := range l {
		c[k] = v
	}
	return c
}

func (l line) has(key string) bool { return l[key] != nil }

// set puts a value; what is printed must read back as it was, so no character is escaped for HTML.
func (l line) set(key string, value any) { l[key] = encode(value) }

// get reads a member into a value of the type that upstream's code takes. A member that is absent or null
// is the zero value. A question that cannot be read is a failure of the question, not an answer.
func get[T any](l line, key string) T {
	var v T
	if raw := l[key]; raw != nil {
		if err := json.Unmarshal(raw, &v); err != nil {
			panic(badQuestion{fmt.Errorf("%s: %w", key, err)})
		}
	}
	return v
}

// badQuestion is what get panics with; ask turns it into an error.
type badQuestion struct{ error }

func encode(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
