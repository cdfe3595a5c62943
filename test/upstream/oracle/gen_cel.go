package main

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// A maker of expressions: mostly well-typed ones by the rules, some of them with a hole of a wrong type, some
// with a token too many, too few or in the wrong place.
type celMaker struct {
	r     *rand.Rand
	scope []celVariable
}

type celVariable struct{ name, typ string }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func generateCEL(r *rand.Rand) line {
	if chance(r, 25) {
		return generateDeviceCEL(r)
	}
	m := &celMaker{r: r}
	typ := "bool"
	if chance(r, 50) {
		typ = pick(r, celTypes)
	}
	expr := m.make(typ, 1+r.IntN(4))
	if chance(r, 20) {
		expr = pick(r, seedsOf("cel_vectors").texts("expr"))
	} else if chance(r, 20) {
		expr = m.call()
	}
	if chance(r, 15) {
		expr = mutateTokens(r, expr)
	}
	l := line{}
	l.set("env", "new@1.36")
	if chance(r, 5) {
		l.set("env", "new@1.37+cel.bind v0")
	}
	l.set("expr", expr)
	l.set("first_syntax_error", true) // how a parser goes on after an error is its own affair
	if chance(r, 30) {
		l.set("taint", map[string]string{"key": pick(r, keys), "value": pick(r, values), "effect": pick(r, effects)})
	}
	return l
}

var celHole = regexp.MustCompile(`<([a-zA-Z]+(?:\([a-zA-Z(),]*\))?)>|\$([a-z]):([a-zA-Z]+)`)

func (m *celMaker) make(typ string, depth int) string {
	for _, v := range m.scope {
		if v.typ == typ && chance(m.r, 40) {
			return v.name
		}
	}
	if chance(m.r, 2) {
		typ = pick(m.r, celTypes) // the checker's business
	}
	if chance(m.r, 2) {
		return "dyn(" + m.make(pick(m.r, celTypes), depth-1) + ")" // a value of any type, known only at run time
	}
	constants := celConstants[typ]
	if depth <= 0 && len(constants) > 0 && (typ != "string" || chance(m.r, 60)) {
		return pick(m.r, constants)
	}
	rules := rulesFor(typ)
	if len(rules) == 0 && len(constants) == 0 {
		return "null" // a map with maps as keys, for example
	}
	if len(rules) == 0 || (len(constants) > 0 && chance(m.r, 15)) {
		return pick(m.r, constants)
	}
	rule := pick(m.r, rules)
	if depth <= 0 {
		rule = shortest(m.r, rules)
	}
	return m.fill(rule, typ, depth)
}

// fill puts expressions into the holes of a rule.
func (m *celMaker) fill(rule celRule, typ string, depth int) string {
	bound := bind(rule.result, typ)
	defer func(n int) { m.scope = m.scope[:n] }(len(m.scope))
	var out strings.Builder
	last := 0
	for _, at := range celHole.FindAllStringSubmatchIndex(rule.text, -1) {
		out.WriteString(rule.text[last:at[0]])
		last = at[1]
		if at[2] >= 0 {
			out.WriteString(m.make(m.concrete(rule.text[at[2]:at[3]], bound), depth-1))
			continue
		}
		v := celVariable{m.variable(rule.text[at[4]:at[5]]), m.concrete(rule.text[at[6]:at[7]], bound)}
		out.WriteString(v.name)
		m.scope = append(m.scope, v)
	}
	out.WriteString(rule.text[last:])
	return out.String()
}

// Mostly the name of the rule; sometimes one that hides another.
func (m *celMaker) variable(name string) string {
	if chance(m.r, 4) {
		return pick(m.r, []string{"taint", "size", "type", "__result__", "int", "k"})
	}
	return name
}

