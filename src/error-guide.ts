// What each error code means and how to solve it, for docs/errors.md and the OpenAPI document. No code decides by it.
import type { ErrorCode } from './errors.ts'

/** Whose it is to solve decides in which table of the page a code stands. */
export const errorGuide: Readonly<Record<ErrorCode, { of: 'request' | 'operator'; means: string; solve: string }>> = {
  bad_request: {
    of: 'request',
    means: 'A parameter, a flag or an address is not valid. `details` names it and lists what is accepted.',
    solve: 'Correct the request as the message says; `/reference` lists every parameter.',
  },
  unauthorized: {
    of: 'request',
    means: 'The request has no key, or one that is unknown, expired or revoked.',
    solve: 'Send a valid key in the header `X-API-Key`; create one with `almanac keys create`.',
  },
  forbidden: {
    of: 'request',
    means: 'The key is valid but lacks the scope of this operation.',
    solve: 'Use another key, or create one with the scope: `almanac keys create --scopes …`.',
  },
  not_found: {
    of: 'request',
    means: 'The path or key does not exist, or no NFT contract is known at the address.',
    solve:
      'Check the path against `/openapi.json`, the name against `almanac keys list`, or the chain and the address of the contract.',
  },
  chain_not_configured: {
    of: 'request',
    means:
      'The request names an EVM chain that is not configured here: no process on the store indexes it, and nothing of it is stored. `details.configured` lists the chains that are. For a configured chain that lacks a node or a view, the answer is [`not_configured`](#not_configured).',
    solve: 'Request one of these chains, or add the chain under `chains` and restart.',
  },
  method_not_allowed: {
    of: 'request',
    means: 'The path exists, but not with this HTTP method.',
    solve: 'Use one of the methods in the header `Allow`.',
  },
  request_timeout: {
    of: 'request',
    means: 'The request did not arrive within 30 seconds.',
    solve: 'Look for a slow client or a proxy that delays requests.',
  },
  http_version_not_supported: {
    of: 'request',
    means: 'The request line names another version of HTTP than 1.1 or 1.0.',
    solve: 'Send HTTP/1.1; a proxy in front can take HTTP/2 from clients.',
  },
  uri_too_long: {
    of: 'request',
    means: 'The URL is longer than `limits.url_bytes_max`.',
    solve: 'Request less at once, or raise the limit.',
  },
  headers_too_large: {
    of: 'request',
    means: 'The headers are larger than `limits.header_bytes_max`.',
    solve: 'Send fewer cookies and headers, or raise the limit.',
  },
  answer_too_large: {
    of: 'request',
    means: 'The answer would be longer than `limits.answer_bytes_max`.',
    solve: 'Request a smaller page (`limit`), or raise the limit.',
  },
  list_too_large: {
    of: 'request',
    means: 'The list is too long for pages: about ten million rows, or the memory that the service has for it.',
    solve:
      'Ask the same with `Accept: text/csv` or `application/x-ndjson`: the [whole list](guides/whole-lists.md) comes in one answer. `details` names the operation that has it.',
  },
  rate_limited: {
    of: 'request',
    means:
      'The key exceeded its rate of requests per second, or has too many contracts and owners waiting to be indexed.',
    solve: 'Wait as `Retry-After` says, or raise the limit with the command that `details.raise` names.',
  },
  quota_exceeded: {
    of: 'request',
    means:
      'The key has used up its requests of the day (UTC), the contracts, wallets and owners that are indexed for it in a day, or its share of the calls to nodes (`daily_budget`). `details.reason` says which of them the key has used up.',
    solve: 'Wait for midnight UTC, or raise the limit as `details.raise` says.',
  },
  budget_exceeded: {
    of: 'operator',
    means:
      'Requests have used up their half of the calls to nodes that `daily_budget` of the chain allows in a day (UTC). The other half is for following the head, which goes on.',
    solve: 'Wait for midnight UTC, or raise `daily_budget`.',
  },
  overloaded: {
    of: 'operator',
    means: 'More requests arrive than can be answered, or clients do not take their answers (see `limits`).',
    solve:
      'Try again after `Retry-After`; if it persists, add API processes, as [PostgreSQL and Citus](guides/postgres-and-citus.md) shows.',
  },
  timeout: {
    of: 'operator',
    means: 'The answer, or a node, took longer than `limits.request_timeout_ms`.',
    solve: 'Try again; if it persists, look at the endpoints in `almanac status`.',
  },
  upstream_failed: {
    of: 'operator',
    means: 'A node could not be reached or refused the call. The message names its host.',
    solve: 'Check that the node runs and that its URL and key are correct; add a second endpoint.',
  },
  upstream_invalid: {
    of: 'operator',
    means:
      'A node gave an answer that fails a check: another chain, broken links, logs that do not match the header. None of it was stored.',
    solve: 'Check the URL of the endpoint; add one of another provider to fall back on.',
  },
  upstream_rate_limited: {
    of: 'operator',
    means: 'A node or provider limits the rate of requests.',
    solve: 'Lower `requests_per_second` of the chain, raise the plan, or add a second endpoint.',
  },
  not_implemented: {
    of: 'request',
    means: 'The hosted service has this operation, and Almanac does not serve it. `details` names it.',
    solve: 'See [served and not served](operations.md): it says what each operation that is not served would need.',
  },
  not_configured: {
    of: 'operator',
    means:
      'The service lacks what the operation or command needs, and the message names it: a view of the chain, a running process with a node of it, old state in its nodes, or the Solana network. For an EVM chain that is not configured at all, a request gets [`chain_not_configured`](#chain_not_configured).',
    solve:
      'Add it: a view under `chains.<name>.views`, as [upgrades](guides/upgrades.md#switch-on-who-owns-what-later) shows; an endpoint under `chains.<name>.rpc` or `solana`, or a start without `--only api`. `almanac init` writes a first configuration.',
  },
  config_invalid: {
    of: 'operator',
    means: 'The configuration has an error. The message names the file, the line and the nearest valid name.',
    solve: 'Correct it and run `almanac config check`; [settings](settings.md) lists every setting.',
  },
  store_newer: {
    of: 'operator',
    means: 'A newer version wrote the store, and this version cannot read it.',
    solve: 'Run the newer version again, or restore a backup from before it, as [upgrades](guides/upgrades.md) shows.',
  },
  store_older: {
    of: 'operator',
    means: 'An older version wrote the store, and its format is no longer read.',
    solve:
      'Index again into an empty store, or go on with the version that wrote it, as [upgrades](guides/upgrades.md) shows.',
  },
  store_corrupt: {
    of: 'operator',
    means: 'The store is damaged, or is not an Almanac store.',
    solve: 'Restore a backup, or index again into an empty store; check the disk.',
  },
  store_full: {
    of: 'operator',
    means:
      'The disk is full, or the store is at `limits.store_bytes_max`. Committed data is safe, and requests are still answered.',
    solve: 'Free or add space, and indexing resumes by itself; or raise the bound. See [room](scale.md#room).',
  },
  store_locked: {
    of: 'operator',
    means: 'Another process indexes into the store, or has locked it.',
    solve: 'Stop the other process, or start this one with `--only api`.',
  },
  store_failed: {
    of: 'operator',
    means: 'The store or the database server failed a call.',
    solve: 'Read the cause in the log; Almanac reconnects by itself.',
  },
  conflict: {
    of: 'operator',
    means: 'The command would overwrite or mix up existing data.',
    solve: 'Follow the message: use another name, another file, or an explicit flag.',
  },
  interrupted: {
    of: 'operator',
    means: 'A signal or the end of the service stopped the work. Committed data stays.',
    solve: 'Start it again; it resumes where it stopped.',
  },
  stream_cut: {
    of: 'request',
    means:
      'A whole list (CSV, NDJSON) changed while it was read: a reorganisation replaced blocks, or rows were taken away. Before the first row this is the answer; later the connection is cut.',
    solve: 'Ask again, after `Retry-After`. A list that was cut has no last line that says `complete`.',
  },
  position_gone: {
    of: 'request',
    means:
      'Changes cannot be listed from this position on: a repair or `almanac forget` removed final rows, a backup was restored, or the position is in a replaced block that is no longer kept (`changes.keep_days`).',
    solve: 'Forget what you keep of blocks from `details.from_block` on, and go on with `details.next` as `after`.',
  },
  internal: {
    of: 'operator',
    means: 'A defect in Almanac.',
    solve: 'Find the `request_id` in the log and report the entry.',
  },
}
