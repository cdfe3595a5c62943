package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
)

// replay holds the oracle itself against answers that were recorded before: if it gives the same, its
// questions are put as they should be.
func replay(dir string, only []string) error {
	failed := 0
	for _, a := range areas {
		if len(only) > 0 && !slices.Contains(only, a.name) {
			continue
		}
		n, bad, err := a.replay(filepath.Join(dir, a.name+".jsonl"))
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d of %d as recorded\n", a.name, n-bad, n)
		failed += bad
	}
	if failed > 0 {
		return fmt.Errorf("%d answers are not as recorded", failed)
	}
	return nil
}

func (a *area) replay(path string) (n, bad int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	err = eachLine(f, func(text []byte) error {
		recorded, err := readLine(text)
		if err != nil {
			return err
		}
		l := recorded.clone()
		if err := a.ask(l); err != nil {
			return fmt.Errorf("%s: %w", recorded["id"], err)
		}
		n++
		if key := a.difference(recorded, l); key != "" {
			bad++
			if bad <= 5 {
				fmt.Printf("%s %s: %s\n  recorded %s\n  now      %s\n", a.name, recorded["id"], key, recorded[key], l[key])
			}
		}
		return nil
	})
	return n, bad, err
}

// difference names the first member of the answer that is not the same. Where upstream's order is random, the
// list of errors is compared in order, and the status, which says the same, is not.
func (a *area) difference(x, y line) string {
	random := get[bool](x, "order_random")
	for _, key := range a.outputs {
		if random && key == "status" {
			continue
		}
		if random && key == "errors" {
			x, y = x.withSorted(key), y.withSorted(key)
		}
		if !sameJSON(x[key], y[key]) {
			return key
		}
	}
	return ""
}

func sameJSON(x, y json.RawMessage) bool {
	return bytes.Equal(x, y) || reflect.DeepEqual(tree(x), tree(y))
}

func tree(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func (l line) withSorted(key string) line {
	list := get[[]json.RawMessage](l, key)
	slices.SortFunc(list, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	c := l.clone()
	c.set(key, list)
	return c
}
