// The tables of a store, written once for both engines. An engine reads them in its own words (`tablesIn` in
// ../schema.ts) and adds what it alone has. A change of them raises `storeFormat` there. No statement of work here.
// Types are those of `ColumnType`: text that comes from chains is utf8, or bytes. Beside them:
//   BY BYTES               text that compares by its bytes on every engine
//   NUMBERED BY sequence   the engine gives the next number
// A comment of a statement ends with no semicolon.
export const storeTables = `
CREATE TABLE secrets (name text PRIMARY KEY, value bytes NOT NULL);
CREATE TABLE checkpoints (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE leases (name text PRIMARY KEY, holder text, token big NOT NULL, expires_at big NOT NULL);

CREATE TABLE chains (
  ordinal int PRIMARY KEY NUMBERED BY chain_ordinals,
  id big NOT NULL UNIQUE,
  head_number big,
  head_hash bytes,
  head_timestamp big,
  finalized big NOT NULL DEFAULT -1,
  -- Of recent blocks: see ChainRow in core/chain-row.ts.
  fold big NOT NULL DEFAULT -1,
  changes big NOT NULL DEFAULT 0,
  tip big NOT NULL DEFAULT -1,
  parts big NOT NULL DEFAULT 0,
  bytes big NOT NULL DEFAULT 0,
  final_bytes big NOT NULL DEFAULT 0
);
-- See RowState in index-reader.ts.
CREATE TABLE row_changes (
  chain int PRIMARY KEY,
  taken_back big NOT NULL DEFAULT 0,
  filled big NOT NULL DEFAULT 0
);
CREATE TABLE contracts (
  id int PRIMARY KEY NUMBERED BY contract_numbers,
  chain int NOT NULL REFERENCES chains,
  address bytes NOT NULL,
  UNIQUE (address, chain)
);

-- Blocks above the fold, each in one part or more (core/recent-block.ts). change: the count of the chain's changes
-- that it came with.
CREATE TABLE recent_blocks (
  chain int NOT NULL,
  number big NOT NULL,
  part int NOT NULL,
  change big NOT NULL,
  timestamp big NOT NULL,
  bytes int NOT NULL,
  hash bytes NOT NULL,
  transfers bytes NOT NULL,
  wallets bytes NOT NULL,
  activity bytes NOT NULL,
  PRIMARY KEY (chain, number, part)
);
CREATE INDEX recent_blocks_by_change ON recent_blocks (chain, change);
-- Blocks that reorganisations replaced, with the transfers of all parts (core/gone-blocks.ts). parent_hash: NULL where
-- the parent was final.
CREATE TABLE gone_blocks (
  chain int NOT NULL,
  hash bytes NOT NULL,
  number big NOT NULL,
  parent_number big NOT NULL,
  parent_hash bytes,
  timestamp big NOT NULL,
  transfers bytes NOT NULL,
  gone_at big NOT NULL,
  PRIMARY KEY (chain, hash)
);
CREATE INDEX gone_blocks_by_age ON gone_blocks (chain, gone_at);
-- When final rows were taken back, of one contract or of all.
CREATE TABLE taken_back (
  chain int NOT NULL,
  era big NOT NULL,
  contract int,
  from_block big NOT NULL,
  to_block big NOT NULL,
  PRIMARY KEY (chain, era)
);
-- Known blocks up to the fold, newest first: history that arrives so is appended.
CREATE TABLE blocks (
  chain int NOT NULL,
  number big NOT NULL,
  timestamp big NOT NULL,
  hash bytes NOT NULL,
  PRIMARY KEY (chain, number DESC)
);

-- scope: see CoverageScope in model.ts, and withoutScope in forget.ts.
CREATE TABLE coverage (
  chain int NOT NULL,
  scope text BY BYTES NOT NULL,
  from_block big NOT NULL,
  to_block big NOT NULL,
  evidence text NOT NULL,
  PRIMARY KEY (chain, scope, from_block)
);
CREATE TABLE watched_contracts (
  chain int NOT NULL,
  contract bytes NOT NULL,
  watched_from big NOT NULL,
  asked_on big,
  PRIMARY KEY (chain, contract)
);
-- Rows are stored ahead of their claim: what a crash leaves unclaimed is known, and taken back where its chain is
-- gone. hash: that of the last block.
CREATE TABLE pending_ranges (
  chain int NOT NULL,
  from_block big NOT NULL,
  to_block big NOT NULL,
  hash bytes NOT NULL,
  PRIMARY KEY (chain, from_block)
);

-- Rows of final blocks, sorted and in packs (core/runs.ts). A run has a part in each slot (core/slots.ts).
-- first_contract, has_list, contracts: which contracts a part has, of views by contract. growing: a merge writes this
-- run. target: the run that a merge moves this one's records into.
CREATE TABLE slots (slot int PRIMARY KEY);
INSERT INTO slots VALUES (0);
CREATE TABLE runs (
  slot int NOT NULL,
  id big NOT NULL,
  chain int NOT NULL,
  view int NOT NULL,
  from_block big NOT NULL,
  to_block big NOT NULL,
  level int NOT NULL,
  records big NOT NULL,
  growing int NOT NULL DEFAULT 0,
  target big,
  first_contract int,
  has_list int NOT NULL DEFAULT 0,
  contracts bytes,
  PRIMARY KEY (slot, id)
);
CREATE TABLE packs (
  slot int NOT NULL,
  run big NOT NULL,
  key bytes NOT NULL,
  bytes bytes NOT NULL,
  PRIMARY KEY (slot, run, key)
);
-- Which indexes of transfers a chain keeps, and how far each is filled (core/kept-indexes.ts).
CREATE TABLE chain_indexes (
  chain int NOT NULL,
  view int NOT NULL,
  kept int NOT NULL DEFAULT 1,
  phase text,
  reached bytes,
  contracts big NOT NULL DEFAULT 0,
  contracts_of big NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, view)
);

-- network: 0 mainnet, 1 devnet. Unsigned 64-bit integers are decimal text; write versions are 8 big-endian bytes,
-- which compare as they do.
CREATE TABLE solana_accounts (
  network int NOT NULL,
  owner bytes NOT NULL,
  lamports text NOT NULL,
  slot big NOT NULL,
  chain_time big NOT NULL,
  read_at_ms big NOT NULL,
  -- The slot of the last reading with all holdings; NULL while there was none.
  reading_slot big,
  PRIMARY KEY (owner, network)
);
-- Owners by the time of their last reading: to list them, and to find those that are no longer asked for.
CREATE INDEX solana_accounts_by_reading ON solana_accounts (network, read_at_ms, owner);
CREATE TABLE solana_holdings (
  network int NOT NULL,
  owner bytes NOT NULL,
  account bytes NOT NULL,
  mint bytes NOT NULL,
  program text NOT NULL,
  amount text NOT NULL,
  slot big NOT NULL,
  write_version bytes NOT NULL,
  PRIMARY KEY (owner, account, network)
);
CREATE INDEX solana_holdings_by_account ON solana_holdings USING hash (account);
-- Closed accounts, remembered for a day: an older update that arrives late must not revive them.
CREATE TABLE solana_closed (
  network int NOT NULL,
  account bytes NOT NULL,
  slot big NOT NULL,
  write_version bytes NOT NULL,
  closed_at_ms big NOT NULL,
  PRIMARY KEY (account, network)
);
CREATE INDEX solana_closed_by_age ON solana_closed (closed_at_ms);
-- Two parts with versions of their own: the mint's account and its Metaplex metadata. NULL slots: never read.
CREATE TABLE solana_mints (
  network int NOT NULL,
  mint bytes NOT NULL,
  account_slot big,
  account_read_at_ms big,
  program text,
  decimals int,
  supply text,
  name utf8,
  symbol utf8,
  amount_rule text,
  metadata_slot big,
  metadata_read_at_ms big,
  metadata_name utf8,
  metadata_symbol utf8,
  token_standard int,
  PRIMARY KEY (mint, network)
);

CREATE TABLE keys (
  id text BY BYTES PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  scopes text NOT NULL,
  created_at big NOT NULL,
  expires_at big,
  revoked_at big,
  rate_per_second float,
  quota_per_day big,
  index_per_day big,
  index_waiting big,
  replaces text
);
CREATE TABLE key_uses (
  day text NOT NULL,
  key_id text BY BYTES NOT NULL,
  operation text BY BYTES NOT NULL,
  count big NOT NULL,
  PRIMARY KEY (day, key_id, operation)
);

-- Who is told of changes by HTTP (webhook-store.ts). filter: JSON.
CREATE TABLE webhooks (
  id text BY BYTES PRIMARY KEY,
  key_id text BY BYTES NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  filter text NOT NULL,
  created_at big NOT NULL,
  paused int NOT NULL,
  secret int NOT NULL,
  old_secret_until big
);
CREATE TABLE webhook_progress (
  id text BY BYTES PRIMARY KEY,
  turn big NOT NULL,
  restart int NOT NULL DEFAULT 0,
  position text NOT NULL,
  batch text,
  batch_end text,
  batch_digest text,
  batch_changes int,
  attempts int NOT NULL DEFAULT 0,
  failing_since big,
  next_attempt_at big,
  behind_since big,
  stopped int NOT NULL DEFAULT 0,
  reason text,
  sent big NOT NULL DEFAULT 0
);
-- The last ones, each in the slot of its number.
CREATE TABLE webhook_deliveries (
  webhook text BY BYTES NOT NULL,
  slot int NOT NULL,
  number big NOT NULL,
  at big NOT NULL,
  batch text NOT NULL,
  changes int NOT NULL,
  status int,
  error text,
  took_ms big NOT NULL,
  PRIMARY KEY (webhook, slot)
);

-- chain: an ordinal, or 0 for every chain. rank: 0 operator, 1 imported, 2 built-in.
CREATE TABLE labels (
  address bytes NOT NULL,
  chain int NOT NULL,
  source text BY BYTES NOT NULL,
  rank int NOT NULL,
  label utf8 NOT NULL,
  updated_at big NOT NULL,
  PRIMARY KEY (address, chain, source)
);
-- Ranges of addresses whose labels changed (label-changes.ts), by the count of changes after it.
CREATE TABLE label_changes (count big PRIMARY KEY, ranges bytes NOT NULL);
-- reading, verdict: JSON of ContractReading and SpamVerdict. NULL before the first one.
CREATE TABLE contract_facts (
  chain int NOT NULL,
  contract bytes NOT NULL,
  name utf8,
  symbol utf8,
  possible_spam int NOT NULL,
  reading text,
  verdict text,
  transfers big NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, contract)
);
-- Contracts by their transfers, as of the last verdict: to list the busiest first.
CREATE INDEX contract_facts_by_transfers ON contract_facts (chain, transfers, contract);
-- verified, spam: 1, 0, or NULL where the source does not say.
CREATE TABLE contract_marks (
  chain int NOT NULL,
  contract bytes NOT NULL,
  source text BY BYTES NOT NULL,
  rank int NOT NULL,
  verified int,
  spam int,
  updated_at big NOT NULL,
  PRIMARY KEY (chain, contract, source)
);
-- What contracts say of tokens, as nodes answered. token_id: without leading zeros. uri: NULL where there is none.
CREATE TABLE token_uris (
  chain int NOT NULL,
  contract bytes NOT NULL,
  token_id bytes NOT NULL,
  read_at big NOT NULL,
  uri utf8,
  PRIMARY KEY (chain, contract, token_id)
);
-- What was fetched from the web. name: SHA-256 of the address. content: NULL where there is none.
CREATE TABLE web_facts (
  name bytes NOT NULL,
  status text NOT NULL,
  evidence text NOT NULL,
  type text,
  size big NOT NULL,
  width big,
  height big,
  read_at big NOT NULL,
  content bytes,
  PRIMARY KEY (name)
);
CREATE INDEX web_facts_by_age ON web_facts (read_at, size);
`

/** What processes on one store tell each other. None of it must survive a crash. */
export const sharedTables = `
CREATE TABLE allowances (
  key_id text PRIMARY KEY,
  second_ends_at big NOT NULL,
  used_in_second big NOT NULL,
  day text NOT NULL,
  used_in_day big NOT NULL,
  granted big NOT NULL
);
CREATE TABLE indexing_uses (
  day text NOT NULL,
  key_id text NOT NULL,
  target text NOT NULL,
  PRIMARY KEY (day, key_id, target)
);
CREATE TABLE work (
  name text PRIMARY KEY,
  topic text NOT NULL,
  asked_at big NOT NULL,
  wanted_until big NOT NULL,
  taken_until big NOT NULL,
  outcome text
);
CREATE TABLE heartbeats (process text PRIMARY KEY, at big NOT NULL, report text NOT NULL);
`
