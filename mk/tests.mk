# Long tests: engines, stores, faults, other machines. Each is run before a release.

# Engines of clusters, and stores: each in an environment of its own, with its extra and this tree.
$(VENV)/s3/engine: MORE = --group stores
$(VENV)/%/engine: pyproject.toml
	$(PYTHON) -m venv $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)/$*/bin/python -m pip install --quiet --group engines $(MORE) --editable ".[$*]"
	touch $@

# Libraries that use this one, likewise.
$(VENV)/embedding/engine $(VENV)/integrations/engine: $(VENV)/%/engine: pyproject.toml
	$(PYTHON) -m venv $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)/$*/bin/python -m pip install --quiet --group engines --group $* --editable .
	touch $@

.PHONY: test-embedding
test-embedding: build $(VENV)/embedding/engine ## A tokenizer of sentence-transformers before and after it is accelerated (1 minute)
	$(VENV)/embedding/bin/python -m pytest tests/engines/embedding

.PHONY: test-integrations
test-integrations: build $(VENV)/integrations/engine ## The recipes of the guide Use it in, with the real libraries (2 minutes)
	$(VENV)/integrations/bin/python -m pytest tests/engines/integrations

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

# In an environment of its own, which may be that of a later Python: PYTHON=python3.14, for example.
STABLE = $(VENV)/abi3/$(notdir $(BIN))
$(VENV)/abi3/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)/abi3
	$(STABLE)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(STABLE)/python -m pip install --quiet $(call group,dev)
	touch $@

.PHONY: test-abi3
test-abi3: $(VENV)/abi3/installed ## Build the wheel for Pythons without one of their own, and run the Python tests on it
	rm -rf target/abi3/wheel
	PATH="$(abspath $(STABLE)):$$PATH" $(STABLE)/maturin build --quiet --release --locked --features stable-abi \
		--interpreter $(STABLE)/python --target-dir target/abi3 --out target/abi3/wheel
	$(STABLE)/python -m pip install --quiet --force-reinstall --no-deps target/abi3/wheel/*.whl
	PYTHONPATH=tests $(STABLE)/python -m programs.check_wheel target/abi3/wheel cp311-abi3
	$(STABLE)/python -m pytest $(ARGS)

.PHONY: random-files
random-files: build ## Compare random files of any components with tokenizers, MINUTES=n; differences are made small
	PYTHONPATH=tests $(BIN)/python -m programs.random_files --minutes $(MINUTES) $(ARGS)

SOAK ?= 120

.PHONY: soak
soak: build ## Use one process for SOAK=120 minutes as servers do: each result compared, memory flat
	PYTHONPATH=tests $(BIN)/python -m programs.soak $(CORPUS) --minutes $(SOAK) --output benches/results/soak.jsonl

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
OF_THREADS = thread checkpoints_hold batches:: training:: counting:: sorted_counts:: json_lines:: --skip is_linear
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

# Where `usize` has 32 bits. CARGO_32=cargo takes rustup's target, on a machine of a workflow; else `apt-get install cargo-web rustc-web rust-web-src gcc-multilib`; the standard library is
# compiled from its source, as Debian has none for this target.
.PHONY: test-32
test-32: ## The Rust tests, built for i686 (6 minutes)
	$(if $(CARGO_32),rustup target add i686-unknown-linux-gnu && sudo apt-get install --yes gcc-multilib)
	$(or $(CARGO_32),$(STD_FROM_SOURCE) $(ARM_CARGO)) test --locked $(if $(CARGO_32),,-Z build-std) \
		--target i686-unknown-linux-gnu --target-dir target/i686 --lib --test rust

# Debian has no standard library for this target: it is compiled from its source. `apt-get install cargo-web
# rust-web-src gcc-mingw-w64-x86-64`.
STD_FROM_SOURCE = RUSTC_BOOTSTRAP=1 CARGO=$(ARM_CARGO) RUSTC=$(ARM_RUSTC)

.PHONY: check-macos
check-macos: ## Type-check the library for macOS; nothing is linked or run
	$(STD_FROM_SOURCE) $(ARM_CARGO) check --locked -Z build-std --target aarch64-apple-darwin --target-dir target/macos --lib
