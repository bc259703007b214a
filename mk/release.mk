# release.mk - demo, containers, and the archive of a release. Included by the Makefile.
# SPDX-License-Identifier: MIT

.PHONY: demo demo-train
demo: all $(DEMOS) ## predict a chromosome that the demo's network has not seen, and draw it
	@PATH='$(abspath $(BIN))':"$$PATH" workflows/demo/demo.sh $(B)/demo/make_plant build/demo
demo-train: all $(DEMOS) ## train the demo's network, workflows/demo/plant.ckpt, again (a minute on a GPU, hours without)
	@PATH='$(abspath $(BIN))':"$$PATH" workflows/demo/train.sh $(B)/demo/make_plant build/demo-train
	cp build/demo-train/plant.ckpt workflows/demo/plant.ckpt

.PHONY: model
model: ## download a published model and check it (NAME=Combined_02; without NAME, list them)
	$(Q)workflows/model.sh '$(NAME)'

.PHONY: container-check
container-check: ## run the steps of the containers, and the tests, in debootstrap roots (as root; CONTAINER_CHECK=DIRECTORY)
	$(Q)$(MAKE) --no-print-directory DIST=build/container-check.tar.gz dist
	$(Q)command -v debootstrap >/dev/null || { echo 'container-check: no debootstrap (apt-get install debootstrap)' >&2; exit 1; }
	$(Q)containers/check.sh build/container-check.tar.gz '$(or $(CONTAINER_CHECK),build/container-check)'

.PHONY: samples
samples: all $(DEMOS) ## make synthetic samples in build/samples, for the tutorial (man man/covtools.7) and the workflows
	$(Q)rm -rf build/samples
	$(Q)workflows/demo/samples.sh $(B)/demo/make_plant build/samples

.PHONY: dist
# Reproducible: uses the commit's time for all files, and no time in the gzip header.
DIST ?= covtools-$(VERSION:-dirty=).tar.gz
dist: ## pack the committed sources as covtools-VERSION.tar.gz
	@mkdir -p '$(dir $(DIST))'
	$(GIT) -c tar.tar.gz.command='gzip -9nc' archive --format=tar.gz --prefix=covtools-$(VERSION:-dirty=)/ -o '$(DIST)' HEAD
