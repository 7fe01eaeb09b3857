# iosweep: the only build file.  `make help` lists the targets.
#
#   make [V=1] [WERROR=1] [SAN=1] [CC=clang]     build into build/opt or build/san
#   make TESTING=1                                the same with faults on demand (daemon/worker/fault.h): build/test-opt
#   make install [DESTDIR=...] [prefix=/usr/local]

prefix     ?= /usr/local
bindir     ?= $(prefix)/bin
sbindir    ?= $(prefix)/sbin
datadir    ?= $(prefix)/share
mandir     ?= $(datadir)/man
sysconfdir ?= /etc
unitdir    ?= /usr/lib/systemd/system
sysusersdir ?= /usr/lib/sysusers.d
completionsdir ?= $(datadir)/bash-completion/completions

PKG_CONFIG ?= pkg-config
INSTALL    ?= install
VERSION    := 0.1.0

Q := $(if $(V),,@)
B ?= build/$(if $(TESTING),test-)$(if $(SAN),san,opt)$(if $(filter clang%,$(CC)),-clang)

CFLAGS   ?= -O2 -g
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla -Wundef -Wformat=2 \
            -Wpointer-arith -Wno-missing-field-initializers
FLAGS     = -std=gnu11 $(WARN) $(if $(WERROR),-Werror) $(if $(SAN),$(SANFLAGS)) $(CFLAGS)
DEFINES   = -D_GNU_SOURCE -I. -I$(B) -DIOSWEEP_VERSION='"$(VERSION)"' -DIOSWEEP_DATADIR='"$(datadir)/iosweep"' \
            -DIOSWEEP_SYSCONFDIR='"$(sysconfdir)/iosweep"' $(if $(TESTING),-DIOSWEEP_TESTING)

SCHEMA_PKGS := sqlite3 yaml-0.1 json-c libpcre2-8 libmd zlib
DAEMON_PKGS := libuv blkid libudev mount libsystemd
CLI_PKGS    := smartcols libudev blkid
PKG_CPPFLAGS := $(shell $(PKG_CONFIG) --cflags $(SCHEMA_PKGS) $(DAEMON_PKGS) $(CLI_PKGS) 2>/dev/null)
SCHEMA_LIBS := $(shell $(PKG_CONFIG) --libs $(SCHEMA_PKGS) 2>/dev/null)
DAEMON_LIBS := $(shell $(PKG_CONFIG) --libs $(DAEMON_PKGS) 2>/dev/null)
CLI_LIBS    := $(shell $(PKG_CONFIG) --libs $(CLI_PKGS) 2>/dev/null)
COMPILE      = $(CC) $(DEFINES) $(PKG_CPPFLAGS) $(CPPFLAGS) $(FLAGS)

SCHEMA_SRC := $(wildcard schema/base/*.c schema/*.c)
WORKER_SRC := $(wildcard daemon/worker/*.c)
DAEMON_SRC := $(wildcard daemon/*.c)
CLI_SRC    := $(wildcard cli/*.c)
UNIT_SRC   := $(wildcard tests/unit/test_*.c)

objects = $(patsubst %.c,$(B)/%.o,$(1))
UNIT    = $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

.PHONY: all force objects clean help lint format install uninstall demo check check-unit check-e2e check-all check-valgrind check-vm bench fuzz soak
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/iosweepd $(B)/iosweep ## build the daemon and the command (the default)

$(B)/iosweepd: $(call objects,$(DAEMON_SRC)) $(B)/libworker.a $(B)/libschema.a
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(SCHEMA_LIBS) -lm $(LDLIBS)

$(B)/iosweep: $(call objects,$(CLI_SRC)) $(B)/libschema.a
	$(Q)$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(CLI_LIBS) $(SCHEMA_LIBS) -lm $(LDLIBS)

objects: $(call objects,$(SCHEMA_SRC) $(WORKER_SRC) $(DAEMON_SRC) $(CLI_SRC))

$(B)/libschema.a: $(call objects,$(SCHEMA_SRC))
$(B)/libworker.a: $(call objects,$(WORKER_SRC))
$(B)/lib%.a:
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# What objects are compiled with, prefix included: written anew only when it changes, so that a change rebuilds.
COMPILED_WITH = $(subst ','\'',$(subst $(B),build,$(filter-out -Werror,$(COMPILE))))
$(B)/flags: force
	@mkdir -p $(@D)
	@printf '%s\n' '$(COMPILED_WITH)' | cmp -s - $@ || printf '%s\n' '$(COMPILED_WITH)' >$@

$(B)/%.o: %.c Makefile $(B)/flags
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# Each file of schema/sql as a C string; newlines are kept, since SQL comments end with them.
$(B)/sql.h: $(sort $(wildcard schema/sql/*.sql)) Makefile
	@mkdir -p $(@D)
	$(Q){ for f in $(filter %.sql,$^); do n=$$(basename $$f .sql | tr -c 'a-zA-Z0-9\n' _); \
	  printf 'static const char sql_%s[] =\n' "$$n"; sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' "$$f"; echo ';'; done; } >$@
$(B)/schema/store.o: $(B)/sql.h

# Unit tests: one program a file of tests/unit, each linked with both libraries.  A test that needs a file of
# daemon/ or cli/ itself names it in a line "// LINK: daemon/queue.c".
$(B)/unit/%: $(B)/tests/unit/%.o $(B)/libworker.a $(B)/libschema.a
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $< $(shell sed -n 's,^// LINK: ,,p' tests/unit/$*.c) \
	  $(B)/libworker.a $(B)/libschema.a $(DAEMON_LIBS) $(CLI_LIBS) $(SCHEMA_LIBS) -lcmocka -lm $(LDLIBS)

check-unit: $(UNIT) ## the unit tests alone; no root needed
	$(Q)sh tests/run-unit $(UNIT)

-include $(wildcard contrib/*.mk tests/*.mk tests/*/*.mk)

clean: ## remove build/
	$(Q)rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

-include $(shell find $(B) -name '*.d' 2>/dev/null)
