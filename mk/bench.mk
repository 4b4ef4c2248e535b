# Benchmarks that write pages: `python -m harness.NAME` and `python -m report NAME`.

# The exit code tells whether a budget is missed.
.PHONY: bench-playground
bench-playground: build $(VENV)/browser ## Measure the playground in Chromium against its budgets, for docs/benchmarks/playground.md
	$(BENCH) harness.playground $(ARGS) --output $(RESULTS)/playground.json; \
		code=$$?; $(BENCH) report playground && exit $$code

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

.PHONY: bench-sessions
bench-sessions: build ## Measure sessions, streams and the cache of prefixes, for docs/benchmarks/sessions.md: ARGS="--corpus DIR"
	$(BENCH) harness.sessions $(ARGS) --output $(RESULTS)/sessions.json && $(BENCH) report sessions targets

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
