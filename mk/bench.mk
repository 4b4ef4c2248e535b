# Benchmarks, which record results and write pages: `python -m benches NAME`. Their exit code tells whether token IDs
# differ or a target is missed.

BENCHES = $(BIN)/python -m benches

.PHONY: bench-playground
bench-playground: build playground $(VENV)/browser ## Measure the playground in Chromium against its budgets, for docs/benchmarks/playground.md
	$(BENCHES) playground $(ARGS)

.PHONY: bench-static-page
bench-static-page: build playground $(VENV)/browser ## The same of the page without a server
	$(BENCHES) static-page $(ARGS)

$(VENV)/rivals: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

.PHONY: bench-compare
bench-compare: build $(VENV)/rivals ## Compare with all other engines (20 minutes) and write docs/benchmarks/encoding.md
	$(BENCHES) encoding $(ARGS)

STREAM = target/stream.jsonl

# Debian's packages: `apt-get update` has run before.
$(STREAM): $(VENV)/installed
	mkdir -p $(@D)
	$(BENCH) harness.stream_documents --output $@

.PHONY: bench-stream
bench-stream: build $(VENV)/rivals $(VENV)/candidate $(STREAM) ## Compare on half a gigabyte of different documents, for docs/benchmarks/encoding.md
	$(BENCHES) stream --stream $(STREAM) $(ARGS)

.PHONY: bench-report
bench-report: $(VENV)/installed ## Write docs/benchmarks/*.md, their charts, the README's chart and the page of targets again
	$(BENCHES) report

.PHONY: bench-builds
bench-builds: $(VENV)/installed ## Compare two commits of this library, ARGS="BASE [OTHER] --corpus DIR"
	$(BENCHES) builds $(ARGS)

.PHONY: bench-stages
bench-stages: build ## Which part of encoding takes how much of its time, by Linux's perf, for docs/benchmarks/stages.md
	$(BENCHES) stages $(ARGS)

.PHONY: bench-tiers
bench-tiers: build ## Compare the tiers of this processor, for docs/benchmarks/stages.md: ARGS="--corpus DIR"
	$(BENCHES) tiers $(ARGS)

# Both by Debian's Rust, as for `make test-arm`.
.PHONY: bench-instructions
bench-instructions: build ## Count instructions on aarch64 and x86-64 by qemu: ARGS="--corpus DIR"
	$(CC) -O2 -shared -fPIC -o target/count_instructions.so benches/harness/count_instructions.c
	for target in $(ARM) x86_64-unknown-linux-gnu; do \
		RUSTC=$(ARM_RUSTC) CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
			$(ARM_CARGO) build --locked --release --example encode_repeatedly --target $$target --target-dir target/arm || exit 1; \
	done
	$(BENCHES) instructions --programs target/arm --plugin target/count_instructions.so $(ARGS)

.PHONY: bench-many-threads
bench-many-threads: build ## Memory and time of 40 threads, with the default limit of all caches and without one
	$(BENCHES) many-threads $(ARGS)

.PHONY: bench-threads
bench-threads: build ## Encoding and training from one thread to all processors, as a chart: ARGS="--corpus DIR"
	$(BENCHES) threads $(ARGS)

.PHONY: bench-training
bench-training: build $(VENV)/rivals ## Compare training with all other trainers and write docs/benchmarks/training.md
	$(BENCHES) training $(ARGS)

.PHONY: bench-training-models
bench-training-models: build $(VENV)/rivals ## Compare training of SentencePiece models and write docs/benchmarks/training.md
	$(BENCHES) training-models $(ARGS)

# It has the name of the released version, so it is kept apart.
$(VENV)/candidate: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-deps --target $@ tokenizers==1.0.0rc3

.PHONY: bench-models
bench-models: build $(VENV)/rivals $(VENV)/candidate ## Compare models' own files with their libraries and write docs/benchmarks/models.md
	$(BENCHES) models $(ARGS)

.PHONY: bench-families
bench-families: build $(VENV)/rivals $(VENV)/candidate ## Measure the files of all families of open models and write docs/models.md
	$(BENCHES) families $(ARGS)

.PHONY: bench-sessions
bench-sessions: build ## Measure sessions, streams and the cache of prefixes, for docs/benchmarks/sessions.md: ARGS="--corpus DIR"
	$(BENCHES) sessions $(ARGS)

.PHONY: bench-check
bench-check: build $(VENV)/rivals ## What is faster or slower than recorded on this kind of processor, before a release: ARGS="--corpus DIR"
	$(BENCHES) check $(ARGS)

.PHONY: bench-wasm
bench-wasm: build wasm wasm-rivals ## Compare with other tokenizers in WebAssembly, in Node, for docs/benchmarks/javascript.md: ARGS="--corpus DIR"
	$(BENCHES) wasm $(ARGS)

.PHONY: bench-adoption
bench-adoption: build ## Compare a tokenizer of transformers before and after it is accelerated, for docs/benchmarks/models.md
	$(BENCHES) adoption $(ARGS)

.PHONY: bench-shard
bench-shard: build ## Measure files to shards beside encoding in memory: ids, speed, memory
	$(BENCHES) shards $(ARGS)

# With --large in ARGS it records another result: a corpus on a cluster and in one process.
.PHONY: bench-scale
bench-scale: build $(VENV)/ray/engine $(VENV)/spark/engine ## Measure counting, training and shards by unit and engine, ARGS="--corpus PATH... [--large GB]"
	$(BENCHES) scale $(ARGS)
