package main

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

const shrinkingSteps = 150

// shrink makes a case shorter as long as it still differs for the same cause, and gives the real server's answers.
func (r *run) shrink(a *area, cause string, c *sequence) (*sequence, []answer) {
	steps := 0
	var wants []answer
	differs := func(candidate *sequence) bool {
		steps++
		found, answers, err := r.both(candidate)
		if err != nil || !slices.ContainsFunc(r.known.without(a.name, found), func(d difference) bool { return d.cause() == cause }) {
			return false
		}
		wants = answers
		return true
	}
	if !differs(c) {
		return c.clone(), wants
	}
	for again := true; again && steps < shrinkingSteps; {
		again = false
		for _, candidate := range shorter(c) {
			if steps >= shrinkingSteps {
				break
			}
			if differs(candidate) {
				c, again = candidate, true
				break
			}
		}
	}
	return c.clone(), wants
}

// shorter gives cases with one thing less, the largest things first.
func shorter(c *sequence) (out []*sequence) {
	for i := len(c.Steps) - 1; i >= 0 && len(c.Steps) > 1; i-- {
		less := c.clone()
		less.Steps = slices.Delete(less.Steps, i, i+1)
		out = append(out, less)
	}
	for i := range c.Steps {
		change := func(f func(*step)) {
			less := c.clone()
			f(&less.Steps[i])
			out = append(out, less)
		}
		s := &c.Steps[i]
		for _, query := range lessQuery(s.Send) {
			change(func(s *step) { s.Send = query })
		}
		if s.Accept != "" {
			change(func(s *step) { s.Accept = "" })
		}
		if len(s.As) > 0 {
			change(func(s *step) { s.As = nil })
		}
		if s.Proto {
			change(func(s *step) { s.Proto = false })
		}
		for name := range s.Headers {
			change(func(s *step) { delete(s.Headers, name) })
		}
		for _, body := range reductions(s.Body) {
			change(func(s *step) { s.Body = body })
		}
	}
	return out
}

func lessQuery(send string) (out []string) {
	path, query, ok := strings.Cut(send, "?")
	if !ok {
		return nil
	}
	parts := strings.Split(query, "&")
	for i := range parts {
		less := strings.Join(slices.Delete(slices.Clone(parts), i, i+1), "&")
		if _, err := url.ParseQuery(less); err == nil {
			out = append(out, strings.TrimSuffix(path+"?"+less, "?"))
		}
	}
	return out
}

func reductions(value any) (out []any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "apiVersion" || key == "kind" || key == "name" {
				continue
			}
			less := maps.Clone(v)
			delete(less, key)
			out = append(out, less)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			for _, smaller := range reductions(v[key]) {
				less := maps.Clone(v)
				less[key] = smaller
				out = append(out, less)
			}
		}
	case []any:
		for i := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
		}
		for i := range v {
			for _, smaller := range reductions(v[i]) {
				less := slices.Clone(v)
				less[i] = smaller
				out = append(out, any(less))
			}
		}
	}
	return out
}
