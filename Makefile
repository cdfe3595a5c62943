# The front door: each target makes sure that its tools are there and forwards to CMake, ctest or a
# script of tools/. `make help` lists the targets from the comments behind them.

PREFIX      ?= /usr/local
JOBS        ?= $(shell nproc)
SECONDS     ?= 60
FUZZERS     ?=
CASES       ?= 20000
SEED        ?= 1
AREAS       ?=
DIR         ?= ../shared/vectors
KILLS       ?= 1000
FAULTS      ?= 100
CAST        ?= all
IDEAS       ?=
BEFORE      ?= HEAD
MINUTES     ?= 60
LIMIT       ?= 3

BERTH  := build/release/berth
BUILD  := cmake --build
CTEST  := ctest --no-tests=error --output-on-failure -j $(JOBS) --test-dir
QUIET  := $(if $(CI),-- --quiet)
GROUPS := $(addprefix setup-,build test limits lint fuzz coverage bench)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all run test limits limits-search lint clang asan tsan fuzz fuzz-merge coverage vectors \
    conformance conformance-cel conformance-server real-components components-real kubectl clients \
    e2e e2e-api crash-store kill-components bench bench-before bench-cel bench-live bench-server \
    bench-upstream soak install format clean help $(GROUPS)

all: build/release/build.ninja ## build the program: build/release/berth
	$(BUILD) build/release --target berth $(QUIET)

run: all ## set up, build, and show a cluster at work; it stays up for kubectl until Ctrl-C
	tools/show $(BERTH)

test: build/release/build.ninja setup-test ## set up, build, run all tests
	$(BUILD) build/release $(QUIET)
	$(CTEST) build/release

limits: build/release/build.ninja setup-test setup-limits ## judge hostile inputs; IDEAS=pattern
	$(BUILD) build/release --target berth limit_measure $(QUIET)
	test/limit/run -j $(JOBS) $(BERTH) '$(IDEAS)'

limits-search: build/release/build.ninja setup-test setup-limits ## invent hostile inputs
	$(BUILD) build/release --target berth limit_measure $(QUIET)
	test/limit/run -g -j $(JOBS) $(BERTH) '$(IDEAS)'

lint: setup-build setup-lint ## check format, layers, headers, sizes, docs, bugs
	tools/lint

clang: build/clang/build.ninja setup-test ## all tests, built by clang
	$(BUILD) build/clang $(QUIET)
	$(CTEST) build/clang

asan: build/asan/build.ninja setup-test ## all tests under AddressSanitizer and UBSan
	$(BUILD) build/asan $(QUIET)
	ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
	    UBSAN_OPTIONS=print_stacktrace=1 $(CTEST) build/asan

tsan: build/tsan/build.ninja setup-test ## tests of what has threads under ThreadSanitizer
	$(BUILD) build/tsan --target berth_threaded $(QUIET)
	$(CTEST) build/tsan -L threaded

fuzz: build/fuzz/build.ninja ## fuzz: SECONDS=60 for each fuzzer, or for FUZZERS="name ..."
	$(BUILD) build/fuzz $(QUIET)
	tools/fuzz $(SECONDS) $(FUZZERS)

fuzz-merge: build/fuzz/build.ninja ## take over what fuzzing found new into test/fuzz/corpus
	$(BUILD) build/fuzz $(QUIET)
	tools/fuzz-merge $(FUZZERS)

coverage: build/coverage/build.ninja setup-test setup-coverage ## line coverage of all tests
	$(BUILD) build/coverage $(QUIET)
	tools/coverage

vectors: build/release/build.ninja ## compare with the upstream verdicts in DIR=../shared/vectors
	@test -d $(DIR) || { echo "no folder $(DIR); try: make vectors DIR=folder"; exit 2; }
	$(BUILD) build/release --target berth_vectors $(QUIET)
	build/release/berth_vectors $(DIR)

conformance: build/release/build.ninja ## compare with upstream: CASES=20000 SEED=1 (needs go)
	$(BUILD) build/release --target berth_vectors $(QUIET)
	CASES=$(CASES) SEED=$(SEED) AREAS="$(AREAS)" tools/conformance

