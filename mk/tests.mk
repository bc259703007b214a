# tests.mk - tests. Included by the Makefile.
# SPDX-License-Identifier: MIT

# The environment of tests: programs, a wrapper for them, and reference files if available. A fork copies the
# sanitizer's quarantine (256 MB by default), and opening an HDF5 file forks.
TEST_ENV = BIN='$(abspath $(BIN))' TESTLIB='$(abspath $(B))/tests/lib' SRC='$(CURDIR)' WRAP='$(WRAP)' PYTHON='$(PYTHON)' SAN='$(SAN)' \
           HARDENED='$(if $(COVERAGE),,$(findstring __OPTIMIZE__,$(CC_MACROS)))' \
           SHARED="$${SHARED:-$(abspath ../shared)}" CMOCKA_MESSAGE_OUTPUT=TAP \
           COVTOOLS_PLUGINS='$(abspath $(B))/tests/none' LSAN_OPTIONS='suppressions=$(CURDIR)/tests/lib/lsan.supp:print_suppressions=0' \
           ASAN_OPTIONS="$${ASAN_OPTIONS:-quarantine_size_mb=16}"
PROVE = $(TEST_ENV) tests/prove.sh $(B)/prove $(PROVE_FLAGS)

# Starts the longest tests first, so that none runs alone at the end of a parallel run.
LONGEST := $(patsubst %,$(B)/tests/check_%,training kernels host) \
  $(patsubst %,tests/cli/%.t,small_bombs workflows benchmark covtrain_torch covtrain_device readme h5chunk_rewrite gpu_report \
  covpeaks_measured damaged_hdf5 covtrain_mpi covprofile covtrain cov2bigwig_compare fasta2h5 outputs cov2bigwig_reference benchmark_report \
  coveffect damaged_fasta covpredict_device text_variants h5_reference covpeaks demo covtrain_plant covpredict covpredict_shard codecs \
  h5_layout clients lint) \
  $(patsubst %,$(B)/tests/%,check_lstm test_reference_models test_bigwig_zoom test_loader test_bgz test_onehot test_lstm)
longest_first = $(filter $(1),$(LONGEST)) $(filter-out $(LONGEST),$(1))

.PHONY: check check-unit check-cli check-long
# The programs of tests/bench are compiled, so that a change that breaks them is noticed.
check: all $(UNITS) $(REPLAYS) $(EMULATED) $(HELPERS) $(DEMOS) $(call obj,$(BENCH_SRC)) ## run all tests, or TESTS (SAN=address,undefined: under sanitizers)
	$(Q)$(PROVE) --exec '' $(or $(TESTS),$(call longest_first,$(CLI_TESTS) $(sort $(UNITS)) $(REPLAYS) $(EMULATED)))
# A script for each tool, and the unit tests of what reads files. The plain tests run the kernels with guard pages.
SMOKE_TESTS := $(patsubst %,tests/cli/%.t,bam2h5 benchmark_compare cov2bigwig coveffect covpeaks covpredict covpredict_stream covprofile \
               damaged_chunks damaged_tracks fasta2h5 h5chunk_verify pipe)
