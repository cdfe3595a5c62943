package main

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// What expressions of a kind of object may name: each is an expression of a type that the rules know.
var (
	deviceVariables = []celVariable{{"device.driver", "string"}, {"device.attributes", "map(string,dyn)"}, {"device.attributes['dra.example.com']", "map(string,dyn)"},
		{"device.attributes['dra.example.com'].numa", "dyn"}, {"device.attributes['a']['b']", "dyn"}, {"device.allowMultipleAllocations", "bool"},
		{"device.capacity['dra.example.com'].memory", "quantity"}, {"device.capacity['a']", "map(string,quantity)"}, {"device.capacity", "map(string,dyn)"},
		{"device.attributes['dra.example.com'].version", "semver"}, {"device.attributes['dra.example.com'].list", "list(int)"}, {"device", "dyn"}}
	requestVariables = []celVariable{{"object", "dyn"}, {"oldObject.spec", "dyn"}, {"object.metadata.name", "string"}, {"request.name", "string"},
		{"request.namespace", "string"}, {"request.kind.group", "string"}, {"request.requestResource.resource", "string"}, {"request.operation", "string"},
		{"request.userInfo.groups", "list(string)"}, {"request.userInfo.extra['a']", "list(string)"}, {"request.userInfo.username", "string"},
		{"request.dryRun", "bool"}, {"request.options", "dyn"}, {"request", "dyn"}, {"namespaceObject.metadata.labels", "map(string,string)"},
		{"namespaceObject.metadata.annotations['a']", "string"}, {"namespaceObject.metadata.creationTimestamp", "timestamp"},
		{"namespaceObject.metadata.generation", "int"}, {"namespaceObject.status.conditions", "list(dyn)"}, {"namespaceObject.status.phase", "string"},
		{"namespaceObject.spec.finalizers", "list(string)"}, {"namespaceObject.status.conditions[0].lastTransitionTime", "timestamp"},
		{"authorizer.requestResource.check('get').allowed()", "bool"}, {"authorizer.group('apps').resource('deployments').namespace('a').check('create').reason()", "string"},
		{"authorizer.path('/healthz').check('get').errored()", "bool"}, {"authorizer.serviceAccount('a', 'b').group('').resource('pods').fieldSelector('a=b').check('list').error()", "string"},
		{"params.spec.replicas", "int"}, {"params", "dyn"}, {"params.metadata.name", "string"}}
	policyVariables = []celVariable{{"variables.a", "int"}, {"variables.b", "string"}, {"variables.c", "list(int)"}, {"variables.d", "dyn"}, {"variables", "dyn"}}
)

