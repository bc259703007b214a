# fuzz.mk - fuzzing the parsers. Included by the Makefile.
# SPDX-License-Identifier: MIT

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
