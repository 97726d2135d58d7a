-- A store of 0.1.0, made by its code from test/released-rows.ts and dumped. Never edit it.
PRAGMA application_id = 1095519566;
PRAGMA user_version = 7;
CREATE TABLE revision (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL, labels INTEGER NOT NULL DEFAULT 0);
INSERT INTO revision VALUES (1, 12, 1);
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO secrets VALUES ('cursor', X'6D0CBC29408B0E4D7E6BF4D4967611857A6D1138A83700D22B45C0F2AD56F561');
CREATE TABLE checkpoints (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO checkpoints VALUES ('feed', 'here');
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO leases VALUES ('follow eth', 'holder', 1, 1794829710442);
CREATE TABLE chains (
  ordinal INTEGER PRIMARY KEY,
  id INTEGER NOT NULL UNIQUE,
  head_number INTEGER,
  head_hash BLOB,
  head_timestamp INTEGER,
  finalized INTEGER NOT NULL DEFAULT -1
);
INSERT INTO chains VALUES (1, 1, 9002, X'000000000000000000000000000000000000000000000000000000000000232A', 1600108024, 9000);
INSERT INTO chains VALUES (2, 137, NULL, NULL, NULL, 3);
CREATE TABLE contracts (
  id INTEGER PRIMARY KEY,
  chain INTEGER NOT NULL REFERENCES chains,
  address BLOB NOT NULL,
  transfers INTEGER NOT NULL DEFAULT 0,
  has_ranges INTEGER NOT NULL DEFAULT 0,
  UNIQUE (address, chain)
);
INSERT INTO contracts VALUES (1, 1, X'C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1', 3, 0);
INSERT INTO contracts VALUES (2, 1, X'C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2', 70000, 1);
INSERT INTO contracts VALUES (3, 2, X'C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1', 1, 0);
CREATE TABLE transfers (
  contract INTEGER NOT NULL,
  block INTEGER NOT NULL,
  tx INTEGER NOT NULL,
  log INTEGER NOT NULL,
  pos INTEGER NOT NULL,
  payload BLOB NOT NULL,
  PRIMARY KEY (contract, block DESC, tx DESC, log DESC, pos DESC)
) WITHOUT ROWID;
INSERT INTO transfers VALUES (1, 9000, 1, 2, 1, X'9B2002012B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2BF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F70B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B8000000000000000000000000000000000000000000000000000000000000000012C07');
INSERT INTO transfers VALUES (1, 9000, 1, 2, 0, X'9B2001012B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2BF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F70B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B80000000000000000000000000000000000000000000000000000000000000000007');
INSERT INTO transfers VALUES (1, 7, 1, 2, 0, X'040100001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1AF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F701');
INSERT INTO transfers VALUES (2, 7, 1, 3, 0, X'E00000001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1AF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F70D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D00011170');
INSERT INTO transfers VALUES (3, 3, 1, 2, 0, X'040100001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1AF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F701');
CREATE TABLE transfer_counts (
  contract INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  transfers INTEGER NOT NULL,
  PRIMARY KEY (contract, bucket)
) WITHOUT ROWID;
INSERT INTO transfer_counts VALUES (1, 0, 1);
INSERT INTO transfer_counts VALUES (1, 2, 2);
INSERT INTO transfer_counts VALUES (2, 0, 70000);
INSERT INTO transfer_counts VALUES (3, 0, 1);
CREATE TABLE blocks (key INTEGER PRIMARY KEY, hash BLOB NOT NULL, timestamp INTEGER NOT NULL);
INSERT INTO blocks VALUES (2199023246551, X'0000000000000000000000000000000000000000000000000000000000002328', 1600108000);
INSERT INTO blocks VALUES (2199023255544, X'0000000000000000000000000000000000000000000000000000000000000007', 1600000084);
INSERT INTO blocks VALUES (2199023255551, X'0000000000000000000000000000000000000000000000000000000000000000', 1600000000);
INSERT INTO blocks VALUES (3298534883324, X'0000000000000000000000000000000000000000000000000000000000000003', 1600000036);
CREATE TABLE hot_transfers (
  contract INTEGER NOT NULL,
  block INTEGER NOT NULL,
  tx INTEGER NOT NULL,
  log INTEGER NOT NULL,
  pos INTEGER NOT NULL,
  payload BLOB NOT NULL,
  chain INTEGER NOT NULL,
  PRIMARY KEY (contract, block DESC, tx DESC, log DESC, pos DESC)
) WITHOUT ROWID;
INSERT INTO hot_transfers VALUES (1, 9001, 1, 2, 0, X'440100001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1AF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F701', 1);
CREATE INDEX hot_transfers_by_block ON hot_transfers (chain, block);
CREATE TABLE hot_blocks (key INTEGER PRIMARY KEY, hash BLOB NOT NULL, timestamp INTEGER NOT NULL);
INSERT INTO hot_blocks VALUES (2199023246550, X'0000000000000000000000000000000000000000000000000000000000002329', 1600108012);
CREATE TABLE coverage (
  chain INTEGER NOT NULL,
  scope BLOB NOT NULL,
  from_block INTEGER NOT NULL,
  to_block INTEGER NOT NULL,
  evidence TEXT NOT NULL,
  PRIMARY KEY (chain, scope, from_block)
) WITHOUT ROWID;
INSERT INTO coverage VALUES (1, 'full', 0, 9000, 'bloom');
INSERT INTO coverage VALUES (1, 'full', 9001, 9001, 'two-endpoints');
INSERT INTO coverage VALUES (1, X'C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1', 5, 7, 'receipts-root');
CREATE TABLE watched_contracts (
  chain INTEGER NOT NULL,
  contract BLOB NOT NULL,
  watched_from INTEGER NOT NULL,
  PRIMARY KEY (chain, contract)
) WITHOUT ROWID;
INSERT INTO watched_contracts VALUES (1, X'C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2C2', 12);
CREATE TABLE solana_accounts (
  network INTEGER NOT NULL,
  owner BLOB NOT NULL,
  lamports TEXT NOT NULL,
  slot INTEGER NOT NULL,
  chain_time INTEGER NOT NULL,
  read_at_ms INTEGER NOT NULL,
  -- The slot of the last reading with all holdings; NULL while there was none.
  reading_slot INTEGER,
  PRIMARY KEY (network, owner)
) WITHOUT ROWID;
INSERT INTO solana_accounts VALUES (1, X'0202020202020202020202020202020202020202020202020202020202020202', '7', 3, 1, 2, NULL);
CREATE TABLE solana_holdings (
  network INTEGER NOT NULL,
  account BLOB NOT NULL,
  owner BLOB,
  mint BLOB,
  amount TEXT,
  program TEXT,
  slot INTEGER NOT NULL,
  write_version BLOB NOT NULL,
  closed_at_ms INTEGER,
  PRIMARY KEY (network, account)
) WITHOUT ROWID;
INSERT INTO solana_holdings VALUES (1, X'0101010101010101010101010101010101010101010101010101010101010101', X'0202020202020202020202020202020202020202020202020202020202020202', X'0303030303030303030303030303030303030303030303030303030303030303', '18446744073709551615', 'token', 5, X'8000000000000000', NULL);
INSERT INTO solana_holdings VALUES (1, X'0404040404040404040404040404040404040404040404040404040404040404', NULL, NULL, NULL, NULL, 6, X'0000000000000009', 1794829710437);
CREATE INDEX solana_holdings_by_owner ON solana_holdings (network, owner) WHERE owner IS NOT NULL;
CREATE INDEX solana_holdings_closed ON solana_holdings (closed_at_ms) WHERE closed_at_ms IS NOT NULL;
CREATE TABLE solana_mints (
  network INTEGER NOT NULL,
  mint BLOB NOT NULL,
  account_slot INTEGER,
  account_read_at_ms INTEGER,
  program TEXT,
  decimals INTEGER,
  supply TEXT,
  name TEXT,
  symbol TEXT,
  amount_rule TEXT,
  metadata_slot INTEGER,
  metadata_read_at_ms INTEGER,
  metadata_name TEXT,
  metadata_symbol TEXT,
  token_standard INTEGER,
  PRIMARY KEY (network, mint)
) WITHOUT ROWID;
INSERT INTO solana_mints VALUES (1, X'0303030303030303030303030303030303030303030303030303030303030303', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 4, 1, CAST(X'6E756C200020616E6420E29C93' AS TEXT), NULL, 2);
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  rate_per_second REAL,
  quota_per_day INTEGER,
  index_per_day INTEGER
) WITHOUT ROWID;
INSERT INTO keys VALUES ('k', 'key', 'ab', '["a"]', 1, NULL, 2, 1.5, 7, 7);
CREATE TABLE key_uses (
  day TEXT NOT NULL,
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, key_id, operation)
) WITHOUT ROWID;
INSERT INTO key_uses VALUES ('2026-01-01', 'k', 'x', 3);
CREATE TABLE labels (
  address BLOB NOT NULL,
  chain INTEGER NOT NULL,
  source TEXT NOT NULL,
  rank INTEGER NOT NULL,
  label TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (address, chain, source)
) WITHOUT ROWID;
INSERT INTO labels VALUES (X'F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7', 0, 'list', 1, CAST(X'6E756C200020616E6420E29C93' AS TEXT), 5);
INSERT INTO labels VALUES (X'F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7', 2, 'me', 0, 'pinned', 6);
CREATE TABLE contract_facts (
  chain INTEGER NOT NULL,
  contract BLOB NOT NULL,
  name TEXT,
  symbol TEXT,
  possible_spam INTEGER NOT NULL, reading TEXT, verdict TEXT,
  PRIMARY KEY (chain, contract)
) WITHOUT ROWID;
INSERT INTO contract_facts VALUES (1, X'C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1', 'Tokens', NULL, 1, '{"interfaces":["erc721"],"readAtMs":3}', '{"rulesVersion":1,"score":2,"reasons":[],"basis":"3","judgedAtMs":4}');
CREATE VIEW readable_blocks AS
WITH every AS (SELECT *, 'cold' AS temperature FROM blocks UNION ALL SELECT *, 'hot' FROM hot_blocks)
SELECT chains.id AS chain, 1099511627775 - every.key % 1099511627776 AS number, '0x' || lower(hex(hash)) AS hash,
  datetime(timestamp, 'unixepoch') AS time, temperature
