# `make help` lists the targets. .ci/run uses the same ones.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
export PATH := $(shell .ci/toolchain)

# Exclusive access to memory is checked by the tests; checking it in the release build too costs 3 %.
# Packed relocations, which the toolchain's own linker supports, make a process start 1 ms faster.
# Debug information names the compiler's own cache of modules, which differs from build to build; no package has it.
# Nothing loads the programs as libraries, so they need no table of exported symbols: 1 MB each.
# `.ci/lint hardened` checks the last two lines: no library is looked for beside a program, the linker's tables cannot be
# written after the start, and C checks its stack; Package.swift makes it check its buffers.
RELEASE := swift build -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
	-debug-info-format none -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic \
	--disable-local-rpath -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
	-Xcc -fstack-protector-strong

# Where `install` and the packages take the programs from.
PROGRAMS ?= .build/release
# Where `libcached` puts the C library, and `gtk` the library for GTK 4.
LIBCACHED ?= .build/libcached
CACHED_GTK ?= .build/cached-gtk
# Where `qml` puts the library for Qt Quick.
CACHED_QML ?= .build/cached-qml

# Extra arguments for `run`, `bench`, `test` and others: make run ARGS="--log-level debug"
ARGS ?=
# The duration of `soak`, and of `fuzz` in seconds.
SOAK ?= 5min
FUZZ ?= 600

.PHONY: help build libcached gtk qml install uninstall deb tarball image dist package-test boot-test reproducible bare test test-qml test-unprivileged test-confined \
	torture soak sanitize fuzz order hit-ratio lint interface settings format bench bench-deps costs costs-debug http-conformance corpus demo demo-gtk \
	run clean check store-ceph fleet adopters amplification

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-18s %s\n", $$1, $$2 }' Makefile

# What a target installs beside what `build` needs, so that it asks once.
deb package-test: ALSO := package gtk qml
boot-test: ALSO := package boot gtk qml
costs: ALSO := bench
gtk: ALSO := gtk
qml: ALSO := qml
test-qml: ALSO := test qml
tarball: ALSO := archive
soak fleet amplification: ALSO := test
http-conformance: ALSO := conformance
corpus: ALSO := corpus
adopters: ALSO := adopters

build: ## Build everything for release, with the Swift libraries linked in
	@.ci/dependencies build $(ALSO)
	$(RELEASE)
	@.ci/lint hardened .build/release

