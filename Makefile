# The only entry point: people and CI call the same targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build demo test e2e kill lint fmt proto samples

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)/debug
# Private servers for a command; those that the environment names are used as they are.
TESTBED := $(TARGET)/testbed exec --

# A machine without Go can do without: tests that need a Jaeger say so and are skipped. CI asks for it.
JAEGER := tools/setup.sh jaeger || echo "setup: without Jaeger, the tests of traces are skipped"

help: ## This list
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## Look for what Tercet needs on this machine; install it where that can be done
	@tools/setup.sh base

build: setup ## Build every binary (debug)
	$(CARGO) build --workspace --bins

# make demo BROKER=kafka KEEP=1
BROKER ?= embedded
demo: build ## Eight orders, one for each ending, then the audit [BROKER=kafka: on a real Kafka; KEEP=1: stays up]
	@if [ "$(BROKER)" = kafka ]; then tools/setup.sh kafka; fi
	@$(TARGET)/tercet demo --broker $(BROKER) $(if $(KEEP),--keep)

test: setup ## Everything: unit, integration on real PostgreSQL and Kafka, e2e
	@tools/setup.sh kafka
	@$(JAEGER)
	@$(MAKE) --no-print-directory build-tests
	$(TESTBED) $(MAKE) --no-print-directory unit-and-integration e2e-tests

e2e: setup ## Only the end-to-end tests, with the services as real processes
	@tools/setup.sh kafka
	@$(JAEGER)
	@$(MAKE) --no-print-directory build-tests
	$(TESTBED) $(MAKE) --no-print-directory e2e-tests

kill: setup ## kill -9 random services while orders run [TERCET_KILL_SEED=N: the same draws again]
	@tools/setup.sh kafka
	@$(MAKE) --no-print-directory build-tests
	$(TESTBED) $(CARGO) test --workspace --test e2e kill:: -- --nocapture

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

# One build for everything that is run afterwards, so that all cores have work until the end. Every
# call is about the whole workspace: `-p` would resolve features anew, and build dependencies again.
.PHONY: build-tests unit-and-integration e2e-tests
build-tests:
	$(CARGO) build --workspace --bins --tests

# Inside the testbed: these expect TERCET_TEST_POSTGRES_URL and TERCET_TEST_KAFKA_BROKERS.
unit-and-integration:
	$(CARGO) test --workspace --exclude tercet-e2e

e2e-tests:
	$(CARGO) test --workspace --test e2e -- --nocapture
