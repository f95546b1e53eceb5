# `make` alone lists the commands. The first one that needs it makes the environment, .venv.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PORT ?= 8000
CONFIG := _config.yml
PYTHON ?= $(firstword $(foreach candidate,python3.11 python3,$(shell \
	$(candidate) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(candidate))))
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadscope

# A stored progress bar would differ on every run.
export TRANSFORMER_LIB_QUIET := 1
# nbval opens files in the locale's encoding, and ours are UTF-8.
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.PHONY: help lab lab-ko book test test-all lint run serve print records clean

help:
	@echo "make lab              open the notebooks in JupyterLab"
	@echo "make lab-ko           the same in Korean"
	@echo "make book             build the site into _build/html"
	@echo "make serve            build the site and serve it on http://127.0.0.1:$(PORT)/ (PORT=... for another)"
	@echo "make print            write the whole book, in each language, as one PDF into _build/print"
	@echo "make test             lint, run every notebook and compare its outputs, run the unit tests"
	@echo "make test-all         that, shapes checked at each call, several processes, kill and resume, the site"
	@echo "make lint             ruff over code and layout, codespell over the spelling"
	@echo "make run [NB=07]      execute one notebook in place, or all, and export the library (TIDY=yes: execute nothing)"
	@echo "make records NAME=... make one record of a long run again"
	@echo "make clean            remove what was built"

# HASHES=yes, on Linux with Python 3.11: only files whose sums are known.
$(READY): requirements.txt pyproject.toml setup.py
ifeq ($(PYTHON),)
	$(error Python 3.11 or newer is needed: install it, or name it with `make PYTHON=/path/to/python3.11 ...`)
endif
	@test -d $(VENV) || echo "Making the environment, .venv, only this once: about 2 GB in 200 packages, some minutes; then a site takes" \
		"about one. (On Linux torch's default build adds 4 GB; README.md says how to have the small one.)"
	$(PYTHON) -m venv $(VENV)
	$(if $(HASHES),$(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes --requirement requirements.sums.txt)
	$(BIN)/python -m pip install --disable-pip-version-check $(if $(HASHES),--no-build-isolation) --requirement requirements.txt
	touch $@

lab: $(READY)
	$(BIN)/python -m tools.lab

lab-ko: export TRANSFORMER_LIB_LANGUAGE := ko
lab-ko: $(READY)
	$(BIN)/python -m tools.korean --join $(CONFIG)
	$(BIN)/python -m tools.lab

book: $(READY)
	$(BIN)/jupyter-book build . --config $(CONFIG) -W --keep-going
	TRANSFORMER_LIB_LANGUAGE=ko $(BIN)/python -m tools.korean --join $(CONFIG)
	$(BIN)/jupyter-book build _build/ko -W --keep-going
	rm -rf _build/html/ko && cp -r _build/ko/_build/html _build/html/ko
	@$(BIN)/python -c 'from pathlib import Path; print("The site:", Path("_build/html/index.html").resolve().as_uri())'

serve: book
	@$(BIN)/python -c 'import socket; socket.create_server(("127.0.0.1", $(PORT)))' 2>/dev/null || \
		{ echo "port $(PORT) is not free: make serve PORT=$$(($(PORT) + 1))"; false; }
	@echo "http://127.0.0.1:$(PORT)/  (Ctrl+C stops the server)"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

print: book
	$(BIN)/python -m tools.print_book
	$(MAKE) --no-print-directory book

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check --output-format concise
	$(BIN)/codespell

test: export OMP_NUM_THREADS := 1
test: lint
	$(PYTEST) --nbval -m "not slow" --ignore notebooks/deeper notebooks tests/unit tests/notebooks tests/examples

test-all: export OMP_NUM_THREADS := 1
test-all: test book
	EXAMPLES=100 $(PYTEST) --jaxtyping-packages=transformer_lib,beartype.beartype tests/unit
	$(PYTEST) --nbval notebooks/deeper tests/site

run: $(READY)
	$(BIN)/python -m tools.run_notebook $(if $(TIDY),--tidy) $(NB)

records: $(READY)
	$(BIN)/python -m benchmarks.$(NAME)

clean:
	rm -rf _build .pytest_cache .hypothesis .ruff_cache
