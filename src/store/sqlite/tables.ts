// The tables of the SQLite engine. A change of them raises `storeFormat` (../schema.ts). No statement of work here.
/** "ALMN": marks an Almanac store among SQLite files. */
export const applicationId = 0x414c4d4e

// What is stored of chains has the same tables in each engine (`../core/`), and packs that fill pages as they are.
export const tables = `
CREATE TABLE revision (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL, labels INTEGER NOT NULL DEFAULT 0);
INSERT INTO revision VALUES (1, 1, 0);
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO secrets VALUES ('cursor', randomblob(32));
CREATE TABLE checkpoints (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE chains (
  ordinal INTEGER PRIMARY KEY,
  id INTEGER NOT NULL UNIQUE,
  head_number INTEGER,
  head_hash BLOB,
  head_timestamp INTEGER,
  finalized INTEGER NOT NULL DEFAULT -1,
  -- Of recent blocks: see ChainRow in core/chain-row.ts.
  fold INTEGER NOT NULL DEFAULT -1,
  changes INTEGER NOT NULL DEFAULT 0,
  tip INTEGER NOT NULL DEFAULT -1,
  parts INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  final_bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE row_changes (
  chain INTEGER PRIMARY KEY,
  taken_back INTEGER NOT NULL DEFAULT 0,
  filled INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE contracts (
  id INTEGER PRIMARY KEY,
  chain INTEGER NOT NULL REFERENCES chains,
  address BLOB NOT NULL,
  UNIQUE (address, chain)
);

-- Blocks above the fold, each in one part or more (core/recent-block.ts). change: the count of the chain's changes
-- that it came with.
CREATE TABLE recent_blocks (
  chain INTEGER NOT NULL,
  number INTEGER NOT NULL,
  part INTEGER NOT NULL,
  change INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hash BLOB NOT NULL,
  transfers BLOB NOT NULL,
  wallets BLOB NOT NULL,
  activity BLOB NOT NULL
);
CREATE UNIQUE INDEX recent_blocks_key ON recent_blocks (chain, number, part);
CREATE INDEX recent_blocks_by_change ON recent_blocks (chain, change);
-- Known blocks up to the fold, newest first: history that arrives so is appended.
CREATE TABLE blocks (
  chain INTEGER NOT NULL,
  number INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (chain, number DESC)
) WITHOUT ROWID;

-- scope: 'full', 'watched', or a contract's address.
CREATE TABLE coverage (
  chain INTEGER NOT NULL,
  scope TEXT NOT NULL,
  from_block INTEGER NOT NULL,
  to_block INTEGER NOT NULL,
  evidence TEXT NOT NULL,
  PRIMARY KEY (chain, scope, from_block)
) WITHOUT ROWID;
CREATE TABLE watched_contracts (
  chain INTEGER NOT NULL,
  contract BLOB NOT NULL,
  watched_from INTEGER NOT NULL,
  asked_on INTEGER,
  PRIMARY KEY (chain, contract)
) WITHOUT ROWID;

-- network: 0 mainnet, 1 devnet. Unsigned 64-bit integers are decimal text; write versions are 8 big-endian bytes,
-- which compare as they do.
CREATE TABLE solana_accounts (
  network INTEGER NOT NULL,
  owner BLOB NOT NULL,
  lamports TEXT NOT NULL,
  slot INTEGER NOT NULL,
  chain_time INTEGER NOT NULL,
  read_at_ms INTEGER NOT NULL,
  -- The slot of the last reading with all holdings; NULL while there was none.
  reading_slot INTEGER,
  PRIMARY KEY (owner, network)
) WITHOUT ROWID;
CREATE TABLE solana_holdings (
  network INTEGER NOT NULL,
  owner BLOB NOT NULL,
  account BLOB NOT NULL,
  mint BLOB NOT NULL,
  program TEXT NOT NULL,
  amount TEXT NOT NULL,
  slot INTEGER NOT NULL,
  write_version BLOB NOT NULL,
  PRIMARY KEY (owner, account, network)
) WITHOUT ROWID;
CREATE INDEX solana_holdings_by_account ON solana_holdings (account);
-- Closed accounts, remembered for a day: an older update that arrives late must not revive them.
CREATE TABLE solana_closed (
  network INTEGER NOT NULL,
  account BLOB NOT NULL,
  slot INTEGER NOT NULL,
  write_version BLOB NOT NULL,
  closed_at_ms INTEGER NOT NULL,
  PRIMARY KEY (account, network)
) WITHOUT ROWID;
CREATE INDEX solana_closed_by_age ON solana_closed (closed_at_ms);
-- Two parts with versions of their own: the mint's account and its Metaplex metadata. NULL slots: never read.
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
  PRIMARY KEY (mint, network)
) WITHOUT ROWID;

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
  index_per_day INTEGER,
  index_waiting INTEGER,
  replaces TEXT
) WITHOUT ROWID;
CREATE TABLE key_uses (
  day TEXT NOT NULL,
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, key_id, operation)
) WITHOUT ROWID;

-- chain: an ordinal, or 0 for every chain. rank: 0 operator, 1 imported, 2 built-in.
CREATE TABLE labels (
  address BLOB NOT NULL,
  chain INTEGER NOT NULL,
  source TEXT NOT NULL,
  rank INTEGER NOT NULL,
  label TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (address, chain, source)
) WITHOUT ROWID;
-- Ranges of addresses whose labels changed (label-changes.ts), by the value of revision.labels after the change.
CREATE TABLE label_changes (count INTEGER PRIMARY KEY, ranges BLOB NOT NULL);
-- reading, verdict: JSON of ContractReading and SpamVerdict; NULL before the first one.
CREATE TABLE contract_facts (
  chain INTEGER NOT NULL,
  contract BLOB NOT NULL,
  name TEXT,
  symbol TEXT,
  possible_spam INTEGER NOT NULL,
  reading TEXT,
  verdict TEXT,
  transfers INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, contract)
) WITHOUT ROWID;
-- verified, spam: 1, 0, or NULL where the source does not say.
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
-- Contracts by their transfers, as of the last verdict: to list the busiest first. By name and symbol, and
-- addresses by label: for a search box. The first has all that a search reads.
CREATE INDEX contract_facts_by_transfers ON contract_facts (chain, transfers, contract);
CREATE INDEX contract_facts_by_name ON contract_facts (name COLLATE NOCASE, symbol);
CREATE INDEX contract_facts_by_symbol ON contract_facts (symbol COLLATE NOCASE, name);
CREATE INDEX labels_by_label ON labels (label COLLATE NOCASE);
-- Owners by the time of their last reading: to list them, and to find those that are no longer asked for.
CREATE INDEX solana_accounts_by_reading ON solana_accounts (network, read_at_ms, owner);
-- What contracts say of tokens, as nodes answered. token_id: without leading zeros. uri: NULL where there is none.
CREATE TABLE token_uris (
  chain INTEGER NOT NULL,
  contract BLOB NOT NULL,
  token_id BLOB NOT NULL,
  read_at INTEGER NOT NULL,
  uri TEXT,
  PRIMARY KEY (chain, contract, token_id)
) WITHOUT ROWID;

-- Rows are stored ahead of their claim: what a crash leaves unclaimed is known, and taken back where its chain is
-- gone. hash: that of the last block.
CREATE TABLE pending_ranges (
  chain INTEGER NOT NULL,
  from_block INTEGER NOT NULL,
  to_block INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (chain, from_block)
) WITHOUT ROWID;

-- Rows of final blocks, sorted and in packs (core/runs.ts). first_contract, has_list, contracts: which contracts a run
-- has, of views by contract. growing: a merge writes this run. target: the run that a merge moves this one's records
-- into. A file has one slot.
CREATE TABLE run_numbers (last INTEGER NOT NULL);
INSERT INTO run_numbers VALUES (0);
CREATE TABLE slots (slot INTEGER PRIMARY KEY);
INSERT INTO slots VALUES (0);
CREATE TABLE runs (
  slot INTEGER NOT NULL,
  id INTEGER NOT NULL,
  chain INTEGER NOT NULL,
  view INTEGER NOT NULL,
  from_block INTEGER NOT NULL,
  to_block INTEGER NOT NULL,
  level INTEGER NOT NULL,
  records INTEGER NOT NULL,
  growing INTEGER NOT NULL DEFAULT 0,
  target INTEGER,
  first_contract INTEGER,
  has_list INTEGER NOT NULL DEFAULT 0,
  contracts BLOB
);
CREATE UNIQUE INDEX runs_key ON runs (slot, id);
CREATE TABLE packs (slot INTEGER NOT NULL, run INTEGER NOT NULL, key BLOB NOT NULL, bytes BLOB NOT NULL);
CREATE UNIQUE INDEX packs_key ON packs (slot, run, key);
-- Which indexes of transfers a chain keeps, and how far each is filled (core/kept-indexes.ts).
CREATE TABLE chain_indexes (
  chain INTEGER NOT NULL,
  view INTEGER NOT NULL,
  kept INTEGER NOT NULL DEFAULT 1,
  phase TEXT,
  reached BLOB,
  contracts INTEGER NOT NULL DEFAULT 0,
  contracts_of INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, view)
) WITHOUT ROWID;
`
