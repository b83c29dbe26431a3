-- Tables are named in the singular and may change from release to release; the views in the plural
-- are what scripts read, and are a promise (arena/store/README.md).

CREATE TABLE run (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,          -- 10 hex digits
  identity TEXT NOT NULL,           -- of the plan: all but the secret and what bots consist of
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'over')),
  created TEXT NOT NULL,            -- UTC, ISO 8601
  touched TEXT NOT NULL,            -- last begun or gone on with
  finished TEXT,
  arena TEXT NOT NULL,              -- version that began it
  kind TEXT NOT NULL,
  ruleset TEXT NOT NULL,
  behaviour INTEGER NOT NULL,
  deals INTEGER NOT NULL,
  planned INTEGER NOT NULL,         -- games
  pairs INTEGER NOT NULL,           -- game pairs
  commitment TEXT NOT NULL,         -- SHA-256 of the secret
  open_seed TEXT,
  plan BLOB NOT NULL                -- JSON, the secret included
);
CREATE INDEX run_by_identity ON run (identity, touched);

CREATE TABLE bot (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  number INTEGER NOT NULL,          -- place among the plan's entrants, from 0
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  hash TEXT NOT NULL,
  current INTEGER NOT NULL,         -- 0: its folder was changed since; its games count no more
  benched INTEGER,                  -- number of the first game that it is benched in
  UNIQUE (run, number, hash)
);

CREATE TABLE game (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  id TEXT NOT NULL,                 -- 20 hex digits, made from the plan alone
  place INTEGER NOT NULL,           -- in the plan, from 0
  deal INTEGER NOT NULL,
  mister_x INTEGER NOT NULL REFERENCES bot,
  detectives INTEGER NOT NULL REFERENCES bot,
  winner TEXT CHECK (winner IN ('mister_x', 'detectives')),
  reason TEXT NOT NULL,
  mister_x_fault TEXT,
  detectives_fault TEXT,
  rounds INTEGER NOT NULL,
  started TEXT NOT NULL,            -- UTC, ISO 8601
  took_s REAL NOT NULL,
  host TEXT NOT NULL,
  marks TEXT NOT NULL,              -- words with a space between them
  UNIQUE (id, run)                  -- in this order: games are looked up by id in all runs
);
CREATE INDEX game_by_place ON game (run, place);

-- One side of one game: what its bot was charged, and its fault.
CREATE TABLE seat (
  game INTEGER NOT NULL REFERENCES game,
  side TEXT NOT NULL CHECK (side IN ('mister_x', 'detectives')),
  start_ms REAL,                    -- from spawn to the first `ready`
  answers INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  p50_ms REAL,                      -- NULL if there was no answer
  p95_ms REAL,
  max_ms REAL,
  charged_us BLOB NOT NULL,         -- each answer in order, 32-bit little-endian microseconds
  fault TEXT,
  phase TEXT,
  fault_text TEXT,
  hint TEXT,
  PRIMARY KEY (game, side)
) WITHOUT ROWID;

-- zlib over JSON; `core` is what compares byte for byte.
CREATE TABLE record (
  game INTEGER PRIMARY KEY REFERENCES game,
  format INTEGER NOT NULL,
  core BLOB NOT NULL
);

-- zlib over JSON: notes, times, stderr, log, evidence.
CREATE TABLE remainder (
  game INTEGER PRIMARY KEY REFERENCES game,
  text BLOB NOT NULL
);

-- A play that counts for nobody. The game is played again, unless the row is final.
CREATE TABLE void (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  deal INTEGER NOT NULL,
  mister_x INTEGER NOT NULL REFERENCES bot,
  detectives INTEGER NOT NULL REFERENCES bot,
  why TEXT NOT NULL,
  at TEXT NOT NULL,                 -- UTC, ISO 8601
  charged INTEGER NOT NULL,         -- 0: the run was stopped; it is none of the plays a game has
  final INTEGER NOT NULL,
  text BLOB                         -- zlib over JSON: the record, if there is one
);
CREATE INDEX void_by_place ON void (run, place);

CREATE VIEW runs AS
SELECT
  id AS run, state, created, finished, arena, kind, ruleset, behaviour, deals, planned, pairs,
  commitment, open_seed
FROM run;

CREATE VIEW bots AS
SELECT
  run.id AS run, bot.number AS number, bot.name AS bot, bot.version AS version, bot.hash AS hash,
  bot.current AS is_current, bot.benched AS benched_from
FROM bot JOIN run ON run.key = bot.run;

-- Not for scripts: what the three views below share. Benching goes by the plan, not by the play.
CREATE VIEW judged_game AS
SELECT
  game.*,
  run.id AS run_id,
  x.name AS x_name,
  d.name AS d_name,
  coalesce(game.place >= x.benched, 0) AS x_out,
  coalesce(game.place >= d.benched, 0) AS d_out
FROM game
JOIN run ON run.key = game.run
JOIN bot AS x ON x.key = game.mister_x AND x.current
JOIN bot AS d ON d.key = game.detectives AND d.current;

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
  marks
FROM judged_game;

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
  seat.max_ms AS max_ms
FROM judged_game AS g
JOIN seat ON seat.game = g.key;

CREATE VIEW faults AS
SELECT
  g.run_id AS run,
  g.id AS game,
  g.place AS place,
  seat.side AS side,
  CASE seat.side WHEN 'mister_x' THEN g.x_name ELSE g.d_name END AS bot,
  CASE WHEN g.x_out OR g.d_out THEN 'benched' ELSE seat.fault END AS kind,
  CASE WHEN g.x_out OR g.d_out THEN NULL ELSE seat.phase END AS phase,
  CASE WHEN g.x_out OR g.d_out THEN NULL ELSE seat.fault_text END AS text,
  CASE WHEN g.x_out OR g.d_out THEN NULL ELSE seat.hint END AS hint
FROM judged_game AS g
JOIN seat ON seat.game = g.key
WHERE
  CASE
    WHEN g.x_out OR g.d_out
      THEN CASE seat.side WHEN 'mister_x' THEN g.x_out ELSE g.d_out END
    ELSE seat.fault IS NOT NULL
  END;

CREATE VIEW voids AS
SELECT
  run.id AS run, void.id AS game, void.place AS place, void.deal AS deal,
  x.name AS mister_x, d.name AS detectives, void.why AS why, void.at AS at, void.final AS is_final
FROM void
JOIN run ON run.key = void.run
JOIN bot AS x ON x.key = void.mister_x AND x.current
JOIN bot AS d ON d.key = void.detectives AND d.current;
