// Every setting with its default, what it accepts and what it is for. Documents, environment names, flags and error
// messages are all made from this one table.
import { z } from 'zod'
import { parseAddress } from '../model.ts'
import { parseListen } from './listen-address.ts'
import { setting } from './setting.ts'

const listenAddress = z.string().refine(text => parseListen(text) !== undefined)
const httpUrl = z.string().refine(text => /^https?:$/.test(URL.parse(text)?.protocol ?? ''))
const socketUrl = z.string().refine(text => /^wss?:$/.test(URL.parse(text)?.protocol ?? ''))
const positiveWhole = z.int().min(1)
const address = z.string().transform((text, context) => {
  const parsed = parseAddress(text)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: 'not an address' })
  return z.NEVER
})

/** One value or a list of them: always a list inside. */
function oneOrMore<Item extends z.ZodType>(item: Item) {
  return z.preprocess(value => (value === undefined || Array.isArray(value) ? value : [value]), z.array(item).min(1))
}

/** A section that may be left out or left empty. */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(value => value ?? {}, z.strictObject(shape))
}

const endpoints = {
  rpc: setting(oneOrMore(httpUrl), {
    about: 'The JSON-RPC endpoints, in order of preference. The part behind the host is never shown.',
    accepts: 'an http:// or https:// URL, or a list of them',
    secret: 'endpoint',
  }),
  ws: setting(socketUrl.optional(), {
    about: 'The WebSocket endpoint for news. Without it the head is polled.',
    accepts: 'a ws:// or wss:// URL',
    secret: 'endpoint',
  }),
  requestsPerSecond: setting(z.number().positive().optional(), {
    about: 'The most requests a second that are sent to the endpoints together. Unset: adapts to what they bear.',
    accepts: 'a number above 0',
  }),
  dailyBudget: setting(positiveWhole.optional(), {
    about: 'The most requests a day (UTC) that are sent to the endpoints together. Unset: no bound.',
    accepts: 'a whole number from 1 on',
  }),
}

const chainSettings = z.strictObject({
  ...endpoints,
  index: setting(z.enum(['full', 'on-demand']).default('on-demand'), {
    about:
      '`full` reads every block and serves every contract and wallet; `on-demand` reads a contract when it is first asked for.',
    accepts: '`full` or `on-demand`',
  }),
  contracts: setting(z.array(address).default([]), {
    about: 'Contracts that are indexed without being asked for.',
    accepts: 'a list of addresses: 0x and 40 hex digits each',
  }),
  from: setting(z.int().min(0).default(0), {
    about: 'The first block of interest; history below it is left out.',
    accepts: 'a block number: a whole number from 0 on',
  }),
  id: setting(chainId().optional(), {
    about: 'The chain id (EIP-155). Needed for a chain that is not one of the built-in twelve.',
    accepts: 'a whole number from 1 on, or its hex form such as 0x2105',
  }),
  finality: setting(z.union([z.literal('tag'), z.int().min(0)]).optional(), {
    about:
      'When a block counts as final: the `finalized` tag of the node, or a number of blocks. Unset: as usual for the chain.',
    accepts: '`tag`, or a whole number of blocks from 0 on',
  }),
})

const solanaSettings = z.strictObject({
  ...endpoints,
  maxAgeMs: setting(z.int().min(0).default(2_000), {
    about: 'How old a portfolio that no subscription keeps fresh may be before it is read again from the endpoints.',
    accepts: 'a whole number of milliseconds from 0 on',
  }),
  subscriptionsMax: setting(z.int().min(0).default(5_000), {
    about:
      'How many subscriptions are held at once over `ws`; an owner takes three, and one for each of its token accounts. The least recently asked owners leave first. 0: none.',
    accepts: 'a whole number from 0 on',
  }),
  reconcileMs: setting(positiveWhole.default(60_000), {
    about: 'How often an owner that subscriptions keep fresh is read again as a whole.',
    accepts: 'a whole number of milliseconds from 1 on',
  }),
  yellowstone: setting(httpUrl.optional(), {
    about: 'A Yellowstone gRPC server that keeps a whole network current after `almanac solana import`.',
    accepts: 'an http:// or https:// URL',
    secret: 'endpoint',
  }),
  yellowstoneToken: setting(z.string().min(1).optional(), {
    about: 'What the Yellowstone server is shown as `x-token`.',
    accepts: 'a text',
    secret: 'endpoint',
  }),
})

