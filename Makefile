# Every developer action, and all that CI calls. `make help` lists them.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Modules of tests and benches; `python -m benches` lists the measurements.
BENCH = PYTHONPATH=tests:benches $(BIN)/python -m
CORPUS ?= $(shell $(PYTHON) -c "import sysconfig; print(sysconfig.get_path('stdlib'))")

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9_-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 24

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
	$(MAKE) --no-print-directory --jobs=2 --output-sync test-python-1 test-python-2 test-rust lint

.PHONY: lint
lint: build ## Formatting, lints, types, and the stub against the module
	cargo fmt --check
	cargo clippy --locked --lib -- -D warnings
	cargo clippy --locked --all-targets --features python -- -D warnings
	cargo clippy --locked --lib --features stable-abi -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --lib --quiet
	! cargo tree --locked --edges normal --prefix none | grep -q '^pyo3 '
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo fmt --check --manifest-path wasm/Cargo.toml
	cargo check --locked --quiet --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy python tests
	$(BIN)/mypy benches/harness benches/report benches/python fuzz/*.py
	$(BIN)/mypy benches/__main__.py
	$(BIN)/python -m mypy.stubtest bytemill._core

# What catches most mistakes, in a minute after the build.
QUICK = tests/python/special tests/python/splitting tests/python/inspect tests/python/api/test_encoding.py
.PHONY: check
check: build ## Build, and the lints and tests of a minute that catch most mistakes
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python -m pytest --quiet $(QUICK)

.PHONY: test-rust
test-rust: ## The Rust tests, without Python
	cargo test --locked

.PHONY: test-python
test-python: build ## The Python tests, beside the real tiktoken
	$(BIN)/python -m pytest

# Each half of the modules, for two processors.
.PHONY: test-python-1 test-python-2
test-python-1 test-python-2: test-python-%: build
	$(BIN)/python -m pytest --durations=10 --part=$*/2

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

.PHONY: test-extras
test-extras: test-wheel ## Install the wheel with each extra into an environment of its own, and use it (5 minutes, gigabytes)
	PYTHONPATH=tests $(BIN)/python -m programs.check_extras target/wheel $(ARGS)

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

.PHONY: bench
bench: build ## Benchmarks beside tiktoken and the reference, then splitting and merging alone
	$(BIN)/python -m pytest benches/python $(ARGS) --benchmark-only --benchmark-columns=min,median,rounds \
		--benchmark-group-by=group --benchmark-sort=name
	cargo bench --locked

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(VENV) target site python/bytemill/_core*.so

include mk/tests.mk mk/fuzz.mk mk/bench.mk mk/release.mk mk/wasm.mk
