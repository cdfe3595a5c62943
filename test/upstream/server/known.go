package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// A difference that is meant: in which areas, which, and why. One per line of the list, separated by tabs; the
// second part is a regular expression for "method resource path: want ..., got ...".
type knownDifference struct {
	area    string // * is all
	pattern *regexp.Regexp
	reason  string
}

type knownDifferences []knownDifference

func readKnown(path string) (known knownDifferences, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		if in.Text() == "" || in.Text()[0] == '#' {
			continue
		}
		parts := strings.Split(in.Text(), "\t")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s: not area, pattern and reason: %s", path, in.Text())
		}
		pattern, err := regexp.Compile("(?s)" + parts[1])
		if err != nil {
			return nil, err
		}
		known = append(known, knownDifference{parts[0], pattern, parts[2]})
	}
	return known, in.Err()
}

func (known knownDifferences) has(area string, d difference) bool {
	text := fmt.Sprintf("%s %s: want %s, got %s", d.what, d.path, d.want, d.got)
	for _, k := range known {
		if (k.area == "*" || k.area == area) && k.pattern.MatchString(text) {
			return true
		}
	}
	return false
}

// without leaves out what is known. Where a code is known to differ, so does the state of the servers from then on:
// what follows is not judged.
func (known knownDifferences) without(area string, found []difference) (left []difference) {
	for _, d := range found {
		switch {
		case !known.has(area, d):
			left = append(left, d)
		case d.path == "code":
			return left
		}
	}
	return left
}
