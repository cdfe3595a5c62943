package main

import (
	"math/rand/v2"
	"strings"
)

// Documents as people write them, with what is seldom seen.
var yamlSeeds = []string{
	"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels: {app: web, \"tier\": 'front'}\nspec:\n  containers:\n  - name: app\n    image: nginx:1.27\n    args: [\"-c\", 'echo \"it''s\"', --flag=a]\n    env:\n    - name: A\n      value: \"\\'quoted\\'\"\n",
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  run.sh: |\n    #!/bin/sh\n    echo \"\\'\" # no comment\n\n    exit 0\n  folded: >-\n    one\n    two\n\n    three\n  keep: |+\n    text\n\n  indented: |2\n      two more\n",
	"apiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  clusterIPs: [2001:db8::1, 10.0.0.1]\n  externalIPs: [001:db8::]\n  ports:\n  - {port: 80, targetPort: http, protocol: TCP}\n  - port: 0x1F\n    nodePort: 0o17\n",
	"a: &x {k: v, n: 1}\nb: *x\nc:\n  <<: *x\n  k: w\nd: [*x, &y 7, *y]\n",
	"? a\n: b\n? [c]\n: d\n",
	"- 1\n- 1.0\n- 1e3\n- 0b11\n- 0o7\n- 017\n- 1_000\n- 1:30\n- .5\n- ~\n- null\n- yes\n- 'no'\n- on\n- 2001-01-01\n- .inf\n- =\n- <<\n",
	"text: one\n  two\n\n  three # comment\nquoted: \"one\n  two\\\n  three\\x41\\u00e9\\n\"\nsingle: 'a\n\n  b'\n",
	"key with spaces: value: no\n\"a:b\": c\nd:e: f\n-g: h\n:i: j\n?k: l\n",
	"list:\n- - a\n  - b\n-\n  c: d\n- e:\n  - f\nempty:\nflow: [a, [b, c], {d: e, f}, ]\nmap: {a: , b: [], ? c : d}\n",
	"%YAML 1.1 # of old\n%TAG !y! tag:yaml.org,2002:\n--- # begins\na: !y!int \"1\"\nb: !<tag:yaml.org,2002:str> 2\nc: !y!%73tr 3\n...\n",
	"--- >2-\n   folded\n  text\n\n   more\n   \n  end\n",
	"tagged: !!str 1\nint: !!int \"3\"\nbin: !!binary aGk=\nset: !!map {}\nown: !thing x\n",
}

var yamlBits = []string{" ", "  ", "\n", "\n  ", ":", ": ", ",", "-", "- ", "?", "? ", "#", " #", "'", "\"", "\\", "\\'", "\\\"", "\\n", "\\x4", "[", "]",
	"{", "}", "|", ">", "|-\n", "&a ", "*a", "!", "!!str ", "!!int ", "%", "@", "`", "~", "null", "yes", "1", "0", "a", "é", "::", "001:db8::", "<<: ",
	"\t", "\r\n", ".", "=", "0x1", "1e3", "[a:b]", "{a:b}", "[a: b]", "{a: }", "[?a]", "[a?]", "[:a]", "[a:]", "\u0085", "\u2028", "\n---\n", "--- ", "\n...\n",
	"%YAML 1.1\n", "%YAML 1.2\n", "%TAG !e! tag:e,2000:\n", "%TAG ! tag:yaml.org,2002:\n", "!e!x ", "!<tag:yaml.org,2002:int> ", "!%41 ", "\\\n", "|2+", ">1\n", "\u00a0"}

func mutateText(r *rand.Rand, text string, bits []string) string {
	runes := []rune(text)
	at := r.IntN(len(runes) + 1)
	end := min(len(runes), at+1+r.IntN(3))
	switch r.IntN(4) {
	case 0:
		return string(runes[:at]) + string(runes[end:])
	case 1:
		return string(runes[:at]) + pick(r, bits) + string(runes[end:])
	default:
		return string(runes[:at]) + pick(r, bits) + string(runes[at:])
	}
}

// randomYAML puts bits together, line by line.
func randomYAML(r *rand.Rand) string {
	var out strings.Builder
	for range 1 + r.IntN(4) {
		out.WriteString(strings.Repeat(" ", 2*r.IntN(3)))
		for range 1 + r.IntN(5) {
			out.WriteString(pick(r, yamlBits))
		}
		out.WriteString("\n")
	}
	return out.String()
}

func generateYAML(r *rand.Rand) line {
	text := pick(r, yamlSeeds)
	if chance(r, 40) {
		text = randomYAML(r)
	}
	for range r.IntN(4) {
		text = mutateText(r, text, yamlBits)
	}
	l := line{}
	l.set("text", text)
	return l
}
