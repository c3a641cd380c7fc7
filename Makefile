# make run     builds, fetches a small model and serves it on 127.0.0.1:8484
# make test    everything that must hold; what CI runs
# make test-long  what takes longer: fuzzing whole requests, a soak over a model, more comparisons
# The programs in tools/ do the work; each explains itself in its first lines.

export GOTOOLCHAIN := go1.27.3

MODEL  ?= smollm2-135m
LISTEN ?= 127.0.0.1:8484
TOOL   := CGO_ENABLED=0 go run

.PHONY: imagegen release run build test test-long test-suites race bench overhead generate check record peers drift clean

# The model is put into the store once, where all commands find it.
run: build
	bin/diglot show $(MODEL) >/dev/null 2>&1 || { \
	file=$$($(TOOL) ./tools/fetch $(MODEL)) && echo "FROM $$file" | bin/diglot create $(MODEL) -f -; } && \
	exec bin/diglot serve --listen $(LISTEN) --load $(MODEL)

build:
	$(TOOL) ./tools/build

# Builds archives that run on any processor of a platform into dist: make release PLATFORM=linux/arm64.
release:
	$(TOOL) ./tools/release $(PLATFORM)

# Builds the engine of image models, stable-diffusion.cpp: once, in 20 to 40 minutes.
imagegen:
	$(TOOL) ./tools/imagegen

test:
	$(TOOL) ./tools/check $(CHECK)

# An hour: two minutes of fuzzing for each operation, ten minutes of soak, broken image models,
# hundreds of prompts computed in every way.
test-long:
	$(TOOL) ./tools/check fuzz soak imagemutants equal

# The cgo packages under the race detector: a second, slower build of llama.cpp.
race:
	$(TOOL) ./tools/fetch smollm2-135m
	$(TOOL) ./tools/fetch minilm
	$(TOOL) ./tools/build go test -race -tags llamacpp ./engine/local/llamacpp/... ./cmd/...

# Compares diglot with llama-server, Ollama and ik_llama.cpp over the same files, as far as they
# are there, and writes bench/. BENCH has more flags: make bench BENCH="--workloads decode,agent".
BENCH ?=
bench: build
	file=$$($(TOOL) ./tools/fetch $(MODEL)) && vectors=$$($(TOOL) ./tools/fetch minilm) && \
	$(TOOL) ./tools/bench --program diglot=bin/diglot --model $(MODEL)="$$file" --model minilm="$$vectors" $(BENCH)

# Measures what the server adds to bare llama.cpp.
overhead: build
	file=$$($(TOOL) ./tools/fetch $(MODEL)) && \
	$(TOOL) ./tools/build go run -tags llamacpp ./tools/overhead --model $(MODEL)="$$file"

generate:
	CGO_ENABLED=0 go generate ./...

# The part of make test that needs no llama.cpp and takes a few minutes. Only
# its first run needs a network, for the chat templates that it tests with.
check:
	$(TOOL) ./tools/check format generated speclint vet static test race

# Records the cassettes anew, with the vendors' SDKs.
record:
	CGO_ENABLED=0 go -C tools/sdk run . -record

# Suites of others, fetched from the package indexes, against diglot.
test-suites:
	$(TOOL) ./tools/suites

# Renews the report of how the newest SDKs differ from the documents.
drift:
	$(TOOL) ./tools/drift -o tools/drift/report.md

# Holds diglot beside llama-server and Ollama: replies in the same cases, and scores of verify.
peers: build
	$(TOOL) ./tools/peers record
	$(TOOL) ./tools/peers verify

clean:
	rm -rf bin dist .cache tools/browser/node_modules tools/sdk/node/node_modules tools/sdk/frameworks/node/node_modules tools/sdk/agents/node_modules
