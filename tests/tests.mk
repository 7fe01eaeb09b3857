# The checks.  Included by the Makefile, whose variables it uses.

E2E  ?= $(sort $(wildcard tests/e2e/*.bats))
# The build with faults on demand, for the crash matrix and the control of the power cuts.
TEST_BUILD := $(B:build/%=build/test-%)
export IOSWEEP_BUILD := $(B)
export ASAN_OPTIONS := detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS := print_stacktrace=1

check: all $(UNIT) $(FUZZ_REPLAY) ## unit, replay of the fuzz corpus, end to end (root): the README's test command
	$(Q)$(MAKE) --no-print-directory TESTING=1 crash-build
	$(Q)bash tests/run $(B) $(TEST_BUILD)

check-e2e: all ## the end-to-end tests alone
	$(Q)bats --print-output-on-failure $(E2E)

check-all: check-rehearse
check-rehearse: all ## the four studies in small on image files (root, about 6 minutes)
	$(Q)bats --print-output-on-failure tests/rehearse/studies.bats

lint: ## include directions, banned functions, sizes, cppcheck, clang-tidy, shellcheck, manuals
	$(Q)sh tests/lint $(B)

demo: all ## a real sweep on an image file; needs root
	$(Q)sh contrib/demo.sh $(B)

format: ## clang-format on the lines changed against HEAD
	$(Q)git clang-format --style=file:contrib/clang-format HEAD -- '*.c' '*.h'
