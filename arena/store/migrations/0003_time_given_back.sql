-- By how much a bot's deadlines were moved since the machine kept it from running, milliseconds;
-- NULL in games that were played before this was counted.
ALTER TABLE seat ADD COLUMN given_back_ms REAL;

DROP VIEW times;
CREATE VIEW times AS
SELECT
  g.run_id AS run,
  g.id AS game,
  seat.side AS side,
  CASE seat.side WHEN 'mister_x' THEN g.x_name ELSE g.d_name END AS bot,
  seat.start_ms AS start_ms,
  seat.answers AS answers,
  seat.total_ms AS total_ms,
  seat.p50_ms AS p50_ms,
  seat.p95_ms AS p95_ms,
  seat.max_ms AS max_ms,
  seat.off_turn_ms AS off_turn_ms,
  seat.given_back_ms AS given_back_ms
FROM judged_game AS g
JOIN seat ON seat.game = g.key;
