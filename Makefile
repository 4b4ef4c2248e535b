# Every developer action, and all that CI calls. `make help` lists them.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Modules of benches/harness and benches/report.
BENCH = PYTHONPATH=tests:benches $(BIN)/python -m
RESULTS = benches/results
CORPUS ?= $(shell $(PYTHON) -c "import sysconfig; print(sysconfig.get_path('stdlib'))")

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -E '^[a-z0-9_-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 24

# The packages of a group; with LOCKED=1, the very files whose hashes `make lock` wrote.
LOCKS = dev browser docs release wheels
group = $(if $(LOCKED),--require-hashes --requirement requirements/$(1).txt,--group $(1))

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(call group,dev)
	touch $@

.PHONY: build
build: $(VENV)/installed ## Build the extension in release mode into the virtual environment
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .

# What a wheel is made of. What `pip install .` compiled is used again, and the other way round.
SOURCES = pyproject.toml Cargo.toml Cargo.lock build.rs README.md LICENSE \
	$(shell find src python -type f ! -name '*.so' ! -name '*.pyc')

# An environment of its own, without what development needs.
$(VENV)/demo/installed: $(SOURCES)
	@echo "installing bytemill and tiktoken into $(VENV)/demo: a minute or two where Rust is to be compiled"
	@$(PYTHON) -m venv $(VENV)/demo
	@$(VENV)/demo/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(VENV)/demo/bin/python -m pip install --quiet --group demo .
	@touch $@

.PHONY: demo
demo: $(VENV)/demo/installed ## Encode real text beside tiktoken: ids equal, counts, speed
	@PYTHONPATH=tests:benches $(VENV)/demo/bin/python -m harness.demo

# Two at a time: much of it keeps one core busy only. What a part prints comes at once, when it has ended.
.PHONY: test
test: ## Everything that must hold
	$(MAKE) --no-print-directory --jobs=2 --output-sync test-python test-rust lint

.PHONY: lint
lint: build ## Formatting, lints, types, and the stub against the module
	cargo fmt --check
	cargo clippy --locked --lib -- -D warnings
	cargo clippy --locked --all-targets --features python -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --lib --quiet
	! cargo tree --locked --edges normal --prefix none | grep -q '^pyo3 '
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo check --locked --quiet --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy python tests
	$(BIN)/mypy benches/harness benches/report benches/python fuzz/*.py
	$(BIN)/python -m mypy.stubtest bytemill._core

.PHONY: test-rust
test-rust: ## The Rust tests, without Python
	cargo test --locked

.PHONY: test-python
test-python: build ## The Python tests, beside the real tiktoken
	$(BIN)/python -m pytest

$(VENV)/browser: pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet $(call group,browser)
	touch $@

STATIC = python/bytemill/playground/static
DENO = $(BIN)/deno
DENO_CONFIG = --config tests/browser/deno.json

# Needs Chromium: `apt-get install chromium`, or BYTEMILL_CHROMIUM=PATH. Where CI is set, a missing one is a failure.
.PHONY: test-browser
test-browser: build $(VENV)/browser ## The playground in Chromium, its pictures in target/pictures, its scripts by deno
	$(DENO) fmt --check $(DENO_CONFIG) $(STATIC)/*.js
	$(DENO) lint --quiet $(STATIC)
	$(DENO) check --quiet $(DENO_CONFIG) $(STATIC)/*.js
	$(BIN)/python -m pytest tests/browser

# With what `make build` has compiled.
.PHONY: test-wheel
test-wheel: build ## Build a wheel, and serve the page from it
	rm -rf target/wheel
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir target/wheel .
	PYTHONPATH=tests $(BIN)/python -m programs.check_wheel target/wheel

# The exit code tells whether a budget is missed.
.PHONY: bench-playground
bench-playground: build $(VENV)/browser ## Measure the playground in Chromium against its budgets, for docs/benchmarks/playground.md
	$(BENCH) harness.playground $(ARGS) --output $(RESULTS)/playground.json; \
		code=$$?; $(BENCH) report playground && exit $$code

# Engines of clusters, and stores: each in an environment of its own, with its extra and this tree.
$(VENV)/s3/engine: MORE = --group stores
$(VENV)/%/engine: pyproject.toml
	$(PYTHON) -m venv $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)/$*/bin/python -m pip install --quiet --group engines $(MORE) --editable ".[$*]"
	touch $@

