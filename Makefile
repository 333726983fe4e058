# make build | demo | test | lint | docs | bench | house | clean       (see CONTRIBUTING.md)
# make demo ROBOT=six_axis|axis|scara|scara3|delta|delta3|puma
SHELL := /bin/bash
PYTHON ?= python3
ROBOT ?=
DEMO_ARGS ?=
in_env := source ./env.sh &&

.PHONY: build venv demo test lint docs bench house clean

build: venv
	@$(in_env) python3 -m tools.build

venv:
	@command -v "$(PYTHON)" > /dev/null || { echo 'robodyn: there is no $(PYTHON):' \
	    'sudo apt install python3 python3-venv python3-dev' >&2; exit 1; }
	@"$(PYTHON)" -m tools.make_venv $(if $(filter-out file,$(origin PYTHON)),--this-python)

demo: build
	@$(in_env) robodyn demo $(if $(ROBOT),--robot "$(ROBOT)") $(DEMO_ARGS)

test: build
ifdef PYTEST_ARGS
	@$(in_env) python3 -m pytest $(PYTEST_ARGS)
else
	@$(in_env) python3 -m tools.run_tests
endif

lint: venv
	@$(in_env) python3 -m ruff check . && python3 -m ruff format --check . && python3 -m mypy \
	    && python3 -m tools.declared && python3 -m tools.names && python3 -m tools.licence

# Its own environment: the site needs nothing of the package, and the package nothing of it.
DOCS_VENV = build/docs_venv
docs: $(DOCS_VENV)/complete
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --quiet
	@echo 'robodyn: the site is build/site/index.html'

$(DOCS_VENV)/complete: docs/requirements.txt
	@"$(PYTHON)" -m venv --clear $(DOCS_VENV)
	@$(DOCS_VENV)/bin/pip install --quiet --require-hashes -r docs/requirements.txt
	@touch $@

bench: build
	@$(in_env) for file in bench/bench_*.py; do \
	    echo "== $$file" && python3 "$$file" || exit 1; done

house:
	@"$(PYTHON)" tools/house.py

clean:
	rm -rf .venv build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis .build.lock
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
