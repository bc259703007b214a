# lint.mk - checks of the sources. Included by the Makefile.
# SPDX-License-Identifier: MIT

TIDY := $(patsubst %.c,build/tidy/%.ok,$(if $(SINCE),$(filter $(ALL_SRC),$(shell tests/lint/changed.sh '$(SINCE)')),$(ALL_SRC)))
# A quarter of the analyzer's default number of states takes a fifth of the time.
TIDY_LIMITS := -Xclang -analyzer-config -Xclang max-nodes=50000
.PHONY: tidy format format-check lint
tidy: $(TIDY) ## run clang-tidy on all files, or those that have changed since the commit SINCE; no warnings allowed
build/tidy/%.ok: %.c .clang-tidy
	@mkdir -p $(@D)
	$(call say,TIDY,$<)
	$(Q)$(CLANG_TIDY) --quiet $< -- -std=c11 $(COV_CPPFLAGS) $(if $(filter $(MPI_SRC),$<),$(MPI_CFLAGS)) $(VERSION_MACROS) $(filter -m%,$(ISA_$(notdir $*))) $(TIDY_LIMITS) >$@.log 2>&1 || { cat $@.log; exit 1; }
	$(Q)$(CC) $(COV_CPPFLAGS) $(if $(filter $(MPI_SRC),$<),$(MPI_CFLAGS)) $(VERSION_MACROS) $(filter -m%,$(ISA_$(notdir $*))) -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	$(Q)rm $@.log && touch $@
-include $(TIDY:.ok=.d)

format: ## format all sources with clang-format
	$(Q)$(CLANG_FORMAT) -i $(ALL_SRC) $(HEADERS) $(CUDA_SRC) $(CUDA_TEST_SRC)
format-check: ## check that all sources are formatted
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(ALL_SRC) $(HEADERS) $(CUDA_SRC) $(CUDA_TEST_SRC)

SHELL_SRC = $(CLI_TESTS) $(wildcard tests/*.sh tests/*/*.sh workflows/*.sh workflows/*/*.sh tools/*/*.sh containers/*.sh .ci/run)
lint: all ## check layers, names, banned calls, instructions of objects, man pages against options, shell scripts, Snakemake
	$(Q)$(PYTHON) tests/lint/sources.py .
	$(Q)$(PYTHON) tests/lint/english.py .
	$(check_instructions)
	$(Q)$(PYTHON) tests/lint/man_pages.py $(BIN) $(MAN1)
	$(Q)$(if $(MAN1)$(MAN5)$(MAN7),mandoc -T lint -W warning $(MAN1) $(MAN5) $(MAN7))
	$(Q)$(SHELLCHECK) -x $(SHELL_SRC)
	$(Q)! command -v snakemake >/dev/null || (cd $(B) && snakemake -s '$(CURDIR)/workflows/snakemake/Snakefile' --lint \
	  --config samples='$(CURDIR)/workflows/nextflow/assets/test/samples.csv') >$(B)/lint.log 2>&1 || \
	  { cat $(B)/lint.log; exit 1; }

.PHONY: layers
layers: ## list the directories of common/, and what each may include
	$(Q)$(PYTHON) tests/lint/sources.py --layers

# Kernels for sm_90, and what ptxas reports about them.
CUBINS := $(patsubst %.cu,$(B)/cuda/%.cubin,$(shell grep -l SIMT_KERNEL $(CUDA_SRC)))
$(B)/cuda/%.cubin: %.cu $(B)/cuda/flags
	@mkdir -p $(@D)
	$(call say,NVCC,$@)
	$(Q)$(NVCC) -std=c++17 -O3 -I. -arch=sm_$(SM_90) -cubin -Xptxas -v -MMD -MP -MF $@.d -MT $@ -o $@ $< >$@.log 2>&1 || { cat $@.log; exit 1; }
-include $(CUBINS:=.d)
.PHONY: lint-kernels kernel-table
lint-kernels kernel-table:
	$(Q)version=$$($(NVCC) --version 2>/dev/null | sed -n 's/.* V//p'); [ -n "$$version" ] || { echo '$@: SKIP, no nvcc'; exit; }; \
	$(MAKE) -s --no-print-directory $(CUBINS) && \
	$(PYTHON) tests/lint/sass.py $(if $(filter kernel-table,$@),--write) "$$version" tests/gpu/kernel_table.txt $(CUBINS)
lint-kernels: ## compare registers, spills and loops of the GPU kernels with tests/gpu/kernel_table.txt (needs nvcc)
kernel-table: ## write that table, after a change of a kernel