.PHONY: test-ray
test-ray: build $(VENV)/ray/engine ## Results and faults on a cluster of three Ray nodes, all on this machine (2 minutes)
	$(VENV)/ray/bin/python -m pytest tests/engines/ray

.PHONY: test-stores
test-stores: build $(VENV)/s3/engine ## Jobs on S3, served by this machine, with faults (1 minute)
	$(VENV)/s3/bin/python -m pytest tests/engines/stores

# Needs Java: `apt-get install openjdk-17-jre-headless`.
.PHONY: test-spark
test-spark: build $(VENV)/spark/engine ## Results and faults on Spark with two executors on this machine (3 minutes)
	$(VENV)/spark/bin/python -m pytest tests/engines/spark

# A build of its own, without what makes a release fast and slow to build.
MEMORY = $(abspath target/memory)
.PHONY: test-memory
test-memory: $(VENV)/installed ## Every operation, with each of its allocations refused in turn (5 minutes)
	CARGO_TARGET_DIR=$(MEMORY) CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		CARGO_PROFILE_RELEASE_OPT_LEVEL=1 cargo build --locked --release --features failing-allocator
	rm -rf $(MEMORY)/python
	mkdir $(MEMORY)/python
	cp -r python/bytemill $(MEMORY)/python
	rm -f $(MEMORY)/python/bytemill/_core*.so
	cp $(MEMORY)/release/libbytemill.so $(MEMORY)/python/bytemill/_core.abi3.so
	PYTHONPATH=$(MEMORY)/python $(BIN)/python -m pytest tests/memory

KILLS ?= 1000

# Processes that fork: a library with threads of its own starts none.
.PHONY: test-kills
test-kills: build ## Kill writers at KILLS=n random moments: nothing is lost or doubled (10 minutes); goes on where it was
	mkdir -p target
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m programs.kills --kills $(KILLS) $(ARGS)

.PHONY: test-exhaustive
test-exhaustive: build ## The long tests too: every short string, the whole Python installation (about an hour)
	BYTEMILL_FULL=1 cargo test --release --locked -- --include-ignored
	BYTEMILL_FULL=1 $(BIN)/python -m pytest

.PHONY: verify
verify: build ## Compare all encodings with tiktoken and SentencePiece on every file below CORPUS=DIR
	PYTHONPATH=tests $(BIN)/python -m programs.verify $(CORPUS)

# The reference is read from the source: the site needs neither the extension nor what develops it.
$(VENV)/docs: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(call group,docs)
	touch $@

# The variable silences an advertisement.
.PHONY: docs
docs: $(VENV)/docs ## Build the site of docs/ into site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Needs Chromium, as `make test-browser`. The exit code tells whether a page is wider than its window.
.PHONY: docs-pictures
docs-pictures: docs $(VENV)/browser ## Take a picture of each page of the site, wide and narrow, light and dark, into target/docs
	PYTHONPATH=tests $(BIN)/python -m programs.docs_pictures site target/docs

MINUTES ?= 10

# The exit code tells whether something was found.
.PHONY: fuzz
fuzz: build ## Fuzz every target, one after the other, MINUTES=n in sum; see fuzz/README.md
	$(BIN)/python fuzz/run.py --minutes $(MINUTES) $(ARGS)

.PHONY: fuzz-minimise
fuzz-minimise: $(VENV)/installed ## Keep of fuzz/corpus what reaches all that it reaches, in fuzz/minimised
	$(BIN)/python fuzz/minimise.py $(ARGS)

# Needs llvm-profdata and llvm-cov of the version that rustc has: ARGS="--llvm DIR", in Debian `apt-get install llvm-22`.
.PHONY: fuzz-coverage
fuzz-coverage: $(VENV)/installed ## Replay fuzz/minimised and write what it reaches of the library to fuzz/coverage.md
	$(BIN)/python fuzz/coverage.py $(ARGS)

.PHONY: verify-large
verify-large: build ## The same on a gigabyte, made of what is below CORPUS=DIR where that is less, and record it
	PYTHONPATH=tests $(BIN)/python -m programs.verify_large $(CORPUS) $(ARGS)

SIZE ?= 10GB

