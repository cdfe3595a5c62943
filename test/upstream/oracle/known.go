package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// A difference that is meant: where, which, and why. One per line of the list, separated by tabs; the second
// part is a regular expression for the line and, behind a line break, what Berth said.
type knownDifference struct {
	area    string
	pattern *regexp.Regexp
	reason  string
}

type knownDifferences []knownDifference

func readKnown(path string) (knownDifferences, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var known knownDifferences
	err = eachLine(f, func(text []byte) error {
		if len(text) == 0 || text[0] == '#' {
			return nil
		}
		parts := strings.Split(string(text), "\t")
		if len(parts) != 3 {
			return fmt.Errorf("%s: not area, pattern and reason: %s", path, text)
		}
		pattern, err := regexp.Compile("(?s)" + parts[1])
		known = append(known, knownDifference{parts[0], pattern, parts[2]})
		return err
	})
	return known, err
}

func (known knownDifferences) has(a *area, d difference) bool {
	for _, k := range known {
		if k.area == a.name && k.pattern.MatchString(d.l.String()+"\n"+d.why) {
			return true
		}
	}
	return false
}
