# Two commands a newcomer needs: `make demo` and `make test`. Both set up everything they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SET_UP := $(VENV)/.set-up
READY := $(VENV)/.ready
AS_ROOT = $(if $(filter 0,$(shell id -u)),,sudo)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt

.PHONY: help setup demo test nightly test-gpu card postgresql browser lint bench campaign fuzz sbom hashes verified paper beyond report clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(READY)  ## virtual environment with pinned packages

$(SET_UP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=/path/to/python make ...)"; exit 1; }
	@echo "setting up $(VENV) (once, a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.[fast,database,pretrained]'
	@touch $(SET_UP)

$(READY): $(SET_UP)
	@echo "setting up what development needs (once)"
	@$(INSTALL) --editable '.[dev]'
	@touch $(READY)

demo: $(SET_UP)  ## connect to a database, ask it, train, play the game, compare
	@$(BIN)/dualparse demo

test: $(READY)  ## style check and all tests
	@$(BIN)/ruff check --quiet dualparse tests benchmarks deploy
	@$(BIN)/python -m pytest -n 2 -rs

nightly: $(READY)  ## 20,000 random forms each in SQLite, DuckDB and PostgreSQL, 1,000 in Spark: the rows of the world in memory (DATABASES=800, of 25 forms)
	@DUALPARSE_NIGHTLY=$(or $(DATABASES),800) $(BIN)/python -m pytest -n 2 -rs tests/database/test_same_rows.py tests/database/test_spark.py

test-gpu:  ## engines and captured graphs on this machine's GPU against the plain engine
	@PYTHON=$$(test -x $(BIN)/python && echo $(BIN)/python || echo $(PYTHON)); \
	$$PYTHON -m tests.gpu.run --out results/gpu-parity.json

card:  ## what only a GPU can show, ten minutes each: PART=parity, versions, regression, networks or matching
	@PYTHON=$$(test -x $(BIN)/python && echo $(BIN)/python || echo $(PYTHON)); \
	$$PYTHON -m benchmarks.card $(or $(PART),parity)

postgresql:  ## PostgreSQL for the tests of it (Debian, Ubuntu)
	@if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then echo "PostgreSQL is there already"; \
	elif command -v apt-get >/dev/null; then $(AS_ROOT) apt-get -qq update && $(AS_ROOT) apt-get -qq install --yes --no-install-recommends postgresql; \
	else echo "install PostgreSQL with your system's packages"; exit 1; fi

browser:  ## Chromium for the tests of the web page (Debian, Ubuntu)
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then echo "a Chromium is there already"; \
	elif command -v apt-get >/dev/null; then $(AS_ROOT) apt-get install --yes chromium; \
	else echo "install Chromium or Chrome with your system's packages, or set DUALPARSE_BROWSER to its program"; exit 1; fi

lint: $(READY)  ## style, formatting and types
	$(BIN)/ruff check dualparse tests benchmarks deploy
	$(BIN)/ruff format --check dualparse tests benchmarks deploy
	$(BIN)/mypy

bench: $(READY)  ## benchmarks against a peer, with ratios
	@$(BIN)/python -m benchmarks.run

campaign: $(READY)  ## attacks on all that is promised, one table at the end (TIME=600 SEED=1)
	@$(BIN)/python -m benchmarks.campaign --time $(or $(TIME),600) --seed $(or $(SEED),1)

fuzz: $(READY)  ## for a scheduled job: forms, SQL, files and requests, another seed each day; exit code 1 on any failure (TIME=3600)
	@$(BIN)/python -m benchmarks.campaign --only forms --only sql --only readers --only requests \
	--time $(or $(TIME),3600) --seed $(or $(SEED),$(shell date +%Y%m%d)) --out campaign-failures/last.json

sbom: $(READY)  ## licences of all packages, and a bill of materials (CycloneDX) in sbom.json
	@$(BIN)/python -m deploy.supply sbom

hashes: $(READY)  ## constraints-hashed.txt anew, after constraints.txt has changed (INDEX=address of a package index)
	@$(BIN)/python -m deploy.supply hashes --index $(INDEX)

verified:  ## what runs, installed from files whose checksums are in constraints-hashed.txt and from no others
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --require-hashes --no-deps --requirement constraints-hashed.txt
	@$(BIN)/python -m pip install --no-deps --no-build-isolation --editable .

paper: $(SET_UP)  ## the paper again: data, its tables and figures, the report (JOBS=4: four at a time)
	@$(BIN)/dualparse data get atis overnight glove
	@$(BIN)/dualparse sweep grids/*.toml --jobs $(or $(JOBS),1)
	@$(MAKE) --no-print-directory report

beyond: $(SET_UP)  ## what the paper does not do: analogies, families, grammars, committees, other networks
	@$(BIN)/dualparse data get atis overnight grammars glove
	@$(BIN)/dualparse sweep grids/beyond/*.toml --jobs $(or $(JOBS),1)
	@$(MAKE) --no-print-directory report

report: $(SET_UP)  ## tables and figures from results/, into docs/report and the README
	@$(BIN)/dualparse report results --out docs/report --into README.md

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache .mypy_cache *.egg-info