FROM every JOIN chains ON chains.ordinal = every.key / 1099511627776;
CREATE VIEW readable_coverage AS
SELECT chains.id AS chain, iif(typeof(scope) = 'text', scope, '0x' || lower(hex(scope))) AS scope, from_block, to_block, evidence
FROM coverage JOIN chains ON chains.ordinal = coverage.chain;
CREATE TABLE contract_marks (
  chain INTEGER NOT NULL,
  contract BLOB NOT NULL,
  source TEXT NOT NULL,
  rank INTEGER NOT NULL,
  verified INTEGER,
  spam INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (chain, contract, source)
) WITHOUT ROWID;
INSERT INTO contract_marks VALUES (1, X'C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1', 'list', 1, 1, NULL, 4);
CREATE VIEW readable_transfers AS
WITH every AS (
  SELECT contract, block, tx, log, pos, payload, 'cold' AS temperature FROM transfers
  UNION ALL SELECT contract, block, tx, log, pos, payload, 'hot' FROM hot_transfers
), opened AS (
  SELECT *, hex(payload) AS digits FROM every
), flagged AS (
  SELECT *, (instr('0123456789ABCDEF', substr(digits, 1, 1)) - 1) * 16 + instr('0123456789ABCDEF', substr(digits, 2, 1)) - 1 AS flags
  FROM opened
), measured AS (
  SELECT *, (instr('0123456789ABCDEF', substr(digits, 3, 1)) - 1) * 16 + instr('0123456789ABCDEF', substr(digits, 4, 1)) - 1 AS id_bytes,
    (instr('0123456789ABCDEF', substr(digits, 5, 1)) - 1) * 16 + instr('0123456789ABCDEF', substr(digits, 6, 1)) - 1 AS amount_bytes,
    (instr('0123456789ABCDEF', substr(digits, 7, 1)) - 1) * 16 + instr('0123456789ABCDEF', substr(digits, 8, 1)) - 1 AS value_bytes,
    iif(flags & 8, 0, 40) AS to_digits, iif(flags & 4, 0, 40) AS from_digits, iif(flags & 16, 40, 0) AS operator_digits
  FROM flagged
), placed AS (
  SELECT *, 73 + to_digits + from_digits + operator_digits AS id_at FROM measured
)
SELECT chains.id AS chain, '0x' || lower(hex(contracts.address)) AS contract, block, tx, log, pos, temperature,
  iif(flags & 1, 'ERC1155', 'ERC721') AS standard,
  iif(flags & 2, 'Batch', 'Single') AS type,
  '0x' || lower(substr(digits, 9, 64)) AS transaction_hash,
  iif(flags & 4, '0x0000000000000000000000000000000000000000', '0x' || lower(substr(digits, 73 + to_digits, 40))) AS from_address,
  iif(flags & 8, '0x0000000000000000000000000000000000000000', '0x' || lower(substr(digits, 73, 40))) AS to_address,
  iif(flags & 16, '0x' || lower(substr(digits, 73 + to_digits + from_digits, 40)), NULL) AS operator,
  '0x' || coalesce(nullif(lower(substr(digits, id_at, 2 * id_bytes)), ''), '0') AS token_id,
  '0x' || coalesce(nullif(lower(substr(digits, id_at + 2 * id_bytes, 2 * amount_bytes)), ''), '1') AS amount,
  '0x' || coalesce(nullif(lower(substr(digits, id_at + 2 * (id_bytes + amount_bytes), 2 * value_bytes)), ''), '0') AS value,
  iif(flags & 32, '0x' || lower(substr(digits, -8)), '0x1') AS id_count,
  CASE flags / 64 WHEN 1 THEN 'recipient' WHEN 2 THEN 'giver' WHEN 3 THEN 'other' END AS sent_by
