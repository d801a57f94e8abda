# `make help` lists what can be made. .ci/run calls the same targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Exclusive access is checked while testing; checking it again in every call costs 3 %. Packed
# relocations, which the toolchain's own linker can write, take 1 ms off the start of a process.
RELEASE := swift build -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
	-Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs

# What `run`, `bench` and `test` hand on: make run ARGS="--log-level debug"
ARGS ?=
# How long `soak` goes on, and `fuzz` in seconds.
SOAK ?= 5min
FUZZ ?= 600

.PHONY: help build test test-unprivileged torture soak sanitize fuzz order lint format bench bench-deps \
	http-conformance demo run clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-17s %s\n", $$1, $$2 }' Makefile

build: ## Build everything for release, the Swift libraries inside
	@.ci/dependencies build
	$(RELEASE)

test: export CACHED_TEST_PYTHON = $(CURDIR)/.build-python/bin/python
test: ## Run every test
	@.ci/dependencies build test
	@.ci/python-clients .build-python
	swift build
	@.ci/lint programs .build/debug
	@# Whole programs, thousands of connections, limits of time: one at a time, so that none starves another.
	swift test --disable-xctest --no-parallel $(ARGS)

test-unprivileged: ## Run every test as a user without any rights; needs root
	@.ci/dependencies build test
	swift build --build-tests
	.ci/unprivileged .build/debug --no-parallel $(ARGS)

torture: export CACHED_TEST_LONG = 1
torture: ## Put every promise to the test for long, a line for each (ARGS="--filter NAME": one)
	@.ci/dependencies build test
	swift build --build-tests
	swift test --skip-build --disable-xctest --no-parallel \
		$(or $(ARGS),--filter 'TortureTests|TruncationTests|RandomCutsTests')

soak: export CACHED_TEST_SOAK = $(SOAK)
soak: export CACHED_TEST_LONG = 1
soak: export CACHED_TEST_PROGRAMS = $(CURDIR)/.build/release
soak: build ## Use the cache in every way at once for five minutes (SOAK=24h)
	@.ci/dependencies test
	swift build --build-tests
	swift test --skip-build --disable-xctest --no-parallel --filter SoakTests

sanitize: ## Run every test under ThreadSanitizer, then AddressSanitizer (ARGS=thread: one)
	@.ci/dependencies build test
	Tests/Sanitizers/run $(ARGS)

fuzz: ## Have libFuzzer look for input that no reader of it can bear, for ten minutes (FUZZ=3600)
	@.ci/dependencies build
	Tests/Fuzzer/run $(FUZZ) $(ARGS)

order: export CACHED_TEST_OPERATIONS ?= 100000
order: ## Let 100,000 random operations show in which order entries go
	@.ci/dependencies build test
	swift test --disable-xctest --filter CacheCoreTests.OrderTests $(ARGS)

lint: ## Check the format, the scripts and who imports what
	git ls-files -z -- '*.swift' | xargs -0 -r swift format lint --strict
	@.ci/lint sources

format: ## Format the Swift sources in place
	git ls-files -z -- '*.swift' | xargs -0 -r swift format format --in-place

bench: ## Measure against the peers that are installed
	@.ci/dependencies build
	Benchmarks/run $(ARGS)

bench-deps: ## Install the peers that `bench` measures against
	@.ci/dependencies bench

http-conformance: build ## Measure against the public suite for HTTP caches
	@.ci/dependencies conformance
	@Tests/Conformance/run $(ARGS)

demo: ## Show the main job on real images, from nothing
	@Tests/Demo/demo

run: build ## Run the daemon in the foreground, on its default directory and socket
	exec .build/release/cached $(ARGS)

clean: ## Remove what was built
	rm -rf .build .build-*
