-- 1: first played with when the run's secret had been shown, so its author could know the deals.
ALTER TABLE bot ADD COLUMN after_secret INTEGER NOT NULL DEFAULT 0;
UPDATE bot SET after_secret = 1 WHERE EXISTS (
  SELECT 1 FROM run WHERE run.key = bot.run AND run.finished IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM game
    WHERE game.run = run.key AND bot.key IN (game.mister_x, game.detectives)
    AND game.started <= run.finished
  )
);

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
    SELECT max(run.open_seed IS NOT NULL OR bot.after_secret)
    FROM run JOIN bot ON bot.key IN (judged_game.mister_x, judged_game.detectives)
    WHERE run.id = run_id
  ) AS deal_was_public
FROM judged_game;
