# Two commands do everything on a machine with Python >= 3.11 and Node 20.19 or newer (not 21 to 22.12):
#   make grade [CANDIDATE=path] [JSON=file] [ARGS="..."]   grades the reference, or the tree at CANDIDATE
#   make test                                              lint, types and the project's own tests
# A third is for those who change checks:
#   make matrix [FULL=1] [ARGS="..."]                      proves the checks; goes on where it was interrupted
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: grade test matrix lint browser lock clean

grade: browser
	@$(BIN)/lendbench grade $(if $(CANDIDATE),"$(CANDIDATE)") $(if $(JSON),"--score-json=$(JSON)") $(ARGS)

test: lint browser
	$(BIN)/pytest $(ARGS)

matrix: browser
	@$(BIN)/lendbench matrix $(if $(FULL),--full) $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

browser: $(READY)
	@$(BIN)/python -m pytest_lendbench.bench.browser || $(BIN)/playwright install chromium

lock: $(READY)
	uv pip compile pyproject.toml --group dev --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--quiet --output-file requirements.lock

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf $(VENV) dist lendbench-evidence
