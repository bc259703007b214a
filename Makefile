# covtools. `make help` lists the targets.
#
# Yours to set: CC CPPFLAGS CFLAGS LDFLAGS LDLIBS, prefix and the other install folders, DESTDIR,
# SAN=address,undefined (a sanitized build in a folder of its own), V=1 (show the commands).

prefix       ?= /usr/local
exec_prefix  ?= $(prefix)
bindir       ?= $(exec_prefix)/bin
libdir       ?= $(exec_prefix)/lib
includedir   ?= $(prefix)/include
datarootdir  ?= $(prefix)/share
datadir      ?= $(datarootdir)
mandir       ?= $(datarootdir)/man
docdir       ?= $(datarootdir)/doc/covtools
pkgconfigdir ?= $(libdir)/pkgconfig

CFLAGS     ?= -O2 -g
PKG_CONFIG ?= pkg-config
INSTALL    ?= install
PYTHON     ?= /usr/bin/python3
SAN        ?=
WRAP       ?=

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# ---------------------------------------------------------------- what is built from what

# From the tag of a clone, from .version in a `git archive` (which fills it in), else the base alone. Root
# may build in a tree of somebody else, and git must not refuse that or leave its index to root.
VERSION_BASE := 0.1.0
GIT          := GIT_OPTIONAL_LOCKS=0 git -c safe.directory='$(CURDIR)'
COMMIT       := $(shell sed -n 's/^commit \([0-9a-f]*\)$$/\1/p' .version; $(GIT) rev-parse --short HEAD 2>/dev/null)
VERSION      := $(or $(shell sed -n 's/^version v\([0-9].*\)$$/\1/p' .version), \
                     $(shell $(GIT) describe --tags --match 'v[0-9]*' --dirty 2>/dev/null | sed 's/^v//'), \
                     $(VERSION_BASE)$(addprefix -g,$(COMMIT)))
SO_MAJOR     := 0

comma   := ,
VARIANT := $(if $(SAN),san-$(subst $(comma),-,$(SAN)),default)
B       := build/$(VARIANT)
# The default variant's programs stand at the top, where users look for them.
TOP     := $(if $(SAN),$(B),.)
BIN     := $(TOP)/bin
LIB     := $(TOP)/lib

LIB_SRC    := $(sort $(wildcard common/*/*.c common/*/*/*.c))
TOOL_SRC   := $(sort $(wildcard tools/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/*.c))
HELPER_SRC := $(sort $(wildcard tests/lib/*.c))
DEMO_SRC   := $(sort $(wildcard workflows/demo/*.c))
HEADERS    := $(sort $(wildcard common/*.h common/*/*.h common/*/*/*.h))

TOOLS   := $(TOOL_SRC:tools/%.c=%)
UNITS   := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
HELPERS := $(HELPER_SRC:tests/lib/%.c=$(B)/tests/lib/%)
DEMOS   := $(DEMO_SRC:workflows/demo/%.c=$(B)/demo/%)

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

# ---------------------------------------------------------------- flags

PACKAGES := htslib hdf5-serial libdeflate liblzf
ifeq ($(filter deps help clean format dist,$(MAKECMDGOALS)),)
  MISSING := $(shell for p in $(PACKAGES); do $(PKG_CONFIG) --exists $$p || echo $$p; done)
  ifneq ($(MISSING),)
    $(error not found by $(PKG_CONFIG): $(MISSING). On Debian and Ubuntu `sudo make deps` installs what is needed)
  endif
endif

PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lBigWig -lz -lm -ldl -lpthread

WARN      := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual \
             -Wformat=2 -Wvla -Wundef -Wdouble-promotion
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
COV_CPPFLAGS := -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(PKG_CFLAGS)
COV_CFLAGS   := -std=c11 -fPIC -fvisibility=default -ffp-contract=off $(WARN) $(SAN_FLAGS)
COV_LDFLAGS  := $(SAN_FLAGS) -Wl,--as-needed
RPATH        := -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib'