libcached: $(LIBCACHED)/libcached.so.0 ## Build the C library for applications of Embedded Swift, into LIBCACHED=.build/libcached
$(LIBCACHED)/libcached.so.0: $(wildcard Sources/libcached/* Sources/libcached/*/* Sources/CClient/* \
		Sources/CClient/*/* Sources/ClientCore/*/* Sources/MediaTypes/MediaType.swift) Sources/CacheWire/Version.swift
	@.ci/dependencies build $(ALSO)
	@Sources/libcached/build "$(LIBCACHED)"
	@.ci/lint hardened "$(LIBCACHED)"

gtk: $(CACHED_GTK)/libcached-gtk.so.0 ## Build the library for GTK 4 over the C library, into CACHED_GTK=.build/cached-gtk
$(CACHED_GTK)/libcached-gtk.so.0: $(wildcard clients/gtk/*) $(LIBCACHED)/libcached.so.0
	@.ci/dependencies gtk
	@clients/gtk/build "$(CACHED_GTK)" "$(LIBCACHED)"

qml: $(LIBCACHED)/libcached.so.0 ## Build the library for Qt Quick, into CACHED_QML=.build/cached-qml
	@.ci/dependencies qml
	@clients/qml/build "$(CACHED_QML)" "$(LIBCACHED)"

install: ## Install what was built (PREFIX=/usr/local, DESTDIR=; packaging/install names the others)
	@packaging/install "$(PROGRAMS)" "$(LIBCACHED)" "$(CACHED_GTK)" "$(CACHED_QML)"

uninstall: ## Remove what `install` with the same variables has installed
	@packaging/install --uninstall

deb: build libcached gtk qml ## Build Debian packages into .build-deb
	@.ci/dependencies package
	@packaging/deb .build-deb

tarball: build libcached ## Pack an installation for systems without Debian packages, into .build-dist
	@.ci/dependencies archive
	@packaging/tarball .build-dist

image: build ## Pack an OCI image with the daemon and cachectl, into .build-dist; no container engine is needed
	@mkdir -p .build-dist
	@packaging/image "$(PROGRAMS)" .build-dist/cached-image.tar

dist: ## Make the source archive that builds without a network, into .build-dist
	@.ci/dependencies build archive
	@packaging/dist .build-dist

package-test: build libcached gtk qml ## Install, upgrade and purge the packages in fresh Debian 12 and 13; needs root
	@.ci/dependencies package
	@Tests/Packaging/run

boot-test: build libcached gtk qml ## Boot Debian 12 and 13 in QEMU, drive the packages there and cut the power; needs root
	@.ci/dependencies package boot
	@Tests/Boot/run

reproducible: ## Build the Debian packages of the last commit twice, and compare their bytes
	@Tests/Packaging/reproducible

bare: ## Run the commands of README in fresh Debian 12 and 13, which takes hours; needs root (ARGS: for the tests)
	@.ci/dependencies bare
	@Tests/Packaging/bare

test: export CACHED_TEST_PYTHON = $(CURDIR)/.build-python/bin/python
test: ## Run every test
	@.ci/dependencies build test
	@.ci/python-clients .build-python
	swift build
	@.ci/lint programs .build/debug
	swift build --build-tests
	.ci/test $(ARGS)

test-qml: $(LIBCACHED)/libcached.so.0 ## Test the library for Qt Quick without a display, under AddressSanitizer
	@.ci/dependencies build test qml
	swift build
	@clients/qml/build .build/cached-qml-tests "$(LIBCACHED)" tests
	@clients/qml/tests/run .build/cached-qml-tests "$(LIBCACHED)" .build/debug $(ARGS)

check: ## Lint, and run the tests of what changed since main (BASE=main), in some minutes
	@.ci/dependencies build test
	@.ci/check $(or $(BASE),main)

test-unprivileged: ## Run every test as an unprivileged user; needs root
	@.ci/dependencies build test
	swift build --build-tests
	.ci/unprivileged .build/debug --no-parallel $(ARGS)

test-confined: export CACHED_TEST_WRAPPER = $(CURDIR)/Tests/Service/confine
test-confined: ## Run tests of the programs with the daemon under the restrictions of its system unit
	@.ci/dependencies build test
	swift build --build-tests
	swift test --skip-build --disable-xctest --no-parallel \
		$(or $(ARGS),--filter IntegrationTests --skip 'ClientLibraryTests|LibcachedTests')

# The suites that have a long form.
LONG := TortureTests|TruncationTests|RandomCutsTests|StoreTests|FuzzTests|DamagedImageTests|ReuseModelTests
LONG := $(LONG)|DamagedOriginalsTests|SharedContentsTests|BudgetTests|WatchLoadTests|UsersTests|DeadHostsTests|HeldAnswersTests
torture: export CACHED_TEST_LONG = 1
torture: ## Test every promise in the long form, one line for each (ARGS="--filter NAME": one)
	@.ci/dependencies build test
	swift build --build-tests
	swift test --skip-build --disable-xctest --no-parallel \
		$(or $(ARGS),--filter '$(LONG)')

store-ceph: export CACHED_TEST_ENGINE = ceph-rgw
store-ceph: export CACHED_TEST_PYTHON = $(CURDIR)/.build-python/bin/python
store-ceph: ## Test the shared store against Ceph RGW in place of SeaweedFS
	@.ci/dependencies build test ceph
	swift build --build-tests
	swift test --skip-build --disable-xctest --no-parallel --filter StoreTests

fleet: build ## Run daemons that share a store, beside a simulation of them (ARGS="--machines 32 --seconds 300")
	@.ci/dependencies test
	@.ci/python-clients .build-python
	Benchmarks/fleet $(ARGS)

soak: export CACHED_TEST_SOAK = $(SOAK)
soak: export CACHED_TEST_LONG = 1
soak: export CACHED_TEST_PROGRAMS = $(CURDIR)/.build/release
soak: build ## Put a mixed load on the cache for five minutes (SOAK=24h: longer)
	@.ci/dependencies test
	swift build --build-tests
	swift test --skip-build --disable-xctest --no-parallel --filter SoakTests

sanitize: ## Run every test under ThreadSanitizer and AddressSanitizer (ARGS=thread: one)
	@.ci/dependencies build test
	Tests/Sanitizers/run $(ARGS)

fuzz: ## Search for input that breaks a parser or costs too much, for ten minutes (FUZZ=3600: longer)
	@.ci/dependencies build
	Tests/Fuzzer/run $(FUZZ) $(ARGS)

order: export CACHED_TEST_OPERATIONS ?= 100000
order: ## Check the order of eviction in 100,000 random operations
	@.ci/dependencies build test
	swift test --disable-xctest --filter CacheCoreTests.OrderTests $(ARGS)

amplification: build ## Measure what one MB of each kind of input costs the daemon at most
	Tests/Amplification/amplification $(PROGRAMS)

hit-ratio: ## Print hit ratios of the index, LRU, SIEVE and S3-FIFO (ARGS="FILE...": of given traces)
	@.ci/dependencies build
	swift run -c release cached-entries hit-ratio $(ARGS)

lint: ## Check the format, the imports and the scripts
	@.ci/dependencies build
	git ls-files -z -- '*.swift' | xargs -0 -r swift format lint --strict
	@.ci/lint sources

interface: ## Write the types of the interface descriptions in etc/ anew: Swift, Python, TypeScript
	@.ci/dependencies build
	.ci/interface

settings: export CACHED_TEST_WRITE = 1
settings: ## Write the lists of settings in etc/cached.conf and docs/lookup/settings.md anew
	@.ci/dependencies build
	swift test --disable-xctest --filter DocumentedSettingsTests

format: ## Format the Swift sources in place
	@.ci/dependencies build
	git ls-files -z -- '*.swift' | xargs -0 -r swift format format --in-place

bench: ## Run the benchmarks against the installed peers
	@.ci/dependencies build
	Benchmarks/run $(ARGS)

costs: build ## Count the daemon's instructions for each kind of work, and compare them with Benchmarks/costs.json
	@.ci/dependencies bench
	Benchmarks/costs $(ARGS)

costs-debug: ## Compare those of the debug build, as continuous integration does
	Benchmarks/costs --debug $(ARGS)

bench-deps: ## Install the peers for `bench`
	@.ci/dependencies bench

http-conformance: build ## Run the public conformance suite for HTTP caches
	@.ci/dependencies conformance
	@Tests/Conformance/run $(ARGS)

corpus: export CACHED_BIN ?= $(CURDIR)/.build/release
corpus: $(if $(CACHED_BIN),,build) ## Fetch each file of DIR=, print what is refused and why (CACHED_BIN=DIR: programs)
	@.ci/dependencies corpus
	@Tests/Corpus/corpus $(if $(DIR),"$(DIR)") $(ARGS)

adopters: export CACHED_BIN ?= $(CURDIR)/.build/release
adopters: $(if $(CACHED_BIN),,build) ## Run gPodder and Lutris over the cache, where nobody set up a daemon (CACHED_BIN=DIR: programs)
	@.ci/dependencies adopters
	@Tests/Adopters/run

demo: ## Download real images from scratch as a demonstration
	@Tests/Demo/demo

demo-gtk: ## Show images that arrive in a GTK window (CACHED_BIN=DIR: programs)
	@.ci/dependencies $(if $(CACHED_BIN),,build) gtk-demo
	@Tests/Demo/demo-gtk

run: build ## Run the daemon in the foreground with its default directory and socket
	exec .build/release/cached $(ARGS)

clean: ## Remove all build products
	rm -rf .build .build-*