// Expressions that have something to say about their environment, many of them wrong.
var (
	deviceExpressions = []string{"device.nope", "device.attributes.a.b", "device.attributes['a'].b", "device.capacity['a'].b", "device", "device.driver", "dyn(true)", "1", "'a'", "[1]", "['a', 'b']",
		"semver('1.0.0')", "[semver('1.0.0')]", "quantity('1')", "[device.attributes['a'].b]", "kubernetes.DRADevice", "type(device) == kubernetes.DRADevice", "kubernetes.DRADevice{}",
		"kubernetes.DRADevice{driver: 'a'}", "kubernetes.DRADevice.attributes", "kubernetes.DRADevice.attributes == kubernetes.DRADevice.capacity",
		"cel.bind(d, device.attributes['a'], d.b == d.c && d.e.startsWith('x'))", "device.attributes['a'].list.includes(1)", "device.attributes['a'].list.exists(x, x == 1)",
		"device.attributes['a'].b.lowerAscii() == 'x'", "device.attributes['a'].b.matches('(a|b)+')", "device.attributes.all(k, device.attributes[k].all(i, k + i != 'x'))",
		"device.attributes.all(k, device.attributes.all(j, device.attributes.all(l, k + j + l != 'x')))", "device.capacity['a'].b.compareTo(quantity('1Gi')) >= 0",
		"device.capacity['a'].b.isGreaterThan(1)", "device.attributes['a'].?b.orValue('x') == 'x'", "has(device.attributes['a'].b)", "has(device.driver)", "has(device.nope)", "device.?driver",
		"device['driver']", "object", "request.name", "taint.key", "1 +", "", " ", "'", "size(device.attributes) > 0", "device.driver.split('.').join('x') + device.driver == ''",
		"device.attributes['a'].b.isGreaterThan(semver('1.0.0'))", "device.attributes[device.driver][device.driver]", "[1, 'a']", "duration('x')", "'a'.matches('(')",
		"lists.range(1000).all(x, device.attributes.all(k, k != string(x)))", "device.driver.find('[a-z]+').replace('a', 'b')", "device.attributes['a'].b == device.attributes['c'].d",
		"device.attributes['a'].b in ['x', 'y']", "[device.attributes['a'].b, 'x'].join(',')", "null", "type(1)", "optional.of(true)", "{'a': 1}", "b'a'", "1u", "1.5", "timestamp(0)"}
	requestExpressions = []string{"request.nope", "request.kind.nope", "request.userInfo.nope", "namespaceObject.nope", "namespaceObject.metadata.nope", "namespaceObject.metadata.uid", "namespaceObject.metadata.UID == 'a'",
		"namespaceObject.status.conditions.all(c, c.status == 'True' && c.type != 1)", "namespaceObject.status.conditions[0].nope", "object.a.b.c", "has(object.spec.replicas) && object.spec.replicas > 5", "oldObject == null || oldObject.x == object.x",
		"authorizer", "authorizer.foo", "authorizer.requestResource", "authorizer.requestResource.check('get')", "authorizer.requestResource.check('get').allowed()", "authorizer.group('a')", "authorizer.group(1)", "authorizer.path('a').check('get').allowed()",
		"authorizer.nope('a')", "authorizer.group('a').nope", "params.a", "params == null", "variables.nope", "variables", "has(variables.a)", "variables.a == 1", "variables.b == 'x'", "variables.c[0] == 1", "variables.d.e", "variables.a + variables.b",
		"kubernetes.UserInfo", "kubernetes.AdmissionRequest.userInfo.groups", "kubernetes.AdmissionRequest.userInfo.groups == kubernetes.Namespace.metadata.labels", "kubernetes.Namespace{}", "kubernetes.variables", "kubernetes.UserInfo{username: 'a', groups: ['a'], nope: 1}", "kubernetes.UserInfo{username: 1}",
		"type(request) == kubernetes.AdmissionRequest", "request == 1", "request.kind == request.requestKind", "request.kind == request.resource", "request.options.a", "has(request.dryRun)", "has(request.nope)", "request.?subResource.orValue('') == ''", "request['name']",
		"request.userInfo.groups.exists(g, g == 'a')", "request.userInfo.extra['a'].exists(g, g == 1)", "request.userInfo.extra.a", "1", "'a'", "true", "null", "1 +", "", " ", "'", "device.driver", "cel.bind(a, 1, a == 1)", "[1].includes(1)", "Object{}", "JSONPatch{op: 'add'}", "jsonpatch.escapeKey('a')",
		"duration('x')", "'a'.matches('(')", "[1, 'a']", "type(1)", "optional.of(1)", "optional.none()", "{'a': 1}", "{'a': [1]}", "b'a'", "1u", "1.5", "timestamp(0)", "duration('1s')", "[]", "{}", "[[1]]", "[dyn(1)]", "quantity('1')", "ip('::1')", "google.protobuf.Int64Value{value: 1}", "string(object)", "' ' + request.name + ' '",
		"object.metadata.labels.all(k, k.startsWith('a'))", "object.spec.containers.map(c, c.image)", "\n true", " true ", "string(namespaceObject.metadata.creationTimestamp)", "for", "a.b.c", "kubernetes.Nope", "kubernetes"}
	patchExpressions = []string{"Object{}", "Object{spec: Object.spec{replicas: 1}}", "Object{spec: Object.spec{x: [Object.spec.x.item{name: 'a'}]}}", "Object.spec{}", "Object", "Object.a.b", "Object{}.a", "Object{a: 1}.a.b == 1", "Object{a: nope}", "Object{a: Object.b{c: 1 + 'a'}}", "Object{?a: optional.of(1)}", "Object{?a: 1}",
		"[JSONPatch{op: 'add', path: '/a', value: 1}]", "[JSONPatch{op: 'add', path: '/a', value: Object.a{b: 1}}]", "[JSONPatch{op: 1}]", "[JSONPatch{path: 1, from: 2}]", "JSONPatch{op: 'add'}", "[]", "[JSONPatch{op: 'add'}, JSONPatch{op: 'remove', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c')}]",
		"jsonpatch.escapeKey('a')", "jsonpatch.escapeKey(1)", "has(object.a) ? [JSONPatch{op: 'test', path: '/a', value: object.a}] : []", "JSONPatch", "[JSONPatch{op: 'add'}.op]", "JSONPatch{op: 'add'}.value", "type(Object{}) == Object", "Object{} == Object.a{}", "[Object{}, Object.a{}]", "dyn(Object{})", "true ? Object{} : Object.b{}", "true ? Object{} : null", "{'a': Object{}}", "jsonpatch.nope('a')",
		"Object{metadata: Object.metadata{labels: {'a': 'b'}}}", "[1].map(x, JSONPatch{op: 'add', value: x})", "Objec{}", "object{}", ".Object{}", "Object{a: variables.a, b: params.c}"}
)

var (
	aboutTaint  = regexp.MustCompile(`\btaint\.(key|value|effect)\b`)
	deviceKinds = []string{"DeviceClass", "ResourceClaim", "ResourceClaimTemplate"}
	hookKinds   = []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
	policyKinds = []string{"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"}
)

