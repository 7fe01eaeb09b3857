# The lab: what needs a disk that fails, a machine of its own, or hours.  See tests/lab/README.

soak: all ## hours: power cuts by the hundred (IOSWEEP_POWERCUTS=500, IOSWEEP_SEED=time)
	$(Q)$(MAKE) --no-print-directory TESTING=1 all
	$(Q)IOSWEEP_POWERCUTS=$${IOSWEEP_POWERCUTS:-500} IOSWEEP_SEED=$${IOSWEEP_SEED:-$$(date +%s)} \
	  bats --print-output-on-failure tests/e2e/powercut.bats
