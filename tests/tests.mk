# The checks.  Included by the Makefile, whose variables it uses.

E2E  ?= $(sort $(wildcard tests/e2e/*.bats))
JOBS ?= 2
export IOSWEEP_BUILD := $(B)
export ASAN_OPTIONS := detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS := print_stacktrace=1

check: all $(UNIT) $(FUZZ_REPLAY) ## unit, replay of the fuzz corpus, end to end (root): the README's test command
	$(Q)sh tests/run $(B)

check-e2e: all ## the end-to-end tests alone
	$(Q)bats --print-output-on-failure $(E2E)

lint: ## include directions, banned functions, sizes, cppcheck, clang-tidy, shellcheck, manuals
	$(Q)sh tests/lint $(B)

demo: all ## a real sweep on an image file; needs root
	$(Q)sh contrib/demo.sh $(B)

format: ## clang-format on the lines changed against HEAD
	$(Q)git clang-format HEAD -- '*.c' '*.h'