conformance-server: CASES := 1100
conformance-server: all ## compare with a real kube-apiserver: CASES=1100 SEED=1 (needs go)
	CASES=$(CASES) SEED=$(SEED) AREAS="$(AREAS)" tools/conformance-server

real-components: all ## real kube-scheduler and kube-controller-manager against ours (needs go)
	tools/real-components

components-real: all ## our scheduler and controllers against a real kube-apiserver (needs go)
	tools/components-real

kubectl: all ## what kubectl of five versions shows, beside a real kube-apiserver (needs go)
	tools/kubectl

clients: all ## other people's clients against ours (needs go, node, npm, python3, a network)
	tools/clients

crash-store: build/release/build.ninja ## kill servers, break disks: KILLS=1000 FAULTS=100 SEED=1
	$(BUILD) build/release --target berth crash_store crash_shim $(QUIET)
	KILLS=$(KILLS) FAULTS=$(FAULTS) SEED=$(SEED) tools/crash-store

kill-components: KILLS := 200
kill-components: all ## kill parts of a cluster in use: KILLS=200 SEED=1 CAST=all (needs go)
	KILLS=$(KILLS) SEED=$(SEED) CAST=$(CAST) tools/kill-components

e2e-api: all ## conformance tests of Kubernetes that need no running pods (needs go)
	tools/e2e-api

e2e: all ## conformance tests of Kubernetes against a whole cluster; FOCUS=… (needs go)
	tools/e2e

conformance-cel: build/release/build.ninja ## the official tests of CEL (needs node, npm, a network)
	$(BUILD) build/release --target cel_spec $(QUIET)
	tools/conformance-cel

bench: build/bench/build.ninja build/bench-plain/build.ninja ## run the benchmarks
	$(BUILD) build/bench $(QUIET)
	$(BUILD) build/bench-plain --target berth $(QUIET)
	tools/bench

bench-before: build/bench/build.ninja ## instructions beside BEFORE=commit, LIMIT=3 % more
	$(BUILD) build/bench --target berth $(QUIET)
	tools/bench-before $(BEFORE) $(LIMIT)

bench-cel: build/bench/build.ninja ## compare with other CEL engines (needs go, node, a network)
	$(BUILD) build/bench --target cel_eval_bench $(QUIET)
	tools/bench-cel

bench-upstream: build/bench/build.ninja ## compare with upstream; ROUNDS=3 (needs go, a network)
	$(BUILD) build/bench --target cel_eval_bench cmd_schedule_bench match_toleration_bench \
	    semver_parse_bench registry_pod_bench $(QUIET)
	tools/bench-upstream

bench-server: build/bench/build.ninja ## beside a real kube-apiserver; ROUNDS=3 (needs go)
	$(BUILD) build/bench --target berth $(QUIET)
	tools/bench-server

bench-live: build/bench/build.ninja ## pods until they are bound, beside the real servers (needs go)
	$(BUILD) build/bench --target berth $(QUIET)
	PARTS=p tools/bench-server

soak: all ## watchers and writers for MINUTES=60: nothing is lost, memory stays (needs go)
	MINUTES=$(MINUTES) tools/soak

install: build/dist/build.ninja ## install below PREFIX=/usr/local (DESTDIR is honoured)
	$(BUILD) build/dist --target berth berth_files $(QUIET)
	cmake --install build/dist --prefix $(PREFIX)

format: setup-lint ## format all C files
	tools/check-format --fix

clean: ## remove all that was built, the finds of fuzzing too
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/\1|\2/p' Makefile | \
	    while IFS='|' read -r target text; do printf '  make %-15s %s\n' "$$target" "$$text"; done

$(GROUPS): setup-%:
	@tools/setup $*

build/clang/build.ninja: | setup-lint setup-bench
build/fuzz/build.ninja: | setup-fuzz
build/bench/build.ninja: | setup-bench
build/%/build.ninja: CMakePresets.json | setup-build
	@mkdir -p build
	@cmake --preset $* >build/$*.log 2>&1 || { cat build/$*.log; exit 1; }
	@touch $@