.PHONY: verify-huge
verify-huge: build ## Compare with tiktoken, tokenizers and SentencePiece on SIZE=10GB made of CORPUS=DIR (an hour); goes on where it was
	PYTHONPATH=tests $(BIN)/python -m programs.verify_huge $(CORPUS) --size $(SIZE) $(ARGS)

# Those tests that reach all unsafe code, and are not too long for a machine that is emulated.
UNDER_VALGRIND = page_ends:: encoders:: decoding:: ragged:: golden:: fit:: special_tokens:: json_lines:: sorted_counts:: \
	contracts:: --skip limits_and_tiers
VALGRIND = valgrind --quiet --error-exitcode=9 --suppressions=$(abspath tests/valgrind.supp) \
	--leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite

.PHONY: valgrind
valgrind: build ## Rust tests and a Python script under valgrind, by three tiers (30 minutes)
	for tier in scalar simd128 avx2; do \
		BYTEMILL_TIER=$$tier CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$(VALGRIND)" \
			cargo test --locked --test rust -- --test-threads=1 $(UNDER_VALGRIND) || exit 1; \
		BYTEMILL_TIER=$$tier PYTHONMALLOC=malloc valgrind --quiet --error-exitcode=9 --suppressions=tests/valgrind.supp \
			$(BIN)/python -X faulthandler tests/programs/smoke.py || exit 1; \
	done

# Those that run several threads, and end in minutes. The standard library is compiled with the sanitizer too, which sees
# its locks otherwise not at all. `apt-get install cargo-web rustc-web rust-web-src clang-22 libclang-rt-22-dev`.
OF_THREADS = threads:: batches:: training:: counting:: sorted_counts:: json_lines:: --skip is_linear
THREADS_FLAGS = -Zsanitizer=thread -Zexternal-clangrt -Clinker=clang-22 -Clink-arg=-fsanitize=thread
.PHONY: test-threads
test-threads: ## The Rust tests of what threads share, under ThreadSanitizer (20 minutes)
	$(STD_FROM_SOURCE) RUSTFLAGS="$(THREADS_FLAGS)" $(ARM_CARGO) test --locked -Z build-std \
		--target x86_64-unknown-linux-gnu --target-dir target/threads --test rust -- $(OF_THREADS)

# Every order that the memory model allows, with at most five switches from a thread that could go on.
.PHONY: test-loom
test-loom: ## Models of the lock-free parts, by loom (1 minute)
	RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=5 cargo test --locked --target-dir target/loom --lib models::

# Debian's cross compiler and emulator: `dpkg --add-architecture arm64 && apt-get update && apt-get install cargo-web
# rustc-web libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user`.
ARM_CARGO ?= /usr/bin/cargo
ARM_RUSTC ?= /usr/bin/rustc
ARM = aarch64-unknown-linux-gnu
# Those that reach the loops compiled for NEON, and that an emulator runs in minutes.
UNDER_EMULATION = blocks:: golden:: encoders::

.PHONY: test-arm
test-arm: ## The Rust tests of the loops compiled for NEON, built for aarch64 and run by an emulator
	RUSTC=$(ARM_RUSTC) CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64 \
		$(ARM_CARGO) test --locked --target $(ARM) --target-dir target/arm --lib
	RUSTC=$(ARM_RUSTC) CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64 \
		$(ARM_CARGO) test --locked --target $(ARM) --target-dir target/arm --test rust -- $(UNDER_EMULATION)

.PHONY: check-arm
check-arm: ## Type-check the library for aarch64; a warning is an error
	RUSTC=$(ARM_RUSTC) RUSTFLAGS="-D warnings" $(ARM_CARGO) check --locked --target $(ARM) --target-dir target/arm/check --lib

# Where `usize` has 32 bits. `apt-get install cargo-web rustc-web rust-web-src gcc-multilib`; the standard library is
# compiled from its source, as Debian has none for this target.
.PHONY: test-32
test-32: ## The Rust tests, built for i686 (6 minutes)
	$(STD_FROM_SOURCE) $(ARM_CARGO) test --locked -Z build-std --target i686-unknown-linux-gnu \
		--target-dir target/i686 --lib --test rust

$(VENV)/release: pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet $(call group,release)
	touch $@

