# Installation.  DESTDIR is put in front of every path; see the head of the Makefile for the directories.

install: all ## install programs, data, manuals, completion, unit; honours DESTDIR and prefix
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(sbindir) $(DESTDIR)$(datadir)/iosweep/workloads \
	  $(DESTDIR)$(datadir)/iosweep/sweeps $(DESTDIR)$(completionsdir) $(DESTDIR)$(unitdir) $(DESTDIR)$(sysusersdir) \
	  $(DESTDIR)$(sysconfdir)/iosweep
	$(INSTALL) -m 755 $(B)/iosweep $(DESTDIR)$(bindir)/
	$(INSTALL) -m 755 $(B)/iosweepd $(DESTDIR)$(sbindir)/
	$(INSTALL) -m 644 sweeps/workloads/*.yaml $(DESTDIR)$(datadir)/iosweep/workloads/
	$(INSTALL) -m 644 sweeps/*.yaml $(DESTDIR)$(datadir)/iosweep/sweeps/
	$(INSTALL) -d $(DESTDIR)$(datadir)/iosweep/history
	$(INSTALL) -m 644 sweeps/history/*.csv sweeps/history/*.yaml $(DESTDIR)$(datadir)/iosweep/history/
	for page in man/*.[1-8]; do section=$${page##*.}; \
	  $(INSTALL) -d $(DESTDIR)$(mandir)/man$$section && $(INSTALL) -m 644 $$page $(DESTDIR)$(mandir)/man$$section/; done
	$(INSTALL) -m 644 contrib/completion/iosweep.bash $(DESTDIR)$(completionsdir)/iosweep
	sed 's,@sbindir@,$(sbindir),g; s,@sysconfdir@,$(sysconfdir),g' contrib/systemd/iosweepd.service \
	  >$(DESTDIR)$(unitdir)/iosweepd.service
	$(INSTALL) -m 644 contrib/systemd/iosweep.sysusers $(DESTDIR)$(sysusersdir)/iosweep.conf
	test -e $(DESTDIR)$(sysconfdir)/iosweep/iosweepd.yaml || \
	  $(INSTALL) -m 644 contrib/iosweepd.yaml $(DESTDIR)$(sysconfdir)/iosweep/iosweepd.yaml

uninstall: ## remove what install put there, but for the configuration and the store
	rm -f $(DESTDIR)$(bindir)/iosweep $(DESTDIR)$(sbindir)/iosweepd $(DESTDIR)$(completionsdir)/iosweep \
	  $(DESTDIR)$(unitdir)/iosweepd.service $(DESTDIR)$(sysusersdir)/iosweep.conf
	rm -rf $(DESTDIR)$(datadir)/iosweep
	for page in man/*.[1-8]; do rm -f $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/}; done
