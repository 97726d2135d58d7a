// Every setting, spelled as in the file, with its default, what it accepts and what it does. Documents, environment
// names, flags and error messages all come from this one table.
import { z } from 'zod'
import { parseHours } from '../daily-hours.ts'
import { parseAddress, parseHash } from '../model.ts'
import { keptViews, viewNames } from '../views.ts'
import { type About, aboutOf, camelKeys, setting } from './setting.ts'

const listenAddress = z.string().refine(text => parseListen(text) !== undefined)
/** Not `:port`, which opens it to every machine. */
const portMeant = (given: string): string | undefined =>
  parseListen(`:${given}`) === undefined ? undefined : `127.0.0.1:${given}`
const httpUrl = z.string().refine(text => /^https?:$/.test(URL.parse(text)?.protocol ?? ''))
const socketUrl = z.string().refine(text => /^wss?:$/.test(URL.parse(text)?.protocol ?? ''))
const count = z.int().min(1)
const hours = z.string().refine(text => parseHours(text) !== undefined)
const countOrNone = z.int().min(0)
const address = z.string().transform((text, context) => {
  const parsed = parseAddress(text)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: 'not an address' })
  return z.NEVER
})
const hash = z.string().transform((text, context) => {
  const parsed = parseHash(text)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: 'not a hash' })
  return z.NEVER
})
/** A path, or an address on the web. */
const place = z.string().refine(text => text !== '' && (!text.includes('://') || httpUrl.safeParse(text).success))
export const chainId = z.union([
  count,
  z
    .string()
    .regex(/^0x[0-9a-f]{1,13}$/i)
    .transform(Number),
])

/** Accepts one value or a list; always a list inside. */
function oneOrMore<Item extends z.ZodType>(item: Item) {
  return z.preprocess(value => (value === undefined || Array.isArray(value) ? value : [value]), z.array(item).min(1))
}

/** The same, where none is the default. */
function anyNumber<Item extends z.ZodType>(item: Item) {
  const one = (value: unknown) => (value === undefined || Array.isArray(value) ? value : [value])
  return z.preprocess(one, z.array(item)).default([])
}

/** The file spells settings in snake_case, the code in camelCase: this is where one becomes the other. */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape).transform(camelKeys)
}

/** A section that may be absent or empty. */
function optionalSection<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(value => value ?? {}, section(shape))
}

const wsAbout: About = {
  about: 'WebSocket endpoint for new blocks and account changes. Unset: polls the JSON-RPC endpoints.',
  accepts: 'a ws:// or wss:// URL',
  secret: 'endpoint',
}

const endpoints = {
  rpc: setting(oneOrMore(httpUrl), {
    about: 'JSON-RPC endpoints, preferred first. Only the host is ever shown.',
    accepts: 'an http:// or https:// URL, or a list of them',
    secret: 'endpoint',
    reloads: true,
  }),
  requests_per_second: setting(z.number().positive().optional(), {
    about:
      'Maximum JSON-RPC calls per second to all endpoints together; each call of a batch counts. Unset: adapts to what the endpoints allow.',
    accepts: 'a number above 0',
    reloads: true,
  }),
  daily_budget: setting(count.optional(), {
    about:
      'Maximum JSON-RPC calls per day (UTC) to all endpoints together; each call of a batch counts. The count survives a restart. Unset: no limit.',
    accepts: 'a whole number, at least 1',
    reloads: true,
  }),
}

const history = {
  history: setting(oneOrMore(z.string().min(1)).optional(), {
    about:
      'Folders or files with history (era1 or ere), relative to the working directory. Almanac notices new files while it runs.',
    accepts: 'a path, or a list of them',
    reloads: true,
  }),
  portal: setting(httpUrl.optional(), {
    about: 'Dataset URL of an SQD-compatible portal to read history from. Only the host is ever shown.',
    accepts: 'an http:// or https:// URL such as https://portal.example/datasets/ethereum-mainnet',
    secret: 'endpoint',
    reloads: true,
  }),
  history_summaries: setting(oneOrMore(place).optional(), {
    about:
      'Proves headers after the merge: `historical_summaries`, and `historical_roots` for the time before Capella, from a beacon state that you trust.',
    accepts: 'a file, the http:// or https:// URL of a beacon node, or a list of them',
    secret: 'place',
    reloads: true,
  }),
  anchor: setting(hash.optional(), {
    about:
      'Hash of a block that you know to be on the chain. Blocks from files or a portal that link to it by parent hashes need no node to vouch for them.',
    accepts: '0x and 64 hex digits',
    reloads: true,
  }),
}

