# The lab: what needs a kernel of its own, or hours.

check-vm: all ## scenarios in a virtual machine (QEMU, no KVM): unplug, reboot, md, LVM, dm, clock; VM=guard selects
	$(Q)tests/lab/checkvm $(B) $(VM)

check-valgrind: all ## the daemon and every command under valgrind (root)
	$(Q)tests/lab/valgrind $(B)

check-all: check check-valgrind check-vm ## everything but the hours of make soak

soak: all ## hours: power cuts by the hundred (IOSWEEP_POWERCUTS=500, IOSWEEP_SEED=time)
	$(Q)$(MAKE) --no-print-directory TESTING=1 all
	$(Q)IOSWEEP_POWERCUTS=$${IOSWEEP_POWERCUTS:-500} IOSWEEP_SEED=$${IOSWEEP_SEED:-$$(date +%s)} \
	  bats --print-output-on-failure tests/e2e/powercut.bats
