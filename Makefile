# Two words: `make demo` shows it, `make test` checks it. Both install first when they must.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ctrag-installed
WORKERS ?= 2
# Whatever the machine says: without bytecode every command that a test starts compiles torch anew.
export PYTHONDONTWRITEBYTECODE :=
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
# Neighbouring tests stay together, because what they train or start is shared by file, until a
# worker has nothing left and takes over some of another's. There are as many workers as cores:
# further threads of linear algebra would only wait for each other.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: install update demo test test-quick coverage check fix docs site bench bench-scale fuzz attack wheel-test clean

install: $(READY)

# The locked versions, which are those that were tested. Without compiling: most of what is installed
# is never imported, and what is compiles itself.
$(READY): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --no-deps -r requirements.lock
	$(BIN)/python $(PIP) --no-deps --editable .
	$(BIN)/ctrag models prepare
	$(BIN)/ctrag models list
	touch $@

# Newer versions into requirements.lock.
update:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) 'uv>=0.9'
	UV=$(BIN)/uv .ci/lock

demo: $(READY)
	$(BIN)/ctrag demo

test: $(READY)
	$(PYTEST)

# No model of language, no training, nothing slow: under two minutes.
test-quick: $(READY)
	$(PYTEST) -m 'not slow and not model and not training'

coverage: $(READY)
	$(PYTEST) --cov=stores --cov=ctrag --cov=synth --cov=eval --cov=training --cov-report=term-missing:skip-covered

check: $(READY) site
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/console.py
	$(BIN)/python docs/settings.py

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python docs/console.py --write
	$(BIN)/python docs/settings.py --write

# The reference of the API, from docstrings, in build/api.
docs: $(READY)
	$(BIN)/python docs/api.py build/api

# The documents and that reference as pages, in build/site; whatever mkdocs warns of is an error.
site: docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(READY)
	$(BIN)/python -m benchmarks.run

bench-scale: $(READY)
	$(BIN)/python -m benchmarks.scale

# Every parser of files and texts of others on changed inputs, SECONDS each; the faults' inputs are
# kept in build/fuzz. docs/security.md has the figures of both.
SECONDS ?= 60
fuzz: $(READY)
	$(BIN)/python -m attack.fuzz --seconds $(SECONDS)

# Writers that are killed, 10,000 searches over HTTP, searches under random access rules.
attack: $(READY)
	$(BIN)/python -m attack.run

# The wheel in a fresh environment, with the newest versions that it allows, and the tests of what calls
# them (.ci/newest.toml).
# It has an environment of its own and waits for no other.
wheel-test:
	PYTHON='$(PYTHON)' WORKERS='$(WORKERS)' sh .ci/wheel-test

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