# Files of one instruction set; everything else is for the baseline.
VEC_CFLAGS := -O3 -fno-math-errno -fno-trapping-math
ISA_vec_base := $(VEC_CFLAGS)
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
ISA_vec_avx2   := $(VEC_CFLAGS) -mavx2 -mfma
ISA_vec_avx512 := $(VEC_CFLAGS) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

# Rebuild when the flags change.
FLAGS := $(CC) $(COV_CPPFLAGS) $(CPPFLAGS) $(COV_CFLAGS) $(CFLAGS) $(COV_LDFLAGS) $(LDFLAGS) $(PKG_LIBS) $(LDLIBS)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' > $@
$(B)/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define COV_VERSION "%s"\n#define COV_COMMIT "%s"\n' '$(VERSION)' '$(COMMIT)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
FORCE:
.PHONY: FORCE

# ---------------------------------------------------------------- library, tools, tests

.PHONY: all
all: $(TOOLS:%=$(BIN)/%)

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(COV_CPPFLAGS) $(CPPFLAGS) $(COV_CFLAGS) $(ISA_$(notdir $*)) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/common/base/version.o: COV_CPPFLAGS += -include $(B)/version.h
$(B)/obj/common/base/version.o: $(B)/version.h

SONAME := libcov.so.$(SO_MAJOR)
$(LIB)/$(SONAME): $(call obj,$(LIB_SRC)) common/libcov.map
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=common/libcov.map -Wl,-z,defs $(COV_LDFLAGS) \
	  $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PKG_LIBS) $(LDLIBS)
$(LIB)/libcov.so: $(LIB)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

link = $(CC) $(COV_LDFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(LIB) -lcov $(2) -lm -lpthread $(LDLIBS) $(1)

$(BIN)/%: $(B)/obj/tools/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(RPATH))

ABS_RPATH = -Wl,-rpath,$(abspath $(LIB))
$(B)/tests/%: $(B)/obj/tests/unit/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH),$$($(PKG_CONFIG) --libs cmocka) $(PKG_LIBS))
$(B)/tests/lib/%: $(B)/obj/tests/lib/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH))
$(B)/demo/%: $(B)/obj/workflows/demo/%.o $(LIB)/libcov.so
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(call link,$(ABS_RPATH))

.SECONDARY: $(call obj,$(TOOL_SRC) $(UNIT_SRC) $(HELPER_SRC) $(DEMO_SRC))
-include $(patsubst %.o,%.d,$(call obj,$(LIB_SRC) $(TOOL_SRC) $(UNIT_SRC) $(HELPER_SRC) $(DEMO_SRC)))

# ---------------------------------------------------------------- tests

# What tests see: where the programs are, what to put in front of them, and the reference files if they are there.
TEST_ENV = BIN='$(abspath $(BIN))' TESTLIB='$(abspath $(B))/tests/lib' SRC='$(CURDIR)' WRAP='$(WRAP)' PYTHON='$(PYTHON)' \
           SHARED="$${SHARED:-$(abspath ../shared)}" CMOCKA_MESSAGE_OUTPUT=TAP \
           LSAN_OPTIONS='suppressions=$(CURDIR)/tests/lib/lsan.supp:print_suppressions=0'

.PHONY: check check-unit check-cli
check: all $(UNITS) $(HELPERS) $(DEMOS)
	$(TEST_ENV) prove --timer $(PROVE_FLAGS) --exec '' $(sort $(UNITS)) $(sort $(wildcard tests/cli/*.t))
check-unit: $(UNITS)
	$(TEST_ENV) prove $(PROVE_FLAGS) --exec '' $(sort $(UNITS))
check-cli: all $(HELPERS) $(DEMOS)
	$(TEST_ENV) prove $(PROVE_FLAGS) --exec '' $(sort $(wildcard tests/cli/*.t))

.PHONY: clean
clean:
	rm -rf build bin lib
