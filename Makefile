# Every target sets itself up on a fresh clone: a virtual environment in .venv, nothing by hand.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BASE   := $(VENV)/.base-installed
DEV    := $(VENV)/.dev-installed
BENCH  := $(VENV)/.bench-installed
RELEASE := $(VENV)/.release-installed
DOCS   := $(VENV)/.docs-installed
TOOLS  ?= chromium strace redis-server
# Compiled Python is kept beside its source: the suite starts many processes, each of which would compile it anew.
export PYTHONDONTWRITEBYTECODE =
# Each process of the suite is busy by itself: threads of linear algebra that wait for work would take turns with them.
test test-system: export OPENBLAS_NUM_THREADS = 1

.PHONY: demo tools test check docs docs-serve docs-pictures bench test-system wheel check-wheel format clean
.DEFAULT_GOAL := test

$(BASE): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(DEV): $(BASE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(BENCH): $(DEV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

$(RELEASE): $(BASE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	touch $@

$(DOCS): $(BASE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

demo: $(BASE)         ## what bayou is for, on a made-up stream that drifts; installs the base package only
	$(BIN)/bayou demo

tools:                ## programs some tests need: installed only as root, where apt-get is; else those tests skip (TOOLS= to do without)
	@for tool in $(TOOLS); do \
		command -v $$tool > /dev/null && continue; \
		if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
			echo "make tools: installing $$tool with apt-get"; \
			{ apt-get update -qq && apt-get install -y -qq $$tool; } > /dev/null 2>&1 && continue; \
		fi; \
		echo "make tools: no $$tool; the tests that need it skip and say so"; \
	done

test: $(DEV) tools    ## the suite, after its kernels are compiled once, on both cores: one of three processes waits
	$(BIN)/bayou warm --jobs 2 --quiet
	$(BIN)/python -m pytest -n 3 --dist worksteal

check: $(DEV)         ## format, lint, types, import layers, private names, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/private_names.py src/bayou
	$(BIN)/codespell

format: $(DEV)        ## rewrite the files as `make check` wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(DOCS)         ## the site, into site/: open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "site/index.html"

docs-serve: $(DOCS)   ## the site on http://127.0.0.1:8000, made anew whenever a page changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

docs-pictures: $(DEV) tools ## the screenshots of the site, made anew
	$(BIN)/python tools/docs_pictures.py

bench: $(BENCH)       ## every speed claim beside its peer, in one run; fetches MOA and Weka, which run on Java
	$(BIN)/python -m benchmarks.jars
	$(BIN)/python -m benchmarks

test-system: $(BENCH) $(DOCS) tools ## the long and heavy proofs, peers among them
	BAYOU_LONG=1 $(BIN)/python -m pytest -n 3 --dist worksteal

wheel: $(RELEASE)     ## into dist/: a wheel with compiled kernels, one without for the rest, the sources; each checked
	rm -rf dist src/bayou/kernels/compiled
	$(BIN)/python -m build --quiet --outdir dist
	$(BIN)/python tools/compile_kernels.py
	$(BIN)/python -m build --quiet --wheel --outdir dist
	rm -r src/bayou/kernels/compiled
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/sbom.py dist
	$(BIN)/python tools/check_wheels.py dist

check-wheel: wheel    ## the long checks of a wheel: the same bits at every level, and how long a first use takes
	$(BIN)/python tools/same_bits.py dist/bayou-*-cp*.whl
	$(BIN)/python tools/first_use.py dist/bayou-*-cp*.whl

clean:
	rm -rf $(VENV) dist site src/bayou/kernels/compiled .pytest_cache .mypy_cache .ruff_cache