// expressionOf makes an expression for a member of an object of a kind; "" and false when it is about something else.
func expressionOf(r *rand.Rand, kind, key string) (string, bool) {
	var variables []celVariable
	var words []string
	switch {
	case !slices.Contains([]string{"expression", "messageExpression", "valueExpression"}, key):
		return "", false
	case slices.Contains(deviceKinds, kind):
		variables, words = deviceVariables, deviceExpressions
	case slices.Contains(hookKinds, kind):
		variables, words = requestVariables, requestExpressions
	case slices.Contains(policyKinds, kind):
		variables, words = append(slices.Clone(requestVariables), policyVariables...), requestExpressions
	default:
		return "", false
	}
	if kind == "MutatingAdmissionPolicy" && chance(r, 60) {
		words = patchExpressions
	}
	if chance(r, 50) {
		return pick(r, words), true
	}
	typ := pick(r, []string{"bool", "bool", "bool", pick(r, celTypes)})
	if key != "expression" && chance(r, 80) {
		typ = "string"
	}
	return madeExpression(r, variables, typ), true
}

// madeExpression is one by the rules, with the variables instead of a taint.
func madeExpression(r *rand.Rand, variables []celVariable, typ string) string {
	m := &celMaker{r: r, scope: slices.Clone(variables)}
	r.Shuffle(len(m.scope), func(i, k int) { m.scope[i], m.scope[k] = m.scope[k], m.scope[i] })
	expr := aboutTaint.ReplaceAllStringFunc(m.make(typ, 1+r.IntN(3)), func(string) string { return m.scope[0].name })
	return strings.ReplaceAll(expr, "taint", variables[0].name)
}

// addExpressions gives an object more places for expressions, each with one.
func addExpressions(r *rand.Rand, kind string, o object) {
	if chance(r, 50) {
		return
	}
	text := func(key string) string { s, _ := expressionOf(r, kind, key); return s }
	named := func(names ...string) func() object {
		return func() object { return object{"name": pick(r, names), "expression": text("expression")} }
	}
	spec, _ := o["spec"].(object)
	hooks, _ := o["webhooks"].([]any)
	for _, hook := range hooks {
		if h, ok := hook.(object); ok {
			h["matchConditions"] = some(r, 3, named("a", "b", "c"))
		}
	}
	switch {
	case spec == nil:
	case kind == "ValidatingAdmissionPolicy":
		spec["variables"] = some(r, 4, named("a", "b", "c", "d"))
		spec["validations"] = some(r, 3, func() object {
			return object{"expression": text("expression"), "messageExpression": text("messageExpression")}
		})
		maybe(r, 30, spec, "auditAnnotations", []any{object{"key": "a", "valueExpression": text("valueExpression")}})
	case kind == "MutatingAdmissionPolicy":
		spec["variables"] = some(r, 4, named("a", "b", "c", "d"))
		spec["mutations"] = some(r, 3, func() object {
			if chance(r, 50) {
				return object{"patchType": "JSONPatch", "jsonPatch": object{"expression": text("expression")}}
			}
			return object{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": text("expression")}}
		})
	case kind == "DeviceClass":
		spec["selectors"] = some(r, 3, func() object { return object{"cel": object{"expression": text("expression")}} })
	case slices.Contains(deviceKinds, kind):
		deriveAttributes(r, spec)
	}
}

// deriveAttributes gives the requests of a claim, or of a template, attributes of some cost.
func deriveAttributes(r *rand.Rand, value any) {
	switch v := value.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			deriveAttributes(r, v[key])
		}
		if v["deviceClassName"] != nil {
			v["derivedAttributes"] = some(r, 4, func() object {
				return object{"name": "dra.example.com/" + pick(r, []string{"a", "b", "c"}), "expression": pick(r, append(costlyExpressions, deviceExpressions...))}
			})
		}
	case []any:
		for _, item := range v {
			deriveAttributes(r, item)
		}
	}
}

// Below the limit one by one, and above it in numbers.
var costlyExpressions = []string{"device.attributes.all(k, device.attributes.all(j, k + j != 'x'))", "device.attributes.map(k, device.attributes.map(j, k + j)).size()",
	"lists.range(100).all(x, device.attributes.all(k, device.attributes[k].all(i, i + string(x) != 'x')))", "lists.range(30).all(x, device.attributes.all(k, device.attributes[k].all(i, i != k)))"}

// changeExpressions gives some members of an object other expressions.
func changeExpressions(r *rand.Rand, kind string, value any) {
	switch v := value.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if _, isText := v[key].(string); isText && chance(r, 50) {
				if text, ok := expressionOf(r, kind, key); ok {
					v[key] = text
				}
			}
			changeExpressions(r, kind, v[key])
		}
	case []any:
		for _, item := range v {
			changeExpressions(r, kind, item)
		}
	}
}

// generateDeviceCEL makes an expression that selects devices, mostly one that does.
func generateDeviceCEL(r *rand.Rand) line {
	l, expr := line{}, madeExpression(r, deviceVariables, pick(r, []string{"bool", "bool", "bool", "dyn"}))
	if chance(r, 15) {
		expr = pick(r, deviceExpressions)
	}
	if chance(r, 5) {
		expr = mutateTokens(r, expr)
	}
	l.set("env", pick(r, []string{"device@1.36", "device@1.36+lists"}))
	l.set("expr", expr)
	l.set("first_syntax_error", true)
	return l
}
