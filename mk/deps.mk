# deps.mk - packages, as root: `make deps deps-extra`. Included by the Makefile.
# SPDX-License-Identifier: MIT

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