// concrete puts types for the letters, which all stand for the same type from then on.
func (m *celMaker) concrete(typ string, bound map[string]string) string {
	from := map[string][]string{"T": celTypes, "K": celKeyTypes, "V": celTypes}
	if typ == "list(S)" {
		return pick(m.r, celSortable)
	}
	return celLetter.ReplaceAllStringFunc(typ, func(letter string) string {
		if bound[letter] == "" {
			bound[letter] = pick(m.r, from[letter])
		}
		return bound[letter]
	})
}

var celLetter = regexp.MustCompile(`\b[TKV]\b`)

// bind gives the letters of a rule's result by the type that is wanted, or nil when the rule cannot give it.
func bind(result, typ string) map[string]string {
	switch {
	case result == typ:
		return map[string]string{}
	case result == "T":
		return map[string]string{"T": typ}
	case strings.HasPrefix(result, "map("):
		return bindMap(result, typ)
	}
	head, ok := strings.CutSuffix(result, "(T)")
	inner, found := strings.CutPrefix(typ, head+"(")
	if !ok || !found || strings.HasPrefix(typ, "map(") {
		return nil
	}
	return map[string]string{"T": strings.TrimSuffix(inner, ")")}
}

func bindMap(result, typ string) map[string]string {
	inner, found := strings.CutPrefix(typ, "map(")
	key, value, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
	switch {
	case !found:
		return nil
	case result == "map(K,V)":
		return map[string]string{"K": key, "V": value}
	case result == "map("+key+",V)":
		return map[string]string{"V": value}
	}
	return nil
}

var celRulesFor = map[string][]celRule{}

func rulesFor(typ string) []celRule {
	if rules, ok := celRulesFor[typ]; ok {
		return rules
	}
	var own, any []celRule
	for _, rule := range celRules {
		if bind(rule.result, typ) == nil {
			continue
		}
		if rule.result == "T" {
			any = append(any, rule)
		} else {
			own = append(own, rule)
		}
	}
	celRulesFor[typ] = own
	if len(own) > 0 && celConstants[typ+"text"] == nil && !strings.HasSuffix(typ, "text") && typ != "regex" && typ != "zone" {
		celRulesFor[typ] = append(own, any...)
	}
	return celRulesFor[typ]
}

// One of the few rules that ask for least, so that an expression ends.
func shortest(r *rand.Rand, rules []celRule) celRule {
	best := rules[r.IntN(len(rules))]
	for range 6 {
		if rule := pick(r, rules); strings.Count(rule.text, "<") < strings.Count(best.text, "<") {
			best = rule
		}
	}
	return best
}

var celToken = regexp.MustCompile(`'[^']*'|"[^"]*"|[A-Za-z_][A-Za-z_0-9]*|[0-9.]+|[&|=!<>]=?|\s+|.`)

var celTokens = []string{"(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "+", "-", "*", "/", "%", "!", "&&", "||", "==", "in", "<", "true",
	"null", "1", "1u", "1.5", "'a'", "b'a'", "taint", "taint.key", "x", "size", "has", "if", "`a`", "#", "é", "'", "//", "\n", "@", ".?", "[?", "\\", "0x", "1e", "&", "=", "_", "`"}

// mutateTokens takes away, doubles, swaps or puts in a token or two, or breaks off at one.
func mutateTokens(r *rand.Rand, expr string) string {
	tokens := celToken.FindAllString(expr, -1)
	for range 1 + r.IntN(2) {
		if len(tokens) == 0 {
			tokens = []string{"1"}
		}
		i := r.IntN(len(tokens))
		switch r.IntN(5) {
		case 0:
			tokens = append(tokens[:i:i], tokens[i+1:]...)
		case 1:
			tokens = append(tokens[:i+1:i+1], tokens[i:]...)
		case 2:
			tokens[i] = pick(r, celTokens)
		case 3:
			tokens = tokens[:i]
		default:
			tokens = append(tokens[:i:i], append([]string{pick(r, celTokens)}, tokens[i:]...)...)
		}
	}
	return strings.Join(tokens, "")
}
