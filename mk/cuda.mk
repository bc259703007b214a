# cuda.mk - the GPU plugin, its emulation, and the checks and measurements on a GPU. Included by the Makefile.
# SPDX-License-Identifier: MIT

CUDA_WERROR ?= 1
# The architectures of CUDA_ARCHS that nvcc supports.
NVCC_ARCHS = $(or $(filter $(CUDA_ARCHS),$(subst compute_,,$(shell $(NVCC) --list-gpu-arch))),$(error $(NVCC) can build for none of CUDA_ARCHS=$(CUDA_ARCHS)))
# Products by warpgroups need code for sm_90a (CUDA 12), which compute capability 9.0 alone can run.
SM_90 = $(shell $(NVCC) -arch=sm_90a -dryrun -x cu -c /dev/null >/dev/null 2>&1 && echo 90a || echo 90)
CODE_ARCHS = $(patsubst 90,$(SM_90),$(NVCC_ARCHS))
# The driver compiles this code for other GPUs, which must not be older.
PTX_ARCH = $(or $(filter 80,$(NVCC_ARCHS)),$(firstword $(NVCC_ARCHS)))
NVCC_FLAGS = -std=c++17 -O3 -I. $(foreach a,$(CODE_ARCHS),-gencode arch=compute_$a,code=sm_$a) \
  -gencode arch=compute_$(PTX_ARCH),code=compute_$(PTX_ARCH) \
  -Xcompiler -fPIC,-fvisibility=hidden,-fstack-protector-strong,-Wall,-Wextra \
  $(if $(CUDA_WERROR),-Werror all-warnings -Xcompiler -Werror) $(if $(filter 90a,$(CODE_ARCHS)),-DCOV_CUDA_WGMMA) $(VERSION_MACROS)
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
MOCK_CXX = $(CXX) -x c++ -std=c++17 -I. -include tests/mock/simt_emulated.h -DCOV_CUDA_WGMMA $(VERSION_MACROS) -O3 -g -fPIC -ftls-model=initial-exec \
  -ffp-contract=off -Wall -Wextra -Wno-unknown-pragmas -Werror
$(B)/mock/%.o: % $(B)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(MOCK_CXX) -MMD -MP -c -o $@ $<
$(B)/mock/common/compute/cuda/cuda_device.cu.o: $(B)/version
# runtime_mock.cc can skip self-checks.
$(B)/mock/common/compute/cuda/self_check.cu.o: tests/mock/runtime_mock.h
$(B)/mock/common/compute/cuda/self_check.cu.o: MOCK_CXX += -Dcov_cuda_self_check=own_self_check
$(MOCK_PLUGIN): $(MOCK_OBJ) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -shared -o $@ $(MOCK_OBJ) -L$(LIB) -lcov $(ABS_RPATH) -lpthread
$(B)/bench/bench_card: $(B)/obj/tests/bench/bench_card.o $(MOCK_OBJ) $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $(filter %.o,$^) -L$(LIB) -lcov $(ABS_RPATH) $(PKG_LIBS) -lpthread
# What the programs of tests/gpu need: the build for a machine with a GPU (build/gpu) has neither htslib nor HDF5.
BARE_SRC := $(filter-out $(addprefix common/,$(addsuffix .c,base/json file/bgz file/hash \
            deflate/deflate codec/h5_filters)), \
            $(filter common/base/% common/file/% common/seq/% common/codec/% common/deflate/% common/compute/% common/net/%,$(LIB_SRC)))
$(B)/bare.a: $(call obj,$(BARE_SRC))
	$(Q)rm -f $@ && ar rcs $@ $^
$(EMULATED) $(MOCK_BENCH): $(B)/tests/%: $(B)/mock/tests/gpu/%.cc.o $(MOCK_OBJ) $(B)/reference.a $(B)/bare.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $^ -lpthread -lm -ldl
-include $(MOCK_OBJ:.o=.d) $(CUDA_TEST_SRC:%=$(B)/mock/%.d)

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
GPU_CHECKS := $(addprefix $(GPU)/check_,kernels training lstm edits)
$(GPU_CHECKS) $(GPU)/bench_gpu: $(GPU)/%: $(GPU)/tests/gpu/%.cc.o $(CUDA_OBJ) $(GPU)/libcov.a
	$(call say,LD,$@)
	$(Q)$(NVCC) -cudart static -o $@ $^ -lm -ldl -lpthread
.PHONY: check-gpu bench-gpu report-gpu
.SECONDARY: $(GPU_OBJ) $(patsubst %,$(GPU)/tests/gpu/%.cc.o,check_kernels check_training check_lstm check_edits bench_gpu)
# The sanitizer is slow, so it runs on small networks only.
check-gpu: $(GPU_CHECKS) ## test the kernels on a GPU (needs CUDA, but neither htslib nor HDF5)
	$(Q)$(PROVE) --exec '' $^ :: --big
	$(Q)if command -v compute-sanitizer >/dev/null; then for tool in memcheck racecheck; do \
	  echo "== $$tool"; for check in $^; do \
	  compute-sanitizer --tool $$tool --error-exitcode 1 $$check || exit 1; done; done; \
	  else echo 'check-gpu: no compute-sanitizer; skipping memcheck and racecheck'; fi
report-gpu: ## build, test and measure on a GPU for 10 minutes, with a report (REPORT_FLAGS="--until SECONDS --part NAME DIRECTORY")
	$(Q)tests/gpu/report.sh $(REPORT_FLAGS)
bench-gpu: $(GPU)/bench_gpu ## measure chunks per second by batch and precision, the time of each layer, and PyTorch
	$(Q)$<
	$(Q)$(PYTHON) tests/gpu/torch_peer.py
-include $(GPU_OBJ:.o=.d) $(CUDA_TEST_SRC:%=$(GPU)/%.d)
