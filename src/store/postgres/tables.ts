// The tables of the PostgreSQL engine. A change of them raises `storeFormat` (../schema.ts). No statement of work here.
/** Each process counts its commits in one of these rows: two processes seldom wait for each other. */
export const revisionRows = 64
/** The row after them counts the changes of labels. */
export const labelRevisionRow = 64

// What is stored of chains has the same tables in each engine (`../core/`).
// Text that comes from chains is bytea, because PostgreSQL's text cannot hold every character.
export const tables = `
CREATE TABLE revisions (id int4 PRIMARY KEY, value int8 NOT NULL) WITH (fillfactor = 20);
INSERT INTO revisions SELECT id, 0 FROM generate_series(0, ${labelRevisionRow}) AS id;
CREATE TABLE secrets (name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE checkpoints (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE leases (name text PRIMARY KEY, holder text, token int8 NOT NULL, expires_at int8 NOT NULL);

-- Not identity columns: Citus takes those only as int8.
CREATE SEQUENCE chain_ordinals AS int4;
CREATE SEQUENCE contract_numbers AS int4;
CREATE TABLE chains (
  ordinal int4 PRIMARY KEY DEFAULT nextval('chain_ordinals'),
  id int8 NOT NULL UNIQUE,
  head_number int8,
  head_hash bytea,
  head_timestamp int8,
  finalized int8 NOT NULL DEFAULT -1,
  -- Of recent blocks: see ChainRow in core/chain-row.ts.
  fold int8 NOT NULL DEFAULT -1,
  changes int8 NOT NULL DEFAULT 0,
  tip int8 NOT NULL DEFAULT -1,
  parts int8 NOT NULL DEFAULT 0,
  bytes int8 NOT NULL DEFAULT 0,
  final_bytes int8 NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE contracts (
  id int4 PRIMARY KEY DEFAULT nextval('contract_numbers'),
  chain int4 NOT NULL,
  address bytea NOT NULL,
  UNIQUE (address, chain)
);

-- Blocks above the fold, each in one part or more (core/recent-block.ts). change: the count of the chain's changes
-- that it came with.
CREATE TABLE recent_blocks (
  chain int4 NOT NULL,
  number int8 NOT NULL,
  part int4 NOT NULL,
  change int8 NOT NULL,
  timestamp int8 NOT NULL,
  bytes int4 NOT NULL,
  hash bytea NOT NULL,
  transfers bytea NOT NULL,
  wallets bytea NOT NULL,
  activity bytea NOT NULL,
  PRIMARY KEY (chain, number, part)
);
CREATE INDEX recent_blocks_by_change ON recent_blocks (chain, change);
ALTER TABLE recent_blocks ALTER COLUMN activity SET STORAGE EXTERNAL;
-- Known blocks up to the fold.
CREATE TABLE blocks (
  chain int4 NOT NULL,
  number int8 NOT NULL,
  timestamp int8 NOT NULL,
  hash bytea NOT NULL
);
CREATE UNIQUE INDEX blocks_key ON blocks (chain, number DESC);
ALTER TABLE blocks REPLICA IDENTITY USING INDEX blocks_key;

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
  asked_on int8,
  PRIMARY KEY (chain, contract)
);

-- network: 0 mainnet, 1 devnet. Unsigned 64-bit integers are decimal text; write versions are 8 big-endian bytes,
-- which compare as they do.
CREATE TABLE solana_accounts (
  network int4 NOT NULL,
  owner bytea NOT NULL,
  lamports text NOT NULL,
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
  amount text NOT NULL,
  slot int8 NOT NULL,
  write_version bytea NOT NULL,
  PRIMARY KEY (owner, account, network)
) WITH (fillfactor = 90);
CREATE INDEX solana_holdings_by_account ON solana_holdings USING hash (account);
-- Closed accounts, remembered for a day: an older update that arrives late must not revive them.
CREATE TABLE solana_closed (
  network int4 NOT NULL,
  account bytea NOT NULL,
  slot int8 NOT NULL,
  write_version bytea NOT NULL,
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
  supply text,
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
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  scopes text NOT NULL,
  created_at int8 NOT NULL,
  expires_at int8,
  revoked_at int8,
  rate_per_second float8,
  quota_per_day int8,
  index_per_day int8,
  index_waiting int8,
  replaces text
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
-- Ranges of addresses whose labels changed (label-changes.ts), by the value of the label revision after the change.
CREATE TABLE label_changes (count int8 PRIMARY KEY, ranges bytea NOT NULL);
-- reading, verdict: JSON of ContractReading and SpamVerdict; NULL before the first one.
CREATE TABLE contract_facts (
  chain int4 NOT NULL,
  contract bytea NOT NULL,
  name bytea,
  symbol bytea,
  possible_spam int4 NOT NULL,
  reading text,
  verdict text,
  transfers int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, contract)
);
-- verified, spam: 1, 0, or NULL where the source does not say.
CREATE TABLE contract_marks (
  chain int4 NOT NULL,
  contract bytea NOT NULL,
  source text COLLATE "C" NOT NULL,
  rank int4 NOT NULL,
  verified int4,
  spam int4,
  updated_at int8 NOT NULL,
  PRIMARY KEY (chain, contract, source)
);

-- What processes tell each other. The unlogged tables are empty after a crash of the server: allowances start again
-- from the counted uses, work is requested again, and heartbeats return by themselves.
CREATE UNLOGGED TABLE allowances (
  key_id text PRIMARY KEY,
  second_ends_at int8 NOT NULL,
  used_in_second int8 NOT NULL,
  day text NOT NULL,
  used_in_day int8 NOT NULL,
  granted int8 NOT NULL
) WITH (fillfactor = 20);
CREATE TABLE indexing_uses (day text NOT NULL, key_id text NOT NULL, target text NOT NULL, PRIMARY KEY (day, key_id, target));
CREATE UNLOGGED TABLE work (
  name text PRIMARY KEY,
  topic text NOT NULL,
  asked_at int8 NOT NULL,
  wanted_until int8 NOT NULL,
  taken_until int8 NOT NULL,
  outcome text
) WITH (fillfactor = 50);
CREATE UNLOGGED TABLE heartbeats (process text PRIMARY KEY, at int8 NOT NULL, report text NOT NULL) WITH (fillfactor = 50);

-- Contracts by their transfers, as of the last verdict: to list the busiest first. By name and symbol, and
-- addresses by label: for a search box. Names are bytes of UTF-8: encode makes text of them that every database
-- can sort, and "C" folds ASCII alone. Contracts give names of any length.
CREATE INDEX contract_facts_by_transfers ON contract_facts (chain, transfers, contract);
CREATE INDEX contract_facts_by_name ON contract_facts (left(lower(encode(name, 'escape') COLLATE "C"), 64));
CREATE INDEX contract_facts_by_symbol ON contract_facts (left(lower(encode(symbol, 'escape') COLLATE "C"), 64));
CREATE INDEX labels_by_label ON labels (left(lower(encode(label, 'escape') COLLATE "C"), 64));
-- Owners by the time of their last reading: to list them, and to find those that are no longer asked for.
CREATE INDEX solana_accounts_by_reading ON solana_accounts (network, read_at_ms, owner);
-- What contracts say of tokens, as nodes answered. token_id: without leading zeros. uri: NULL where there is none.
CREATE TABLE token_uris (
  chain int4 NOT NULL,
  contract bytea NOT NULL,
  token_id bytea NOT NULL,
  read_at int8 NOT NULL,
  uri bytea,
  PRIMARY KEY (chain, contract, token_id)
);

-- Rows are stored ahead of their claim: what a crash leaves unclaimed is known, and taken back where its chain is
-- gone. hash: that of the last block.
CREATE TABLE pending_ranges (
  chain int4 NOT NULL,
  from_block int8 NOT NULL,
  to_block int8 NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (chain, from_block)
);

-- Rows of final blocks, sorted and in packs (core/runs.ts). A run has a part in each slot, and a slot is what one shard
-- of a cluster holds. first_contract, has_list, contracts: which contracts a part has. Packs fit
-- into pages as they are: they are neither compressed nor stored elsewhere.
CREATE SEQUENCE run_numbers;
CREATE TABLE slots (slot int4 PRIMARY KEY);
INSERT INTO slots VALUES (0);
CREATE TABLE runs (
  slot int4 NOT NULL,
  id int8 NOT NULL,
  chain int4 NOT NULL,
  view int4 NOT NULL,
  from_block int8 NOT NULL,
  to_block int8 NOT NULL,
  level int4 NOT NULL,
  records int8 NOT NULL,
  growing int4 NOT NULL DEFAULT 0,
  target int8,
  first_contract int4,
  has_list int4 NOT NULL DEFAULT 0,
  contracts bytea,
  PRIMARY KEY (slot, id)
) WITH (fillfactor = 50);
ALTER TABLE runs ALTER COLUMN contracts SET STORAGE EXTERNAL;
CREATE INDEX runs_by_view ON runs (slot, view, chain);
CREATE TABLE packs (
  slot int4 NOT NULL,
  run int8 NOT NULL,
  key bytea NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (slot, run, key)
);
ALTER TABLE packs ALTER COLUMN bytes SET STORAGE PLAIN;
ALTER TABLE packs SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Which indexes of transfers a chain keeps, and how far each is filled (core/kept-indexes.ts). row_changes: see
-- RowChanges in ../index-reader.ts.
CREATE TABLE chain_indexes (
  chain int4 NOT NULL,
  view int4 NOT NULL,
  kept int4 NOT NULL DEFAULT 1,
  phase text,
  reached bytea,
  contracts int8 NOT NULL DEFAULT 0,
  contracts_of int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, view)
);
CREATE TABLE row_changes (
  chain int4 PRIMARY KEY,
  taken_back int8 NOT NULL DEFAULT 0,
  filled int8 NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
`
