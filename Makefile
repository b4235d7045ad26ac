# The only entry point: people and CI call the same targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build demo test unit integration e2e kill lint fmt proto docs samples

CARGO ?= cargo
# The broker of `make demo`: embedded (no installation) or kafka (real, needs Java and Maven).
BROKER ?= embedded
# KEEP=1 leaves the demo running until Ctrl-C.
KEEP ?=
TESTBED := target/debug/testbed

help: ## This list
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## Look for what Tercet needs on this machine; install it where that can be done
	@tools/setup.sh base

build: setup ## Build every binary (debug)
	$(CARGO) build --workspace --bins

demo: build ## Eight orders, one for each ending, then the audit. BROKER=kafka for a real broker, KEEP=1 to stay up
	@[ "$(BROKER)" = embedded ] || tools/setup.sh kafka
	@target/debug/tercet demo --broker $(BROKER) $(if $(KEEP),--keep)

test: build ## Everything: unit, integration on real PostgreSQL and Kafka, e2e, kill
	@tools/setup.sh kafka
	$(TESTBED) exec -- $(MAKE) --no-print-directory unit-and-integration e2e-tests kill-test

e2e: build ## Only the end-to-end tests, with the services as real processes
	@tools/setup.sh kafka
	$(TESTBED) exec -- $(MAKE) --no-print-directory e2e-tests

kill: build ## SIGKILL random services at random moments for a bounded time, then audit
	@tools/setup.sh kafka
	$(TESTBED) exec -- $(MAKE) --no-print-directory kill-test

lint: ## rustfmt, clippy and rustdoc with warnings denied, buf lint and breaking
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	@$(MAKE) --no-print-directory proto

proto: ## buf lint, and buf breaking against the committed baseline
	@tools/setup.sh buf
	@tools/buf.sh lint proto
	@tools/buf.sh breaking proto --against proto/baseline.binpb

fmt: ## Format everything
	$(CARGO) fmt --all

samples: ## Write the golden samples of the events anew
	UPDATE_SAMPLES=1 $(CARGO) test -q -p tercet-contracts --test samples

# Inside the testbed: these expect TERCET_TEST_POSTGRES_URL and TERCET_TEST_KAFKA_BROKERS.
.PHONY: unit-and-integration e2e-tests kill-test
unit-and-integration:
	$(CARGO) test --workspace --exclude tercet-e2e

e2e-tests:
	$(CARGO) test -p tercet-e2e --test it -- --skip kill::

kill-test:
	$(CARGO) test -p tercet-e2e --test it -- --nocapture kill::