/** The issue of a chain that has nothing to be read from. */
export const noSource = 'no source'

const chainSettings = section({
  ...endpoints,
  rpc: setting(endpoints.rpc.optional(), {
    ...aboutOf(endpoints.rpc)!,
    about:
      'JSON-RPC endpoints, preferred first. Only the host is ever shown. Unset: the chain is an archive of what `history` or `portal` gives, without a head.',
  }),
  daily_budget: setting(endpoints.daily_budget, {
    ...aboutOf(endpoints.daily_budget)!,
    about:
      'Maximum JSON-RPC calls per day (UTC) to all endpoints together; each call of a batch counts, and so does what `sync` and `verify` ask for. The count survives a restart. Requests of clients use at most half of it, and a key whose indexing is limited at most a quarter; the rest is for the head and for history. Unset: no limit.',
  }),
  ...history,
  ws: setting(socketUrl.optional(), { ...wsAbout, reloads: true }),
  index: setting(z.enum(['full', 'on-demand']).default('on-demand'), {
    about:
      '`full` indexes every block and serves every contract and wallet; `on-demand` indexes a contract when it is first requested.',
    accepts: '`full` or `on-demand`',
  }),
  views: setting(z.array(z.enum(viewNames)).transform(keptViews).optional(), {
    about:
      'Views to keep. Without `activity`, a full chain takes about half of the disk and looks wallets up on request, as on-demand chains do. `by_wallet`, `by_token` and `by_block` are indexes of transfers, for on-demand chains too. You can add views later: `activity` is filled from nodes, files or the portal while the rest is served, indexes from stored rows. `erc20` keeps the transfers of every ERC-20 token of a chain that is indexed in full: many times as many as of NFTs, and its blocks are read a second time for them. Without it tokens are indexed when they are requested. Unset: a new chain keeps all but `erc20`; a chain of an older store keeps the indexes it has.',
    accepts: `a list of ${viewNames.map(name => `\`${name}\``).join(', ')}; \`transfers\` is always kept`,
  }),
  contracts: setting(z.array(address).default([]), {
    about: 'Contracts to index without waiting for a request.',
    accepts: 'a list of addresses: 0x and 40 hex digits each',
  }),
  from: setting(countOrNone.default(0), {
    about: 'First block to index; older history is left out.',
    accepts: 'a block number: a whole number, at least 0',
  }),
  id: setting(chainId.optional(), {
    about: 'Chain id (EIP-155). Required for a chain with a name of yours.',
    accepts: 'a whole number, at least 1, or its hex form such as 0x2105',
  }),
  finality: setting(z.union([z.literal('tag'), countOrNone]).optional(), {
    about:
      'When a block is final: by the `finalized` tag of the node, or after N blocks. Unset: the usual rule of the chain.',
    accepts: '`tag`, or a whole number of blocks, at least 0',
  }),
  head_age_max_seconds: setting(countOrNone.optional(), {
    about:
      'Age of the newest block beyond which the node is reported as stuck (`head_old`) and answers carry the header `X-Head-Age`. 0: never, for a chain that makes blocks on demand. Unset: 30 usual block times, at least 120 seconds; never for the ids 1337 and 31337 of development nodes.',
    accepts: 'a whole number of seconds, at least 0',
  }),
  sender_sample: setting(countOrNone.default(2_000), {
    about:
      'In full mode, check the sender that the endpoint reports against the signature for one in N random transactions. 1: all, which is slow; 0: none.',
    accepts: 'a whole number, at least 0',
  }),
  backfill: optionalSection({
    paused: setting(z.boolean().default(false), {
      about:
        'Pauses the backfill. New blocks and on-demand requests are still indexed. `almanac backfill pause` does the same without editing the configuration.',
      accepts: '`true` or `false`',
      reloads: true,
    }),
    hours: setting(hours.optional(), {
      about: 'Hours of the day (UTC) in which the backfill runs. Unset: always.',
      accepts: 'two times of the day such as 22:00-06:00',
      reloads: true,
    }),
    blocks_per_second: setting(z.number().positive().optional(), {
      about:
        'Maximum blocks of history per second, on average. On-demand contracts are not limited. Unset: as fast as the endpoints answer.',
      accepts: 'a number above 0',
      reloads: true,
    }),
  }),
})
  .superRefine(({ rpc, history: files, portal }, context) => {
    const hasSource = rpc !== undefined || files !== undefined || portal !== undefined
    if (!hasSource) context.addIssue({ code: 'custom', path: ['rpc'], message: noSource })
  })
  .transform(settings => ({ ...settings, rpc: settings.rpc ?? [] }))