FROM placed JOIN contracts ON contracts.id = placed.contract JOIN chains ON chains.ordinal = contracts.chain;
CREATE TABLE "activity" (
  address BLOB NOT NULL,
  chain INTEGER NOT NULL,
  first BLOB NOT NULL,
  last BLOB,
  PRIMARY KEY (address, chain)
) WITHOUT ROWID;
INSERT INTO activity VALUES (X'C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1C1', 1, X'000000070000006553F1001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A', NULL);
INSERT INTO activity VALUES (X'F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7', 1, X'000000070000006553F1001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A', X'000023283FFFFDFFFFFFFF2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B2B');
INSERT INTO activity VALUES (X'F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7', 2, X'000000070000006553F1001A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A', NULL);
CREATE TABLE "hot_activity" (
  address BLOB NOT NULL,
  chain INTEGER NOT NULL,
  block INTEGER NOT NULL,
  first BLOB NOT NULL,
  last BLOB,
  PRIMARY KEY (address, chain, block)
) WITHOUT ROWID;
INSERT INTO hot_activity VALUES (X'F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7', 1, 9001, X'0000232900000E000000003C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C3C', NULL);
CREATE INDEX hot_activity_by_block ON hot_activity (chain, block);
CREATE VIEW readable_activity AS
WITH every AS (
  SELECT address, chain, first, last, 'cold' AS temperature FROM activity
  UNION ALL SELECT address, chain, first, last, 'hot' FROM hot_activity
)
SELECT chains.id AS chain, '0x' || lower(hex(address)) AS address, temperature,
  (((instr('0123456789ABCDEF', substr(hex(first), 1, 1)) - 1) << 28) | ((instr('0123456789ABCDEF', substr(hex(first), 2, 1)) - 1) << 24) | ((instr('0123456789ABCDEF', substr(hex(first), 3, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(first), 4, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(first), 5, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(first), 6, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(first), 7, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(first), 8, 1)) - 1) << 0)) AS first_block, (((instr('0123456789ABCDEF', substr(hex(first), 9, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(first), 10, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(first), 11, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(first), 12, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(first), 13, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(first), 14, 1)) - 1) << 0)) >> 2 AS first_tx,
  '0x' || lower(substr(hex(first), 23)) AS first_hash, datetime((((((instr('0123456789ABCDEF', substr(hex(first), 9, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(first), 10, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(first), 11, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(first), 12, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(first), 13, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(first), 14, 1)) - 1) << 0)) & 3) << 32) | (((instr('0123456789ABCDEF', substr(hex(first), 15, 1)) - 1) << 28) | ((instr('0123456789ABCDEF', substr(hex(first), 16, 1)) - 1) << 24) | ((instr('0123456789ABCDEF', substr(hex(first), 17, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(first), 18, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(first), 19, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(first), 20, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(first), 21, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(first), 22, 1)) - 1) << 0)), 'unixepoch') AS first_time,
  (((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 1, 1)) - 1) << 28) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 2, 1)) - 1) << 24) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 3, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 4, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 5, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 6, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 7, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 8, 1)) - 1) << 0)) AS last_block, (((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 9, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 10, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 11, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 12, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 13, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 14, 1)) - 1) << 0)) >> 2 AS last_tx,
  '0x' || lower(substr(hex(coalesce(last, first)), 23)) AS last_hash, datetime((((((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 9, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 10, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 11, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 12, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 13, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 14, 1)) - 1) << 0)) & 3) << 32) | (((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 15, 1)) - 1) << 28) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 16, 1)) - 1) << 24) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 17, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 18, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 19, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 20, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 21, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(hex(coalesce(last, first)), 22, 1)) - 1) << 0)), 'unixepoch') AS last_time
FROM every JOIN chains ON chains.ordinal = every.chain;
CREATE TABLE label_changes (count INTEGER PRIMARY KEY, ranges BLOB NOT NULL);
INSERT INTO label_changes VALUES (1, X'F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7');
