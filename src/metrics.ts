// Counters and measurements under Prometheus names with base units. No label may hold an address, a key or anything
// else that a client chooses. Each service has its own registry.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** Measured: 0.9 µs for an observation with three labels, 0.8 µs with resolved labels; not worth keeping them. */
export function createMetrics({ ofProcess = false }: { ofProcess?: boolean } = {}) {
  const { registry, counter, gauge, histogram } = kinds()
  if (ofProcess) collectDefaultMetrics({ register: registry })
  return {
    registry,
    http: {
      duration: histogram(
        'almanac_http_request_duration_seconds',
        'Time from the arrival of a request until its answer is ready to send.',
        ['route', 'method', 'status'],
        [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      ),
      inFlight: gauge('almanac_http_requests_in_flight', 'Requests being handled.'),
      unsentBytes: gauge('almanac_http_unsent_bytes', 'Memory of answers that clients have not taken yet.'),
      lentBytes: gauge('almanac_http_lent_bytes', 'Memory in which pages are being written or sent.'),
      shed: counter('almanac_http_requests_shed_total', 'Requests refused with 503 for overload.'),
      notServed: counter(
        'almanac_http_not_served_total',
        'Requests for operations of the hosted service that are not served, answered with 501.',
        ['operation'],
      ),
      answerBytes: counter('almanac_http_answer_bytes_total', 'Bytes of answer bodies, as sent.', ['route']),
    },
    streams: {
      open: gauge('almanac_streams_open', 'Whole lists (CSV, NDJSON) being sent.'),
      rows: counter('almanac_stream_rows_total', 'Rows of whole lists sent.'),
      cut: counter(
        'almanac_streams_cut_total',
        'Whole lists that ended without their last line: the client went away or the service stopped (`disconnected`), ' +
          'the client took nothing (`stalled`) or too little (`slow`), rows were replaced or taken away (`changed`), the key ended (`key`), or ' +
          'reading failed (`failed`).',
        ['reason'],
      ),
    },
    holdings: {
      heldBytes: gauge(
        'almanac_holdings_held_bytes',
        'Memory of finished lists of who owns what: kept, shown or being sent.',
      ),
      makingBytes: gauge('almanac_holdings_making_bytes', 'Memory of lists of who owns what that are being made.'),
      bytesMax: gauge('almanac_holdings_bytes_max', 'The bound on both, limits.holdings_bytes_max or its default.'),
      working: gauge('almanac_holdings_working', 'Lists and counts of who owns what being made, or waiting to be.'),
      waiting: gauge('almanac_holdings_waiting', 'Lists and counts of who owns what that wait for their turn.'),
      refused: counter(
        'almanac_holdings_refused_total',
        'Lists and counts of who owns what that were refused for want of memory or of a place in the queue, by error code.',
        ['code'],
      ),
      cancelled: counter(
        'almanac_holdings_cancelled_total',
        'Lists and counts of who owns what that were given up because their clients went away.',
      ),
    },
    solana: {
      readings: counter('almanac_solana_readings_total', 'Owners read in full from the endpoints.', ['network']),
      lag: gauge('almanac_solana_lag_seconds', 'Time since the last WebSocket message; 0 if there was none.', [
        'network',
      ]),
      slot: gauge('almanac_solana_slot', 'Highest slot reported by the endpoints or the WebSocket.', ['network']),
      owners: gauge('almanac_solana_owners_live', 'Owners kept fresh by subscriptions.', ['network']),
      differences: counter(
        'almanac_solana_differences_total',
        'Holdings whose value at a reconciliation differed from what the subscriptions reported.',
        ['network'],
      ),
    },
    store: {
      checked: absent(
        gauge(
          'almanac_store_checked_timestamp_seconds',
          'When the store file was last checked for damage. Absent for a server.',
        ),
      ),
      bytes: absent(gauge('almanac_store_bytes', 'Bytes of the store in use, the write-ahead log of a file included.')),
      bytesMax: absent(
        gauge('almanac_store_bytes_max', 'The setting limits.store_bytes_max. Absent where it is unset.'),
      ),
      fullIn: absent(
        gauge(
          'almanac_store_full_in_seconds',
          'When the store will be full, by its bound or its disk, if it grows as in the last hours. Absent where it does not grow or too little was seen.',
        ),
      ),
    },
    storeRuns: {
      runs: gauge('almanac_store_runs', 'Sorted runs of the store.', ['chain', 'view']),
      records: gauge('almanac_store_run_records', 'Records in sorted runs.', ['chain', 'view']),
      mergingRecords: gauge(
        'almanac_store_merging_records',
        'Records that merges of runs under way have still to move.',
        ['chain', 'view'],
      ),
    },
    webhooks: {
      count: gauge(
        'almanac_webhooks',
        'Webhooks, by state: `active`, `retrying`, `paused` by their owners, `stopped`.',
        ['state'],
      ),
      lag: gauge(
        'almanac_webhook_lag_seconds',
        'The longest time for which a webhook that is not paused has not acknowledged something.',
      ),
      behind: gauge(
        'almanac_webhook_behind_seconds',
        'The same of each webhook that fails or is behind for longer than a minute, at most 100, by id.',
        ['webhook'],
      ),
    },
    problems: gauge('almanac_problem', 'Problems that /ready names, 1 each; the chain is empty for the store.', [
      'problem',
      'chain',
    ]),
    keys: {
      refused: counter('almanac_keys_refused_total', 'Requests refused because of their key, by error code.', ['code']),
    },
  }
}

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>

/** Of the thread that sends. */
export function createWebhookMetrics() {
  const { registry, counter, histogram } = kinds()
  return {
    registry,
    attempts: counter('almanac_webhook_attempts_total', 'Requests sent to webhooks, `delivered` or `failed`.', [
      'outcome',
    ]),
    changes: counter('almanac_webhook_changes_total', 'Changes that webhooks acknowledged.'),
    duration: histogram(
      'almanac_webhook_attempt_duration_seconds',
      'Time until a webhook answered, or was given up.',
      [],
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    ),
    delay: histogram(
      'almanac_webhook_delay_seconds',
      'Time from when there was something to send until a webhook acknowledged a part of it.',
      [],
      [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 600, 3_600, 86_400],
    ),
  }
}

export type EvmMetrics = ReturnType<typeof createEvmMetrics>

export function createEvmMetrics() {
  const { registry, counter, gauge, histogram } = kinds()
  return {
    registry,
    blocks: counter('almanac_evm_blocks_total', 'Blocks stored, at the head or from history.', ['chain', 'part']),
    transfers: counter(
      'almanac_evm_transfers_total',
      'Transfers stored, at the head and from history. Transfers of a replaced branch count again.',
      ['chain'],
    ),
    logs: counter('almanac_evm_logs_total', 'Logs read for what was stored, at the head and from history.', ['chain']),
    malformedLogs: counter(
      'almanac_evm_malformed_logs_total',
      'Logs that claim to be transfers but cannot be decoded, by reason.',
      ['chain', 'reason'],
    ),
    reorganisations: counter(
      'almanac_evm_reorganisations_total',
      'Times another branch replaced stored blocks that were not final.',
      ['chain'],
    ),
    failures: counter(
      'almanac_evm_failures_total',
      'Failed attempts to follow the head or to fill history. Each is retried.',
      ['chain', 'part'],
    ),
    head: gauge('almanac_evm_head_block', 'Newest block reported by an endpoint.', ['chain']),
    lag: gauge(
      'almanac_evm_lag_seconds',
      'Time between the newest block of the chain and the newest one stored, or since the last contact.',
      ['chain'],
    ),
    headAge: gauge(
      'almanac_evm_head_age_seconds',
      'Age of the newest block that endpoints report, by the clock of the service. Absent for retired chains.',
      ['chain'],
    ),
    blockTime: gauge('almanac_evm_block_time_seconds', 'Usual time between blocks, which the age is held against.', [
      'chain',
    ]),
    backfillHeld: gauge(
      'almanac_evm_backfill_held',
      '1 while history is held: paused by an operator (`paused`), or outside of its hours (`hours`).',
      ['chain', 'reason'],
    ),
    sourceBlocks: counter('almanac_source_blocks_total', 'Blocks of history that files or a portal gave.', [
      'chain',
      'source',
    ]),
    sourceRefusals: counter(
      'almanac_source_refusals_total',
      'Files and ranges of a portal that are not used because they are wrong or came too slowly; /status says what.',
      ['chain', 'source'],
    ),
    contractReadings: counter(
      'almanac_evm_contract_readings_total',
      'Readings of the name and interfaces of a contract, by outcome. Failed ones are retried.',
      ['chain', 'outcome'],
    ),
    tokenUriReadings: counter(
      'almanac_evm_token_uri_readings_total',
      'Readings of the URI of a token that an answer shows, by outcome.',
      ['chain', 'outcome'],
    ),
    contractsJudged: counter('almanac_evm_contracts_judged_total', 'Contracts judged by the spam rules.', [
      'chain',
      'verdict',
    ]),
    contractsWaiting: gauge('almanac_evm_contracts_waiting', 'Contracts waiting to be read or judged.', ['chain']),
    rpcRequests: counter('almanac_evm_rpc_requests_total', 'Requests to endpoints.', ['chain', 'endpoint', 'outcome']),
    rpcDuration: histogram(
      'almanac_evm_rpc_request_duration_seconds',
      'Time that endpoints take to answer.',
      ['chain', 'endpoint'],
      [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ),
    rpcBytes: counter('almanac_evm_rpc_answer_bytes_total', 'Bytes of answers, decompressed.', ['chain', 'endpoint']),
    rpcHedges: counter(
      'almanac_evm_rpc_hedges_total',
      'Requests sent to a second endpoint because the first was slow.',
      ['chain', 'endpoint'],
    ),
  }
}

/** Without a value until one is set: a metric without labels would begin as 0. */
function absent(gauge: Gauge): Gauge {
  gauge.remove()
  return gauge
}

/** The kinds of metrics in one registry. */
function kinds() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    counter: <const Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <const Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <const Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  }
}
