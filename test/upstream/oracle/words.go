package main

import "strings"

// Words that the generators share: good ones, edges, and ones that are wrong.
var (
	keys = []string{"a", "app", "example.com/app", "env.example.com/dev", "kubernetes.io/os", "node.kubernetes.io/unschedulable",
		"node.kubernetes.io/not-ready", "topology.kubernetes.io/zone", "", "A.b_c-d", "é", "a/", "/a", "a/b/c", "-x", "a b",
		strings.Repeat("k", 63), strings.Repeat("k", 64), strings.Repeat("p", 253) + "/x", strings.Repeat("p", 254) + "/x"}
	values = append([]string{"", "a", "v", "b", "A-b_c.d", "-v", "v-", "a b", "é", "\"q\"", "<&>", "\x00", "a\u2028b", "😀",
		strings.Repeat("v", 63), strings.Repeat("v", 64)}, append(numbers, versions...)...)
	numbers = []string{"0", "1", "-1", "5", "10", "007", "-0", "+1", "1.0", "1e3", "0x10", "1_000", " 1", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "950", "0950", "-", "--1", "１", "42"}
	versions = []string{"1", "1.2", "1.2.3", "v1.2.3", "V1.2.3", "vv1", "1.2.3-rc.1", "1.2.3-rc.01", "1.2.3-1", "1.2.3-a.b", "1.2.3+b", "1.2.3-a+b.c",
		"01.02.03", "1.2.3.4", "1.2-rc", "5.15.0-91-generic", "4.18.0-553.el8_10.x86_64", "1.2.", ".1", "1..3", "18446744073709551615.0.0",
		"18446744073709551616.0.0", " 1.2.3 ", "v", "1.2.3-", "1.2.3+", "1.2.00-a", "1.31.99", "5.15.0", "2.0.0", "10.0.0", "1.10.0"}
	effects = []string{"NoSchedule", "NoExecute", "PreferNoSchedule", "", "Foo", "noschedule"}
)
