# Benchmarks: ratios measured side by side in one run.  Never part of a test.

BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))

$(B)/bench/%: $(B)/tests/bench/%.o $(B)/libschema.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(SCHEMA_LIBS) -lm $(LDLIBS)

bench: all $(BENCH) ## speed and memory beside their references (root); WHAT="dispatch cell idle trial check"
	$(Q)unshare --mount bash tests/bench/run.sh $(B) $(WHAT)
	$(Q)$(if $(WHAT),,bash tests/bench/history.sh $(B))

bench-history: all $(BENCH) ## reports over a store of 1,000,000 trials, beside hand-written SQL
	$(Q)bash tests/bench/history.sh $(B)
