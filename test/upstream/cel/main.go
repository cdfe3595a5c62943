// What CEL costs in Go: cel-go alone, and as Kubernetes runs it. Reads bench/cel_expressions.tsv from
// standard input and prints, for `make bench-cel`, one line per engine and expression:
//
//	engine TAB expression TAB ns per evaluation TAB ns per compilation
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

const share = 60e6 // ns that one measurement takes

type question struct{ name, key, value, effect, expr string }

type engine struct {
	name    string
	compile func(expr string) (cel.Program, error)
	eval    func(p cel.Program, q question) (any, error)
}

// Processor time of the whole process, so that the garbage collector's threads count and other work
// on the machine does not.
func now() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func measure(f func()) float64 {
	f()
	for n := 1; ; n *= 2 {
		start := now()
		for range n {
			f()
		}
		if ns := now() - start; ns >= share {
			return ns / float64(n)
		}
	}
}

// The taint, with the greatest sizes that its fields may have.
func taintType() *apiservercel.DeclType {
	text := func(max int64) *apiservercel.DeclType {
		t := apiservercel.NewSimpleTypeWithMinSize("string", cel.StringType, types.String(""), 0)
		t.MaxElements = max
		return t
	}
	return apiservercel.NewObjectType("kubernetes.Taint", map[string]*apiservercel.DeclField{
		"key":    apiservercel.NewDeclField("key", text(317), true, nil, nil),
		"value":  apiservercel.NewDeclField("value", text(63), true, nil, nil),
		"effect": apiservercel.NewDeclField("effect", text(16), true, nil, nil),
	})
}

type sizes struct{ taint *apiservercel.DeclType }

func (s sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	if path := node.Path(); len(path) == 2 && path[0] == "taint" && s.taint.Fields[path[1]] != nil {
		return &checker.SizeEstimate{Max: uint64(s.taint.Fields[path[1]].Type.MaxElements)}
	}
	return nil
}

func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// As dynamic resource allocation, which the proposal follows, compiles and evaluates: the base
// environment with its cost limit, the estimate, and maps built for every evaluation.
func kubernetes() engine {
	taint := taintType()
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 36)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("taint", taint.CelType())},
		DeclTypes:         []*apiservercel.DeclType{taint},
	})
	if err != nil {
		panic(err)
	}
	env := set.NewExpressionsEnv()
	estimator := &library.CostEstimator{SizeEstimator: sizes{taint}}
	compile := func(expr string) (cel.Program, error) {
		ast, issues := env.Compile(expr)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		if _, err := env.EstimateCost(ast, estimator); err != nil {
			return nil, err
		}
		return env.Program(ast, cel.CostLimit(1000000), cel.InterruptCheckFrequency(100))
	}
	eval := func(p cel.Program, q question) (any, error) {
		v, _, err := p.Eval(map[string]any{"taint": map[string]any{"key": q.key, "value": q.value, "effect": q.effect}})
		return v, err
	}
	return engine{"cel-go, Kubernetes", compile, eval}
}

// The least that cel-go can do: no cost, no estimate, no validators, one map built beforehand.
func bare() engine {
	env, err := cel.NewEnv(ext.Lists(), library.SemverLib(library.SemverVersion(1)),
		cel.Variable("taint", cel.MapType(cel.StringType, cel.StringType)))
	if err != nil {
		panic(err)
	}
	compile := func(expr string) (cel.Program, error) {
		ast, issues := env.Compile(expr)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		return env.Program(ast, cel.EvalOptions(cel.OptOptimize))
	}
	activations := map[question]any{}
	eval := func(p cel.Program, q question) (any, error) {
		if activations[q] == nil {
			activations[q] = map[string]any{"taint": map[string]string{"key": q.key, "value": q.value, "effect": q.effect}}
		}
		v, _, err := p.Eval(activations[q])
		return v, err
	}
	return engine{"cel-go, bare", compile, eval}
}

func run(e engine, q question) error {
	program, err := e.compile(q.expr)
	if err != nil {
		return err
	}
	if v, err := e.eval(program, q); err != nil || v != types.True {
		return fmt.Errorf("%v, %v instead of true", v, err)
	}
	eval := measure(func() { e.eval(program, q) })
	compile := measure(func() { e.compile(q.expr) })
	fmt.Printf("%s\t%s\t%.1f\t%.1f\n", e.name, q.name, eval, compile)
	return nil
}

func main() {
	engines := []engine{kubernetes(), bare()}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		for _, e := range engines {
			if err := run(e, question{f[0], f[1], f[2], f[3], f[4]}); err != nil {
				fmt.Fprintf(os.Stderr, "%s: %s: %v\n", e.name, f[0], err)
				os.Exit(1)
			}
		}
	}
}
