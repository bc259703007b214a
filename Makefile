# covtools. `make help` lists the targets.
#
# Variables for users: CC CPPFLAGS CFLAGS LDFLAGS LDLIBS PKG_CONFIG PYTHON, prefix and the other install directories,
# DESTDIR, SAN=address,undefined (a sanitized build in its own directory), V=1 (show commands), CUDA=1 (build the GPU
# plugin, too), NVCC CUDA_ARCHS CXX.

prefix       ?= /usr/local
exec_prefix  ?= $(prefix)
bindir       ?= $(exec_prefix)/bin
libdir       ?= $(exec_prefix)/lib
datarootdir  ?= $(prefix)/share
mandir       ?= $(datarootdir)/man
man1dir      ?= $(mandir)/man1
man5dir      ?= $(mandir)/man5
man7dir      ?= $(mandir)/man7
bashcompletiondir ?= $(datarootdir)/bash-completion/completions
zshcompletiondir  ?= $(datarootdir)/zsh/site-functions
fishcompletiondir ?= $(datarootdir)/fish/vendor_completions.d
docdir       ?= $(datarootdir)/doc/covtools
pkgdatadir   ?= $(datarootdir)/covtools

CFLAGS       ?= -O2 -g
PKG_CONFIG   ?= pkg-config
INSTALL      ?= install
PYTHON       ?= /usr/bin/python3
CLANG_FORMAT ?= clang-format
CLANG_TIDY   ?= clang-tidy
SHELLCHECK   ?= shellcheck
SAN          ?=
WRAP         ?=
V            ?=
CUDA         ?=
NVCC         ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc),nvcc)
# Turing to Blackwell.
CUDA_ARCHS   ?= 75 80 86 89 90 100 120

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# ---------------------------------------------------------------- packages

include mk/deps.mk

DEPS_GOALS  := $(filter deps deps-extra deps-aarch64 deps-workflows,$(MAKECMDGOALS))
OTHER_GOALS := $(filter-out deps deps-extra deps-aarch64 deps-workflows,$(MAKECMDGOALS))
ifneq ($(and $(DEPS_GOALS),$(OTHER_GOALS)),)
# `sudo make deps check`: a second make runs the remaining goals, because this one was parsed before the packages were
# installed. Unless they install something, it runs as the owner of the directory, so that no file is owned by root.
OWNER := $(shell stat -c %u .)
AS_OWNER := $(if $(filter-out 0,$(OWNER)),$(if $(filter 0,$(shell id -u)),$(if $(filter install uninstall,$(OTHER_GOALS)),,\
  env HOME="$$(getent passwd $(OWNER) | cut -d: -f6)" \
  setpriv --reuid=$(OWNER) --regid=$(shell stat -c %g .) --clear-groups --)))
.PHONY: $(OTHER_GOALS) after-deps
$(OTHER_GOALS): after-deps
	@:
after-deps: $(DEPS_GOALS)
	+@$(AS_OWNER) $(MAKE) --no-print-directory $(OTHER_GOALS)
else

# ---------------------------------------------------------------- sources

# The version comes from .version, which `git archive` fills in, or from the tag of a clone, or is the base alone.
# Root may build in another user's tree: git must neither refuse that nor write an index that belongs to root.
VERSION_BASE := 0.1.0
SO_MAJOR     := 0
GIT          := GIT_OPTIONAL_LOCKS=0 git -c safe.directory='$(CURDIR)'
COMMIT       := $(or $(shell sed -n 's/^commit \([0-9a-f]*\)$$/\1/p' .version), \
                     $(shell $(GIT) rev-parse --short HEAD 2>/dev/null))
VERSION      := $(or $(shell sed -n 's/^version v\([0-9].*\)$$/\1/p' .version), \
                     $(shell $(GIT) describe --tags --match 'v[0-9]*' --dirty 2>/dev/null | sed 's/^v//'), \
                     $(VERSION_BASE)$(addprefix -g,$(COMMIT)))

