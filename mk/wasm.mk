# The library in WebAssembly, and the playground as a static page.

# Debian's Rust, whose standard library is compiled from its source: `apt-get install cargo-web rustc-web rust-web-src`.
# Where rustup can have the target, WASM_CARGO=cargo.
WASM = wasm32-unknown-unknown
# Debian's Rust 1.96 leaves out the linker. The toolchain that builds the package has it.
RUST_LLD = $(firstword $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/rust-lld) rust-lld)
WASM_CARGO ?= $(STD_FROM_SOURCE) CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(RUST_LLD) $(ARM_CARGO)
# A fault is a trap either way. Without the text of panics, which nobody would see, the module is 6 % smaller.
WASM_STD ?= $(if $(filter cargo,$(WASM_CARGO)),,-Z build-std=std,panic_abort -Z panic-immediate-abort \
	--config 'profile.release.panic="immediate-abort"')
WASM_BUILD = cd wasm && $(WASM_CARGO) build --locked --release $(WASM_STD) --target $(WASM) --lib
WASM_BUILT = $(WASM)/release/bytemill_wasm.wasm
WASM_MODULE = target/wasm/$(WASM_BUILT)
RIVALS = tiktoken kitoken
COUNT_MODULE = target/wasm-count/$(WASM_BUILT)

.PHONY: wasm
wasm: ## Build the library for WebAssembly (3 minutes)
	$(if $(filter cargo,$(WASM_CARGO)),rustup target add $(WASM))
	$(WASM_BUILD) --target-dir ../target/wasm

.PHONY: playground
playground: build wasm ## Build the playground as a static page, in target/playground
	$(BIN)/python tools/static_playground.py target/playground --module $(WASM_MODULE)

.PHONY: site
site: docs playground ## Build the site with the static page in site/try
	rm -rf site/try && cp -r target/playground site/try

.PHONY: wasm-count
wasm-count: wasm ## Build the module that counts, and no more
	$(WASM_BUILD) --no-default-features --target-dir ../target/wasm-count

.PHONY: npm
npm: build wasm wasm-count ## Build and pack the npm package, in target/npm
	$(BIN)/python tools/npm_package.py target/npm/bytemill --module $(WASM_MODULE) --count $(COUNT_MODULE)
	cd target/npm && npm pack --silent ./bytemill

# With the flags of wasm/.cargo/config.toml.
.PHONY: wasm-rivals
wasm-rivals: $(RIVALS:%=target/wasm-rivals/%) ## Build the other tokenizers of `make bench-wasm`
target/wasm-rivals/%: benches/wasm/Cargo.toml benches/wasm/Cargo.lock benches/wasm/src/lib.rs
	cd wasm && $(WASM_CARGO) build --locked --release $(WASM_STD) --target $(WASM) --lib \
		--manifest-path ../benches/wasm/Cargo.toml --features $* --target-dir ../$@
	touch $@

# Unit tests of the loops, in Node's WASI, whose C library is `apt-get install wasi-libc`. What starts threads cannot run there.
WASI = wasm32-wasip1
WASI_LIBC = /usr/lib/wasm32-wasi
WASI_STD ?= $(if $(filter cargo,$(WASM_CARGO)),,-Z build-std=std,panic_abort,test)
WASI_FLAGS = -C target-feature=+simd128 $(if $(WASI_STD),-C link-self-contained=no -C link-arg=--allow-undefined \
	-C link-arg=$(WASI_LIBC)/crt1-command.o -L $(WASI_LIBC))

.PHONY: test-wasm-tiers
test-wasm-tiers: ## The Rust tests that compare loops by vectors with their definitions, in WebAssembly (4 minutes)
	$(if $(filter cargo,$(WASM_CARGO)),rustup target add $(WASI))
	CARGO_TARGET_WASM32_WASIP1_LINKER=$(RUST_LLD) CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $(CURDIR)/wasm/wasi.mjs" \
		RUSTFLAGS="$(WASI_FLAGS)" $(WASM_CARGO) test --locked $(WASI_STD) --target $(WASI) --target-dir target/wasi --lib agree

# Needs Node 20 or later.
.PHONY: test-wasm
test-wasm: playground npm $(VENV)/browser ## Compare the static page's answers with the package, in Node (4 minutes)
	cd wasm && cargo clippy --locked --quiet --all-targets --target-dir ../target/wasm-tests -- -D warnings
	cd wasm && cargo clippy --locked --quiet --no-default-features --target-dir ../target/wasm-tests -- -D warnings
	cd wasm && cargo test --locked --quiet --target-dir ../target/wasm-tests
	$(DENO) fmt --check $(DENO_CONFIG) wasm/*.mjs wasm/page/*.js wasm/npm/*.js wasm/npm/*.ts benches/wasm/*.js
	$(DENO) lint --quiet wasm benches/wasm
	cd benches/wasm && cargo fmt --check
	rm -rf target/page && mkdir -p target/page && cp $(STATIC)/*.js target/page && cp wasm/page/*.js target/page
	$(DENO) check --quiet $(DENO_CONFIG) target/page/*.js
	$(DENO) check --quiet $(DENO_CONFIG) target/npm/bytemill/*.js target/npm/bytemill/*.d.ts
	$(BIN)/python -m pytest tests/wasm
