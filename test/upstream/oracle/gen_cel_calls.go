package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// A call that upstream declares, whether or not there is a rule for it.
type celCall struct {
	name   string
	member bool
	params []string // types as the rules name them; "" is any
}

// All calls that can be written, without those of the authorizer, which expressions about taints do not have.
var celCalls = sync.OnceValue(func() []celCall {
	var calls []celCall
	functions := celEnvs["new@1.36"].Functions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, overload := range functions[name].OverloadDecls() {
			call := celCall{name: name, member: overload.IsMemberFunction()}
			for _, t := range overload.ArgTypes() {
				call.params = append(call.params, ruleType(t))
			}
			if !slices.Contains(call.params, "none") && call.write(slices.Clone(call.params)) != "" {
				calls = append(calls, call)
			}
		}
	}
	return calls
})

var celOpaque = map[string]string{"optional_type": "optional(int)", "net.IP": "ip", "net.CIDR": "cidr", "kubernetes.URL": "url",
	"kubernetes.Quantity": "quantity", "kubernetes.Semver": "semver", "kubernetes.NamedFormat": "format"}

// ruleType names a type as the rules do: "" for any, "none" for what no rule makes.
func ruleType(t *types.Type) string {
	switch t.Kind() {
	case types.DynKind, types.AnyKind, types.TypeParamKind:
		return ""
	case types.ListKind:
		if elem := "list(" + ruleType(t.Parameters()[0]) + ")"; slices.Contains(celTypes, elem) {
			return elem
		}
		return "list(int)"
	case types.MapKind:
		return "map(string,int)"
	case types.DurationKind:
		return "duration"
	case types.TimestampKind:
		return "timestamp"
	case types.NullTypeKind:
		return "null"
	case types.OpaqueKind:
		if name, ok := celOpaque[t.TypeName()]; ok {
			return name
		}
		return "none"
	}
	if slices.Contains(celTypes, t.TypeName()) {
		return t.TypeName()
	}
	return "none"
}

// write gives the call with these arguments, or "" when expressions cannot have it.
func (c celCall) write(args []string) string {
	forms := map[string]string{operators.Conditional: "(%s) ? (%s) : (%s)", operators.Index: "(%s)[%s]", operators.OptIndex: "(%s)[?%s]",
		operators.LogicalNot: "!(%s)", operators.Negate: "-(%s)", operators.In: "(%s) in (%s)"}
	if op, ok := operators.FindReverseBinaryOperator(c.name); ok && len(args) == 2 {
		return fmt.Sprintf("(%s) %s (%s)", args[0], op, args[1])
	}
	if form, ok := forms[c.name]; ok {
		return fmt.Sprintf(form, anys(args)...)
	}
	switch {
	case strings.ContainsAny(c.name, "@_"):
		return ""
	case c.member:
		return fmt.Sprintf("(%s).%s(%s)", args[0], c.name, strings.Join(args[1:], ", "))
	}
	return fmt.Sprintf("%s(%s)", c.name, strings.Join(args, ", "))
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

// call gives a declared call, some of its arguments of any type, which then is known only at run time.
func (m *celMaker) call() string {
	c := pick(m.r, celCalls())
	args := make([]string, len(c.params))
	for i, typ := range c.params {
		if typ == "" || chance(m.r, 40) {
			args[i] = "dyn(" + m.make(pick(m.r, celTypes), 0) + ")"
		} else {
			args[i] = m.make(typ, 0)
		}
	}
	return c.write(args)
}
