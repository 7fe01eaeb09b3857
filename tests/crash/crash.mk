# The crash matrix, on a build with faults on demand.

check-crash: ## the crash matrix alone (root); ROWS=PATTERN selects
	$(Q)$(MAKE) --no-print-directory TESTING=1 crash-build
	$(Q)bash tests/crash/run $(TEST_BUILD) $(ROWS)

check-guard: ## the guard's matrix alone (root); ROWS=PATTERN selects
	$(Q)$(MAKE) --no-print-directory TESTING=1 crash-build
	$(Q)bash tests/guard/run $(TEST_BUILD) $(ROWS)

.PHONY: check-crash check-guard crash-build
crash-build: all $(B)/crash/steps
$(B)/crash/steps: $(B)/tests/crash/steps.o $(B)/libworker.a $(B)/libschema.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(SCHEMA_LIBS) -lm $(LDLIBS)
