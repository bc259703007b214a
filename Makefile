# covtools. `make help` lists the targets.
#
# Variables for users: CC CPPFLAGS CFLAGS LDFLAGS LDLIBS PKG_CONFIG PYTHON, prefix and the other install folders,
# DESTDIR, SAN=address,undefined (a sanitized build in its own folder), V=1 (show commands), CUDA=1 (build the GPU
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

# Packages for building, testing and the demo, on Debian 12 and current Ubuntu.
DEPS := gcc g++ libc6-dev make pkg-config libhts-dev libhdf5-dev libssl-dev libbigwig-dev libdeflate-dev liblzf-dev \
        libcjson-dev liblz4-dev libzstd-dev libblosc-dev libopenblas-pthread-dev zlib1g-dev libcmocka-dev perl tabix gnuplot-nox \
        python3 python3-h5py python3-numpy python3-pybigwig
# For developers' checks and for tests that are skipped otherwise: torch.load of our checkpoints, h5py with plugins.
DEPS_EXTRA := clang-format clang-tidy clang libclang-rt-dev llvm shellcheck mandoc valgrind gcovr git python3-torch \
        hdf5-filter-plugin hdf5-filter-plugin-blosc-serial libopenmpi-dev openmpi-bin

# Calls apt only if a package is missing.
apt = @missing=$$(for p in $(1); do \
    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
  [ -z "$$missing" ] || { [ "$$(id -u)" -eq 0 ] || { echo "missing:" $$missing "(run as root: sudo make $@)" >&2; exit 1; }; \
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; }

# For tests of workflows and containers. Not in DEPS_EXTRA, because Snakemake's Python packages take minutes to install.
DEPS_WORKFLOWS := snakemake debootstrap zsh fish

.PHONY: deps deps-extra deps-aarch64 deps-workflows
deps: ## install the Debian or Ubuntu packages for building, testing and the demo (as root)
	$(call apt,$(DEPS))
deps-extra: ## install the packages for developers' checks
	$(call apt,$(DEPS_EXTRA))
deps-workflows: ## install the packages for tests of workflows, containers and completions
	$(call apt,$(DEPS_WORKFLOWS))

# For check-aarch64. Uses a separate package list and installs nothing, so that this machine's package manager does not
# learn about another architecture. Dependencies are included.
ARM     := build/aarch64
ARM_APT := apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists=$(CURDIR)/$(ARM)/apt/lists \
           -o Dir::State::status=$(CURDIR)/$(ARM)/apt/status -o Dir::Cache=$(CURDIR)/$(ARM)/apt -o APT::Sandbox::User=
deps-aarch64: ## install a cross compiler and emulator (as root), and unpack libraries for aarch64 in build/
	$(call apt,gcc-aarch64-linux-gnu qemu-user)
	rm -rf $(ARM)/apt $(ARM)/root
	mkdir -p $(ARM)/apt/lists/partial $(ARM)/apt/archives/partial $(ARM)/root
	touch $(ARM)/apt/status
	$(ARM_APT) update
	$(ARM_APT) install -y --no-install-recommends --download-only $(filter lib%-dev zlib1g-dev,$(DEPS))
	for p in $(ARM)/apt/archives/*.deb; do dpkg-deb -x $$p $(ARM)/root || exit 1; done
	ln -s openblas-pthread/libopenblas.so.0 $(ARM)/root/usr/lib/aarch64-linux-gnu/
	rm -r $(ARM)/apt

DEPS_GOALS  := $(filter deps deps-extra deps-aarch64 deps-workflows,$(MAKECMDGOALS))
OTHER_GOALS := $(filter-out deps deps-extra deps-aarch64 deps-workflows,$(MAKECMDGOALS))
ifneq ($(and $(DEPS_GOALS),$(OTHER_GOALS)),)
# `sudo make deps check`: a second make runs the remaining goals, because this one was parsed before the packages were
# installed. Unless they install something, it runs as the owner of the folder, so that no file is owned by root.
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
ALL_SRC    := $(LIB_SRC) $(if $(MPI_LIBS),$(MPI_SRC)) $(TOOL_SRC) $(PART_SRC) $(UNIT_SRC) $(UNIT_MAIN) $(HELPER_SRC) $(REFERENCE_SRC) $(DEMO_SRC) $(BENCH_SRC) $(FUZZ_SRC)
HEADERS    := $(sort $(wildcard common/*/*.h common/*/*/*.h common/*/*/*/*.h tools/*/*.h tests/lib/*.h tests/lib/*/*.h tests/mock/*.h tests/fuzz/*.h workflows/demo/*.h))
MAN1       := $(sort $(wildcard man/*.1))
MAN5       := $(sort $(wildcard man/*.5))
MAN7       := $(sort $(wildcard man/*.7))
CLI_TESTS  := $(sort $(wildcard tests/cli/*.t))
ifdef SAN
# Skips tests that compare values with other programs' files, inspect sources and pages, or try the suffixes of all
# outputs: other tests cover the same code. MPI does not free its memory.
CLI_TESTS := $(filter-out %_reference.t %/benchmark.t %/benchmark_report.t %/covtrain_mpi.t %/codecs.t %/clients.t %_torch.t %/covpredict_full.t %/covtrain_plant.t \
  %/covpredict_precision.t %/cpg.t %/demo.t %/h5_layout.t %/h5chunk_rewrite.t %/install.t %/lint.t %/onehot.t %/outputs.t %/pipeline.t %/readme.t %/snakemake.t %/tutorial.t %/workflows.t,$(CLI_TESTS))
UNIT_SRC := $(filter-out %/test_reference_models.c %/test_reference_training.c,$(UNIT_SRC))
endif

TOOLS   := $(TOOL_SRC:tools/%.c=%)
UNITS   := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
# GPU kernels in emulation need a C++ compiler and fibers, which sanitizers do not support.
EMULATE := $(if $(SAN)$(COVERAGE),,$(shell command -v $(CXX) 2>/dev/null))
EMULATED := $(if $(EMULATE),$(patsubst %,$(B)/tests/check_%,kernels host training lstm cublas))
MOCK_PLUGIN := $(if $(EMULATE),$(B)/tests/plugins/covtools-cuda.so)
MOCK_BENCH := $(if $(EMULATE),$(B)/tests/bench_gpu)
HELPERS := $(MOCK_PLUGIN) $(MOCK_BENCH) $(HELPER_SRC:tests/lib/%.c=$(B)/tests/lib/%)
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
ISA_adam     := $(VEC_CFLAGS)
ISA_strands  := $(VEC_CFLAGS)
ISA_runs     := $(VEC_CFLAGS)
ISA_int_to_float := $(VEC_CFLAGS)
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
ISA_vec_avx2    := $(VEC_CFLAGS) -mavx2 -mfma
ISA_vec_avx512  := $(VEC_CFLAGS) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
ISA_gauss_avx2  := -mavx2
ISA_alphabet_avx2 := -mavx2
ISA_onehot_avx2 := -mavx2 -mbmi2
ISA_gemm_avx2   := -mavx2 -mfma -ffp-contract=fast
ISA_gemm_avx512 := -mavx512f -ffp-contract=fast
ISA_gemm_avx512inner := -mavx512f -ffp-contract=fast
ISA_gemm_avx512shared := -mavx512f -ffp-contract=fast
ISA_gemm_avx512bf16 := $(VEC_CFLAGS) -mavx512f -mavx512bw -mavx512vl -mavx512bf16
ISA_gemm_avx512vnni := $(VEC_CFLAGS) -mavx512f -mavx512bw -mavx512vl -mavx512vnni -mprefer-vector-width=512
ISA_gemm_amx    := $(VEC_CFLAGS) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512bf16 -mprefer-vector-width=512
ISA_toom_cook_avx2   := -mavx2 -mfma -ffp-contract=fast
ISA_toom_cook_avx512 := -mavx512f -ffp-contract=fast
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
$(B)/bench/%: $(B)/obj/tests/bench/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH),$(PKG_LIBS))
$(B)/demo/%: $(B)/obj/workflows/demo/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH))

.SECONDARY: $(call obj,$(ALL_SRC))
-include $(patsubst %.o,%.d,$(call obj,$(ALL_SRC)))

# ---------------------------------------------------------------- the GPU plugin

CUDA_WERROR ?= 1
# The architectures of CUDA_ARCHS that nvcc supports.
NVCC_ARCHS = $(or $(filter $(CUDA_ARCHS),$(subst compute_,,$(shell $(NVCC) --list-gpu-arch))),$(error $(NVCC) can build for none of CUDA_ARCHS=$(CUDA_ARCHS)))
# The driver compiles this code for other GPUs, which must not be older.
PTX_ARCH = $(or $(filter 80,$(NVCC_ARCHS)),$(firstword $(NVCC_ARCHS)))
NVCC_FLAGS = -std=c++17 -O3 -I. $(foreach a,$(NVCC_ARCHS),-gencode arch=compute_$a,code=sm_$a) \
  -gencode arch=compute_$(PTX_ARCH),code=compute_$(PTX_ARCH) \
  -Xcompiler -fPIC,-fvisibility=hidden,-fstack-protector-strong,-Wall,-Wextra \
  $(if $(CUDA_WERROR),-Werror all-warnings -Xcompiler -Werror) $(VERSION_MACROS)
CUDA_OBJ := $(CUDA_SRC:%.cu=$(B)/cuda/%.o)
$(B)/cuda/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(NVCC) $(CUDA_ARCHS) $(CUDA_WERROR)' | cmp -s - $@ || echo '$(NVCC) $(CUDA_ARCHS) $(CUDA_WERROR)' > $@
$(B)/cuda/%.o: %.cu $(B)/cuda/flags
	@mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -c -o $@ $<
$(B)/cuda/common/compute/cuda/cuda_device.o: $(B)/version
# Contains CUDA's runtime, which loads the driver on demand, so that CUDA need not be installed.
$(PLUGIN): $(CUDA_OBJ) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(NVCC) -shared -cudart static -o $@ $(CUDA_OBJ) -L$(LIB) -lcov -lpthread -Xlinker -rpath,'$$ORIGIN/..',-z,defs,-z,relro,-z,now \
	  -Xcompiler -static-libstdc++,-static-libgcc
-include $(CUDA_OBJ:.o=.d)

# The same sources with the emulation of tests/mock.
MOCK_OBJ := $(patsubst %,$(B)/mock/%.o,$(filter-out %/cuda_runtime.cu,$(CUDA_SRC)) $(wildcard tests/mock/*.cc))
MOCK_CXX = $(CXX) -x c++ -std=c++17 -I. -include tests/mock/simt_emulated.h $(VERSION_MACROS) -O3 -g -fPIC -ftls-model=initial-exec \
  -ffp-contract=off -Wall -Wextra -Wno-unknown-pragmas -Werror
$(B)/mock/%.o: % $(B)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(MOCK_CXX) -MMD -MP -c -o $@ $<
$(B)/mock/common/compute/cuda/cuda_device.cu.o: $(B)/version
# runtime_mock.cc can skip self-checks.
$(B)/mock/common/compute/cuda/self_check.cu.o: tests/mock/runtime_mock.h
$(B)/mock/common/compute/cuda/self_check.cu.o: MOCK_CXX += -Dcov_cuda_self_check=own_self_check -Dcov_cuda_train_check=own_train_check
$(MOCK_PLUGIN): $(MOCK_OBJ) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -shared -o $@ $(MOCK_OBJ) -L$(LIB) -lcov $(ABS_RPATH) -lpthread
$(B)/bench/bench_card: $(B)/obj/tests/bench/bench_card.o $(MOCK_OBJ) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) -L$(LIB) -lcov $(ABS_RPATH) $(PKG_LIBS) -lpthread
# What the programs of tests/gpu need: the build for a machine with a GPU (build/gpu) has neither htslib nor HDF5.
BARE_SRC := $(filter-out $(addprefix common/,$(addsuffix .c,base/json file/bgz file/sha256 \
            deflate/deflate $(addprefix codec/,blosc lz4 lzf zstd))), \
            $(filter common/base/% common/file/% common/seq/% common/codec/% common/deflate/% common/compute/% common/net/%,$(LIB_SRC)))
$(B)/bare.a: $(call obj,$(BARE_SRC))
	$(Q)rm -f $@ && ar rcs $@ $^
$(EMULATED) $(MOCK_BENCH): $(B)/tests/%: $(B)/mock/tests/gpu/%.cc.o $(MOCK_OBJ) $(B)/reference.a $(B)/bare.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $^ -lpthread -lm -ldl
-include $(MOCK_OBJ:.o=.d) $(CUDA_TEST_SRC:%=$(B)/mock/%.d)

# ---------------------------------------------------------------- fuzzing

# Harnesses of parsers, tests/fuzz/fuzz_X.c, with libFuzzer (make fuzz), or with replay.c, which runs them once on the
# inputs of tests/fuzz/corpus/X (make check).
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(filter tests/fuzz/fuzz_%,$(FUZZ_SRC)))
REPLAYS    := $(FUZZ_NAMES:%=$(B)/fuzz/fuzz_%)
SECONDS    ?= 60
FUZZ       ?= $(FUZZ_NAMES)
FUZZER     := $(if $(filter fuzzer%,$(SAN)),-fsanitize=fuzzer)
$(B)/libcov.a: $(call obj,$(LIB_SRC))
	$(Q)rm -f $@ && ar rcs $@ $^
$(REPLAYS): $(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(if $(FUZZER),,$(B)/obj/tests/fuzz/replay.o) $(B)/benchmark.a $(B)/libcov.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(COV_LDFLAGS) $(FUZZER) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) $(LDLIBS)

.PHONY: fuzz fuzz-coverage
fuzz: ## fuzz each parser for SECONDS=60 with clang and sanitizers, and print coverage (FUZZ="zip json")
	$(Q)$(MAKE) --no-print-directory VARIANT=fuzz CC=clang SAN=fuzzer-no-link,address,undefined CFLAGS='-O1 -gline-tables-only' \
	  $(FUZZ:%=build/fuzz/fuzz/fuzz_%)
	$(Q)tests/fuzz/run.sh build/fuzz '$(SECONDS)' $(FUZZ); status=$$?; $(MAKE) --no-print-directory fuzz-coverage && exit $$status
fuzz-coverage: ## print which share of its target files each harness runs, with the inputs of make check and make fuzz
	$(Q)$(MAKE) --no-print-directory COVERAGE=1 CFLAGS='-O0 -g' $(FUZZ:%=build/coverage/fuzz/fuzz_%)
	$(Q)tests/fuzz/coverage.sh build/coverage build/fuzz/corpus $(FUZZ)

# ---------------------------------------------------------------- tests

# The environment of tests: programs, a wrapper for them, and reference files if available. A fork copies the
# sanitizer's quarantine (256 MB by default), and opening an HDF5 file forks.
TEST_ENV = BIN='$(abspath $(BIN))' TESTLIB='$(abspath $(B))/tests/lib' SRC='$(CURDIR)' WRAP='$(WRAP)' PYTHON='$(PYTHON)' SAN='$(SAN)' \
           HARDENED='$(if $(COVERAGE),,$(findstring __OPTIMIZE__,$(CC_MACROS)))' \
           SHARED="$${SHARED:-$(abspath ../shared)}" CMOCKA_MESSAGE_OUTPUT=TAP \
           COVTOOLS_PLUGINS='$(abspath $(B))/tests/none' LSAN_OPTIONS='suppressions=$(CURDIR)/tests/lib/lsan.supp:print_suppressions=0' \
           ASAN_OPTIONS="$${ASAN_OPTIONS:-quarantine_size_mb=16}"
PROVE = $(TEST_ENV) tests/prove.sh $(B)/prove $(PROVE_FLAGS)

# Starts the longest tests first, so that none runs alone at the end of a parallel run.
LONGEST := $(patsubst %,$(B)/tests/check_%,cublas training kernels) \
  $(patsubst %,tests/cli/%.t,snakemake small_bombs workflows benchmark covtrain_torch covtrain_device readme h5chunk_rewrite gpu_report \
  covpeaks_measured damaged_hdf5 covtrain_mpi covprofile covtrain cov2bigwig_compare fasta2h5 outputs cov2bigwig_reference benchmark_report \
  coveffect damaged_fasta covpredict_device text_variants h5_reference covpeaks demo covtrain_plant covpredict covpredict_shard codecs \
  h5_layout clients lint) \
  $(patsubst %,$(B)/tests/%,check_host check_lstm test_reference_models test_reference_training test_bigwig_zoom test_loader test_bgz test_onehot test_lstm)
longest_first = $(filter $(1),$(LONGEST)) $(filter-out $(LONGEST),$(1))

.PHONY: check check-unit check-cli check-long
check: all $(UNITS) $(REPLAYS) $(EMULATED) $(HELPERS) $(DEMOS) ## run all tests, or TESTS (SAN=address,undefined: under sanitizers)
	$(Q)$(PROVE) --exec '' $(or $(TESTS),$(call longest_first,$(CLI_TESTS) $(sort $(UNITS)) $(REPLAYS) $(EMULATED)))
# A script for each tool, and the unit tests of what reads files. The plain tests run the kernels with guard pages.
SMOKE_TESTS := $(patsubst %,tests/cli/%.t,bam2h5 benchmark_compare cov2bigwig coveffect covpeaks covpredict covpredict_stream covprofile \
               covtrain_scale damaged_chunks damaged_tracks fasta2h5 h5chunk_verify pipe)
SMOKE_UNITS := $(filter $(patsubst %.c,$(B)/tests/test_%,$(notdir $(wildcard common/base/json.c common/ckpt/*.c common/cli/opt.c common/codec/*.c \
               common/features/*.c common/file/*.c common/seq/*.c common/store/*.c common/track/formats/*.c))),$(UNITS))
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
HOST_TESTS ?= $(patsubst %,tests/cli/%.t,covtrain_mpi outputs fasta2h5 kinds h5chunk_blacklist h5chunk_verify coveffect_ism pipeline pipe \
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

.PHONY: golden
golden: all $(DEMOS) ## compare what the tools write with an older build (OLD=FOLDER of its programs, GOLDEN=PATTERN of names)
	$(Q)[ -n '$(OLD)' ] || { echo 'golden: which build? (OLD=/path/to/bin)' >&2; exit 2; }
	$(Q)MAKE_PLANT='$(B)/demo/make_plant' PYTHON='$(PYTHON)' tests/golden/compare.sh '$(OLD)' '$(BIN)' $(if $(GOLDEN),'$(GOLDEN)')

# Tests of the kernels at each CPU level of the machine. CPU_UNITS run all levels themselves, LEVEL_UNITS the level in
# COVTOOLS_CPU.
CPU_UNITS   := $(patsubst %,$(B)/tests/test_%,cpu level gemm gemm_dot gemm_int16 gemm_amx outer vec toom_cook lstm layers training)
LEVEL_UNITS := $(patsubst %,$(B)/tests/test_%,device_cpu reference_models reference_training)
CPU_LEVELS  := base avx2 avx512 avx512bf16 amx
check_instructions = $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),$(Q)tests/lint/instructions.sh $(B)/obj/common $(B)/obj/tools)
.PHONY: check-cpu
check-cpu: all $(HELPERS) $(DEMOS) $(CPU_UNITS) $(LEVEL_UNITS) ## run the network's tests at every CPU level, those of AVX2 under valgrind
	$(check_instructions)
	$(Q)$(PROVE) --exec '' $(CPU_UNITS)
	$(Q)there=$$($(BIN)/covpredict --version | sed -n 's/^--cpu: //p'); for level in $(CPU_LEVELS); do \
	  case " $$there " in *" $$level "*) ;; *) echo "== $$level: SKIP, not on this machine"; continue ;; esac; \
	  echo "== $$level"; COVTOOLS_CPU=$$level $(PROVE) --exec '' $(LEVEL_UNITS) $(filter tests/cli/covpredict%,$(CLI_TESTS)) || exit 1; \
	done
	$(if $(SAN),,$(Q)$(PROVE) --exec '$(VALGRIND)' $(filter-out %/test_cpu %/test_reference_models %/test_reference_training,$(CPU_UNITS) $(LEVEL_UNITS)))

# A cross build in its own folder with the libraries of deps-aarch64, and the unit tests in an emulator.
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

GPU     := build/gpu
GPU_OBJ := $(patsubst %.c,$(GPU)/%.o,$(BARE_SRC) $(REFERENCE_SRC))
$(GPU)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(VERSION_MACROS) -std=c11 -ffp-contract=off $(WARN) $(ISA_$(notdir $*)) -O2 \
	  -MMD -MP -c -o $@ $<
$(GPU)/%.cc.o: %.cc
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) -std=c++17 -I. -O2 -Wall -Wextra -MMD -MP -c -o $@ $<
$(GPU)/libcov.a: $(GPU_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^
GPU_CHECKS := $(GPU)/check_kernels $(GPU)/check_training $(GPU)/check_lstm
$(GPU_CHECKS) $(GPU)/bench_gpu: $(GPU)/%: $(GPU)/tests/gpu/%.cc.o $(CUDA_OBJ) $(GPU)/libcov.a
	$(call say,LD,$@)
	$(Q)$(NVCC) -cudart static -o $@ $^ -lm -ldl -lpthread
.PHONY: check-gpu bench-gpu report-gpu
.SECONDARY: $(GPU_OBJ) $(patsubst %,$(GPU)/tests/gpu/%.cc.o,check_kernels check_training check_lstm bench_gpu)
# The sanitizer is slow, so it runs on small networks only.
check-gpu: $(GPU_CHECKS) ## test the kernels on a GPU (needs CUDA, but neither htslib nor HDF5)
	$(Q)$(PROVE) --exec '' $^ :: --big
	$(Q)if command -v compute-sanitizer >/dev/null; then for tool in memcheck racecheck; do \
	  echo "== $$tool"; for check in $^; do \
	  compute-sanitizer --tool $$tool --error-exitcode 1 $$check || exit 1; done; done; \
	  else echo 'check-gpu: no compute-sanitizer; skipping memcheck and racecheck'; fi
report-gpu: ## build, test and measure on a GPU for 10 minutes, with a report (REPORT_FLAGS="--until SECONDS --part NAME FOLDER")
	$(Q)tests/gpu/report.sh $(REPORT_FLAGS)
bench-gpu: $(GPU)/bench_gpu ## measure chunks per second by batch and precision, the time of each layer, and PyTorch
	$(Q)$<
	$(Q)$(PYTHON) tests/gpu/torch_peer.py
-include $(GPU_OBJ:.o=.d) $(CUDA_TEST_SRC:%=$(GPU)/%.d)

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

# ---------------------------------------------------------------- checks of the sources

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

SHELL_SRC = $(CLI_TESTS) $(wildcard tests/*.sh tests/*/*.sh workflows/*/*.sh tools/*/*.sh containers/*.sh .ci/run)
lint: all ## check layers, names, banned calls, instructions of objects, man pages against options, shell scripts, Snakemake
	$(Q)$(PYTHON) tests/lint/sources.py .
	$(Q)$(PYTHON) tests/lint/english.py .
	$(check_instructions)
	$(Q)$(PYTHON) tests/lint/man_pages.py $(BIN) $(MAN1)
	$(Q)$(if $(MAN1)$(MAN5)$(MAN7),mandoc -T lint -W warning $(MAN1) $(MAN5) $(MAN7))
	$(Q)$(SHELLCHECK) -x $(SHELL_SRC)
	$(Q)! command -v snakemake >/dev/null || (cd workflows/snakemake && snakemake --lint) >$(B)/lint.log 2>&1 || \
	  { cat $(B)/lint.log; exit 1; }

# Kernels for sm_90, and what ptxas reports about them.
CUBINS := $(patsubst %.cu,$(B)/cuda/%.cubin,$(shell grep -l SIMT_KERNEL $(CUDA_SRC)))
$(B)/cuda/%.cubin: %.cu $(B)/cuda/flags
	@mkdir -p $(@D)
	$(call say,NVCC,$@)
	$(Q)$(NVCC) -std=c++17 -O3 -I. -arch=sm_90 -cubin -Xptxas -v -MMD -MP -MF $@.d -MT $@ -o $@ $< >$@.log 2>&1 || { cat $@.log; exit 1; }
-include $(CUBINS:=.d)
.PHONY: lint-kernels kernel-table
lint-kernels kernel-table:
	$(Q)version=$$($(NVCC) --version 2>/dev/null | sed -n 's/.* V//p'); [ -n "$$version" ] || { echo '$@: SKIP, no nvcc'; exit; }; \
	$(MAKE) -s --no-print-directory $(CUBINS) && \
	$(PYTHON) tests/lint/sass.py $(if $(filter kernel-table,$@),--write) "$$version" tests/gpu/kernel_table.txt $(CUBINS)
lint-kernels: ## compare registers, spills and loops of the GPU kernels with tests/gpu/kernel_table.txt (needs nvcc)
kernel-table: ## write that table, after a change of a kernel

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

# ---------------------------------------------------------------- demo, containers, archive

.PHONY: demo demo-train
demo: all $(DEMOS) ## predict a chromosome that the demo's network has not seen, and draw it
	@PATH='$(abspath $(BIN))':"$$PATH" workflows/demo/demo.sh $(B)/demo/make_plant build/demo
demo-train: all $(DEMOS) ## train the demo's network, workflows/demo/plant.ckpt, again (a minute on a GPU, hours without)
	@PATH='$(abspath $(BIN))':"$$PATH" workflows/demo/train.sh $(B)/demo/make_plant build/demo-train
	cp build/demo-train/plant.ckpt workflows/demo/plant.ckpt

.PHONY: container-check
container-check: ## run the steps of the containers, and the tests, in debootstrap roots (as root; CONTAINER_CHECK=FOLDER)
	$(Q)$(MAKE) --no-print-directory DIST=build/container-check.tar.gz dist
	$(Q)command -v debootstrap >/dev/null || { echo 'container-check: no debootstrap (apt-get install debootstrap)' >&2; exit 1; }
	$(Q)containers/check.sh build/container-check.tar.gz '$(or $(CONTAINER_CHECK),build/container-check)'

.PHONY: samples
samples: all $(DEMOS) ## make synthetic samples in build/samples, for the tutorial (man man/covtools.7) and the workflows
	$(Q)rm -rf build/samples
	$(Q)workflows/demo/samples.sh $(B)/demo/make_plant build/samples

.PHONY: dist clean help
# Reproducible: uses the commit's time for all files, and no time in the gzip header.
DIST ?= covtools-$(VERSION:-dirty=).tar.gz
dist: ## pack the committed sources as covtools-VERSION.tar.gz
	@mkdir -p '$(dir $(DIST))'
	$(GIT) -c tar.tar.gz.command='gzip -9nc' archive --format=tar.gz --prefix=covtools-$(VERSION:-dirty=)/ -o '$(DIST)' HEAD
clean: ## remove all build products
	rm -rf build bin lib covtools-*.tar.gz
help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1$(tab)\2/p' Makefile | while IFS='$(tab)' read -r name text; do \
	  printf '  %-15s %s\n' "$$name" "$$text"; done

endif
