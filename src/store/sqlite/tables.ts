// The tables of the SQLite engine. A change of them raises `storeFormat` (../schema.ts). No statement of work here.
/** "ALMN": marks an Almanac store among SQLite files. */
export const applicationId = 0x414c4d4e

/**
 * The key of a block is `ordinal * 2^40 + (2^40 - 1 - number)`: filling newest first then appends within each chain.
 */
export const blockKeySpan = 2 ** 40

const transferColumns = `  contract INTEGER NOT NULL,
  block INTEGER NOT NULL,
  tx INTEGER NOT NULL,
  log INTEGER NOT NULL,
  pos INTEGER NOT NULL,
  payload BLOB NOT NULL,`

// Transfers are clustered on (contract, newest first): a page is one short walk, and history that arrives newest first
// is appended within each contract, which leaves full pages (110 bytes a row against 133-187 in ascending order).
// Hot tables hold the blocks above the final one and are replaced by block; cold tables hold the rest.
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
  taken_back INTEGER NOT NULL DEFAULT 0,
  filled INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE contracts (
  id INTEGER PRIMARY KEY,
  chain INTEGER NOT NULL REFERENCES chains,
  address BLOB NOT NULL,
  transfers INTEGER NOT NULL DEFAULT 0,
  has_ranges INTEGER NOT NULL DEFAULT 0,
  UNIQUE (address, chain)
);

CREATE TABLE transfers (
${transferColumns}
  PRIMARY KEY (contract, block DESC, tx DESC, log DESC, pos DESC)
) WITHOUT ROWID;
CREATE TABLE transfer_counts (
  contract INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  transfers INTEGER NOT NULL,
  PRIMARY KEY (contract, bucket)
) WITHOUT ROWID;
CREATE TABLE blocks (key INTEGER PRIMARY KEY, hash BLOB NOT NULL, timestamp INTEGER NOT NULL);
-- first, last: transactions as packed-activity.ts packs them. last is NULL where it equals first.
CREATE TABLE activity (
  address BLOB NOT NULL,
  chain INTEGER NOT NULL,
  first BLOB NOT NULL,
  last BLOB,
  PRIMARY KEY (address, chain)
) WITHOUT ROWID;

CREATE TABLE hot_transfers (
${transferColumns}
  chain INTEGER NOT NULL,
  PRIMARY KEY (contract, block DESC, tx DESC, log DESC, pos DESC)
) WITHOUT ROWID;
CREATE INDEX hot_transfers_by_block ON hot_transfers (chain, block);
CREATE TABLE hot_blocks (key INTEGER PRIMARY KEY, hash BLOB NOT NULL, timestamp INTEGER NOT NULL);
CREATE TABLE hot_activity (
  address BLOB NOT NULL,
  chain INTEGER NOT NULL,
  block INTEGER NOT NULL,
  first BLOB NOT NULL,
  last BLOB,
  PRIMARY KEY (address, chain, block)
) WITHOUT ROWID;
CREATE INDEX hot_activity_by_block ON hot_activity (chain, block);

-- scope: 'full', 'watched', or the 20 bytes of a contract.
CREATE TABLE coverage (
  chain INTEGER NOT NULL,
  scope BLOB NOT NULL,
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
  PRIMARY KEY (network, owner)
) WITHOUT ROWID;
-- A closed account keeps its row, with owner NULL, for a day: an older update that arrives late must not revive it.
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
CREATE INDEX solana_holdings_by_owner ON solana_holdings (network, owner) WHERE owner IS NOT NULL;
CREATE INDEX solana_holdings_closed ON solana_holdings (closed_at_ms) WHERE closed_at_ms IS NOT NULL;
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
  PRIMARY KEY (network, mint)
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

-- Rows that come in bulk are kept in runs (runs/runs.ts), each of one view (its number) and of some stretch of
-- blocks. A pack of at most 4,050 bytes fills one page. contracts: which the run has, for views by contract.
-- growing: a merge writes this run. target: the run that a merge moves this one's records into.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  chain INTEGER NOT NULL,
  view INTEGER NOT NULL,
  from_block INTEGER NOT NULL,
  to_block INTEGER NOT NULL,
  level INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  growing INTEGER NOT NULL DEFAULT 0,
  target INTEGER,
  contracts BLOB
);
CREATE TABLE packs (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE pack_keys (
  run INTEGER NOT NULL,
  key BLOB NOT NULL,
  pack INTEGER NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
-- Which indexes of transfers a chain keeps (their views). Records that came few at a time are in view_records,
-- others in runs. phase: NULL while all stored transfers are in it; 'remove' while records of before are removed,
-- 'hot' and 'cold' while it is filled from stored rows, up to the key reached; contracts of contracts_of are done.
CREATE TABLE view_records (
  view INTEGER NOT NULL,
  chain INTEGER NOT NULL,
  key BLOB NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (view, chain, key)
) WITHOUT ROWID;
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
