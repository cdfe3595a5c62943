package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Seeds are lines that were written down before, by hand or from an earlier run: the generators change them.
type seeds []line

var seedCache = map[string]seeds{}

// readSeeds looks below the folder that the command is started in: the root of the repository.
func readSeeds(pattern string) seeds {
	var found seeds
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			panic(err)
		}
		err = eachLine(f, func(text []byte) error {
			l, err := readLine(text)
			found = append(found, l)
			return err
		})
		f.Close()
		if err != nil {
			panic(err)
		}
	}
	return found
}

func seedsOf(area string) seeds {
	if s, ok := seedCache[area]; ok {
		return s
	}
	s := append(readSeeds("test/vectors/sample/"+area+".jsonl"), readSeeds("test/valid/objects/"+area+".jsonl")...)
	seedCache[area] = s
	return s
}

// texts gives one member, a string, of all seeds that have it.
func (s seeds) texts(key string) []string {
	var found []string
	for _, l := range s {
		var text string
		if json.Unmarshal(l[key], &text) == nil {
			found = append(found, text)
		}
	}
	if found == nil {
		found = []string{""}
	}
	return found
}