SMOKE_SRC   := common/base/json.c common/cli/opt.c $(foreach d,chunk ckpt codec features file h5 seq track/formats,\
               $(or $(wildcard common/$d/*.c),$(error mk/tests.mk: no directory common/$d)))
SMOKE_UNITS := $(filter $(patsubst %.c,$(B)/tests/test_%,$(notdir $(SMOKE_SRC))),$(UNITS))
.PHONY: check-smoke run-smoke
# -O1 and -g1, because compiling takes longer than the tests, and reports need lines only.
check-smoke: ## run the unit tests of parsers, the corpora of the fuzzers and a test of each tool under sanitizers
	$(Q)$(MAKE) --no-print-directory VARIANT=smoke SAN=address,undefined CFLAGS='-O1 -g1' run-smoke
run-smoke: all $(SMOKE_UNITS) $(REPLAYS) $(HELPERS)
	$(Q)$(PROVE) --exec '' $(call longest_first,$(SMOKE_TESTS) $(SMOKE_UNITS) $(REPLAYS))
check-unit: $(UNITS) $(REPLAYS) $(EMULATED) ## run the unit tests
	$(Q)$(PROVE) --exec '' $(sort $(UNITS)) $(REPLAYS) $(EMULATED)
check-cli: all $(HELPERS) $(DEMOS) ## run the command-line tests
	$(Q)$(PROVE) --exec '$(TEST_SHELL)' $(CLI_TESTS)
HOST_TESTS ?= $(patsubst %,tests/cli/%.t,covtrain_mpi outputs fasta2h5 kinds h5chunk_blacklist h5chunk_verify coveffect_ism pipe \
  full_disk tool covpeaks_files covpredict_regions cov2bigwig_regions covprofile_region benchmark_compare subcommands)
.PHONY: check-hosts
check-hosts: all $(HELPERS) $(DEMOS) ## run HOST_TESTS with other awks, shells, locales, users and CPUs
	$(Q)tests/hosts.sh $(HOST_TESTS)
# The leak sanitizer finds leaks. The excluded tests fail under valgrind, because its CPU differs from the one that the
# system reports, and it does not flush denormals.
VALGRIND = valgrind -q --error-exitcode=99 --leak-check=no --suppressions=tests/lib/valgrind.supp
check-long: all $(UNITS) $(DEMOS) ## run the unit tests under valgrind, and train a network on a larger synthetic genome
	$(Q)LONG=1 $(PROVE) --exec '' tests/cli/covtrain_plant.t
	$(Q)$(PROVE) --exec '$(VALGRIND)' $(filter-out %/test_cpu %/test_pool,$(sort $(UNITS)))

IN_FAULTS = PATH='$(abspath $(BIN)):$(abspath $(B))/tests/lib':"$$PATH" $(PYTHON)
.PHONY: check-faults
check-faults: all $(HELPERS) ## make each call of the tools fail in turn, and cut the power (hours; FAULTS_FLAGS="--some 20", see faults/sweep.py)
	$(Q)$(if $(CASES),,$(IN_FAULTS) tests/faults/power.py $(B)/faults $(FAULTS))
	$(Q)$(IN_FAULTS) tests/faults/sweep.py $(FAULTS_FLAGS) $(B)/faults $(FAULTS) $(CASES)

.PHONY: mutate
mutate: all $(UNITS) $(HELPERS) $(DEMOS) ## change lines of common/, one at a time: does a test notice? (hours; MUTATE_FLAGS, see tests/mutate.py)
	$(Q)$(TEST_ENV) $(PYTHON) tests/mutate.py $(MUTATE_FLAGS)
.PHONY: mutate-lines cover-lines
mutate-lines: ## record which lines each test runs, for `make mutate` (an hour)
	$(Q)$(MAKE) --no-print-directory COVERAGE=1 CFLAGS='-O1 -g' cover-lines
cover-lines: all $(UNITS) $(HELPERS) $(DEMOS)
	$(Q)$(TEST_ENV) $(PYTHON) tests/mutate.py $(MUTATE_FLAGS) --cover '$(B)/obj' $(or $(TESTS),$(UNITS) $(CLI_TESTS))

.PHONY: golden
golden: all $(DEMOS) ## compare what the tools write with an older build (OLD=DIRECTORY of its programs, GOLDEN=PATTERN of names)
	$(Q)[ -n '$(OLD)' ] || { echo 'golden: which build? (OLD=/path/to/bin)' >&2; exit 2; }
	$(Q)MAKE_PLANT='$(B)/demo/make_plant' PYTHON='$(PYTHON)' tests/golden/compare.sh '$(OLD)' '$(BIN)' $(if $(GOLDEN),'$(GOLDEN)')

# Tests of the kernels at each CPU level of the machine. CPU_UNITS run all levels themselves, LEVEL_UNITS the level in
# COVTOOLS_CPU.
CPU_UNITS   := $(patsubst %,$(B)/tests/test_%,cpu level gemm gemm_amx outer vec lstm layers training)
LEVEL_UNITS := $(patsubst %,$(B)/tests/test_%,device_cpu reference_models)
CPU_LEVELS  := base avx2 avx512 avx512bf16 amx
check_instructions = $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),$(Q)tests/lint/instructions.sh $(call obj,$(LIB_SRC) $(TOOL_SRC) $(PART_SRC)))
.PHONY: check-cpu
check-cpu: all $(HELPERS) $(DEMOS) $(CPU_UNITS) $(LEVEL_UNITS) ## run the network's tests at every CPU level, those of AVX2 under valgrind
	$(check_instructions)
	$(Q)$(PROVE) --exec '' $(CPU_UNITS)
	$(Q)there=$$($(BIN)/covpredict --version | sed -n 's/^--cpu: //p'); for level in $(CPU_LEVELS); do \
	  case " $$there " in *" $$level "*) ;; *) echo "== $$level: SKIP, not on this machine"; continue ;; esac; \
	  echo "== $$level"; COVTOOLS_CPU=$$level $(PROVE) --exec '' $(LEVEL_UNITS) $(filter tests/cli/covpredict%,$(CLI_TESTS)) || exit 1; \
	done
	$(if $(SAN),,$(Q)$(PROVE) --exec '$(VALGRIND)' $(filter-out %/test_cpu %/test_reference_models,$(CPU_UNITS) $(LEVEL_UNITS)))

# A cross build in its own directory with the libraries of deps-aarch64, and the unit tests in an emulator.
ARM_ROOT  := $(CURDIR)/$(ARM)/root
ARM_CC    := aarch64-linux-gnu-gcc
ARM_QEMU  := qemu-aarch64 -L $(ARM_ROOT)
ARM_PKG   := $(ARM_ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig
ARM_BUILD := CC='$(ARM_CC) --sysroot=$(ARM_ROOT)' CFLAGS='-O2 -Werror -DCOV_TEST_SLOW' VARIANT=aarch64 CXX=none MPI_LIBS= MPI_CFLAGS= \
             PKG_CONFIG='env PKG_CONFIG_SYSROOT_DIR=$(ARM_ROOT) PKG_CONFIG_LIBDIR=$(ARM_PKG) $(PKG_CONFIG)'
.PHONY: check-aarch64 units-aarch64
check-aarch64: ## cross-build for aarch64 and run the unit tests under qemu-user (after deps-aarch64)
	$(Q)if ! command -v $(ARM_CC) >/dev/null || ! command -v qemu-aarch64 >/dev/null || ! [ -e $(ARM_PKG) ]; then \
	  echo 'check-aarch64: SKIP, no cross compiler, qemu-user or libraries (make deps-aarch64)'; else \
	  $(MAKE) --no-print-directory $(ARM_BUILD) units-aarch64; fi
units-aarch64: all $(UNITS)
	$(Q)$(PROVE) --exec '$(ARM_QEMU)' $(call longest_first,$(sort $(UNITS)))

.PHONY: check-nextflow
check-nextflow: all $(DEMOS) ## test the Nextflow pipeline: killed, resumed, in shards, as a stub, against Snakemake (NEXTFLOW=PROGRAM)
	$(Q)nextflow='$(or $(NEXTFLOW),$(shell command -v nextflow),$(abspath $(wildcard ../shared/tools/nextflow/nextflow)))'; \
	[ -n "$$nextflow" ] || { echo 'check-nextflow: SKIP, no nextflow'; exit; }; \
	PATH='$(abspath $(BIN))':$$(dirname "$$nextflow"):"$$PATH" workflows/nextflow/check.sh $(B)/demo/make_plant build/nextflow && \
	NEXTFLOW="$$nextflow" $(PROVE) --exec '' tests/cli/workflows.t

.PHONY: coverage
coverage: ## build with gcov, run the tests, and print the line coverage
	$(Q)find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	$(Q)$(MAKE) --no-print-directory COVERAGE=1 CFLAGS='-O0 -g' check
	$(Q)gcovr --root . --filter 'common/' --filter 'tools/' --object-directory build/coverage --print-summary

.PHONY: bench bench-codecs
bench-codecs: $(B)/bench/bench_codecs ## measure sizes and MB/s of the codecs (DATA="ELEM_BYTES CHUNK_BYTES FILE")
	$(Q)$< $(DATA)
bench: all ## run benchmark report in build/bench (BENCH_FLAGS=--quick)
	$(Q)mkdir -p build && $(BIN)/benchmark report -f $(BENCH_FLAGS) -o build/bench/
