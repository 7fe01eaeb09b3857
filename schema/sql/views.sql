-- Views for people who write SQL; made anew when a writer finds others.  Each line with a comment is a column, and
-- `iosweep sql` and iosweep-schema(7) say of it what the comment says.  Times are UTC, as 2026-11-30T21:04:05Z.

CREATE VIEW sweeps AS   -- one row a sweep
SELECT s.id AS sweep,   -- number, as iosweep show takes it
       lower(hex(s.uuid)) AS uuid,   -- the same in every store
       p.name AS plan,   -- name in the plan file
       p.about AS about,   -- what the plan says of itself
       h.name AS host,   -- where it ran
       s.state AS state,   -- queued, running, paused, done, failed, cancelled, imported
       s.reason AS reason,   -- why it is paused, failed or cancelled
       s.priority AS priority,   -- higher runs first
       s.target_kind AS target_kind,   -- device, image, directory, import
       s.target AS target,   -- name in the host's list, or the image's size
       s.submitter AS submitter,   -- login name
       s.cells AS cells,   -- in the matrix
       s.cells_ended AS cells_ended,   -- ok, infeasible or failed so far
       s.trials_per_cell AS trials_per_cell,   -- repetitions of all workloads
       s.trials_ok AS trials_ok,   -- good trials so far
       s.keep AS keep,   -- median, mean, or single (a published figure)
       s.source AS source,   -- where an imported table came from
       s.note AS note,   -- by iosweep annotate
       strftime('%Y-%m-%dT%H:%M:%SZ', s.submitted_ms / 1000, 'unixepoch') AS submitted,   -- time
       strftime('%Y-%m-%dT%H:%M:%SZ', s.started_ms / 1000, 'unixepoch') AS started,   -- time, or NULL
       strftime('%Y-%m-%dT%H:%M:%SZ', s.ended_ms / 1000, 'unixepoch') AS ended,   -- time, or NULL
       (s.ended_ms - s.started_ms) / 1000.0 AS seconds   -- from start to end, pauses included
FROM sweep s JOIN plan p ON p.id = s.plan_id JOIN host h ON h.id = s.host_id;

CREATE VIEW cells AS   -- one row a cell that a sweep has reached
SELECT c.id AS cell,   -- number within this store
       c.sweep_id AS sweep,   -- see sweeps
       h.name AS host,   -- where it ran
       lower(hex(g.digest)) AS config,   -- digest of the settings, equal on every host
       c.position AS position,   -- from 0, in the plan's enumeration
       c.state AS state,   -- running, ok, infeasible, failed, partial
       c.reason AS reason,   -- why it is infeasible or failed
       (SELECT group_concat(text, ' ') FROM (SELECT x.name || '=' || v.value AS text FROM config_value k
           JOIN axis_value v ON v.id = k.axis_value_id JOIN axis x ON x.id = v.axis_id
           WHERE k.config_id = c.config_id ORDER BY x.name)) AS settings,   -- axis=value, kernel defaults left out
       strftime('%Y-%m-%dT%H:%M:%SZ', c.started_ms / 1000, 'unixepoch') AS started,   -- time
       strftime('%Y-%m-%dT%H:%M:%SZ', c.ended_ms / 1000, 'unixepoch') AS ended   -- time, or NULL
FROM cell c JOIN sweep s ON s.id = c.sweep_id JOIN host h ON h.id = s.host_id JOIN config g ON g.id = c.config_id;

CREATE VIEW settings AS   -- one row a cell and axis: what was asked for and what took effect
SELECT s.cell_id AS cell,   -- see cells
       c.sweep_id AS sweep,   -- see sweeps
       x.name AS axis,   -- filesystem, readahead, scheduler, mount, queue.nr_requests, label.hw ...
       r.text AS requested,   -- as the plan spells it
       v.text AS value,   -- canonical: sizes in bytes; kernel-default: left as found
       CASE WHEN v.text GLOB '[0-9]*' AND v.text NOT GLOB '*[^0-9.]*' THEN CAST(v.text AS REAL) END AS number,   -- value as a number, or NULL
       f.text AS effective,   -- read back from the machine; NULL: nothing to read
       CASE s.verdict WHEN 0 THEN '' WHEN 1 THEN 'confirmed' WHEN 2 THEN 'implied' WHEN 3 THEN 'unconfirmed'
                      ELSE 'contradicted' END AS verdict   -- confirmed, implied, unconfirmed, contradicted, or empty
