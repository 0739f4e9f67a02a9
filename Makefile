# Everything a person or a CI job runs. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := tests/peers/node
PEER_VENVS := acp-sdk-0.12 acp-sdk-1.0rc agui-peers bench-langchain ofx-peers mcp-2
PEER_AGENTS := claude-agent-acp claude-code-acp codex-acp gemini-cli
PEER_PAGES := aisdk-5 aisdk-6 aisdk-7
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# The tests start a thousand programs; where this is set, each would compile all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo quick test check pure unit other-python bench soak docs lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.dev $(if $(wildcard $(PEERS)/package.json),$(PEERS)/node_modules/.stamp) ## make .venv with everything the tests need
	@scripts/system-packages
	@# Node's packages come while Python's are installed.
	@{ for peer in acpx $(PEER_AGENTS) $(PEER_PAGES); do scripts/peer-node $$peer || exit 1; done; scripts/browser-pages && scripts/browser-pages examples/usechat; } \
		>/dev/null & node=$$!; \
	for peer in $(PEER_VENVS); do scripts/peer-venv $$peer || { wait; exit 1; }; done >/dev/null; \
	wait $$node

demo: $(VENV)/.runtime ## talk to the finance agent in this terminal: no key, no network
	@$(BIN)/trunkline chat finance

# On two cores the types take as long as the tests.
quick: $(VENV)/.dev ## before each commit: the checks and the pure tests; about a minute, no npm, no network
	@$(MAKE) --no-print-directory --jobs=2 --output-sync check pure

# The checks need nothing but Python's packages: they run while those of the peers come.
test: ## all checks and tests, with the coverage gate
	@$(MAKE) --no-print-directory --jobs=3 --output-sync setup check
	@$(MAKE) --no-print-directory unit other-python

check: $(VENV)/.dev ## lint, format, types and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/pyright

# Workers and the programs that tests start each write their own data file; combine joins them. What drives
# whole programs is not measured: to measure doubles its time, and would hide what no test looks at by itself.
WHOLE := $(addprefix tests/,browser faults peers test_agui_examples.py test_bench.py test_docs.py test_examples.py test_imports.py)
# Three on two cores: a third of the time a test waits for something.
PYTEST := pytest -n 3 --dist worksteal

pure: $(VENV)/.dev ## the quick tests that start no server, command line, browser or peer
	$(BIN)/python -m pytest --quiet --hypothesis-profile quick -m "not slow" \
		$(addprefix --ignore ,$(WHOLE) $(addprefix tests/,agents/langchain cli server))

unit: setup ## the tests alone, measured
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST) $(addprefix --ignore ,$(WHOLE))
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/python -m pytest -n 3 --dist worksteal $(WHOLE)  # these wait for other programs half of the time

other-python: setup ## the tests that depend on Python, on the newest other CPython of this machine
	@scripts/other-python

bench: setup ## measure the budgets: speed, start, replay, memory
	$(BIN)/python -m bench

soak: setup ## a long run under load; prints what grew, then kills at acknowledgements for longer
	$(BIN)/python -m bench.soak
	TRUNKLINE_DEATHS=300 $(BIN)/python -m pytest tests/faults/test_acknowledged.py

docs: setup ## build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet

# Pins stay as they are unless a requirement needs more; `make lock UPGRADE=1` takes the newest.
PIN = $(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-annotate --universal \
	--python-version 3.11 $(if $(UPGRADE),--upgrade)
LOCK = $(PIN) pyproject.toml

lock: setup ## write requirements/*.txt anew from pyproject.toml
	$(LOCK) --group dev --output-file requirements/dev.txt
	$(LOCK) --group test --group demo --group langchain --group openai --group server --constraints requirements/dev.txt --output-file requirements/test.txt
	$(LOCK) --group demo --constraints requirements/dev.txt --output-file requirements/demo.txt
	@# Peers of the tests, each in an environment of its own: their versions are part of what is tested.
	echo agent-client-protocol==0.12.1 | $(PIN) --output-file requirements/acp-sdk-0.12.txt -
	echo agent-client-protocol==1.0.0rc3 | $(PIN) --output-file requirements/acp-sdk-1.0rc.txt -
	printf '%s\n' ag-ui-langgraph==0.0.47 'pydantic-ai-slim[ag-ui]==2.66.0' fastapi uvicorn langchain | $(PIN) \
		--output-file requirements/agui-peers.txt -
	printf '%s\n' ofxparse==0.21 ofxtools==1.1.1 | $(PIN) --output-file requirements/ofx-peers.txt -
	echo mcp==2.3.0 | $(PIN) --output-file requirements/mcp-2.txt -
	@# Peers of the bench, on the same LangChain as ours.
	printf '%s\n' deepagents-acp==0.0.13 langchain-acp==1.10.0 | $(PIN) --constraints requirements/dev.txt \
		--output-file requirements/bench-langchain.txt -

clean: ## remove what the other targets made
	rm -rf $(VENV) $(PEERS)/node_modules site dist .coverage .coverage.*

# -- stamps: a second run does nothing -------------------------------------------------------------

$(BIN)/python:
	@scripts/make-venv $(PYTHON) $(VENV)

INSTALL_OURSELVES = $(PIP) install --no-deps --no-build-isolation --editable .

$(VENV)/.runtime: requirements/demo.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes --requirement requirements/demo.txt
	$(INSTALL_OURSELVES)
	@touch $@

# The development lock holds every pin of the demo's, so one installation serves both.
$(VENV)/.dev: requirements/dev.txt requirements/demo.txt pyproject.toml | $(BIN)/python
	scripts/install-lock $(VENV) requirements/dev.txt --compile-bytecode
	$(INSTALL_OURSELVES)
	@touch $(VENV)/.runtime $@

$(PEERS)/node_modules/.stamp: $(wildcard $(PEERS)/package.json $(PEERS)/package-lock.json)
	npm ci --prefix $(PEERS) --no-audit --no-fund --loglevel=error
	@touch $@
