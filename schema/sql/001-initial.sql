-- iosweep store, version 1.  Times are UTC milliseconds (_ms); durations are monotonic nanoseconds (_ns); sizes are bytes.
-- Integer keys inside; a UUIDv7 (16 bytes) or a SHA-256 digest (32 bytes) where stores of several hosts meet.

CREATE TABLE host (
  id    INTEGER PRIMARY KEY,
  uuid  BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),  -- from /etc/machine-id, or made once
  name  TEXT NOT NULL                                    -- nodename when last seen
) STRICT;

-- Facts of host, kernel, device and tools; content-addressed, so that equal environments are one row.
CREATE TABLE environment (
  id      INTEGER PRIMARY KEY,
  digest  BLOB NOT NULL UNIQUE CHECK (length(digest) = 32)  -- SHA-256 of the sorted identity and context facts
) STRICT;

CREATE TABLE environment_fact (
  environment_id  INTEGER NOT NULL REFERENCES environment(id),
  key             TEXT NOT NULL,   -- 'kernel.release', 'tool.fio', 'device.model', ...
  value           TEXT NOT NULL,   -- of a volatile fact: as first seen; it does not tell environments apart
  class           TEXT NOT NULL CHECK (class IN ('identity', 'context', 'volatile')),
  PRIMARY KEY (environment_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan (
  id      INTEGER PRIMARY KEY,
  digest  BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),  -- SHA-256 of source
  name    TEXT NOT NULL,
  about   TEXT NOT NULL DEFAULT '',
  source  TEXT NOT NULL          -- the YAML as submitted
) STRICT;

CREATE TABLE sweep (
  id               INTEGER PRIMARY KEY,
  uuid             BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
  plan_id          INTEGER NOT NULL REFERENCES plan(id),
  host_id          INTEGER NOT NULL REFERENCES host(id),
  state            TEXT NOT NULL CHECK (state IN ('queued', 'running', 'paused', 'done', 'failed', 'cancelled', 'imported')),
  reason           TEXT NOT NULL DEFAULT '',   -- why paused, failed or cancelled
  wanted           TEXT NOT NULL DEFAULT '' CHECK (wanted IN ('', 'pause', 'cancel', 'stop')),  -- asked of a running sweep
  priority         INTEGER NOT NULL DEFAULT 0, -- higher first
  target_kind      TEXT NOT NULL CHECK (target_kind IN ('device', 'image', 'directory', 'import')),
  target           TEXT NOT NULL,              -- name in the host's list, or the image's size
  submitter_uid    INTEGER NOT NULL,
  submitter_gid    INTEGER NOT NULL,
  submitter        TEXT NOT NULL,              -- login name when submitted
  cells            INTEGER NOT NULL,           -- in the whole matrix
  trials_per_cell  INTEGER NOT NULL,           -- repetitions x workloads
  keep             TEXT NOT NULL CHECK (keep IN ('median', 'mean', 'single')),
  strict           INTEGER NOT NULL DEFAULT 0, -- 1: an infeasible cell makes the sweep fail
  options          TEXT NOT NULL DEFAULT '{}', -- JSON: submit options that are not in the plan (rehearse, strict ...)
  source           TEXT NOT NULL DEFAULT '',   -- where an imported table came from
  note             TEXT NOT NULL DEFAULT '',   -- iosweep annotate
  cells_ended      INTEGER NOT NULL DEFAULT 0, -- progress, kept in step with cell and trial by their writers
  trials_ok        INTEGER NOT NULL DEFAULT 0,
  submitted_ms     INTEGER NOT NULL,
  started_ms       INTEGER,
  ended_ms         INTEGER
) STRICT;
CREATE INDEX sweep_state ON sweep(state);

CREATE TABLE sweep_label (
  sweep_id  INTEGER NOT NULL REFERENCES sweep(id),
  name      TEXT NOT NULL,
  value     TEXT NOT NULL,
  PRIMARY KEY (sweep_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE axis (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE axis_value (
  id       INTEGER PRIMARY KEY,
  axis_id  INTEGER NOT NULL REFERENCES axis(id),
  value    TEXT NOT NULL,   -- canonical: sizes in bytes, options expanded
  number   REAL,            -- value as a number where it is one, for filters such as readahead>=2MiB
  UNIQUE (axis_id, value)
) STRICT;

-- The canonical settings of a cell, equal on every host.  An axis at kernel-default is not listed.
CREATE TABLE config (
  id      INTEGER PRIMARY KEY,
  digest  BLOB NOT NULL UNIQUE CHECK (length(digest) = 32)  -- SHA-256 of "axis=value\n" lines sorted by axis
) STRICT;

CREATE TABLE config_value (
  axis_value_id  INTEGER NOT NULL REFERENCES axis_value(id),
  config_id      INTEGER NOT NULL REFERENCES config(id),
  PRIMARY KEY (axis_value_id, config_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX config_value_by_config ON config_value(config_id, axis_value_id);

-- A row is made when the sweep reaches the cell; a cell without a row has not been visited.
CREATE TABLE cell (
  id          INTEGER PRIMARY KEY,
  sweep_id    INTEGER NOT NULL REFERENCES sweep(id),
  config_id   INTEGER NOT NULL REFERENCES config(id),
  position    INTEGER NOT NULL,   -- from 0, in the order of the plan's enumeration (not of a random order)
  state       TEXT NOT NULL CHECK (state IN ('running', 'ok', 'infeasible', 'failed', 'partial')),
  reason      TEXT NOT NULL DEFAULT '',
  started_ms  INTEGER NOT NULL,
  ended_ms    INTEGER,
  UNIQUE (sweep_id, config_id)
) STRICT;
CREATE INDEX cell_by_config ON cell(config_id);
CREATE INDEX cell_running ON cell(sweep_id) WHERE state = 'running';

-- The texts of settings, each once: the same few fill every cell of every sweep.
CREATE TABLE spelling (
  id    INTEGER PRIMARY KEY,
  text  TEXT NOT NULL UNIQUE
) STRICT;

-- What was asked for and what took effect: two recorded facts for every axis of every cell.  The view cell_value has
-- the texts in place of the numbers.
CREATE TABLE cell_setting (
  cell_id    INTEGER NOT NULL REFERENCES cell(id),
  axis_id    INTEGER NOT NULL REFERENCES axis(id),
  requested  INTEGER NOT NULL REFERENCES spelling(id),  -- the plan's spelling; several that mean the same are joined by ', '
  value      INTEGER NOT NULL REFERENCES spelling(id),  -- canonical; 'kernel-default' where left as found
  effective  INTEGER REFERENCES spelling(id),           -- read back from the machine; NULL: not read yet, or nothing to read (a label)
  verdict    INTEGER NOT NULL DEFAULT 0 CHECK (verdict BETWEEN 0 AND 4),
                              -- 0 none, 1 confirmed, 2 implied (by a default), 3 unconfirmed (not shown by the kernel), 4 contradicted
  PRIMARY KEY (cell_id, axis_id)
) STRICT, WITHOUT ROWID;

-- How long each step of a cell took: the source of estimates, and of the count of steps.  The view step_run has a row for
-- each run and each undo.
CREATE TABLE step_time (
  cell_id  INTEGER NOT NULL REFERENCES cell(id),
  n        INTEGER NOT NULL,             -- from 1, in the order recorded
  step     TEXT NOT NULL,                -- 'claim' 'layout' 'queue' 'format' 'describe' 'mount' 'tune' 'confine'
  run_ns   INTEGER,                      -- NULL: an undo without its run, after a crash or of another cell's run
  undo_ns  INTEGER,                      -- NULL: not undone (yet)
  failed   INTEGER NOT NULL DEFAULT 0,   -- 1: the run failed
  PRIMARY KEY (cell_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE step_output (   -- what a tool said of what it made (dumpe2fs -h, xfs_info ...)
  cell_id  INTEGER NOT NULL REFERENCES cell(id),
  n        INTEGER NOT NULL,   -- as in step_time
  bytes    INTEGER NOT NULL,   -- as printed, before bounding
  kept     INTEGER NOT NULL,   -- bytes kept, before compression
  data     BLOB NOT NULL,      -- zlib (RFC 1950)
  PRIMARY KEY (cell_id, n)
) STRICT;

CREATE TABLE workload (
  id          INTEGER PRIMARY KEY,
  digest      BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),  -- SHA-256 of definition and parameters
  name        TEXT NOT NULL,   -- of the definition: 'dd-write'
  definition  TEXT NOT NULL,   -- its YAML
  parameters  TEXT NOT NULL    -- JSON object, ram-relative sizes kept relative
) STRICT;

CREATE TABLE sweep_workload (
  sweep_id     INTEGER NOT NULL REFERENCES sweep(id),
  workload_id  INTEGER NOT NULL REFERENCES workload(id),
  position     INTEGER NOT NULL,
  name         TEXT NOT NULL,   -- its name in the plan: 'as:', or the definition's
  PRIMARY KEY (sweep_id, workload_id),
  UNIQUE (sweep_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
  id           INTEGER PRIMARY KEY,
  workload_id  INTEGER NOT NULL REFERENCES workload(id),
  name         TEXT NOT NULL,              -- 'throughput'
  label        TEXT NOT NULL DEFAULT '',   -- of an 'each' metric: '4KiB,1MiB'; shown as name{label}
  unit         TEXT NOT NULL,              -- 'B/s' 'ns' '1/s' '%' ...
  better       TEXT NOT NULL CHECK (better IN ('higher', 'lower', 'neither')),
  UNIQUE (workload_id, name, label)
) STRICT;

-- Attempts are rows of their own.  Where stores meet, a trial is known by its sweep, config, workload, repetition and
-- started_ms.
CREATE TABLE trial (
  id              INTEGER PRIMARY KEY,
  cell_id         INTEGER NOT NULL REFERENCES cell(id),
  workload_id     INTEGER NOT NULL REFERENCES workload(id),
  repetition      INTEGER NOT NULL,   -- from 1
  state           TEXT NOT NULL CHECK (state IN ('running', 'ok', 'failed', 'interrupted', 'infeasible')),
  reason          TEXT NOT NULL DEFAULT '',
  environment_id  INTEGER REFERENCES environment(id),
  started_ms      INTEGER NOT NULL,
  elapsed_ns      INTEGER,   -- of the run step
  user_ns         INTEGER,   -- CPU time of the tools in user mode, all their children
  system_ns       INTEGER,
  read_bytes      INTEGER,   -- moved by the device during the run (diskstats)
  written_bytes   INTEGER,
  exit_status     INTEGER,   -- of the tool that decided; NULL if it was ended by a signal
  exit_signal     INTEGER
) STRICT;
-- One good trial a repetition; the others are told apart by their start.
CREATE UNIQUE INDEX trial_identity ON trial(cell_id, workload_id, repetition, CASE state WHEN 'ok' THEN 0 ELSE started_ms END);

CREATE TABLE trial_flag (     -- about one trial as a whole; see result_flag for what only several trials show
  trial_id  INTEGER NOT NULL REFERENCES trial(id),
  flag      TEXT NOT NULL,             -- 'cached' 'disturbed' 'suspect' ...
  reason    TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (trial_id, flag)
) STRICT, WITHOUT ROWID;

CREATE TABLE trial_fact (     -- further numbers about a trial: PSI, page cache, kernel threads
  trial_id  INTEGER NOT NULL REFERENCES trial(id),
  key       TEXT NOT NULL,
  value     REAL NOT NULL,
  PRIMARY KEY (trial_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurement (    -- of good trials only
  cell_id    INTEGER NOT NULL REFERENCES cell(id),
  metric_id  INTEGER NOT NULL REFERENCES metric(id),
  trial_id   INTEGER NOT NULL REFERENCES trial(id),
  value      REAL NOT NULL,   -- in metric.unit
  PRIMARY KEY (cell_id, metric_id, trial_id)
) STRICT, WITHOUT ROWID;

-- One row a cell and metric, written in the transaction that ends a cell (or a visit of it).
CREATE TABLE result (
  cell_id    INTEGER NOT NULL REFERENCES cell(id),
  metric_id  INTEGER NOT NULL REFERENCES metric(id),
  host_id    INTEGER NOT NULL REFERENCES host(id),     -- copied from the sweep, for the index
  config_id  INTEGER NOT NULL REFERENCES config(id),   -- copied from the cell, for the index; by config: cell_by_config
  value      REAL NOT NULL,      -- median or mean of the good trials
  min        REAL NOT NULL,
  max        REAL NOT NULL,
  n          INTEGER NOT NULL,   -- good trials behind it
  left_out   INTEGER NOT NULL DEFAULT 0,  -- attempts that failed or were interrupted
  trial_id   INTEGER REFERENCES trial(id),  -- the middle one; NULL for a mean and for an even count
  flags      TEXT NOT NULL DEFAULT '',      -- of the good trials and of result_flag, blank-separated, sorted
  PRIMARY KEY (cell_id, metric_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX result_best ON result(host_id, metric_id, value, config_id);

CREATE TABLE result_flag (    -- what the trials of a cell show together, metric by metric
  cell_id    INTEGER NOT NULL REFERENCES cell(id),
  metric_id  INTEGER NOT NULL REFERENCES metric(id),
  flag       TEXT NOT NULL,     -- 'spread': (max - min) / median above 10 %; 'drift': see origin
  origin     TEXT NOT NULL CHECK (origin IN ('cell', 'sweep')),
                                -- drift: 'cell', trials rise or fall strictly by more than 25 %;
                                -- 'sweep', they rise (or fall) strictly in most cells of the sweep
  reason     TEXT NOT NULL,
  PRIMARY KEY (cell_id, metric_id, flag, origin)
) STRICT, WITHOUT ROWID;

-- The undo journal: committed before the first change, replayed in reverse.
CREATE TABLE undo (
  id        INTEGER PRIMARY KEY,        -- order of the changes
  sweep_id  INTEGER NOT NULL REFERENCES sweep(id),
  boot_id   TEXT NOT NULL,              -- /proc/sys/kernel/random/boot_id; entries of another boot are dropped if they name kernel state
  step      TEXT NOT NULL,              -- the step that made the change
  kind      TEXT NOT NULL,              -- 'sysfs' 'sysctl' 'filesystem' 'image' 'cgroup' ...
  object    TEXT NOT NULL,              -- path, e.g. '/sys/block/loop0/queue/scheduler'
  identity  TEXT NOT NULL DEFAULT '',   -- of the device behind it: 'diskseq=9 wwn=...'
  original  TEXT NOT NULL,              -- value before the first change; '' where there is none
  state     TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'dropped', 'failed')),
  reason    TEXT NOT NULL DEFAULT '',
  at_ms     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX undo_pending ON undo(sweep_id, kind, object) WHERE state = 'pending';

CREATE TABLE event (
  id        INTEGER PRIMARY KEY,
  sweep_id  INTEGER NOT NULL REFERENCES sweep(id),
  at_ms     INTEGER NOT NULL,
  kind      TEXT NOT NULL,   -- 'submitted' 'started' 'cell' 'trial' 'paused' 'resumed' 'restored' 'flag' ...
  text      TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_sweep ON event(sweep_id, id);

-- Raw output of a trial's steps, zlib-compressed and bounded, so that new metrics can be extracted later.
CREATE TABLE output (
  trial_id   INTEGER NOT NULL REFERENCES trial(id),
  step       TEXT NOT NULL,      -- 'run', 'run.2' for the second stream, 'prepare', ...
  stream     TEXT NOT NULL CHECK (stream IN ('stdout', 'stderr')),
  bytes      INTEGER NOT NULL,   -- as printed, before bounding
  kept       INTEGER NOT NULL,   -- bytes kept, before compression
  data       BLOB NOT NULL,      -- zlib (RFC 1950)
  PRIMARY KEY (trial_id, step, stream)
) STRICT;