.PHONY: lint-workflows
lint-workflows: $(VENV)/release ## Audit .github/workflows by zizmor, without the network
	$(BIN)/zizmor --offline --quiet .github/workflows

# Tools of cargo, compiled when they are first needed.
cargo-deny = 0.20.2
cargo-cyclonedx = 0.5.9
target/tools/bin/%:
	cargo install --quiet --locked --root target/tools --version $($*) $*

# Advisories need RustSec's database from the network: CHECKS="advisories bans licenses sources".
CHECKS ?= bans licenses sources
.PHONY: audit
audit: target/tools/bin/cargo-deny ## Check the crates' licences and sources, and that no version is open, by cargo-deny
	PATH="$(abspath target/tools/bin):$$PATH" cargo deny --locked check $(CHECKS)

.PHONY: sbom
sbom: target/tools/bin/cargo-cyclonedx ## List the crates of the extension in target/sbom, as CycloneDX
	mkdir -p target/sbom
	PATH="$(abspath target/tools/bin):$$PATH" cargo cyclonedx --format json --features python \
		--override-filename bytemill
	mv bytemill.json target/sbom/bytemill.cdx.json

# One version of a package in all groups: that of `dev`. Site and release need Python 3.11.
.PHONY: lock
lock: $(LOCKS:%=lock-%) ## Write the versions and hashes of the packages of LOCKS to requirements/

$(filter-out lock-dev,$(LOCKS:%=lock-%)): lock-dev
lock-docs lock-release: OLDEST = 3.11
lock-%: OLDEST = 3.10
lock-%: CONSTRAINT = --constraint requirements/dev.txt
lock-dev: CONSTRAINT =
lock-%: $(VENV)/release
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--python-version $(OLDEST) $(CONSTRAINT) --group $* --output-file requirements/$*.txt

# It asks PyPI for what is known of each version.
.PHONY: audit-python
audit-python: $(VENV)/release ## Look for known vulnerabilities of the packages in requirements/, by pip-audit
	for group in $(LOCKS); do \
		$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements/$$group.txt || exit 1; \
	done

# Wheels, for each Python in WHEEL_PYTHONS. zig links against glibc 2.17, whatever this machine has; maturin checks the
# symbols, and auditwheel does so again.
DIST = dist
WHEEL_PYTHONS ?= python$(shell $(PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])")
WINDOWS_PYTHONS ?= python3.13
MATURIN = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin
MATURIN_BUILD = $(MATURIN) build --release --locked --out $(DIST)
MANYLINUX = --zig --compatibility manylinux2014 --auditwheel check
# Fails where a wheel is not what its tag says; what it writes is not used.
AUDIT = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir target/audited

$(VENV)/wheels: pyproject.toml $(VENV)/installed
	$(BIN)/python -m pip install --quiet $(call group,wheels)
	touch $@

.PHONY: wheels
wheels: wheel-linux-x86_64 wheel-linux-aarch64 wheel-windows-x86_64 sdist ## Build all wheels and the sdist into dist/; `make smoke-wheels` runs the wheels

