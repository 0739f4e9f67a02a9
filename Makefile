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
.PHONY: help setup demo quick test check collect pure unit whole other-python bench soak docs lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.dev $(if $(wildcard $(PEERS)/package.json),$(PEERS)/node_modules/.stamp) ## make .venv with everything the tests need
	@scripts/system-packages
	@# Node's packages come while Python's are installed.
	@{ for peer in acpx $(PEER_AGENTS) $(PEER_PAGES); do scripts/peer-node $$peer || exit 1; done; scripts/browser-pages && scripts/browser-pages examples/usechat && scripts/peer-node web web; } \
		>/dev/null & node=$$!; \
	for peer in $(PEER_VENVS); do scripts/peer-venv $$peer || { wait; exit 1; }; done >/dev/null; \
	wait $$node

demo: $(VENV)/.runtime ## talk to the finance agent in this terminal and on a page: no key, no network
	@$(BIN)/trunkline chat finance --page || [ $$? -eq 130 ]  # Ctrl-C is a way to leave, not an error.

# On two cores the types take as long as the tests.
quick: $(VENV)/.dev ## before each commit: the checks and the pure tests; about a minute, no npm, no network
	@$(MAKE) --no-print-directory --jobs=2 --output-sync check pure

# The checks need nothing but Python's packages: they run while those of the peers come.
test: ## all checks and tests, with the coverage gate
	@$(MAKE) --no-print-directory --jobs=3 --output-sync setup check collect
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory --jobs=2 whole other-python

check: $(VENV)/.dev ## lint, format, types and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/pyright

# What drives whole programs is not measured: that would hide what no test looks at by itself. What takes
# longest begins first, so that no worker waits for another in the end.
WHOLE := $(addprefix tests/,test_docs.py test_bench.py test_examples.py faults peers browser test_agui_examples.py test_imports.py)
# These say once more, at length or with a program for each case, what other tests measure.
LONG := tests/demos/finance/test_langchain.py::test_the_langchain_variant_is_the_plain_agent \
	tests/demos/finance/test_openai.py::test_the_openai_variant_is_the_plain_agent \
	tests/cli/new/test_command.py::test_the_tests_that_are_made_pass \
	tests/cli/new/test_command.py::test_what_is_made_answers_at_once_and_goes_on \
	$(addprefix tests/agents/,acp/splice/test_shared_sessions.py openai/test_fold_oracle.py openai/stream_events/test_fold_oracle.py) \
	$(addprefix tests/agents/langchain/,callbacks/test_begin_run.py hosted/test_same_fold.py providers \
	test_fold_oracle.py test_usage_over_acp.py test_usage_over_agui.py) \
	$(addprefix tests/cli/,chat/test_first_use.py chat/test_follower.py diagnosis/test_doctor.py terminal/test_line_editor.py \
	test_agents.py test_cli.py test_first_launch.py test_help_examples.py test_tab_suggestions.py) \
	$(addprefix tests/,demos/finance/ledger/analysis/test_spending.py demos/finance/test_documented_questions.py \
	frontends/agui/test_langchain.py frontends/agui/test_scenarios.py server/test_acp_conformance.py \
	server/test_principals.py server/test_scopes.py)
# Of these tests the programs that they start are measured too: the command line and what serves stdin.
PROGRAMS := $(addprefix tests/,cli frontends/acp/test_manual.py frontends/acp/test_stdio.py agents/acp/splice/test_stdio.py tools/mcp_server)
# More than there are cores: half of the time a test waits for something.
PYTEST := pytest --dist worksteal -n

pure: $(VENV)/.dev ## the quick tests that start no server, command line, browser or peer
	$(BIN)/python -m pytest --quiet --hypothesis-profile quick -m "not slow" \
		$(addprefix --ignore ,$(WHOLE) $(addprefix tests/,agents/langchain cli server))

# Compiles the tests, which in a new clone each worker would do by itself, and measured.
collect: $(VENV)/.dev ## import all tests
	$(BIN)/python -m pytest --collect-only -qq >/dev/null

# Workers and programs each write their own data file; combine joins them.
unit: setup ## the tests of modules, measured
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST) 4 $(addprefix --ignore ,$(WHOLE)) $(addprefix --unmeasured=,$(LONG)) \
		$(addprefix --measured-programs=,$(PROGRAMS))
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# They wait for other programs half of the time.
whole: setup ## the tests that drive whole programs: peers, browser, docs
	$(BIN)/python -m $(PYTEST) 5 $(WHOLE)

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
	@echo "Installing Trunkline and what the demo needs into $(VENV): once, about half a minute"
	@$(PIP) install --require-hashes --requirement requirements/demo.txt
	@$(INSTALL_OURSELVES)
	@touch $@

# The development lock holds every pin of the demo's, so one installation serves both.
$(VENV)/.dev: requirements/dev.txt requirements/demo.txt pyproject.toml | $(BIN)/python
	scripts/install-lock $(VENV) requirements/dev.txt --compile-bytecode
	$(INSTALL_OURSELVES)
	@touch $(VENV)/.runtime $@

$(PEERS)/node_modules/.stamp: $(wildcard $(PEERS)/package.json $(PEERS)/package-lock.json)
	npm ci --prefix $(PEERS) --no-audit --no-fund --loglevel=error
	@touch $@