const solanaSettings = section({
  ...endpoints,
  ws: setting(socketUrl.optional(), wsAbout),
  max_age_ms: setting(countOrNone.default(2_000), {
    about:
      'Maximum age of a portfolio that no subscription keeps fresh; an older one is read again from the endpoints.',
    accepts: 'a whole number of milliseconds, at least 0',
  }),
  subscriptions_max: setting(countOrNone.default(5_000), {
    about:
      'Maximum open subscriptions over `ws`. An owner takes three, and one for each of its token accounts; the least recently requested owners are dropped first. 0: none.',
    accepts: 'a whole number, at least 0',
  }),
  reconcile_ms: setting(count.default(60_000), {
    about: 'Interval at which an owner kept fresh by subscriptions is read again in full.',
    accepts: 'a whole number of milliseconds, at least 1',
  }),
  yellowstone: setting(httpUrl.optional(), {
    about: 'Yellowstone gRPC server that keeps a whole network current after `almanac solana import`.',
    accepts: 'an http:// or https:// URL',
    secret: 'endpoint',
  }),
  yellowstone_token: setting(z.string().min(1).optional(), {
    about: 'Token sent to the Yellowstone server as `x-token`.',
    accepts: 'a text',
    secret: 'endpoint',
  }),
})

export const settingsSchema = section({
  listen: setting(listenAddress.default('127.0.0.1:8080'), {
    about:
      'Address to listen on: `127.0.0.1:8081` for this machine alone; `:8081`, the same as `0.0.0.0:8081`, for every address of the machine over IPv4; `[::]:8081` for IPv6 too. Port 0 picks a free port.',
    accepts: 'host:port, :port or [IPv6]:port, with a port up to 65535',
    meant: portMeant,
    flag: true,
  }),
  solana_listen: setting(listenAddress.optional(), {
    about: 'Second address with the same routes, for clients that need a separate base URL for Solana.',
    accepts: 'host:port, :port or [IPv6]:port, with a port up to 65535',
    meant: portMeant,
    flag: true,
  }),
  store: setting(
    z
      .string()
      .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/i)
      .default('file:./almanac.db'),
    {
      about: 'Where to keep the data: a SQLite file, relative to the working directory, or a PostgreSQL server.',
      accepts: 'file:path or postgres://user:password@host/database',
      meant: given => (given === '' || given.includes(':') ? undefined : `file:${given}`),
      secret: 'store',
      flag: true,
    },
  ),
  store_read: setting(
    z
      .string()
      .regex(/^postgres(ql)?:\/\/.+$/i)
      .optional(),
    {
      about:
        'Streaming replica of the PostgreSQL server under `store`. Serves first pages and wallets while it lags at most `limits.replica_lag_max_ms`.',
      accepts: 'postgres://user:password@host/database',
      secret: 'store',
    },
  ),
  dialect: setting(z.enum(['reference', 'live']).optional(), {
    about:
      'JSON types of all answers: `reference` sends counts and flags as text, `live` as numbers and booleans like the hosted service. Unset: the path and headers of each request decide.',
    accepts: '`reference` or `live`',
    flag: true,
  }),
  ops_open: setting(z.boolean().default(false), {
    about: 'Serves /status, /metrics, /events and /chains/{chain}/contracts without a key.',
    accepts: '`true` or `false`',
    flag: true,
  }),
  chains: z.preprocess(value => value ?? {}, z.record(z.string(), chainSettings)),
  solana: optionalSection({ mainnet: solanaSettings.optional(), devnet: solanaSettings.optional() }),
  limits: optionalSection({
    page_size_max: setting(z.int().min(1).max(1_000).default(100), {
      about: 'Maximum transfers on a page; a larger `limit` is reduced to it.',
      accepts: 'a whole number from 1 to 1000',
    }),
    concurrency_max: setting(count.default(256), {
      about: 'Maximum requests handled at once.',
      accepts: 'a whole number, at least 1',
    }),
    queue_max: setting(countOrNone.default(1_024), {
      about: 'Maximum requests that wait to be handled; any more are refused with 503.',
      accepts: 'a whole number, at least 0',
    }),
    overload_requests_max: setting(count.default(32), {
      about: 'Maximum requests answered per turn of the event loop after a second of overload; the rest get 503.',
      accepts: 'a whole number, at least 1',
    }),
    streams_max: setting(count.default(64), {
      about:
        'Maximum whole lists (CSV, NDJSON) sent at once; any more are refused with 503. A key may have half of them, and gets 429 beyond.',
      accepts: 'a whole number, at least 1',
    }),
    holdings_bytes_max: setting(
      z
        .int()
        .min(16 * 2 ** 20)
        .optional(),
      {
        about:
          'Maximum memory for lists and counts of who owns what: those that are kept, made and sent. Work that finds no room is refused with 503, and a list too large for it with 422. Unset: a quarter of the memory that the process may use, at most 1 GiB.',
        accepts: 'a whole number of bytes, at least 16777216',
      },
    ),
    request_timeout_ms: setting(count.default(15_000), {
      about: 'Maximum time for a request, waiting included; after that it is answered with 504.',
      accepts: 'a whole number of milliseconds, at least 1',
    }),
    freshen_wait_ms: setting(countOrNone.default(3_000), {
      about: 'Maximum time a request waits for an indexer; after that it is answered from the store.',
      accepts: 'a whole number of milliseconds, at least 0',
    }),
    url_bytes_max: setting(z.int().min(256).default(8_192), {
      about: 'Maximum length of a URL; a longer one is refused with 414.',
      accepts: 'a whole number of bytes, at least 256',
    }),
    header_bytes_max: setting(z.int().min(1_024).default(16_384), {
      about: 'Maximum size of the request headers; larger ones are refused with 431.',
      accepts: 'a whole number of bytes, at least 1024',
    }),
    answer_bytes_max: setting(z.int().min(65_536).default(16_777_216), {
      about: 'Maximum size of an answer; a larger one is refused with 400 (`answer_too_large`).',
      accepts: 'a whole number of bytes, at least 65536',
    }),
    answer_cache_bytes: setting(countOrNone.default(67_108_864), {
      about: 'Memory for cached answers, which are valid until the next commit.',
      accepts: 'a whole number of bytes, at least 0',
    }),
    drain_timeout_ms: setting(countOrNone.default(10_000), {
      about: 'Maximum time for running requests to finish after the first signal to stop.',
      accepts: 'a whole number of milliseconds, at least 0',
    }),
    store_bytes_max: setting(z.int().min(1_048_576).optional(), {
      about:
        'Maximum size of the store: the pages of a file that are in use with its write-ahead log, or the database on a server. Indexing pauses as `store_full` at this size, and while the disk of a file has less than 256 MB (2 % of a small disk) free; requests are still answered. Unset: only the disk limits it.',
      accepts: 'a whole number of bytes, at least 1048576',
    }),
    replica_lag_max_ms: setting(count.default(1_000), {
      about: 'Maximum lag of the replica under `store_read`; beyond it the store itself is read.',
      accepts: 'a whole number of milliseconds, at least 1',
    }),
    contract_days: setting(countOrNone.default(90), {
      about:
        'Stop following an on-demand contract after this many days without a request. Its rows stay, and the next request completes them. 0: never.',
      accepts: 'a whole number of days, at least 0',
    }),
    wallet_days: setting(countOrNone.default(90), {
      about:
        'Forget what was looked up for a wallet after this many days without a request; the next request looks it up again. 0: never.',
      accepts: 'a whole number of days, at least 0',
    }),
    owner_days: setting(countOrNone.default(90), {
      about:
        'Forget a Solana owner and its holdings after this many days without a request. Networks with an imported snapshot forget none. 0: never.',
      accepts: 'a whole number of days, at least 0',
    }),
    lag_max_seconds: setting(count.default(300), {
      about: 'Maximum lag of a followed chain; beyond it /ready names the chain.',
      accepts: 'a whole number of seconds, at least 1',
    }),
  }),
  changes: optionalSection({
    keep_days: setting(countOrNone.default(7), {
      about:
        'Days to keep blocks that a reorganisation replaced, for clients that follow changes. One that was told of such a block and comes back later gets 410 and begins again. 0: none are kept.',
      accepts: 'a whole number of days, at least 0',
    }),
  }),
  webhooks: optionalSection({
    allow_private: setting(z.boolean().default(false), {
      about:
        'Whether webhooks may send to private and special addresses, such as those of your own network. Every key with the scope `webhooks` can then reach them.',
      accepts: '`true` or `false`',
    }),
    allow_http: setting(z.boolean().default(false), {
      about: 'Whether webhooks may send over http, which is not encrypted, beside https.',
      accepts: '`true` or `false`',
    }),
    max_per_key: setting(countOrNone.default(100), {
      about: 'Maximum webhooks of a key.',
      accepts: 'a whole number, at least 0',
    }),
  }),
  metadata: optionalSection({
    ipfs: setting(anyNumber(httpUrl), {
      about:
        'Gateways to fetch `ipfs://` and links to IPFS from, in the order in which they are asked. Your own node may be on a private address. Unset: none.',
      accepts: 'an http:// or https:// URL such as https://ipfs.example, or a list of them',
    }),
    ipns: setting(anyNumber(httpUrl), {
      about: 'Gateways to fetch `ipns://` from. Unset: none.',
      accepts: 'an http:// or https:// URL, or a list of them',
    }),
    ar: setting(anyNumber(httpUrl), {
      about: 'Gateways to fetch `ar://` from. Unset: none.',
      accepts: 'an http:// or https:// URL such as https://arweave.net, or a list of them',
    }),
    https: setting(anyNumber(z.string().regex(/^(any|(\*\.)?[a-z\d-]+(\.[a-z\d-]+)+)$/)), {
      about:
        'Web servers to fetch metadata and pictures from, by the names of their hosts. Only public addresses over TLS are asked. Unset: none.',
      accepts: '`any`, a name such as metadata.example or *.example, or a list of names',
    }),
    bytes_max: setting(z.int().min(65_536).max(67_108_864).default(8_388_608), {
      about: 'Maximum size of a picture; metadata itself has at most 1 MB.',
      accepts: 'a whole number of bytes from 65536 to 67108864',
    }),
    timeout_ms: setting(z.int().min(100).max(60_000).default(10_000), {
      about: 'Maximum time to fetch one file, redirects included.',
      accepts: 'a whole number of milliseconds from 100 to 60000',
    }),
    redirects_max: setting(z.int().min(0).max(3).default(3), {
      about: 'Maximum redirects to follow; each is checked like the first address.',
      accepts: 'a whole number from 0 to 3',
    }),
    requests_per_second: setting(z.number().positive().default(20), {
      about: 'Maximum requests per second to all hosts together.',
      accepts: 'a number above 0',
    }),
    requests_per_host: setting(z.number().positive().default(5), {
      about: 'Maximum requests per second to one host.',
      accepts: 'a number above 0',
    }),
    bytes_per_day: setting(count.default(5_368_709_120), {
      about:
        'Maximum bytes to fetch per day (UTC). A key whose indexing is limited may use a quarter. The count survives a restart.',
      accepts: 'a whole number of bytes, at least 1',
    }),
    store_bytes_max: setting(z.int().min(1_048_576).default(1_073_741_824), {
      about: 'Maximum size of what is kept in the store; what was fetched first goes first.',
      accepts: 'a whole number of bytes, at least 1048576',
    }),
    keep_days: setting(count.default(7), {
      about:
        'Days after which what a host said is fetched again. Content that was checked against the hash in its address is never fetched again.',
      accepts: 'a whole number of days, at least 1',
    }),
  }),
  cors: optionalSection({
    origins: setting(oneOrMore(z.string().min(1)).default(['*']), {
      about: 'Origins whose pages may call the operations from a browser. All other routes are same-origin only.',
      accepts: '`*`, an origin such as https://app.example, or a list of them',
    }),
  }),
  log: optionalSection({
    level: setting(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
      about: 'Minimum level to log.',
      accepts: '`trace`, `debug`, `info`, `warn`, `error` or `silent`',
      flag: true,
    }),
    format: setting(z.enum(['auto', 'json', 'text']).default('auto'), {
      about: 'Log format: JSON lines or readable text. `auto` writes text to a terminal and JSON elsewhere.',
      accepts: '`auto`, `json` or `text`',
      flag: true,
    }),
  }),
})

export type Config = z.output<typeof settingsSchema>
export type ChainSettings = z.output<typeof chainSettings>

// Takes `host:port` apart. Pure.

export type ListenAddress = { host: string; port: number }

/** `:8080` is every address of the machine; an IPv6 address stands in brackets. Undefined for anything else. */
export function parseListen(text: string): ListenAddress | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]*)):(\d{1,5})$/i.exec(text)
  if (parts === null || Number(parts[3]) > 65_535) return undefined
  return { host: parts[1] ?? (parts[2] || '0.0.0.0'), port: Number(parts[3]) }
}
