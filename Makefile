# Targets: make setup | train | test | test-slow | bench | docs | lint | format | coverage | clean
# Targets: Attacks, some minutes each: make fuzz | sanitize | soak
# SPDX-License-Identifier: GPL-2.0-or-later
PYTHON ?= python3
# ON turns compiler warnings into errors (as .ci/run does)
WERROR ?= OFF
# OFF compiles each C++ file by itself: for who changes C++ often. ON halves the time of a first build.
UNITY ?= ON
# processes that run tests in Python beside each other
TESTERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
BUILD := build/dev
PIP := $(BIN)/python -m pip --disable-pip-version-check
SHOWN := $(BIN)/python cmake/with-progress.py

CXX_FILES = $(shell find ns3_env/cpp -name '*.cc' -o -name '*.h')
MODULES := $(sort $(shell find ns3_env agents eval -name '*.py'))
CXX_PRODUCT_FILES = $(filter-out ns3_env/cpp/test/%,$(CXX_FILES))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup train test test-phases test-cpp test-includes test-threads test-python test-slow bench docs lint format coverage coverage-cpp coverage-python \
	fuzz sanitize soak attackers threads clean

help:
	@sed -n 's/^# Targets: //p' Makefile

# --- set-up: each step leaves a stamp, so that doing it again costs nothing ----------------------
# The C++ side compiles while pip, which keeps one core busy, unpacks the packages that only Python needs.
setup: $(VENV)/.tools
	@printf '%s\n' $(VENV)/.packages $(VENV)/.built | xargs -P 2 -n 1 $(MAKE) -s

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: install Python 3.10 to 3.13, or name one: make PYTHON=/path/to/python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 10) <= v <= (3, 13) or sys.exit("$(PYTHON) is Python %d.%d; ns-3 has wheels for 3.10 to 3.13: name another, e.g. make PYTHON=python3.12" % v)'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian, Ubuntu: python3-venv)" >&2; exit 2; }
	@command -v $${CXX:-c++} >/dev/null || { echo "no C++ compiler: install one that knows C++20 (g++ 12 or newer), or set CXX" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# What the C++ side is built with. ns3 without its Python bindings: what they need compiles for minutes, and the C++
# here does not use them.
$(VENV)/.tools: $(VENV)/.created constraints.txt pyproject.toml cmake/requirements.py
	@$(PIP) install -q -c constraints.txt --no-deps ns3==3.44.post0
	@$(BIN)/python cmake/requirements.py build > $(VENV)/tools.txt
	@$(PIP) install -q -c constraints.txt -r $(VENV)/tools.txt
	@touch $@

# PyTorch first and pinned (a CPU build at hand is taken where pip finds one).
$(VENV)/.packages: $(VENV)/.tools
	@echo "PyTorch and what else is needed from PyPI: 3 GB on the disk, a minute or more"
	@$(PIP) install -q -c constraints.txt torch==2.13.0
	@$(BIN)/python cmake/requirements.py run torch > $(VENV)/requirements.txt
	@$(PIP) install -q -c constraints.txt -r $(VENV)/requirements.txt
	@touch $@

# The installed package knows the modules by name: it is made again when there are others. The file changes with them.
$(VENV)/.modules: $(VENV)/.created FORCE
	@echo "$(MODULES)" | cmp -s - $@ || echo "$(MODULES)" > $@

FORCE:

# Editable: Python files are read where they lie; the C++ side is built again when its sources change.
$(VENV)/.built: $(VENV)/.tools $(VENV)/.modules CMakeLists.txt $(wildcard cmake/*) $(CXX_PRODUCT_FILES)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(SHOWN) build/setup.log "the simulators and extension modules, in C++" \
		$(PIP) install -v --no-build-isolation --no-deps --force-reinstall -e . \
		-Cbuild-dir=$(BUILD) -Ccmake.define.RDMA_WERROR=$(WERROR) -Ccmake.define.CMAKE_UNITY_BUILD=$(UNITY)
	@touch $@

# For the tests in a browser; one try, and no fault where it is not to be had.
$(VENV)/.browser: $(VENV)/.created cmake/browser.sh
	@cmake/browser.sh
	@touch $@

# --- use ------------------------------------------------------------------------------------------
train: setup
	$(BIN)/python train.py --config configs/fdcc.yaml --config configs/mpcc.yaml

bench: setup
	$(BIN)/python -m eval speed

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html; with its search: $(BIN)/python -m http.server -d build/site"

# Two at a time, those first that keep one core busy for long; the tests in Python have two processes themselves. Not by
# `make -j2`: ninja cannot use the jobserver of a make above it.
PHASES := build/phases.txt
PHASE = cmake/timed.sh $(PHASES)

test:
	@rm -f $(PHASES)
	@$(PHASE) all $(MAKE) test-phases; code=$$?; echo "min:s   phase"; cat $(PHASES); exit $$code

test-phases:
	@$(PHASE) setup $(MAKE) setup
	@printf '%s\n' lint test-cpp test-includes test-threads | xargs -P 2 -I '{}' $(PHASE) '{}' $(MAKE) '{}'
	@$(PHASE) test-python $(MAKE) test-python

test-cpp: setup
	$(BIN)/cmake --build $(BUILD) --target rdma-tests tcp-tests ns3ai-foreign rdma-dummy-sim rdma-fuzz-channel
	$(BUILD)/rdma-tests
	$(BUILD)/tcp-tests
	$(BIN)/python -m tests.fuzz.corpus build/fuzz/corpus
	$(BUILD)/rdma-fuzz-channel --corpus=build/fuzz/corpus --inputs=8000

# Each source and each header by itself, syntax alone: a unity build does not show which of them lacks an include.
test-includes: setup
	$(call configure,build/each,,-DCMAKE_BUILD_TYPE=Syntax -DCMAKE_CXX_FLAGS_SYNTAX=-fsyntax-only -DCMAKE_UNITY_BUILD=OFF)
	$(BIN)/cmake --build build/each --target rdma-base rdma tcp lone-headers_verify_interface_header_sets

test-python: setup $(VENV)/.browser
	$(BIN)/cmake --build $(BUILD) --target rdma-dummy-sim
	$(BIN)/python -m pytest -n $(TESTERS) --no-loadscope-reorder -m "not slow and not alone" --durations=20
	$(BIN)/python -m pytest -m "alone and not slow"

# What takes minutes each, and is not in CI (CONTRIBUTING.md says when).
test-slow: setup
	$(BIN)/python -m pytest -m slow --durations=0

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# How much of the code do the tests run? A line each for C++ and Python; pages in build/coverage. C++: by its own suites,
# and by those tests in Python that put the simulator itself to work.
COVERING = $(addprefix tests/,$(addsuffix .py,scenario/test_scenario simulator/test_conservation simulator/test_pcap simulator/test_rdma_sim \
	envs/test_vec_env envs/test_env_contract eval/test_trace))

coverage: coverage-cpp coverage-python

# $(call configure,FOLDER,COMPILER FLAGS,MORE OPTIONS): a build beside the usual one
define configure
	@mkdir -p $(1)
	$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCMAKE_CXX_FLAGS="$(2)" \
		-DCMAKE_UNITY_BUILD=$(UNITY) -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python $(3) > $(1).log
endef

coverage-cpp: setup
	$(call configure,build/coverage,--coverage)
	$(BIN)/cmake --build build/coverage --target rdma-tests rdma-sim >> build/coverage.log
	find build/coverage -name '*.gcda' -delete
	build/coverage/rdma-tests > /dev/null
	NS3_ENV_RDMA_SIM=build/coverage/rdma-sim $(BIN)/python -m pytest -q $(COVERING)
	mkdir -p build/coverage/cpp
	$(BIN)/gcovr --root . --object-directory build/coverage --exclude-directories '.*CompilerId.*' --filter ns3_env/cpp/ --exclude ns3_env/cpp/test/ \
		--print-summary --html-details build/coverage/cpp/index.html --txt build/coverage/cpp.txt
	@awk '/^TOTAL/ {print "C++: " $$NF " of lines"}' build/coverage/cpp.txt

coverage-python: setup
	$(BIN)/python -m pytest -q --cov=ns3_env --cov=agents --cov=eval --cov-report=html:build/coverage/python \
		--cov-report=term | tee build/coverage-python.txt | tail -n 3
	@awk '/^TOTAL/ {print "Python: " $$NF " of lines"}' build/coverage-python.txt

# --- attacks: short forms in `make test` (and in pytest: tests/fuzz, tests/soak), long ones here ------
# build/sanitize: addresses and undefined behaviour; build/threads: races (a process that its lifeline ends joins no threads). What a sanitizer finds in a simulator is in
# build/reports, for the simulator's own exit code may be seen by nobody.
ADDRESSES = -fno-omit-frame-pointer -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
RACES = -fno-omit-frame-pointer -fsanitize=thread
REPORTS = $(CURDIR)/build/reports
SANITIZED = ASAN_OPTIONS=log_path=$(REPORTS)/report:max_free_fill_size=4096 UBSAN_OPTIONS=log_path=$(REPORTS)/report:print_stacktrace=1 \
	NS3_ENV_RDMA_SIM=$(CURDIR)/build/sanitize/rdma-sim NS3_ENV_DUMMY_SIM=$(CURDIR)/build/sanitize/rdma-dummy-sim
NO_REPORTS = @cat $(REPORTS)/* 2> /dev/null; test -z "$$(ls $(REPORTS))"
SEED ?= 1

attackers: setup threads
	$(call configure,build/sanitize,$(ADDRESSES))
	$(BIN)/cmake --build build/sanitize --target rdma-sim rdma-dummy-sim rdma-fuzz-channel
	$(BIN)/python -m tests.fuzz.corpus build/fuzz/corpus
	@rm -rf $(REPORTS) && mkdir -p $(REPORTS)

threads: setup
	$(call configure,build/threads,$(RACES))
	$(BIN)/cmake --build build/threads --target rdma-channel-threads

# Both ends of the channel, in a thread each.
test-threads: threads
	TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0 build/threads/rdma-channel-threads 2000

fuzz: attackers
	build/sanitize/rdma-fuzz-channel --corpus=build/fuzz/corpus --seed=$(SEED) --inputs=100000
	$(SANITIZED) $(BIN)/python -m pytest -q tests/fuzz --hypothesis-profile=long
	$(NO_REPORTS)

# The suites of C++, and those tests in Python that put the simulator to work. What is freed stays for a while: no test of memory.
sanitize: attackers
	$(BIN)/cmake --build build/sanitize --target rdma-tests tcp-sim
	build/sanitize/rdma-tests
	$(BIN)/cmake --build build/threads --target rdma-tests
	TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0 build/threads/rdma-tests --test-name=rdma-parts
	TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0 build/threads/rdma-channel-threads 50000
	$(SANITIZED) $(BIN)/python -m pytest -q tests/programs/test_all_controllers.py tests/scenario/test_simulator_json.py tests/fuzz $(COVERING)
	NS3_ENV_TCP_SIM=$(CURDIR)/build/sanitize/tcp-sim $(SANITIZED) $(BIN)/python -m pytest -q tests/simulator/test_tcp_runs.py -k come_and_go
	$(NO_REPORTS)
	@echo "sanitize: nothing was found"

soak: setup
	$(BIN)/python -m tests.soak.soak --steps 1000000 --resets 10000 --kills 1000 --seed $(SEED)

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f $(VENV)/.built
