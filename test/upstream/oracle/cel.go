package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// The largest sizes that validation allows for the fields of a taint.
var taintSizes = map[string]uint64{"key": 317, "value": 63, "effect": 16}

type taintEstimator struct{}

func (taintEstimator) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 || path[0] != "taint" {
		return nil
	}
	if len(path) == 1 {
		return &checker.SizeEstimate{}
	}
	if max, ok := taintSizes[path[1]]; ok && len(path) == 2 {
		return &checker.SizeEstimate{Max: max}
	}
	return nil
}

func (taintEstimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func taintType() *apiservercel.DeclType {
	fields := map[string]*apiservercel.DeclField{}
	for name, max := range taintSizes {
		t := apiservercel.NewSimpleTypeWithMinSize("string", cel.StringType, types.String(""), 0)
		t.MaxElements = int64(max)
		fields[name] = apiservercel.NewDeclField(name, t, true, nil, nil)
	}
	return apiservercel.NewObjectType("kubernetes.Taint", fields)
}

// The environment for expressions that are new, at a compatibility version: the base with the variable.
func newExpressions(minor uint, more ...cel.EnvOption) *cel.Env {
	return envSet(minor, more...).NewExpressionsEnv()
}

var storedExpressions = envSet(36).StoredExpressionsEnv()

func envSet(minor uint, more ...cel.EnvOption) *environment.EnvSet {
	taint := taintType()
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        append(more, cel.Variable("taint", taint.CelType())),
		DeclTypes:         []*apiservercel.DeclType{taint},
	})
	if err != nil {
		panic(err)
	}
	return set
}

var celEnvs = map[string]*cel.Env{
	"new@1.36":             newExpressions(36),
	"new@1.37+cel.bind v0": newExpressions(37, ext.Bindings(ext.BindingsVersion(0))),
}

// deviceAnswer compiles an expression that selects devices, where attributes may be lists or not, and tells the most that it
// may cost.
func deviceAnswer(l line, env string) {
	isNew := environment.NewExpressions
	features := dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: strings.HasSuffix(env, "+lists")}
	r := dracel.GetCompiler(features).CompileCELExpression(get[string](l, "expr"), dracel.Options{EnvType: &isNew})
	if r.Error == nil {
		l.set("est_max", strconv.FormatUint(r.MaxCost, 10))
	} else if issues, ok := strings.CutPrefix(r.Error.Detail, "compilation failed: "); ok {
		l.set("issues", issues)
	} else {
		l.set("refused", r.Error.Detail)
	}
}

func celAnswer(l line) {
	if name := get[string](l, "env"); strings.HasPrefix(name, "device") {
		deviceAnswer(l, name)
		return
	}
	env := celEnvs[get[string](l, "env")]
	if env == nil {
		panic(badQuestion{fmt.Errorf("no such environment")})
	}
	ast, issues := env.Compile(get[string](l, "expr"))
	if issues.Err() != nil {
		l.set("issues", issues.Err().Error())
		return
	}
	l.set("type", ast.OutputType().String())
	estimate, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: taintEstimator{}})
	if err != nil {
		panic(err)
	}
	l.set("est_min", strconv.FormatUint(estimate.Min, 10))
	l.set("est_max", strconv.FormatUint(estimate.Max, 10))
	program, err := env.Program(ast, cel.CostLimit(1000000), cel.InterruptCheckFrequency(100))
	if err != nil {
		l.set("program_error", err.Error())
		return
	}
	evaluate(l, program)
}

func evaluate(l line, program cel.Program) {
	taint := map[string]any{"key": "env.example.com/dev", "value": "5.15.0", "effect": "NoSchedule"}
	for name, value := range get[map[string]string](l, "taint") {
		taint[name] = value
	}
	value, details, err := program.Eval(map[string]any{"taint": taint})
	if details != nil && details.ActualCost() != nil {
		l.set("cost", *details.ActualCost())
	}
	if err != nil {
		l.set("eval_error", betweenFields.ReplaceAllString(err.Error(), "$1 $2"))
		return
	}
	l.set("result", literal(value))
	l.set("result_type", value.Type().TypeName())
}

// Protobuf puts one or two spaces between the fields of a message that it prints, by the build of the
// program, so that nobody counts on its texts: here it is one.
var betweenFields = regexp.MustCompile(`(\(\*dynamicpb\.Message\)type_url:".*")  (value:")`)

// As an expression would write the value. Formats, which have no such form, are shown by their names.
func literal(v ref.Val) string { return celFormat.ReplaceAllString(types.Format(v), "$1") }

var celFormat = regexp.MustCompile(`\{(\w+) %!s\(func[^=]*=0x[0-9a-f]+\) %!s\(int=[0-9]+\)\}`)