comma   := ,
empty   :=
tab     := $(empty)	$(empty)
VARIANT := $(if $(SAN),san-$(subst $(comma),-,$(SAN)),$(if $(COVERAGE),coverage,default))
B       := build/$(VARIANT)
# Programs of the default variant are at the top, where users look for them.
TOP     := $(if $(filter default,$(VARIANT)),.,$(B))
BIN     := $(TOP)/bin
LIB     := $(TOP)/lib

# Plugins are not part of the library.
MPI_SRC    := common/examples/ranks_mpi.c
LIB_SRC    := $(filter-out $(MPI_SRC),$(sort $(wildcard common/*/*.c common/*/*/*.c common/*/*/*/*.c)))
TOOL_SRC   := $(sort $(wildcard tools/*.c))
# Further files of a tool: tools/TOOL/*.c
PART_SRC   := $(sort $(wildcard tools/*/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
UNIT_MAIN  := tests/unit/unit_main.c
HELPER_SRC := $(sort $(wildcard tests/lib/*.c))
DEMO_SRC   := $(sort $(wildcard workflows/demo/*.c))
# The scalar reference of training, for unit tests and those of GPUs.
REFERENCE_SRC := $(sort $(wildcard tests/lib/reference/*.c))
BENCH_SRC  := $(sort $(wildcard tests/bench/*.c))
FUZZ_SRC   := $(sort $(wildcard tests/fuzz/*.c))
CUDA_SRC   := $(sort $(wildcard common/compute/cuda/*.cu))
CUDA_TEST_SRC := $(sort $(wildcard tests/gpu/*.cc tests/mock/*.cc))
# Preloaded into the tools by tests/faults/sweep.py, which does not work with sanitizers.
FAULTS_SRC := tests/faults/faults.c
FAULTS     := $(if $(SAN),,$(B)/tests/faults.so)
ALL_SRC    := $(LIB_SRC) $(if $(MPI_LIBS),$(MPI_SRC)) $(TOOL_SRC) $(PART_SRC) $(UNIT_SRC) $(UNIT_MAIN) $(HELPER_SRC) $(FAULTS_SRC) $(REFERENCE_SRC) $(DEMO_SRC) $(BENCH_SRC) $(FUZZ_SRC)
HEADERS    := $(sort $(wildcard common/*/*.h common/*/*/*.h common/*/*/*/*.h tools/*/*.h tests/lib/*.h tests/lib/*/*.h tests/mock/*.h tests/fuzz/*.h workflows/demo/*.h))
MAN1       := $(sort $(wildcard man/*.1))
MAN5       := $(sort $(wildcard man/*.5))
MAN7       := $(sort $(wildcard man/*.7))
CLI_TESTS  := $(sort $(wildcard tests/cli/*.t))
ifdef SAN
# Skips tests that compare values with other programs' files, inspect sources and pages, or try the suffixes of all
# outputs: other tests cover the same code. MPI does not free its memory.
CLI_TESTS := $(filter-out %_reference.t %/benchmark.t %/benchmark_report.t %/covtrain_mpi.t %/codecs.t %/clients.t %_torch.t %/covpredict_full.t %/covtrain_plant.t \
  %/covpredict_precision.t %/cpg.t %/demo.t %/h5_layout.t %/h5chunk_rewrite.t %/install.t %/lint.t %/outputs.t %/readme.t %/workflows.t,$(CLI_TESTS))
UNIT_SRC := $(filter-out %/test_reference_models.c,$(UNIT_SRC))
endif

TOOLS   := $(TOOL_SRC:tools/%.c=%)
UNITS   := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
# GPU kernels in emulation need a C++ compiler and fibers, which sanitizers do not support.
EMULATE := $(if $(SAN)$(COVERAGE),,$(shell command -v $(CXX) 2>/dev/null))
EMULATED := $(if $(EMULATE),$(patsubst %,$(B)/tests/check_%,kernels host training lstm edits))
MOCK_PLUGIN := $(if $(EMULATE),$(B)/tests/plugins/covtools-cuda.so)
MOCK_BENCH := $(if $(EMULATE),$(B)/tests/bench_gpu)
HELPERS := $(FAULTS) $(MOCK_PLUGIN) $(MOCK_BENCH) $(HELPER_SRC:tests/lib/%.c=$(B)/tests/lib/%)
DEMOS   := $(DEMO_SRC:workflows/demo/%.c=$(B)/demo/%)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

# ---------------------------------------------------------------- flags

PACKAGES := htslib hdf5-serial libcrypto libdeflate liblzf liblz4 libzstd blosc libcjson
# Goals that do not need the libraries.
ifneq ($(filter-out deps deps-extra deps-aarch64 deps-workflows help clean html format format-check dist container-check uninstall check-gpu bench-gpu report-gpu build/gpu/%,$(or $(MAKECMDGOALS),all)),)
  MISSING := $(shell for p in $(PACKAGES); do $(PKG_CONFIG) --exists $$p 2>/dev/null || echo $$p; done)
  ifneq ($(MISSING),)
    $(error not found by $(PKG_CONFIG): $(MISSING). On Debian and Ubuntu `sudo make deps` installs what is needed)
  endif
endif

# Open MPI, if installed, for covtrain in several processes.
MPI_CFLAGS := $(shell $(PKG_CONFIG) --cflags ompi-c 2>/dev/null)
MPI_LIBS   := $(shell $(PKG_CONFIG) --libs ompi-c 2>/dev/null)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lBigWig -lz -lm -ldl -lpthread

WARN      := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual \
             -Wformat=2 -Wvla -Wundef -Wdouble-promotion
# Hardening, where compiler and linker support it. The variables of users come later in each command, so they win.
cc_option  = $(if $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo yes),$(1))
ld_option  = $(if $(shell echo 'int main(void) { return 0; }' | $(CC) -Werror $(1) -x c - -o /dev/null 2>/dev/null && echo yes),$(1))
CC_MACROS := $(shell $(CC) $(CPPFLAGS) $(CFLAGS) -dM -E -x c /dev/null 2>/dev/null)
ifeq ($(SAN)$(COVERAGE),)
  # FORTIFY_SOURCE needs optimisation; some compilers set it themselves.
  HARDEN_CPPFLAGS := $(if $(findstring _FORTIFY_SOURCE,$(CC_MACROS)),,$(if $(findstring __OPTIMIZE__,$(CC_MACROS)),-D_FORTIFY_SOURCE=2))
  HARDEN_CFLAGS   := $(call cc_option,-fstack-protector-strong) $(call cc_option,-fstack-clash-protection) \
                     $(call cc_option,-fcf-protection)
  HARDEN_LDFLAGS  := $(call ld_option,-Wl$(comma)-z$(comma)relro) $(call ld_option,-Wl$(comma)-z$(comma)now)
endif
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all) $(if $(COVERAGE),--coverage)
COV_CPPFLAGS := -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(HARDEN_CPPFLAGS) $(PKG_CFLAGS)
COV_CFLAGS   := -std=c11 -fPIC -fvisibility=default -ffp-contract=off $(HARDEN_CFLAGS) $(WARN) $(SAN_FLAGS)
COV_LDFLAGS  := $(SAN_FLAGS) $(HARDEN_LDFLAGS) -Wl,--as-needed
RPATH        := -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib'

# Flags of files for one instruction set; all others use the baseline.
VEC_CFLAGS := -ftree-vectorize $(call cc_option,-fvect-cost-model=dynamic) -fno-math-errno -fno-trapping-math
ISA_vec_base := $(VEC_CFLAGS)
# These files loop over parameters of a network or values of a track.
ISA_train    := $(VEC_CFLAGS)
ISA_strands  := $(VEC_CFLAGS)
ISA_runs     := $(VEC_CFLAGS)
ISA_h5_rows  := $(VEC_CFLAGS)
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
ISA_vec_avx2    := $(VEC_CFLAGS) -mavx2 -mfma
ISA_vec_avx512  := $(VEC_CFLAGS) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
ISA_alphabet_avx2 := -mavx2
ISA_onehot_avx2 := -mavx2 -mbmi2
ISA_gemm_avx2   := -mavx2 -mfma -ffp-contract=fast
ISA_gemm_avx512 := -mavx512f -ffp-contract=fast
ISA_gemm_avx512inner := -mavx512f -ffp-contract=fast
ISA_gemm_avx512shared := -mavx512f -ffp-contract=fast
ISA_outer_avx512bf16 := $(VEC_CFLAGS) -mavx512f -mavx512bw -mavx512vl -mavx512bf16
ISA_gemm_avx512vnni := $(VEC_CFLAGS) -mavx512f -mavx512bw -mavx512vl -mavx512vnni -mprefer-vector-width=512
ISA_gemm_amx    := $(VEC_CFLAGS) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512bf16 -mprefer-vector-width=512
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

# Rebuild when the flags change.
FLAGS := $(CC) $(COV_CPPFLAGS) $(CPPFLAGS) $(COV_CFLAGS) $(CFLAGS) $(COV_LDFLAGS) $(LDFLAGS) $(PKG_LIBS) $(LDLIBS) \
  $(foreach v,$(sort $(filter ISA_%,$(.VARIABLES))),$($(v)))
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' > $@
VERSION_MACROS = -DCOV_VERSION='"$(VERSION)"' -DCOV_COMMIT='"$(COMMIT)"'
$(B)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
FORCE:
.PHONY: FORCE

# ---------------------------------------------------------------- library, tools, tests

.PHONY: all
PLUGIN := $(LIB)/covtools/covtools-cuda.so
MPI_PLUGIN := $(LIB)/covtools/covtools-mpi.so
all: $(TOOLS:%=$(BIN)/%) $(if $(CUDA),$(PLUGIN)) $(if $(MPI_LIBS),$(MPI_PLUGIN)) ## build the library (lib/) and the tools (bin/)

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(COV_CPPFLAGS) $(CPPFLAGS) $(COV_CFLAGS) $(ISA_$(notdir $*)) $(CFLAGS) $(HOT_CFLAGS) -MMD -MP -c -o $@ $<
# Sanitized tests spend most of their time here, so it is always optimised. Kernels do not read files, and are slow to
# compile and to run with instrumentation, so fuzzing and check-smoke do without.
ifdef SAN
$(B)/obj/common/compute/cpu/%.o: HOT_CFLAGS := -O2 $(if $(filter fuzz smoke,$(VARIANT)),-fno-sanitize=all)
$(B)/obj/tests/unit/test_gemm_amx.o: HOT_CFLAGS := -O2
endif

# cmocka passes a state to every test; most ignore it.
$(B)/obj/tests/unit/%.o: COV_CFLAGS += -Wno-unused-parameter
# Vectors that the CPU may lack stay within a file.
$(B)/obj/tests/unit/test_gemm_amx.o: COV_CFLAGS += -Wno-psabi

$(B)/obj/common/base/version.o: COV_CPPFLAGS += $(VERSION_MACROS)
$(B)/obj/common/base/version.o: $(B)/version

SONAME := libcov.so.$(SO_MAJOR)
$(LIB)/$(SONAME): $(call obj,$(LIB_SRC)) common/libcov.map
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=common/libcov.map -Wl,-z,defs $(COV_LDFLAGS) \
	  $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PKG_LIBS) $(LDLIBS)
$(LIB)/libcov.so: $(LIB)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

$(MPI_PLUGIN): $(call obj,$(MPI_SRC)) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(COV_LDFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(LIB) -lcov $(MPI_LIBS) $(LDLIBS)
$(call obj,$(MPI_SRC)): COV_CPPFLAGS += $(MPI_CFLAGS)

link = $(CC) $(COV_LDFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -L$(LIB) -lcov $(2) -lm -lpthread $(LDLIBS) $(1)

.SECONDEXPANSION:
$(BIN)/%: $(B)/obj/tools/%.o $$(call obj,$$(wildcard tools/$$*/*.c)) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(RPATH))

ABS_RPATH = -Wl,-rpath,'$(abspath $(LIB))'
# Files of tools/benchmark/ have unit tests, too.
$(B)/benchmark.a: $(call obj,$(wildcard tools/benchmark/*.c))
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/reference.a: $(call obj,$(REFERENCE_SRC))
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/tests/%: $(B)/obj/tests/unit/%.o $(call obj,$(UNIT_MAIN)) $(B)/benchmark.a $(B)/reference.a $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH),$$($(PKG_CONFIG) --libs cmocka) $(PKG_LIBS))
$(B)/tests/lib/%: $(B)/obj/tests/lib/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH),$(PKG_LIBS))
$(FAULTS): $(call obj,$(FAULTS_SRC))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(COV_LDFLAGS) $(LDFLAGS) -o $@ $^ -ldl $(LDLIBS)
$(call obj,$(FAULTS_SRC)): COV_CPPFLAGS += -U_FORTIFY_SOURCE
$(B)/bench/%: $(B)/obj/tests/bench/%.o $(B)/benchmark.a $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH),$(PKG_LIBS))
$(B)/demo/%: $(B)/obj/workflows/demo/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH))

.SECONDARY: $(call obj,$(ALL_SRC))
-include $(patsubst %.o,%.d,$(call obj,$(ALL_SRC)))

# ---------------------------------------------------------------- GPU, fuzzing, tests, lint, release

include mk/cuda.mk
include mk/fuzz.mk
include mk/tests.mk
include mk/lint.mk
include mk/release.mk

# ---------------------------------------------------------------- installing

# Shell completions are made from what each tool prints about its options.
COMPLETIONS := $(foreach t,$(TOOLS),$(B)/completion/$t $(B)/completion/_$t $(B)/completion/$t.fish)
complete = @mkdir -p $(@D) && tools/completion/completion.sh $(1) $< > $@
$(B)/completion/_%: $(BIN)/% tools/completion/completion.sh tools/completion/completion.awk
	$(call complete,zsh)
$(B)/completion/%.fish: $(BIN)/% tools/completion/completion.sh tools/completion/completion.awk
	$(call complete,fish)
$(B)/completion/%: $(BIN)/% tools/completion/completion.sh tools/completion/completion.awk
	$(call complete,bash)

.PHONY: install install-strip uninstall completions
completions: $(COMPLETIONS)
# The library is only for the tools: installs no headers and no development symlink.
install: all $(COMPLETIONS) ## install tools, man pages, completions, documents, workflows (prefix, DESTDIR)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir) $(DESTDIR)$(man1dir) $(DESTDIR)$(man5dir) \
	  $(DESTDIR)$(man7dir) $(DESTDIR)$(docdir) $(DESTDIR)$(bashcompletiondir) $(DESTDIR)$(zshcompletiondir) $(DESTDIR)$(fishcompletiondir)
	$(INSTALL) $(STRIP_FLAG) $(TOOLS:%=$(BIN)/%) $(DESTDIR)$(bindir)
	$(INSTALL) $(STRIP_FLAG) -m 644 $(LIB)/$(SONAME) $(DESTDIR)$(libdir)
	$(if $(CUDA),$(INSTALL) -d $(DESTDIR)$(libdir)/covtools && $(INSTALL) $(STRIP_FLAG) -m 644 $(PLUGIN) $(DESTDIR)$(libdir)/covtools)
	$(if $(MPI_LIBS),$(INSTALL) -d $(DESTDIR)$(libdir)/covtools && $(INSTALL) $(STRIP_FLAG) -m 644 $(MPI_PLUGIN) $(DESTDIR)$(libdir)/covtools)
	$(if $(MAN1),$(INSTALL) -m 644 $(MAN1) $(DESTDIR)$(man1dir))
	$(if $(MAN5),$(INSTALL) -m 644 $(MAN5) $(DESTDIR)$(man5dir))
	$(if $(MAN7),$(INSTALL) -m 644 $(MAN7) $(DESTDIR)$(man7dir))
	$(INSTALL) -m 644 $(TOOLS:%=$(B)/completion/%) $(DESTDIR)$(bashcompletiondir)
	$(INSTALL) -m 644 $(TOOLS:%=$(B)/completion/_%) $(DESTDIR)$(zshcompletiondir)
	$(INSTALL) -m 644 $(TOOLS:%=$(B)/completion/%.fish) $(DESTDIR)$(fishcompletiondir)
	$(INSTALL) -m 644 README.md NEWS.md LICENSE $(DESTDIR)$(docdir)
	cd workflows && find snakemake nextflow demo/plant.ckpt -type f ! -path '*/.*' ! -path '*/tests/*' ! -name check.sh \
	  -exec sh -c 'for f; do $(INSTALL) -D -m 644 "$$f" "$$0/$$f" || exit 1; done' '$(DESTDIR)$(pkgdatadir)/workflows' {} +
	[ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || ldconfig
install-strip: ## install without debugging symbols
	$(MAKE) STRIP_FLAG=-s install
uninstall: ## remove the installed files
	rm -f $(TOOLS:%=$(DESTDIR)$(bindir)/%) $(MAN1:man/%=$(DESTDIR)$(man1dir)/%) $(MAN5:man/%=$(DESTDIR)$(man5dir)/%) \
	  $(MAN7:man/%=$(DESTDIR)$(man7dir)/%) $(TOOLS:%=$(DESTDIR)$(bashcompletiondir)/%) \
	  $(TOOLS:%=$(DESTDIR)$(zshcompletiondir)/_%) $(TOOLS:%=$(DESTDIR)$(fishcompletiondir)/%.fish)
	rm -f $(addprefix $(DESTDIR)$(libdir)/,$(SONAME) covtools/covtools-cuda.so covtools/covtools-mpi.so)
	rm -rf $(DESTDIR)$(docdir) $(DESTDIR)$(pkgdatadir)

HTML := build/html
.PHONY: html
html: ## render the man pages as HTML in build/html (with mandoc or groff)
	$(Q)mkdir -p '$(HTML)' && \
	if command -v mandoc >/dev/null; then render() { mandoc -T html "$$1"; }; \
	elif groff -man -t -T html </dev/null >/dev/null 2>&1; then render() { groff -man -t -T html "$$1"; }; \
	else echo 'html: SKIP, neither mandoc nor groff (sudo make deps-extra)'; exit; fi; \
	for page in $(MAN1) $(MAN5) $(MAN7); do render $$page >'$(HTML)/page' && sed -E \
	  's#<b>(cov[a-z0-9-]*|[a-z]*2h5|h5chunk|benchmark)</b>\(([157])\)#<a href="\1.\2.html">\1</a>(\2)#g' '$(HTML)/page' \
	  >'$(HTML)'/$${page##*/}.html || exit 1; done; \
	rm '$(HTML)/page' && cp '$(HTML)/covtools.7.html' '$(HTML)/index.html' && echo 'html: $(HTML)/index.html'

.PHONY: clean help
clean: ## remove all build products
	rm -rf build bin lib covtools-*.tar.gz
help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1$(tab)\2/p' Makefile mk/*.mk | while IFS='$(tab)' read -r name text; do \
	  printf '  %-15s %s\n' "$$name" "$$text"; done

endif
