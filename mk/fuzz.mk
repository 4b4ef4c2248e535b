# Fuzzing beside `make fuzz`, and comparisons of gigabytes.

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

# Goes on where it was; ARGS="--size 10GB" is the text of all rows, --rows NAME ... chooses some.
.PHONY: ledger
ledger: build ## Compare every tokenizer file with its library on text of CORPUS=DIR, record it, and write docs/ledger.md (7 hours for 10 GB)
	@status=0; PYTHONPATH=tests $(BIN)/python -m programs.ledger $(CORPUS) $(ARGS) || status=$$?; \
	$(BENCHES) report ledger && exit $$status
