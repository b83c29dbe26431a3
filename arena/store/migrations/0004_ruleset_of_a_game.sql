-- What each game was played by: a run may mix rulesets. NULL in games of older releases.
ALTER TABLE game ADD COLUMN ruleset TEXT;

DROP VIEW judged_game;
CREATE VIEW judged_game AS
SELECT
  game.*,
  run.id AS run_id,
  run.ruleset AS run_ruleset,
  x.name AS x_name,
  d.name AS d_name,
  coalesce(game.place >= x.benched, 0) AS x_out,
  coalesce(game.place >= d.benched, 0) AS d_out
FROM game
JOIN run ON run.key = game.run
JOIN bot AS x ON x.key = game.mister_x AND x.current
JOIN bot AS d ON d.key = game.detectives AND d.current;

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
  coalesce(ruleset, run_ruleset) AS ruleset
FROM judged_game;
