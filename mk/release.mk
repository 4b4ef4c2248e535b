# Wheels, locks, audits: what a release is made of.

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

# Wheels, for each Python in WHEEL_PYTHONS, and one of the stable ABI for those that have none. zig links against glibc
# 2.17, whatever this machine has; maturin checks the symbols, and auditwheel does so again.
DIST = dist
WHEEL_PYTHONS ?= python$(shell $(PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])")
WINDOWS_PYTHONS ?= python3.13
MATURIN = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin
MATURIN_BUILD = $(MATURIN) build --release --locked --out $(DIST)
MANYLINUX = --zig --compatibility manylinux2014 --auditwheel check
# The Python that runs maturin is the interpreter; its version has no effect on the wheel.
STABLE_WHEEL = --features stable-abi --interpreter $(BIN)/python
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
	$(MATURIN_BUILD) $(MANYLINUX) --target x86_64-unknown-linux-gnu $(STABLE_WHEEL)
	$(AUDIT) --plat manylinux2014_x86_64 $(DIST)/*_x86_64.whl

# Debian's Rust, as for `make test-arm`; where the toolchain has the target itself, ARM_CARGO=cargo ARM_RUSTC=rustc.
.PHONY: wheel-linux-aarch64
wheel-linux-aarch64: $(VENV)/wheels ## Build wheels for Linux aarch64, manylinux2014
	CARGO=$(ARM_CARGO) RUSTC=$(ARM_RUSTC) $(MATURIN_BUILD) $(MANYLINUX) --target $(ARM) --target-dir target/arm \
		--interpreter $(WHEEL_PYTHONS)
	CARGO=$(ARM_CARGO) RUSTC=$(ARM_RUSTC) $(MATURIN_BUILD) $(MANYLINUX) --target $(ARM) --target-dir target/arm \
		$(STABLE_WHEEL)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel show $(DIST)/*_aarch64.whl | grep -q '"manylinux_2_17_aarch64"'

.PHONY: wheel-windows-x86_64
wheel-windows-x86_64: $(VENV)/wheels ## Build wheels for Windows x86_64, by mingw
	$(STD_FROM_SOURCE) CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		$(MATURIN_BUILD) -Z build-std --target x86_64-pc-windows-gnu --target-dir target/windows \
		--interpreter $(WINDOWS_PYTHONS)
	$(STD_FROM_SOURCE) CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		$(MATURIN_BUILD) -Z build-std --target x86_64-pc-windows-gnu --target-dir target/windows $(STABLE_WHEEL)

# Without Cargo's registry and without optimisation across crates: whether it builds, not how fast the result is.
.PHONY: test-package
test-package: ## Build the crate from what `cargo publish` would send, without the network
	cargo package --locked --offline --quiet

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

.PHONY: models
models: build ## Write docs/models.md: which open models load, how, and how fast
	$(BENCH) programs.models_page

.PHONY: tables
tables: ## Check that the merge tables are what their published sources give
	$(PYTHON) tools/derive_vocabulary.py --check
