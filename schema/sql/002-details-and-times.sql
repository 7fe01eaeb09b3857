-- Version 2.  What explains a result is told from what a workload is run for; of labels and notes it is kept when they
-- were set, so that stores which meet agree on the last one.

-- 1: reported only where it is asked for by name
ALTER TABLE metric ADD COLUMN is_detail INTEGER NOT NULL DEFAULT 0;

-- when the note was put there or taken away: where stores meet the later one counts
ALTER TABLE sweep ADD COLUMN note_ms INTEGER NOT NULL DEFAULT 0;

-- likewise; the value of a label that was taken away is ''
ALTER TABLE sweep_label ADD COLUMN set_ms INTEGER NOT NULL DEFAULT 0;
