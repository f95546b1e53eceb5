# `make` alone lists the commands. The first one that needs it makes the environment, .venv.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PORT ?= 8000
PYTHON ?= $(firstword $(foreach candidate,python3.11 python3,$(shell \
	$(candidate) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(candidate))))

# A stored progress bar would differ on every run.
export TRANSFORMER_LIB_QUIET := 1

.DEFAULT_GOAL := help
.PHONY: help book print lint test mutants lock run tidy lab records serve address picture clean clean-all

help:
	@echo "make book                          build the site into _build/html"
	@echo "make print                         write the whole book as PDF and EPUB into _build/print"
	@echo "make test                          lint, build the site, execute every notebook, run every test"
	@echo "make mutants                       switch each bug of chapter 18 on, then the smaller ones of a list, and see their tests fail"
	@echo "make lint                          let ruff look at the code and its layout, codespell at the spelling"
	@echo "make lab                           open the notebooks in JupyterLab"
	@echo "make run NB=05_positional_encoding execute one notebook in place, tidy it, export its module"
	@echo "make tidy NB=05                    after an edit in Jupyter: put the file in order, execute nothing"
	@echo "make serve                         build the site and serve it on http://127.0.0.1:$(PORT)/ (PORT=... for another)"
	@echo "make address URL=https://github.com/OWNER/REPOSITORY"
	@echo "                                   write the course's address wherever it is needed"
	@echo "make records [NAME=translation]    make one record of a long run again, or all of them (takes long)"
	@echo "make picture                       draw the README's picture again"
	@echo "make lock                          after a change of requirements.txt: write the sums of the packages' files"
	@echo "make clean                         remove what was built; make clean-all removes .venv too"

# HASHES=yes, on Linux with Python 3.11: only files whose sums are known.
$(READY): requirements.txt pyproject.toml setup.py
ifeq ($(PYTHON),)
	$(error Python 3.11 or newer is needed: install it, or name it with `make PYTHON=/path/to/python3.11 ...`)
endif
	$(PYTHON) -m venv $(VENV)
	$(if $(HASHES),$(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes --requirement requirements.sums.txt)
	$(BIN)/python -m pip install --disable-pip-version-check $(if $(HASHES),--no-build-isolation) --requirement requirements.txt
	touch $@

book: $(READY)
	$(BIN)/jupyter-book build . -W --keep-going

# The sites are built again at the end: their first pages then link to the files.
print: book
	$(BIN)/python -m tools.print_book
	$(MAKE) --no-print-directory book

# Before the book, because it takes a second.
lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check --output-format concise
	$(BIN)/codespell

# Each worker's torch takes one core; a third worker uses the time in which one waits for a kernel to start, or for Chromium.
# The site is built while the first notebooks run: the tests of its pages come later, and wait for the file BUILT.
# Where C's library is glibc it keeps the memory of large tensors for the next ones: chapter 14 takes 98 seconds in place of 105.
test: export OMP_NUM_THREADS := 1
test: export MALLOC_MMAP_MAX_ := 0
test: export MALLOC_TRIM_THRESHOLD_ := 100000000000
# Some images forbid Python to keep what it has compiled; each kernel and each worker would do it again.
test: export PYTHONDONTWRITEBYTECODE :=
# nbval opens its files in the locale's encoding, and ours are UTF-8.
test: export PYTHONUTF8 := 1
test: export BUILT := $(CURDIR)/_build/built
test: lint
	@mkdir -p _build && rm -f "$(BUILT)"
	@{ $(MAKE) --no-print-directory book > _build/book.log 2>&1; echo $$? > "$(BUILT)"; } & \
	$(BIN)/python -m pytest -n 3 --dist loadscope --no-loadscope-reorder --durations 20 --nbval $(WRITE) notebooks tests; \
	tests=$$?; wait; grep -qx 0 "$(BUILT)" || { cat _build/book.log; exit 1; }; exit $$tests

mutants: export OMP_NUM_THREADS := 1
mutants: $(READY)
	$(BIN)/python -m tools.mutants
	$(BIN)/python -m benchmarks.mutants

lock: $(READY)
	$(BIN)/python -m tools.lock

run: $(READY)
	$(BIN)/python -m tools.run_notebook $(NB)

tidy: $(READY)
	$(BIN)/python -m tools.run_notebook --tidy $(NB)

# JupyterLab draws no SVG of a notebook that it does not trust; what this folder holds was made here.
# And it follows no link out of the folder it is started in: the chapters link to book/.
lab: $(READY)
	$(BIN)/jupyter trust notebooks/*.ipynb
	env -u TRANSFORMER_LIB_QUIET $(BIN)/jupyter lab '--LabApp.default_url=/lab/tree/notebooks/README.md?factory=Markdown%20Preview'

serve: book
	@echo "http://127.0.0.1:$(PORT)/  (Ctrl+C stops the server)"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

# Each script in benchmarks/ that has a record writes it again; this takes long. NAME chooses one.
RECORDS := $(if $(NAME),$(NAME),$(basename $(notdir $(wildcard benchmarks/results/*.json))))
records: $(READY)
	@for record in $(RECORDS); do \
		echo "== $$record"; $(BIN)/python -m benchmarks.$$record || exit 1; \
	done

address: $(READY)
	$(BIN)/python -m tools.address $(URL)

picture: $(READY)
	$(BIN)/python -m tools.readme_picture

clean:
	rm -rf _build .pytest_cache .hypothesis .ruff_cache

clean-all: clean
	rm -rf $(VENV)
