-- A store of 0.1.0: the steps that its code ran, and the rows that it kept of test/released-rows.ts. Never edit it.
CREATE TABLE revisions (id int4 PRIMARY KEY, value int8 NOT NULL) WITH (fillfactor = 20);
INSERT INTO revisions SELECT id, 0 FROM generate_series(0, 63) AS id;
CREATE TABLE secrets (name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE checkpoints (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE leases (name text PRIMARY KEY, holder text, token int8 NOT NULL, expires_at timestamptz NOT NULL);

-- Not identity columns: Citus takes those only as int8.
CREATE SEQUENCE chain_ordinals AS int4;
CREATE SEQUENCE contract_numbers AS int4;
CREATE TABLE chains (
  ordinal int4 PRIMARY KEY,
  id int8 NOT NULL UNIQUE,
  head_number int8,
  head_hash bytea,
  head_timestamp int8,
  finalized int8 NOT NULL DEFAULT -1
) WITH (fillfactor = 50);
CREATE TABLE contracts (
  id int4 PRIMARY KEY,
  chain int4 NOT NULL,
  address bytea NOT NULL,
  UNIQUE (address, chain)
);

CREATE TABLE transfers (
  contract int4 NOT NULL,
  block int4 NOT NULL,
  place int8 NOT NULL,
  timestamp int8 NOT NULL,
  hash bytea NOT NULL,
  payload bytea NOT NULL
);
CREATE UNIQUE INDEX transfers_key ON transfers (contract, block DESC, place DESC);
ALTER TABLE transfers REPLICA IDENTITY USING INDEX transfers_key;
CREATE TABLE transfer_counts (
  contract int4 NOT NULL,
  bucket int4 NOT NULL,
  stored int8 NOT NULL,
  transfers int8 NOT NULL,
  PRIMARY KEY (contract, bucket)
) WITH (fillfactor = 80);
CREATE TABLE blocks (
  chain int4 NOT NULL,
  number int4 NOT NULL,
  timestamp int8 NOT NULL,
  hash bytea NOT NULL
);
CREATE UNIQUE INDEX blocks_key ON blocks (chain, number DESC);
ALTER TABLE blocks REPLICA IDENTITY USING INDEX blocks_key;
CREATE TABLE activity (
  address bytea NOT NULL,
  chain int4 NOT NULL,
  first_block int4 NOT NULL,
  first_tx int4 NOT NULL,
  last_block int4 NOT NULL,
  last_tx int4 NOT NULL,
  first_timestamp int8 NOT NULL,
  last_timestamp int8 NOT NULL,
  first_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  PRIMARY KEY (address, chain)
) WITH (fillfactor = 75);

CREATE TABLE hot_transfers (
  contract int4 NOT NULL,
  block int4 NOT NULL,
  place int8 NOT NULL,
  timestamp int8 NOT NULL,
  chain int4 NOT NULL,
  hash bytea NOT NULL,
  payload bytea NOT NULL
);
CREATE UNIQUE INDEX hot_transfers_key ON hot_transfers (contract, block DESC, place DESC);
ALTER TABLE hot_transfers REPLICA IDENTITY USING INDEX hot_transfers_key;
CREATE INDEX hot_transfers_by_block ON hot_transfers (chain, block);
CREATE TABLE hot_blocks (
  chain int4 NOT NULL,
  number int4 NOT NULL,
  timestamp int8 NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (chain, number)
);
CREATE TABLE hot_activity (
  address bytea NOT NULL,
  chain int4 NOT NULL,
  block int4 NOT NULL,
  first_block int4 NOT NULL,
  first_tx int4 NOT NULL,
  last_block int4 NOT NULL,
  last_tx int4 NOT NULL,
  first_timestamp int8 NOT NULL,
  last_timestamp int8 NOT NULL,
  first_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  PRIMARY KEY (address, chain, block)
);
CREATE INDEX hot_activity_by_block ON hot_activity (chain, block);

-- scope: 'full', 'watched', or a contract's address.
CREATE TABLE coverage (
  chain int4 NOT NULL,
  scope text COLLATE "C" NOT NULL,
  from_block int8 NOT NULL,
  to_block int8 NOT NULL,
  evidence text NOT NULL,
  PRIMARY KEY (chain, scope, from_block)
);
CREATE TABLE watched_contracts (
  chain int4 NOT NULL,
  contract bytea NOT NULL,
  watched_from int8 NOT NULL,
  PRIMARY KEY (chain, contract)
);

-- network: 0 mainnet, 1 devnet.
CREATE TABLE solana_accounts (
  network int4 NOT NULL,
  owner bytea NOT NULL,
  lamports numeric(20) NOT NULL,
  slot int8 NOT NULL,
  chain_time int8 NOT NULL,
  read_at_ms int8 NOT NULL,
  reading_slot int8,
  PRIMARY KEY (owner, network)
) WITH (fillfactor = 90);
CREATE TABLE solana_holdings (
  network int4 NOT NULL,
  owner bytea NOT NULL,
  account bytea NOT NULL,
  mint bytea NOT NULL,
  program text NOT NULL,
  amount numeric(20) NOT NULL,
  slot int8 NOT NULL,
  write_version numeric(20) NOT NULL,
  PRIMARY KEY (owner, account, network)
) WITH (fillfactor = 90);
CREATE INDEX solana_holdings_by_account ON solana_holdings USING hash (account);
-- Closed accounts, remembered for a day: an older update that arrives late must not revive them.
CREATE TABLE solana_closed (
  network int4 NOT NULL,
  account bytea NOT NULL,
  slot int8 NOT NULL,
  write_version numeric(20) NOT NULL,
  closed_at_ms int8 NOT NULL,
  PRIMARY KEY (account, network)
);
CREATE INDEX solana_closed_by_age ON solana_closed (closed_at_ms);
CREATE TABLE solana_mints (
  network int4 NOT NULL,
  mint bytea NOT NULL,
  account_slot int8,
  account_read_at_ms int8,
  program text,
  decimals int4,
  supply numeric(20),
  name bytea,
  symbol bytea,
  amount_rule text,
  metadata_slot int8,
  metadata_read_at_ms int8,
  metadata_name bytea,
  metadata_symbol bytea,
  token_standard int4,
  PRIMARY KEY (mint, network)
);

CREATE TABLE keys (
  id text PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  scopes text NOT NULL,
  created_at int8 NOT NULL,
  expires_at int8,
  revoked_at int8,
  rate_per_second float8,
  quota_per_day int8,
  index_per_day int8
);
CREATE TABLE key_uses (
  day text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  count int8 NOT NULL,
  PRIMARY KEY (day, key_id, operation)
) WITH (fillfactor = 50);

-- chain: an ordinal, or 0 for every chain. rank: 0 operator, 1 imported, 2 built-in.
CREATE TABLE labels (
  address bytea NOT NULL,
  chain int4 NOT NULL,
  source text COLLATE "C" NOT NULL,
  rank int4 NOT NULL,
  updated_at int8 NOT NULL,
  label bytea NOT NULL,
  PRIMARY KEY (address, chain, source)
);
CREATE TABLE contract_facts (
  chain int4 NOT NULL,
  contract bytea NOT NULL,
  name bytea,
  symbol bytea,
  possible_spam boolean NOT NULL,
  verified_collection boolean NOT NULL,
  PRIMARY KEY (chain, contract)
);
CREATE TABLE contract_marks (
  chain int4 NOT NULL,
  contract bytea NOT NULL,
  source text COLLATE "C" NOT NULL,
  rank int4 NOT NULL,
  verified boolean,
  spam boolean,
  updated_at int8 NOT NULL,
  PRIMARY KEY (chain, contract, source)
);
ALTER TABLE contract_facts DROP COLUMN verified_collection;
ALTER TABLE contract_facts ADD COLUMN reading text, ADD COLUMN verdict text;
CREATE UNLOGGED TABLE allowances (
  key_id text PRIMARY KEY,
  second_ends_at timestamptz NOT NULL,
  used_in_second int8 NOT NULL,
  day text NOT NULL,
  used_in_day int8 NOT NULL,
  granted int8 NOT NULL
) WITH (fillfactor = 20);
CREATE TABLE indexing_uses (day text NOT NULL, key_id text NOT NULL, target text NOT NULL, PRIMARY KEY (day, key_id, target));
CREATE UNLOGGED TABLE work (
  name text PRIMARY KEY,
  topic text NOT NULL,
  asked_at timestamptz NOT NULL,
  wanted_until timestamptz NOT NULL,
  taken_until timestamptz NOT NULL,
  outcome text
) WITH (fillfactor = 50);
CREATE UNLOGGED TABLE heartbeats (process text PRIMARY KEY, at timestamptz NOT NULL, report text NOT NULL) WITH (fillfactor = 50);
INSERT INTO revisions VALUES (64, 0);
CREATE TABLE packed_activity (
  chain int4 NOT NULL,
  address bytea NOT NULL,
  first bytea NOT NULL,
  last bytea,
  CONSTRAINT activity_key PRIMARY KEY (address, chain)
) WITH (fillfactor = 75);
INSERT INTO packed_activity (chain, address, first, last)
SELECT chain, address, int4send(first_block) || substring(int8send((first_tx::int8 << 34) | first_timestamp) FROM 2) || first_hash, nullif(int4send(last_block) || substring(int8send((last_tx::int8 << 34) | last_timestamp) FROM 2) || last_hash, int4send(first_block) || substring(int8send((first_tx::int8 << 34) | first_timestamp) FROM 2) || first_hash) FROM activity;
DROP TABLE activity;
ALTER TABLE packed_activity RENAME TO activity;
CREATE TABLE packed_hot_activity (
  chain int4 NOT NULL,
  block int4 NOT NULL,
  address bytea NOT NULL,
  first bytea NOT NULL,
  last bytea,
  CONSTRAINT hot_activity_key PRIMARY KEY (address, chain, block)
);
INSERT INTO packed_hot_activity (chain, block, address, first, last)
SELECT chain, block, address, int4send(first_block) || substring(int8send((first_tx::int8 << 34) | first_timestamp) FROM 2) || first_hash, nullif(int4send(last_block) || substring(int8send((last_tx::int8 << 34) | last_timestamp) FROM 2) || last_hash, int4send(first_block) || substring(int8send((first_tx::int8 << 34) | first_timestamp) FROM 2) || first_hash) FROM hot_activity;
DROP TABLE hot_activity;
ALTER TABLE packed_hot_activity RENAME TO hot_activity;
CREATE INDEX hot_activity_by_block ON hot_activity (chain, block);
CREATE TABLE label_changes (count int8 PRIMARY KEY, ranges bytea NOT NULL);
CREATE TABLE almanac_schema (version int4 NOT NULL);
DELETE FROM revisions;
INSERT INTO activity VALUES
('1', E'\\xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1', E'\\x000000070000006553f1001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a', NULL),
('1', E'\\xf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7', E'\\x000000070000006553f1001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a', E'\\x000023283ffffdffffffff2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b'),
('2', E'\\xf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7', E'\\x000000070000006553f1001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a', NULL);
INSERT INTO almanac_schema VALUES
('7');
INSERT INTO blocks VALUES
('1', '9000', '1600108000', E'\\x0000000000000000000000000000000000000000000000000000000000002328'),
('1', '7', '1600000084', E'\\x0000000000000000000000000000000000000000000000000000000000000007'),
('1', '0', '1600000000', E'\\x0000000000000000000000000000000000000000000000000000000000000000'),
('2', '3', '1600000036', E'\\x0000000000000000000000000000000000000000000000000000000000000003');
INSERT INTO chains VALUES
('1', '1', '9002', E'\\x000000000000000000000000000000000000000000000000000000000000232a', '1600108024', '9000'),
('2', '137', NULL, NULL, NULL, '3');
INSERT INTO checkpoints VALUES
('feed', 'here');
INSERT INTO contract_facts VALUES
('1', E'\\xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1', E'\\x546f6b656e73', NULL, 'true', '{"interfaces":["erc721"],"readAtMs":3}', '{"rulesVersion":1,"score":2,"reasons":[],"basis":"3","judgedAtMs":4}');
INSERT INTO contract_marks VALUES
('1', E'\\xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1', 'list', '1', 'true', NULL, '4');
INSERT INTO contracts VALUES
('1', '1', E'\\xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1'),
('2', '1', E'\\xc2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2'),
('3', '2', E'\\xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1');
INSERT INTO coverage VALUES
('1', 'full', '0', '9000', 'bloom'),
('1', 'full', '9001', '9001', 'two-endpoints'),
('1', '0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1', '5', '7', 'receipts-root');
INSERT INTO hot_activity VALUES
('1', '9001', E'\\xf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7', E'\\x0000232900000e000000003c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c', NULL);
INSERT INTO hot_blocks VALUES
('1', '9001', '1600108012', E'\\x0000000000000000000000000000000000000000000000000000000000002329');
INSERT INTO hot_transfers VALUES
('1', '9001', '8796095119360', '1600108012', '1', E'\\x0000000000000000000000000000000000000000000000000000000000002329', E'\\x440100001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1af7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f701');
INSERT INTO key_uses VALUES
('2026-01-01', 'k', 'x', '3');
INSERT INTO keys VALUES
('k', 'key', 'ab', '["a"]', '1', NULL, '2', '1.5', '7', '7');
INSERT INTO labels VALUES
(E'\\xf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7', '0', 'list', '1', '5', E'\\x6e756c200020616e6420e29c93'),
(E'\\xf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7', '2', 'me', '0', '6', E'\\x70696e6e6564');
INSERT INTO revisions VALUES
('0', '1'),
('1', '1'),
('2', '1'),
('3', '1'),
('4', '1'),
('5', '1'),
('6', '1'),
('7', '1'),
('8', '1'),
('9', '1'),
('10', '1'),
('11', '1'),
('12', '1'),
('13', '1'),
('14', '1'),
('15', '1'),
('16', '1'),
('17', '1'),
('18', '1'),
('19', '1'),
('20', '1'),
('21', '1'),
('22', '1'),
('23', '1'),
('24', '1'),
('25', '1'),
('26', '1'),
('27', '1'),
('28', '1'),
('29', '1'),
('30', '1'),
('31', '1'),
('32', '1'),
('33', '1'),
('34', '1'),
('35', '1'),
('36', '1'),
('37', '1'),
('38', '1'),
('39', '1'),
('40', '1'),
('41', '1'),
('42', '1'),
('43', '1'),
('44', '1'),
('45', '1'),
('46', '1'),
('47', '1'),
('48', '1'),
('49', '1'),
('50', '1'),
('51', '1'),
('52', '1'),
('53', '1'),
('54', '1'),
('55', '1'),
('56', '1'),
('57', '1'),
('58', '1'),
('59', '1'),
('60', '1'),
('61', '1'),
('62', '1'),
('63', '1'),
('64', '1');
INSERT INTO secrets VALUES
('cursor', E'\\x6d0cbc29408b0e4d7e6bf4d4967611857a6d1138a83700d22b45c0f2ad56f561');
INSERT INTO solana_accounts VALUES
('1', E'\\x0202020202020202020202020202020202020202020202020202020202020202', '7', '3', '1', '2', NULL);
INSERT INTO solana_closed VALUES
('1', E'\\x0404040404040404040404040404040404040404040404040404040404040404', '6', '9', '1794829710437');
INSERT INTO solana_holdings VALUES
('1', E'\\x0202020202020202020202020202020202020202020202020202020202020202', E'\\x0101010101010101010101010101010101010101010101010101010101010101', E'\\x0303030303030303030303030303030303030303030303030303030303030303', 'token', '18446744073709551615', '5', '9223372036854775808');
INSERT INTO solana_mints VALUES
('1', E'\\x0303030303030303030303030303030303030303030303030303030303030303', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '4', '1', E'\\x6e756c200020616e6420e29c93', NULL, '2');
INSERT INTO transfer_counts VALUES
('1', '-1', '3', '3'),
('1', '0', '1', '1'),
('1', '2', '2', '2'),
('2', '-1', '1', '70000'),
('2', '0', '1', '70000'),
('3', '-1', '1', '1'),
('3', '0', '1', '1');
INSERT INTO transfers VALUES
('1', '9000', '8796095119361', '1600108000', E'\\x0000000000000000000000000000000000000000000000000000000000002328', E'\\x9b2002012b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2bf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f70b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b8000000000000000000000000000000000000000000000000000000000000000012c07'),
('1', '9000', '8796095119360', '1600108000', E'\\x0000000000000000000000000000000000000000000000000000000000002328', E'\\x9b2001012b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2bf7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f70b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b80000000000000000000000000000000000000000000000000000000000000000007'),
('1', '7', '8796095119360', '1600000084', E'\\x0000000000000000000000000000000000000000000000000000000000000007', E'\\x040100001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1af7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f701'),
('2', '7', '8796096167936', '1600000084', E'\\x0000000000000000000000000000000000000000000000000000000000000007', E'\\xe00000001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1af7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f70d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d00011170'),
('3', '3', '8796095119360', '1600000036', E'\\x0000000000000000000000000000000000000000000000000000000000000003', E'\\x040100001a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1af7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f701');
INSERT INTO watched_contracts VALUES
('1', E'\\xc2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2', '12');
SELECT setval('chain_ordinals', 2, true);
SELECT setval('contract_numbers', 3, true);
