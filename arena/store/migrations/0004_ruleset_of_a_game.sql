-- What each game was played by: a run may mix rulesets. NULL in games of older releases.
ALTER TABLE game ADD COLUMN ruleset TEXT;

DROP VIEW games;
CREATE VIEW games AS
SELECT
  run_id AS run,
  id AS game,
  place,
  deal,
  x_name AS mister_x,
  d_name AS detectives,
  CASE
    WHEN x_out AND d_out THEN NULL
    WHEN x_out THEN 'detectives'
    WHEN d_out THEN 'mister_x'
    ELSE winner
  END AS winner,
  CASE WHEN x_out OR d_out THEN 'fault' ELSE reason END AS reason,
  CASE WHEN x_out THEN 'benched' WHEN d_out THEN NULL ELSE mister_x_fault END AS mister_x_fault,
  CASE WHEN d_out THEN 'benched' WHEN x_out THEN NULL ELSE detectives_fault END
    AS detectives_fault,
  rounds,
  started,
  took_s,
  host,
  marks,
  coalesce(ruleset, (SELECT run.ruleset FROM run WHERE run.id = run_id)) AS ruleset
FROM judged_game;