export const settingsSchema = z.strictObject({
  listen: setting(listenAddress.default('127.0.0.1:8080'), {
    about: 'Where the service answers. Port 0 takes any free one.',
    accepts: 'host:port, :port or [IPv6]:port',
    flag: true,
  }),
  solana_listen: setting(listenAddress.optional(), {
    about: 'A second place that answers the same, for clients that want a base address of its own for Solana.',
    accepts: 'host:port, :port or [IPv6]:port',
    flag: true,
  }),
  store: setting(
    z
      .string()
      .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/i)
      .default('file:./almanac.db'),
    {
      about: 'Where the data is: one SQLite file, relative to the working directory, or a PostgreSQL server.',
      accepts: 'file:path or postgres://user:password@host/database',
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
        'A streaming replica of the PostgreSQL server under `store`, from which first pages and wallets are answered while it is at most `limits.replicaLagMaxMs` behind.',
      accepts: 'postgres://user:password@host/database',
      secret: 'store',
    },
  ),
  dialect: setting(z.enum(['reference', 'live']).optional(), {
    about: 'The JSON types of all answers. Unset: each request decides by its path and headers.',
    accepts: '`reference` or `live`',
    flag: true,
  }),
  ops_open: setting(z.boolean().default(false), {
    about: 'Answers /status, /metrics, /events and the lists of contracts without a key.',
    accepts: '`true` or `false`',
    flag: true,
  }),
  chains: z.preprocess(value => value ?? {}, z.record(z.string(), chainSettings)),
  solana: section({ mainnet: solanaSettings.optional(), devnet: solanaSettings.optional() }),
  limits: section({
    pageSizeMax: setting(z.int().min(1).max(1_000).default(100), {
      about: 'The most transfers on a page; a larger `limit` is cut to it.',
      accepts: 'a whole number from 1 to 1000',
    }),
    concurrencyMax: setting(positiveWhole.default(256), {
      about: 'How many requests are worked on at once.',
      accepts: 'a whole number from 1 on',
    }),
    queueMax: setting(z.int().min(0).default(1_024), {
      about: 'How many more requests may wait for their turn; beyond that they are refused with 503.',
      accepts: 'a whole number from 0 on',
    }),
    requestTimeoutMs: setting(positiveWhole.default(15_000), {
      about: 'How long a request may take, waiting included, before it is answered with 504.',
      accepts: 'a whole number of milliseconds from 1 on',
    }),
    freshenWaitMs: setting(z.int().min(0).default(3_000), {
      about: 'How long a request waits for an indexer before it is answered with what is there.',
      accepts: 'a whole number of milliseconds from 0 on',
    }),
    urlBytesMax: setting(z.int().min(256).default(8_192), {
      about: 'The longest URL; a longer one is refused with 414.',
      accepts: 'a whole number of bytes from 256 on',
    }),
    headerBytesMax: setting(z.int().min(1_024).default(16_384), {
      about: 'The most bytes of request headers; more are refused with 431.',
      accepts: 'a whole number of bytes from 1024 on',
    }),
    answerBytesMax: setting(
      z
        .int()
        .min(65_536)
        .default(16 * 1024 * 1024),
      {
        about: 'The longest answer; what would be longer is refused with 400 (`answer_too_large`).',
        accepts: 'a whole number of bytes from 65536 on',
      },
    ),
    answerCacheBytes: setting(
      z
        .int()
        .min(0)
        .default(64 * 1024 * 1024),
      {
        about: 'Memory for ready answers, which are kept while nothing new is committed.',
        accepts: 'a whole number of bytes from 0 on',
      },
    ),
    drainTimeoutMs: setting(z.int().min(0).default(10_000), {
      about: 'How long running requests may take to finish after the first signal to stop.',
      accepts: 'a whole number of milliseconds from 0 on',
    }),
    replicaLagMaxMs: setting(positiveWhole.default(1_000), {
      about: 'How far the replica under `store_read` may be behind; beyond that the store itself is read.',
      accepts: 'a whole number of milliseconds from 1 on',
    }),
    lagMaxSeconds: setting(positiveWhole.default(300), {
      about: 'How far a followed chain may be behind its head before /ready answers 503.',
      accepts: 'a whole number of seconds from 1 on',
    }),
  }),
  cors: section({
    origins: setting(oneOrMore(z.string().min(1)).default(['*']), {
      about: 'The origins whose pages may call the service from a browser.',
      accepts: '`*`, an origin such as https://app.example, or a list of them',
    }),
  }),
  log: section({
    level: setting(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
      about: 'The least important lines that are written.',
      accepts: '`trace`, `debug`, `info`, `warn`, `error` or `silent`',
      flag: true,
    }),
    format: setting(z.enum(['auto', 'json', 'text']).default('auto'), {
      about: 'JSON lines or lines for people; `auto` writes the latter on a terminal.',
      accepts: '`auto`, `json` or `text`',
      flag: true,
    }),
  }),
})

export type Config = z.output<typeof settingsSchema>
export type ChainSettings = z.output<typeof chainSettings>

function chainId() {
  const hexText = z
    .string()
    .regex(/^0x[0-9a-f]{1,13}$/i)
    .transform(Number)
  return z.union([positiveWhole, hexText])
}
