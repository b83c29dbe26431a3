-- The game stored last before the run's secret was first shown: later ones are of bots that were
-- changed then, whose authors could know the deals. NULL as long as it has not been shown.
ALTER TABLE run ADD COLUMN shown_after INTEGER;
UPDATE run SET shown_after = coalesce(
  (SELECT max(game.key) FROM game WHERE game.run = run.key AND game.started <= run.finished), 0
) WHERE finished IS NOT NULL;

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
  coalesce(ruleset, (SELECT run.ruleset FROM run WHERE run.id = run_id)) AS ruleset,
  (
    SELECT run.open_seed IS NOT NULL OR coalesce(judged_game.key > run.shown_after, 0)
    FROM run WHERE run.id = run_id
  ) AS deal_was_public
FROM judged_game;
