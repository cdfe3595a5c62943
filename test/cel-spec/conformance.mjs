// Asks our engine the official tests of the CEL specification, as the npm package
// @bufbuild/cel-spec ships them, and reports what it answers.
//
//     node conformance.mjs PACKAGES RUNNER
//
// PACKAGES is the folder with node_modules, RUNNER the program of main.c. The package says what to
// expect; what Kubernetes answers otherwise stands, test by test and with its reason, in
// differences.txt. Exit 1 when an answer is explained by neither, or an explanation is not needed.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [packages, runner] = process.argv.slice(2);
const { tests: suite } = createRequire(resolve(packages, "package.json"))(
  "@bufbuild/cel-spec/testdata/conformance.js",
);

// ---- what the Kubernetes environment does not have ----

const missing = [
  ["test messages and enums", (text) => /TestAllTypes|TestRequired|NestedMessage|GlobalEnum|cel\.expr\.conformance\.proto/.test(text)],
  ["values that are messages or enums", (text) => /"(objectValue|enumValue)"/.test(text)],
  ["protos extension", (text) => /\bproto\.(get|has)Ext\b/.test(text)],
  ["math extension", (text) => /\bmath\.\w+\(/.test(text)],
  ["encoders extension", (text) => /\bbase64\.\w+\(/.test(text)],
  ["cel.bind", (text) => /\bcel\.bind\(/.test(text)],
  ["cel.block", (text) => /\bcel\.(block|index|iterVar)\(/.test(text)],
  ["strings version 3: reverse", (text) => /\.reverse\(\)/.test(text)],
];

// The container alone does not make a test depend on its messages.
function notApplicable(test) {
  const text = JSON.stringify({ ...test, container: undefined, name: undefined, description: undefined });
  return missing.find(([, uses]) => uses(text))?.[0];
}

// ---- the package's JSON in the words of the runner ----

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const double = (d) => String(d).replace("Infinity", "inf").replace("NaN", "nan");

const values = {
  nullValue: () => ({ k: "null" }),
  boolValue: (v) => ({ k: "bool", v }),
  int64Value: (v) => ({ k: "int", v: String(v) }),
  uint64Value: (v) => ({ k: "uint", v: String(v) }),
  doubleValue: (v) => ({ k: "double", v: Object.is(v, -0) ? "-0" : double(v) }),
  stringValue: (v) => ({ k: "string", v: hex(v) }),
  bytesValue: (v) => ({ k: "bytes", v: hex(Buffer.from(v, "base64")) }),
  typeValue: (v) => ({ k: "type", v }),
  listValue: (v) => ({ k: "list", v: (v.values ?? []).map(value) }),
  mapValue: (v) => ({ k: "map", v: (v.entries ?? []).map((e) => [value(e.key), value(e.value)]) }),
};

function value(v) {
  const [kind] = Object.keys(v);
  if (!values[kind]) throw new Error(`a value of kind ${kind}`);
  return values[kind](v[kind]);
}

const types = {
  dyn: () => ({ k: "dyn" }),
  null: () => ({ k: "null" }),
  primitive: (v) => ({ k: "primitive", v }),
  wrapper: (v) => ({ k: "wrapper", v: `wrapper(${{ INT64: "int", UINT64: "uint" }[v] ?? v.toLowerCase()})` }),
  wellKnown: (v) => ({ k: "well_known", v: { ANY: "any", TIMESTAMP: "timestamp", DURATION: "duration" }[v] }),
  listType: (v) => ({ k: "list", p: [type(v.elemType)] }),
  mapType: (v) => ({ k: "map", p: [type(v.keyType), type(v.valueType)] }),
  messageType: (v) => ({ k: "message", v }),
  typeParam: (v) => ({ k: "param", v }),
  type: (v) => ({ k: "type", p: Object.keys(v).length ? [type(v)] : [] }),
  abstractType: (v) => ({ k: "opaque", v: v.name, p: (v.parameterTypes ?? []).map(type) }),
};

function type(t) {
  const [kind] = Object.keys(t);
  if (!types[kind]) throw new Error(`a type of kind ${kind}`);
  return types[kind](t[kind]);
}

function declaration({ name, ident, function: fn }) {
  if (ident) return { name, type: type(ident.type) };
  const overloads = fn.overloads.map((o) => ({
    id: o.overloadId,
    params: (o.params ?? []).map(type),
    result: type(o.resultType),
  }));
  return { name, overloads };
}

function expectation(test) {
  if (test.evalError || test.anyEvalErrors) return { kind: "error" };
  if (test.unknown || test.anyUnknowns) throw new Error("unknown values");
  if (!test.typedResult) return { kind: "value", value: value(test.value ?? { boolValue: true }) };
  const { result, deducedType } = test.typedResult;
  return { kind: "typed", value: result ? value(result) : null, type: type(deducedType) };
}

function line(test) {
  const bindings = Object.entries(test.bindings ?? {}).map(([k, v]) => [k, value(v.value)]);
  return {
    expr: test.expr,
    container: test.container ?? "",
    disable_macros: test.disableMacros ?? false,
    disable_check: test.disableCheck ?? false,
    check_only: test.checkOnly ?? false,
    type_env: (test.typeEnv ?? []).map(declaration),
    bindings: Object.fromEntries(bindings),
    want: expectation(test),
    k8s: { class: "applicable", outcome: "PASS", detail: "" },
  };
}

// ---- the run ----

function flatten(node, path) {
  const own = (node.tests ?? []).map(({ original }) => ({
    name: [...path, original.name].join("/"),
    original,
  }));
  return own.concat(...(node.suites ?? []).map((s) => flatten(s, [...path, s.name])));
}

// differences.txt: "## reason => /pattern of our answer/", then the names of the tests.
function readDifferences() {
  const reasons = new Map();
  let reason, answer;
  for (const text of readFileSync(new URL("differences.txt", import.meta.url), "utf8").split("\n")) {
    const heading = /^## (.*) => \/(.*)\/$/.exec(text);
    if (heading) [reason, answer] = [heading[1], new RegExp(heading[2])];
    else if (text && !text.startsWith("# ")) reasons.set(text, { reason, answer });
  }
  return reasons;
}

function ask(lines) {
  const input = lines.map((l) => JSON.stringify(l) + "\n").join("");
  const run = spawnSync(runner, { input, encoding: "utf8", maxBuffer: 1 << 28 });
  const verdicts = (run.stdout ?? "").split("\n").slice(0, -1);
  if (run.status !== 0 || verdicts.length !== lines.length)
    throw new Error(`${runner}: status ${run.status ?? run.signal}, ${verdicts.length} of ${lines.length} answers; ${run.error ?? run.stderr}`);
  return verdicts;
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function print(title, counts) {
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  console.log(`${String(total).padStart(5)} ${title}`);
  for (const [key, n] of counts) console.log(`${String(n).padStart(9)}  ${key}`);
}

const all = flatten(suite, []);
const absent = new Map(), differing = new Map(), unexplained = [];
const applicable = all.filter(({ original }) => {
  const why = notApplicable(original);
  if (why) count(absent, why);
  return !why;
});
const differences = readDifferences();
let passed = 0;
const verdicts = ask(applicable.map((t) => line(t.original)));
applicable.forEach(({ name, original }, i) => {
  const known = differences.get(name);
  differences.delete(name);
  if (verdicts[i] === "ok" && !known) passed++;
  else if (known?.answer.test(verdicts[i])) count(differing, known.reason);
  else unexplained.push(`${name}: ${original.expr}\n    ${verdicts[i]}`);
});
for (const name of differences.keys()) unexplained.push(`${name}: explained, but there is no such test`);

console.log(`${String(all.length).padStart(5)} tests of the CEL specification`);
console.log(`${String(passed).padStart(5)} passed`);
print("differ from the specification as Kubernetes does", differing);
print("not applicable: the Kubernetes environment does not have", absent);
console.log(`${String(unexplained.length).padStart(5)} unexplained`);
for (const text of unexplained) console.log(text);
process.exit(unexplained.length || !passed ? 1 : 0);
