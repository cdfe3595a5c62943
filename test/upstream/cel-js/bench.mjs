// What CEL costs in JavaScript. Reads bench/cel_expressions.tsv from standard input and prints, for
// `make bench-cel`, one line per engine and expression that it has the functions for:
//
//     engine TAB expression TAB ns per evaluation TAB ns per compilation
//
//     node bench.mjs PACKAGES
//
// PACKAGES is the folder with node_modules.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2], "node_modules");
const load = (path) => import(pathToFileURL(resolve(folder, path)));
const buf = await load("@bufbuild/cel/dist/esm/index.js");
const marc = await load("@marcbachmann/cel-js/lib/index.js");

const SHARE = 60e3; // µs that one measurement takes

// Processor time, so that other work on the machine does not count.
const now = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

// Once for the compiler of the JavaScript engine to warm up, then in earnest.
function measure(work) {
  for (const start = now(); now() - start < SHARE; ) work();
  for (let n = 1; ; n *= 2) {
    const start = now();
    for (let i = 0; i < n; i++) work();
    const us = now() - start;
    if (us >= SHARE) return (us * 1e3) / n;
  }
}

const bufEnv = buf.celEnv({ variables: { taint: buf.mapType(buf.CelScalar.STRING, buf.CelScalar.STRING) } });
const marcEnv = new marc.Environment().registerVariable("taint", "map<string, string>");

const engines = {
  "@bufbuild/cel": (expr) => buf.plan(bufEnv, buf.parse(expr)),
  "@marcbachmann/cel-js": (expr) => {
    const program = marcEnv.parse(expr);
    const { valid, error } = program.check();
    if (!valid) throw error;
    return program;
  },
};

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [name, key, value, effect, expr] = line.split("\t");
  for (const [engine, compile] of Object.entries(engines)) {
    let program, result;
    try {
      program = compile(expr);
      result = program({ taint: { key, value, effect } });
    } catch (error) {
      result = error;
    }
    if (result !== true) {
      console.error(`${engine}: ${name}: ${result?.message ?? result}`.split("\n")[0]);
      continue;
    }
    const evaluation = measure(() => program({ taint: { key, value, effect } }));
    const compilation = measure(() => compile(expr));
    console.log([engine, name, evaluation.toFixed(1), compilation.toFixed(1)].join("\t"));
  }
}
