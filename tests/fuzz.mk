# Fuzz targets: tests/fuzz/fuzz_NAME.c, seeds in tests/fuzz/corpus/NAME.  The replay programs lie beside the unit tests and run
# with them; what libFuzzer finds new stays in build/fuzz/found/NAME.
#
#   make fuzz TIME=60 [FUZZ=message]

TIME ?= 60
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_REPLAY := $(patsubst tests/fuzz/%.c,$(B)/unit/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_MAKE = $(MAKE) --no-print-directory B=build/fuzz CC=clang SAN=1 CFLAGS="-O1 -g -fsanitize=fuzzer-no-link"

check-unit: $(FUZZ_REPLAY)

$(B)/unit/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay.o $(B)/libworker.a $(B)/libschema.a
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(SCHEMA_LIBS) -lm $(LDLIBS)

$(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(B)/libworker.a $(B)/libschema.a
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(SCHEMA_LIBS) -lm $(LDLIBS)

fuzz: ## every fuzz target for TIME seconds (60), under ASan and UBSan
	$(Q)$(FUZZ_MAKE) $(patsubst %,build/fuzz/fuzz/%,$(FUZZ))
	$(Q)status=0; for name in $(FUZZ); do \
	  mkdir -p build/fuzz/found/$$name; echo "fuzz $$name: $(TIME) s"; \
	  build/fuzz/fuzz/$$name -max_total_time=$(TIME) -timeout=20 -rss_limit_mb=2048 -max_len=65536 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/found/$$name. build/fuzz/found/$$name tests/fuzz/corpus/$$name \
	    2>build/fuzz/$$name.log || { status=1; tail -40 build/fuzz/$$name.log; }; \
	  grep -a 'number_of_executed_units' build/fuzz/$$name.log; done; exit $$status
