# The commands of iosweep are the files cli/cmd_*.c: their declarations and their sorted list are generated, so that a new
# command is a new file.  Written anew only when the list has changed.
CLI_COMMANDS := $(patsubst cli/cmd_%.c,%,$(sort $(wildcard cli/cmd_*.c)))

.PHONY: commands-list
commands-list:
$(B)/commands.h: commands-list
	@mkdir -p $(@D)
	$(Q){ for c in $(CLI_COMMANDS); do echo "extern const struct command cmd_$$c;"; done; \
	  printf '#define COMMANDS'; for c in $(CLI_COMMANDS); do printf ' &cmd_%s,' $$c; done; echo; } >$@.new
	$(Q)if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi
$(B)/cli/main.o: $(B)/commands.h

# A unit test is linked anew when a source that it names in "// LINK: FILE" has changed.
$(foreach l,$(shell grep -s '^// LINK: ' tests/unit/test_*.c | sed 's,^tests/unit/\([^.]*\)\.c:// LINK: ,\1:,'),\
  $(eval $(B)/unit/$(firstword $(subst :, ,$(l))): $(lastword $(subst :, ,$(l)))))