FROM cell_setting s JOIN cell c ON c.id = s.cell_id JOIN axis x ON x.id = s.axis_id
     JOIN spelling r ON r.id = s.requested JOIN spelling v ON v.id = s.value LEFT JOIN spelling f ON f.id = s.effective;

CREATE VIEW results AS   -- one row a cell and metric: the figure that rankings and comparisons use
SELECT r.cell_id AS cell,   -- see cells
       c.sweep_id AS sweep,   -- see sweeps
       p.name AS plan,   -- name in the plan file
       h.name AS host,   -- where it ran
       w.name AS workload,   -- its name in the plan
       x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END AS metric,   -- throughput, latency{4KiB} ...
       r.value AS value,   -- median (or mean: sweeps.keep) of the good trials, in unit
       r.min AS min,   -- of the good trials
       r.max AS max,   -- of the good trials
       r.n AS n,   -- good trials
       r.left_out AS left_out,   -- attempts that failed or were interrupted
       CASE r.value WHEN 0 THEN 0.0 ELSE (r.max - r.min) / abs(r.value) END AS spread,   -- (max - min) / value
       x.unit AS unit,   -- B/s, ns, 1/s, % ...
       x.better AS better,   -- higher, lower, neither
       x.is_detail AS detail,   -- 1: in reports only where it is asked for by name
       r.trial_id AS trial,   -- the middle one; NULL for a mean and an even count
       r.flags AS flags   -- cached disturbed drift spread suspect ..., see flags
FROM result r JOIN cell c ON c.id = r.cell_id JOIN sweep s ON s.id = c.sweep_id JOIN plan p ON p.id = s.plan_id
     JOIN host h ON h.id = s.host_id JOIN metric x ON x.id = r.metric_id
     JOIN sweep_workload w ON w.sweep_id = s.id AND w.workload_id = x.workload_id;

CREATE VIEW trials AS   -- one row a trial, attempts that failed included
SELECT t.id AS trial,   -- number within this store
       t.cell_id AS cell,   -- see cells
       c.sweep_id AS sweep,   -- see sweeps
       h.name AS host,   -- where it ran
       w.name AS workload,   -- its name in the plan
       t.repetition AS repetition,   -- from 1; one good trial each
       t.state AS state,   -- running, ok, failed, interrupted, infeasible
       t.reason AS reason,   -- why it is not ok
       strftime('%Y-%m-%dT%H:%M:%SZ', t.started_ms / 1000, 'unixepoch') AS started,   -- time
       t.elapsed_ns / 1e9 AS elapsed,   -- seconds of the run step
       t.user_ns / 1e9 AS user,   -- CPU seconds of the tools in user mode
       t.system_ns / 1e9 AS system,   -- CPU seconds of the tools in the kernel
       nullif(t.read_bytes, -1) AS read_bytes,   -- moved by the device during the run; NULL: not known
       nullif(t.written_bytes, -1) AS written_bytes,   -- moved by the device during the run; NULL: not known
       t.exit_status AS exit_status,   -- of the tool that decided; NULL if a signal ended it
       t.exit_signal AS exit_signal,   -- the signal, or NULL
       t.environment_id AS environment   -- see environment_fact
FROM trial t JOIN cell c ON c.id = t.cell_id JOIN sweep s ON s.id = c.sweep_id JOIN host h ON h.id = s.host_id
     JOIN sweep_workload w ON w.sweep_id = s.id AND w.workload_id = t.workload_id;

