# Every target works from a fresh clone; paths with spaces are fine.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
PORT ?= 8000
SOAK_MINUTES ?= 60
VENV := .venv
BIN := $(VENV)/bin
export QUIRE_HOME ?= $(CURDIR)/.quire

.PHONY: help setup demo test test-fast test-llm lint typecheck format docs eval-gate bench web page-test web-test browser-test deploy-check constraints licences sbom soak clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.done web ## everything `demo` needs; fast when nothing changed

$(VENV)/.done: pyproject.toml constraints.txt constraints-hashes.txt scripts/setup.sh scripts/pin.py
	@PYTHON="$(PYTHON)" bash scripts/setup.sh
	@touch "$@"

demo: setup ## ingest the sample book and serve it on http://127.0.0.1:8000
	@"$(BIN)/quire" demo --port $(PORT)

test: setup lint ## all checks and all tests; types are checked while the browser waits for its pages
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line typecheck page-test
	@"$(BIN)/python" -m pytest -n 2 --dist loadgroup

test-fast: $(VENV)/.done ## unit tests only
	@"$(BIN)/python" -m pytest tests/unit

test-llm: $(VENV)/.done ## the agent against a small real model (compiles its server once: minutes)
	@bash scripts/test_llm.sh

lint: $(VENV)/.done ## ruff, import layers, generated docs up to date
	@"$(BIN)/ruff" check .
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/lint-imports"
	@"$(BIN)/python" scripts/generate_docs.py --check

typecheck: $(VENV)/.done ## pyright, strict
	@"$(BIN)/pyright" --project pyproject.toml

format: $(VENV)/.done ## rewrite the code in the house format
	@"$(BIN)/ruff" check --fix .
	@"$(BIN)/ruff" format .

docs: $(VENV)/.done ## write the generated references (settings, command line)
	@"$(BIN)/python" scripts/generate_docs.py

eval-gate: setup ## quality gate: the sample book, and ../shared/data when it is there
	@bash scripts/eval_gate.sh

bench: setup ## benchmarks, as ratios in one run
	@"$(BIN)/quire" bench all

web: web/dist/.done ## build the page and the widget into the package

page-test: ## web-test and browser-test, one after the other
	@$(MAKE) --no-print-directory --jobs=1 web-test browser-test

web-test: web ## types and unit tests of the page and the widget
	@cd web && npm run check --silent && npm test --silent

browser-test: setup ## the page and the widget in a real browser
	@bash scripts/browser_test.sh

web/dist/.done: $(shell find web -maxdepth 1 -type f 2>/dev/null) $(shell find web/src web/public -type f 2>/dev/null) scripts/build_web.sh
	@bash scripts/build_web.sh
	@mkdir -p web/dist && touch "$@"

deploy-check: ## deploy/ against the schemas of Kubernetes, Compose, nginx and Docker (needs the network)
	@bash scripts/check_deploy.sh

constraints: ## pin what is installed now, with the hashes of every file of each release
	@"$(BIN)/python" scripts/pin.py

licences: $(VENV)/.done ## write docs/licences.md from what is installed
	@"$(BIN)/python" scripts/licences.py

sbom: $(VENV)/.done ## write sbom.json (CycloneDX) of what is installed
	@bash scripts/sbom.sh

soak: setup ## the long tests, then mixed load with faults for SOAK_MINUTES (60); goes on where it stopped
	@"$(BIN)/python" scripts/soak.py --minutes $(SOAK_MINUTES)

clean: ## remove everything that was built (keeps .quire, the data folder)
	@rm -rf "$(VENV)" web/node_modules web/dist src/quire/web/static build dist .pytest_cache .ruff_cache .import_linter_cache
