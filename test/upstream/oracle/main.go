// The oracle: what upstream says. Every answer is given by code of Kubernetes, cel-go or blang/semver,
// at the versions that go.mod names; nothing here decides anything by itself.
//
//	oracle answer               questions as JSON lines on standard input, the same with answers on output
//	oracle replay DIR           asks what the files of vectors in DIR ask and compares with what they say
//	oracle conform [flags]      makes cases, asks upstream and shows Berth the answers
//	oracle generate AREA N SEED makes cases and asks upstream: lines for berth_vectors
//	oracle rows PROGRAM         compares the rows of Berth's schema, which PROGRAM --rows prints, with upstream's types
//	oracle documents PROGRAM    compares what PROGRAM --documents writes with what upstream's server says about itself
//	oracle bench WHAT           measures upstream on the cases of a benchmark of bench/ on standard input
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

const longestLine = 64 << 20

func main() {
	klog.SetLogger(logr.Discard())
	log.SetFlags(0)
	log.SetPrefix("oracle: ")
	if err := command(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func command(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "answer":
		return answer(os.Stdin, os.Stdout)
	case len(args) >= 2 && args[0] == "replay":
		return replay(args[1], args[2:])
	case len(args) == 4 && args[0] == "generate":
		return generate(args[1], args[2], args[3])
	case len(args) == 2 && args[0] == "rows":
		return rows(args[1])
	case len(args) == 2 && args[0] == "documents":
		return documents(args[1])
	case len(args) == 2 && args[0] == "bench":
		return bench(args[1])
	case len(args) >= 1 && args[0] == "conform":
		return conform(args[1:])
	}
	return fmt.Errorf("usage: oracle answer | oracle replay DIR [AREA...] | oracle conform [flags] [AREA...]")
}

func generate(name, cases, seed string) error {
	a, err := areaOf(name)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(cases)
	if err != nil {
		return err
	}
	s, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return err
	}
	r := &run{seed: s}
	for number := range n {
		l := r.newCase(a, uint64(slices.Index(areas, a)), number)
		if err := a.ask(l); err != nil {
			continue
		}
		delete(l, "area")
		fmt.Println(l)
	}
	return nil
}

func conform(args []string) error {
	flags := flag.NewFlagSet("conform", flag.ExitOnError)
	cases := flags.Int("cases", 20000, "how many, shared by all areas")
	seed := flags.Uint64("seed", 1, "what the cases depend on")
	program := flags.String("berth", "build/release/berth_vectors", "the program that knows Berth's answers")
	list := flags.String("known", "test/upstream/oracle/known.tsv", "the differences that are meant")
	shown := flags.Int("shown", 5, "how many differences of each area are printed")
	flags.Parse(args)
	known, err := readKnown(*list)
	if err != nil {
		return err
	}
	b, err := startBerth(*program)
	if err != nil {
		return err
	}
	r := &run{b, known, *seed, *shown, os.Stdout}
	differing, err := r.conform(*cases, flags.Args())
	if err == nil {
		err = b.stop()
	}
	if err == nil && differing > 0 {
		err = fmt.Errorf("%d cases differ", differing)
	}
	return err
}

// eachLine calls f with every line of r.
func eachLine(r io.Reader, f func(text []byte) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, longestLine)
	for in.Scan() {
		if err := f(in.Bytes()); err != nil {
			return err
		}
	}
	return in.Err()
}

func answer(r io.Reader, w io.Writer) error {
	out := bufio.NewWriter(w)
	defer out.Flush()
	return eachLine(r, func(text []byte) error {
		l, err := readLine(text)
		if err != nil {
			return err
		}
		a, err := areaOf(get[string](l, "area"))
		if err != nil {
			return err
		}
		if err := a.ask(l); err != nil {
			l.set("unasked", err.Error())
		}
		_, err = fmt.Fprintln(out, l)
		return err
	})
}
