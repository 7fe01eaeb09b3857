-- Views for people who write SQL; made anew when a writer finds others.  See iosweep-schema(7).

CREATE VIEW cell_value AS   -- cell_setting with its texts
SELECT s.cell_id, s.axis_id, r.text AS requested, v.text AS value, f.text AS effective,
       CASE s.verdict WHEN 0 THEN '' WHEN 1 THEN 'confirmed' WHEN 2 THEN 'implied' WHEN 3 THEN 'unconfirmed'
                      ELSE 'contradicted' END AS verdict
FROM cell_setting s JOIN spelling r ON r.id = s.requested JOIN spelling v ON v.id = s.value
     LEFT JOIN spelling f ON f.id = s.effective;

CREATE VIEW step_run AS   -- step_time with a row for each run and each undo
SELECT cell_id, n, step, run_ns AS elapsed_ns, CASE failed WHEN 1 THEN 'failed' ELSE 'done' END AS state
FROM step_time WHERE run_ns IS NOT NULL
UNION ALL
SELECT cell_id, n, step, undo_ns, 'undone' FROM step_time WHERE undo_ns IS NOT NULL;

CREATE VIEW trials AS   -- one row a trial, attempts included
SELECT t.id AS trial, t.state FROM trial t;
