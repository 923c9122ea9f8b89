PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test torture check bench docs setup system-packages pins clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

demo: setup ## set up everything, then run the demo pipelines
	@$(BIN)/deltaworks demo

test: setup system-packages ## set up everything, then run all tests with the coverage gates
	@$(BIN)/python -m pytest --cov --cov-report= tests/unit tests/house
	@$(BIN)/python -m pytest -n 2 --dist loadfile -p tools.gates -p tests.canaries --cov --cov-append --cov-report=term \
		--cov-fail-under=90 tests/integration tests/e2e tests/torture

torture: setup system-packages ## break pipelines in every way we know, and count their rows
	@$(BIN)/python -m pytest -n 2 --dist worksteal -p tests.torture.report -m "" tests/torture

check: setup ## format, lint, types, import direction, unit and house tests
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest tests/unit tests/house

bench: setup ## measure against the same work by hand
	@for file in $$(grep -l '^def main' bench/*.py); do \
		$(BIN)/python -m bench.$$(basename $$file .py) || exit 1; done

docs: setup ## write the reference pages anew
	@$(BIN)/python -m tools.docs

setup: ## make .venv with the pinned packages, and the log store's jar
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Error: Python 3.11 or later is needed; $(PYTHON) is $$($(PYTHON) -c \
			'import platform; print(platform.python_version())' 2>/dev/null || echo missing)." >&2; \
		echo "Hint: Install one, then name it: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 3; }
	@$(PYTHON) -m tools.setup

system-packages: ## install the servers and commands that the tests start
	@$(PYTHON) -m tools.packages tests/system-packages.txt

pins: setup ## resolve all dependencies again and write constraints.txt
	@$(BIN)/python -m tools.pins

clean: ## remove what make made, except the cache in the home directory
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis \
		.coverage .coverage.* src/deltaworks/spark/logstore.jar
