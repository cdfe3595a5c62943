package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const shrinkingSteps = 3000

// shrink makes the question smaller as long as the two sides still differ in the same member.
func (r *run) shrink(a *area, d difference) difference {
	kind := d.kind()
	steps := 0
	smaller := func(l line) bool {
		steps++
		candidate := difference{l: l}
		if a.ask(l) != nil {
			return false
		}
		why, err := r.berth.check(l)
		candidate.why = why
		if err != nil || why == "" || candidate.kind() != kind || r.known.has(a, candidate) || r.berth.agreesWithAny(a, l) {
			return false
		}
		d = candidate
		return true
	}
	for again := true; again && steps < shrinkingSteps; {
		again = false
		for _, key := range slices.Sorted(maps.Keys(d.l)) {
			if key == "area" || key == "id" || key == "kind" || slices.Contains(a.outputs, key) {
				continue
			}
			for _, value := range reductions(tree(d.l[key])) {
				l := d.l.clone()
				l.set(key, value)
				if steps < shrinkingSteps && smaller(l) {
					again = true
					break
				}
			}
		}
	}
	return d
}

// kind tells differences apart, roughly: the member that differs, and the place of an error in an expression.
func (d difference) kind() string {
	member, _, _ := strings.Cut(d.why, ":")
	if at := issuePlace.FindString(d.why); at != "" && member == "issues" {
		return member + at
	}
	return member
}

var issuePlace = regexp.MustCompile(`Syntax error: [a-z]+`)

// reductions gives what is left of a value when one part of it is left out, the largest parts first.
func reductions(value any) []any {
	switch v := value.(type) {
	case map[string]any:
		return reduceMap(v)
	case []any:
		return reduceList(v)
	case string:
		return reduceText(v)
	case json.Number:
		if v != "0" && v != "1" {
			return []any{json.Number("0"), json.Number("1")}
		}
	}
	return nil
}

func reduceMap(m map[string]any) []any {
	var out []any
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == "apiVersion" || key == "kind" {
			continue
		}
		less := maps.Clone(m)
		delete(less, key)
		out = append(out, less)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == "apiVersion" || key == "kind" {
			continue
		}
		for _, value := range reductions(m[key]) {
			less := maps.Clone(m)
			less[key] = value
			out = append(out, less)
		}
	}
	return out
}

func reduceList(list []any) []any {
	var out []any
	for _, part := range parts(len(list)) {
		out = append(out, append(slices.Clone(list[:part[0]]), list[part[1]:]...))
	}
	for i := range list {
		for _, value := range reductions(list[i]) {
			less := slices.Clone(list)
			less[i] = value
			out = append(out, less)
		}
	}
	return out
}

// Texts lose tokens of an expression; what is no expression is mostly one token, which loses characters.
func reduceText(text string) []any {
	tokens := celToken.FindAllString(text, -1)
	if len(tokens) <= 1 {
		tokens = strings.Split(text, "")
	}
	var out []any
	for _, part := range parts(len(tokens)) {
		out = append(out, strings.Join(tokens[:part[0]], "")+strings.Join(tokens[part[1]:], ""))
	}
	return out
}

// parts of n things that may be left out together: halves, quarters, ..., single ones, and pairs of distance,
// such as brackets, are found by leaving out what is between them first.
func parts(n int) [][2]int {
	var out [][2]int
	for size := n; size >= 1; size /= 2 {
		for at := 0; at+size <= n; at += max(1, size/2) {
			out = append(out, [2]int{at, at + size})
		}
	}
	return out
}