CREATE VIEW measurements AS   -- one row a good trial and metric
SELECT m.trial_id AS trial,   -- see trials
       m.cell_id AS cell,   -- see cells
       c.sweep_id AS sweep,   -- see sweeps
       w.name AS workload,   -- its name in the plan
       t.repetition AS repetition,   -- from 1
       x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END AS metric,   -- as in results
       m.value AS value,   -- in unit
       x.unit AS unit   -- B/s, ns, 1/s, % ...
FROM measurement m JOIN trial t ON t.id = m.trial_id JOIN cell c ON c.id = m.cell_id JOIN metric x ON x.id = m.metric_id
     JOIN sweep_workload w ON w.sweep_id = c.sweep_id AND w.workload_id = x.workload_id;

CREATE VIEW flags AS   -- one row a doubt about a figure, with its reason
SELECT t.cell_id AS cell,   -- see cells
       t.id AS trial,   -- the trial it is about; NULL: what the trials of a cell show together
       '' AS metric,   -- the metric it is about; empty: the whole trial
       f.flag AS flag,   -- cached, disturbed, suspect; spread, drift, inconsistent
       f.reason AS reason   -- in words
FROM trial_flag f JOIN trial t ON t.id = f.trial_id
UNION ALL
SELECT f.cell_id, NULL, x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END, f.flag, f.reason
FROM result_flag f JOIN metric x ON x.id = f.metric_id;

CREATE VIEW steps AS   -- one row a step that ran or was undone
SELECT c.sweep_id AS sweep,   -- see sweeps
       r.cell_id AS cell,   -- see cells
       r.n AS n,   -- from 1, in the order recorded
       r.step AS step,   -- claim, layout, queue, format, mount, tune, confine
       r.state AS state,   -- done, failed, undone
       r.elapsed_ns / 1e9 AS seconds   -- of the run or the undo
FROM step_run r JOIN cell c ON c.id = r.cell_id;

CREATE VIEW events AS   -- one row a line of a sweep's log
SELECT v.sweep_id AS sweep,   -- see sweeps
       strftime('%Y-%m-%dT%H:%M:%SZ', v.at_ms / 1000, 'unixepoch') AS at,   -- time
       v.kind AS kind,   -- submitted, state, cell, flag, restored ...
       v.text AS text   -- in words
FROM event v;

CREATE VIEW environments AS   -- one row a fact of host, kernel, device and tools that trials ran under
SELECT f.environment_id AS environment,   -- see trials
       f.key AS key,   -- kernel.release, tool.fio, device.model ...
       f.value AS value,   -- text
       f.class AS class   -- identity, context, volatile (as first seen; does not tell environments apart)
FROM environment_fact f;

CREATE VIEW cell_value AS   -- the table cell_setting with its texts
SELECT s.cell_id,   -- see cells
       s.axis_id,   -- in the table axis
       r.text AS requested,   -- as in settings
       v.text AS value,   -- as in settings
       f.text AS effective,   -- as in settings
       CASE s.verdict WHEN 0 THEN '' WHEN 1 THEN 'confirmed' WHEN 2 THEN 'implied' WHEN 3 THEN 'unconfirmed'
                      ELSE 'contradicted' END AS verdict   -- as in settings
FROM cell_setting s JOIN spelling r ON r.id = s.requested JOIN spelling v ON v.id = s.value
     LEFT JOIN spelling f ON f.id = s.effective;

CREATE VIEW step_run AS   -- the table step_time with a row for each run and each undo
SELECT t.cell_id,   -- see cells
       t.n,   -- from 1, in the order recorded
       t.step,   -- as in steps
       t.run_ns AS elapsed_ns,   -- nanoseconds
       CASE t.failed WHEN 1 THEN 'failed' ELSE 'done' END AS state   -- done, failed, undone
FROM step_time t WHERE t.run_ns IS NOT NULL
UNION ALL
SELECT u.cell_id, u.n, u.step, u.undo_ns, 'undone' FROM step_time u WHERE u.undo_ns IS NOT NULL;