.PHONY: wheel-linux-x86_64
wheel-linux-x86_64: $(VENV)/wheels ## Build wheels for Linux x86_64, manylinux2014
	$(MATURIN_BUILD) $(MANYLINUX) --target x86_64-unknown-linux-gnu --interpreter $(WHEEL_PYTHONS)
	$(AUDIT) --plat manylinux2014_x86_64 $(DIST)/*_x86_64.whl

# Debian's Rust, as for `make test-arm`; where the toolchain has the target itself, ARM_CARGO=cargo ARM_RUSTC=rustc.
.PHONY: wheel-linux-aarch64
wheel-linux-aarch64: $(VENV)/wheels ## Build wheels for Linux aarch64, manylinux2014
	CARGO=$(ARM_CARGO) RUSTC=$(ARM_RUSTC) $(MATURIN_BUILD) $(MANYLINUX) --target $(ARM) --target-dir target/arm \
		--interpreter $(WHEEL_PYTHONS)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel show $(DIST)/*_aarch64.whl | grep -q '"manylinux_2_17_aarch64"'

# Debian has no standard library for this target: it is compiled from its source. `apt-get install cargo-web
# rust-web-src gcc-mingw-w64-x86-64`.
STD_FROM_SOURCE = RUSTC_BOOTSTRAP=1 CARGO=$(ARM_CARGO) RUSTC=$(ARM_RUSTC)

.PHONY: wheel-windows-x86_64
wheel-windows-x86_64: $(VENV)/wheels ## Build wheels for Windows x86_64, by mingw
	$(STD_FROM_SOURCE) CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		$(MATURIN_BUILD) -Z build-std --target x86_64-pc-windows-gnu --target-dir target/windows \
		--interpreter $(WINDOWS_PYTHONS)

# Without Cargo's registry and without optimisation across crates: whether it builds, not how fast the result is.
.PHONY: sdist
sdist: $(VENV)/installed ## Build the sdist, and install it offline from vendored crates
	rm -rf $(DIST)/*.tar.gz target/sdist
	$(MATURIN) sdist --out $(DIST)
	mkdir -p target/sdist/source/.cargo
	tar -xzf $(DIST)/*.tar.gz --strip-components=1 -C target/sdist/source
	cd target/sdist/source && cargo vendor --locked vendor > .cargo/config.toml
	CARGO_HOME=$(abspath target/sdist/home) CARGO_NET_OFFLINE=true CARGO_PROFILE_RELEASE_LTO=off \
		CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 $(BIN)/python -m pip install \
		--no-index --no-build-isolation --no-deps --target target/sdist/installed target/sdist/source
	PYTHONPATH=target/sdist/installed $(BIN)/python tests/programs/smoke_wheel.py

# Needs qemu-user for aarch64, wine for Windows.
.PHONY: smoke-wheels
smoke-wheels: $(VENV)/wheels ## Install each wheel of dist/ where no Rust is, and run a smoke test on it
	PYTHONPATH=tests $(BIN)/python -m programs.smoke_wheels $(DIST) target/smoke

.PHONY: check-macos
check-macos: ## Type-check the library for macOS; nothing is linked or run
	$(STD_FROM_SOURCE) $(ARM_CARGO) check --locked -Z build-std --target aarch64-apple-darwin --target-dir target/macos --lib

.PHONY: models
models: build ## Write docs/models.md: which open models load, how, and how fast
	$(BENCH) programs.models_page

.PHONY: tables
tables: ## Check that the merge tables are what their published sources give
	$(PYTHON) tools/derive_vocabulary.py --check

.PHONY: bench
bench: build ## Benchmarks beside tiktoken and the reference, then splitting and merging alone
	$(BIN)/python -m pytest benches/python $(ARGS) --benchmark-only --benchmark-columns=min,median,rounds \
		--benchmark-group-by=group --benchmark-sort=name
	cargo bench --locked

$(VENV)/rivals: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

# The report is written even if an engine gives other ids, which is what the exit code tells.
.PHONY: bench-compare
bench-compare: build $(VENV)/rivals ## Compare with all other engines (20 minutes) and write docs/benchmarks/encoding.md
	$(BENCH) harness.compare encoding $(ARGS) --output $(RESULTS)/compare.json; \
		code=$$?; $(BENCH) report encoding readme && exit $$code

STREAM = target/stream.jsonl

# Debian's packages: `apt-get update` has run before.
$(STREAM): $(VENV)/installed
	mkdir -p $(@D)
	$(BENCH) harness.stream_documents --output $@

.PHONY: bench-stream
bench-stream: build $(VENV)/rivals $(VENV)/candidate $(STREAM) ## Compare on half a gigabyte of different documents, for docs/benchmarks/encoding.md
	$(BENCH) harness.compare stream --stream $(STREAM) $(ARGS) --output $(RESULTS)/stream.json; \
		code=$$?; $(BENCH) report stream && exit $$code

.PHONY: bench-report
bench-report: $(VENV)/installed ## Write docs/benchmarks/*.md, their charts, the README's chart and the page of targets again
	$(BENCH) report

.PHONY: bench-builds
bench-builds: $(VENV)/installed ## Compare two commits of this library, ARGS="BASE [OTHER] --corpus DIR"
	$(BIN)/python benches/harness/two_builds.py $(ARGS)

.PHONY: bench-stages
bench-stages: build ## Which part of encoding takes how much of its time, by Linux's perf, for docs/benchmarks/stages.md
	$(BENCH) harness.stages $(ARGS) --output $(RESULTS)/stages.json && $(BENCH) report stages

# The exit code tells whether a tier gave other ids.
.PHONY: bench-tiers
bench-tiers: build ## Compare the tiers of this processor, for docs/benchmarks/stages.md: ARGS="--corpus DIR"
	$(BENCH) harness.tiers $(ARGS) --output $(RESULTS)/tiers.json && $(BENCH) report tiers

# Both by Debian's Rust, as for `make test-arm`.
.PHONY: bench-instructions
bench-instructions: build ## Count instructions on aarch64 and x86-64 by qemu: ARGS="--corpus DIR"
	$(CC) -O2 -shared -fPIC -o target/count_instructions.so benches/harness/count_instructions.c
	for target in $(ARM) x86_64-unknown-linux-gnu; do \
		RUSTC=$(ARM_RUSTC) CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
			$(ARM_CARGO) build --locked --release --example encode_repeatedly --target $$target --target-dir target/arm || exit 1; \
	done
	$(BENCH) harness.instructions --programs target/arm --plugin target/count_instructions.so $(ARGS) \
		--output $(RESULTS)/instructions.json && $(BENCH) report tiers

.PHONY: bench-many-threads
bench-many-threads: build ## Memory and time of 40 threads, with the default limit of all caches and without one
	$(BIN)/python benches/harness/many_threads.py $(ARGS)

# The exit code tells whether a number of threads gave another result than one thread.
.PHONY: bench-threads
bench-threads: build ## Encoding and training from one thread to all processors, as a chart: ARGS="--corpus DIR"
	$(BENCH) harness.threads $(ARGS) --output $(RESULTS)/threads.json

# As with the comparison: the exit code tells whether a vocabulary is not the one it must be.
.PHONY: bench-training
bench-training: build $(VENV)/rivals ## Compare training with all other trainers and write docs/benchmarks/training.md
	$(BENCH) harness.compare training $(ARGS) --output $(RESULTS)/training.json; \
		code=$$?; $(BENCH) report training readme && exit $$code

SENTENCEPIECE_JOBS = sentencepiece-small,sentencepiece-together,sentencepiece-64000,sentencepiece-large

.PHONY: bench-training-models
bench-training-models: build $(VENV)/rivals ## Compare training of SentencePiece models and write docs/benchmarks/training.md
	$(BENCH) harness.compare training --jobs $(SENTENCEPIECE_JOBS) $(ARGS) \
		--output $(RESULTS)/training_sentencepiece.json; code=$$?; $(BENCH) report training && exit $$code

# It has the name of the released version, so it is kept apart.
$(VENV)/candidate: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-deps --target $@ tokenizers==1.0.0rc3

.PHONY: bench-models
bench-models: build $(VENV)/rivals $(VENV)/candidate ## Compare models' own files with their libraries and write docs/benchmarks/models.md
	$(BENCH) harness.models $(ARGS) --output $(RESULTS)/models.json; \
		code=$$?; $(BENCH) report models && exit $$code

.PHONY: bench-families
bench-families: build $(VENV)/rivals $(VENV)/candidate ## Measure the files of all families of open models and write docs/models.md
	$(BENCH) harness.families $(ARGS) --output $(RESULTS)/families.json; \
		code=$$?; $(BENCH) programs.models_page && $(BENCH) report targets && exit $$code

.PHONY: bench-adoption
bench-adoption: build ## Compare a tokenizer of transformers before and after it is accelerated, for docs/benchmarks/models.md
	$(BENCH) harness.adoption $(ARGS) --output $(RESULTS)/adoption.json; \
		code=$$?; $(BENCH) report adoption && exit $$code

# The exit code tells whether the target is reached.
.PHONY: bench-shard
bench-shard: build ## Measure files to shards beside encoding in memory: ids, speed, memory
	$(BENCH) harness.shards $(ARGS)

# With --large in ARGS it records another result: a corpus on a cluster and in one process.
.PHONY: bench-scale
bench-scale: build $(VENV)/ray/engine $(VENV)/spark/engine ## Measure counting, training and shards by unit and engine, ARGS="--corpus PATH... [--large GB]"
	$(BENCH) harness.scale $(ARGS) --output $(RESULTS)/scale$(if $(findstring --large,$(ARGS)),_large).json; \
		code=$$?; $(BENCH) report scale && exit $$code

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(VENV) target site python/bytemill/_core*.so
