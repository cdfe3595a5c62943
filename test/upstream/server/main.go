// Holds `berth apiserver` against a real kube-apiserver: sequences of requests made by chance are sent to both,
// and what they answer is compared in a common form.
//
//	compare [flags] [AREA...]
//
// A difference is printed as a case for test/server/cases, whose answers are those of the real server; one that is
// meant stands in known.tsv, with its reason.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("compare: ")
	if err := command(); err != nil {
		log.Fatal(err)
	}
}

func command() error {
	cases := flag.Int("cases", 500, "how many, shared by all areas")
	seed := flag.Uint64("seed", 1, "what the cases depend on")
	list := flag.String("known", "test/upstream/server/known.tsv", "the differences that are meant")
	shown := flag.Int("shown", 5, "how many causes of each area are shown by an example")
	etcd := flag.String("etcd", "etcd", "the program")
	apiserver := flag.String("kube-apiserver", "kube-apiserver", "the program")
	berth := flag.String("berth", "build/release/berth", "the program")
	all := flag.Bool("all", false, "print every difference, in place of its causes")
	one := flag.String("case", "", "the id of a case as AREA-SEED-NUMBER: prints it and where the servers differ in it")
	only := flag.String("kinds", "", "resources that cases are about, with commas between them; all by default")
	workers := flag.Int("workers", 12, "how many cases at a time")
	reached := flag.String("coverage", "", "a file for what requests were made, and how often")
	record := flag.String("record", "", "a file of cases: prints them with the answers that the real server gives now")
	flag.Parse()
	choose(*only)
	known, err := readKnown(*list)
	if err != nil {
		return err
	}
	r := &run{programs: programs{*etcd, *apiserver, *berth}, known: known, seed: *seed, workers: *workers, shown: *shown,
		all: *all, out: os.Stdout, spent: map[string]time.Duration{}}
	defer r.stop()
	if err := r.restart(); err != nil {
		return err
	}
	if *record != "" {
		return r.record(*record)
	}
	if *one != "" {
		return r.single(*one)
	}
	n, err := r.conform(*cases, flag.Args())
	if err == nil && *reached != "" {
		err = r.covered.write(*reached)
	}
	if err == nil && n > 0 {
		err = fmt.Errorf("%d cases differ", n)
	}
	return err
}

// single runs one case of those that chance makes, known by its id.
func (r *run) single(id string) error {
	parts := strings.Split(id, "-")
	index := slices.IndexFunc(areas, func(a area) bool { return a.name == parts[0] })
	if len(parts) != 3 || index < 0 {
		return fmt.Errorf("no case %q", id)
	}
	seed, err1 := strconv.ParseUint(parts[1], 10, 64)
	number, err2 := strconv.Atoi(parts[2])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	r.seed = seed
	c := r.newCase(&areas[index], number)
	for _, s := range c.Steps {
		fmt.Fprintln(r.out, quoted(s))
	}
	found, _, err := r.both(c)
	for _, d := range r.known.without(c.Area, found) {
		fmt.Fprintln(r.out, d)
	}
	return err
}

// record asks the real server again what the cases of a file ask.
func (r *run) record(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var c sequence
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		found, answers, err := r.both(&c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		for i := range answers {
			c.Steps[i].Want = &answers[i]
		}
		for _, d := range r.known.without(c.Area, found) {
			log.Printf("%s: %s", c.ID, d)
		}
		fmt.Println(quoted(c))
	}
	return in.Err()
}
