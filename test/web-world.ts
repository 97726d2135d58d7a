// A gateway with content by its hash, and a service that may ask it: for suites on what lies off chain. Everything is
// real but the networks: both are on this machine.
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base32, base58 } from '@scure/base'
import { realClock } from '../src/abort.ts'
import { type WebBudget, WebReader, type WebSettings } from '../src/api/media/web-reader.ts'
import { createLog } from '../src/log.ts'
import { contentIdOf } from '../src/query/metadata/content-hash.ts'
import { DailyBudget } from '../src/rpc/daily-budget.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type ServedApi, type ServedApiOptions, serveApi } from './served-api.ts'

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
const multihash = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([0x12, 32]), sha256(bytes)])
const inBase32 = (bytes: Uint8Array): string => `b${base32.encode(bytes).toLowerCase().replaceAll('=', '')}`

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)])
const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes])

export type Content = { id: string; cid: Buffer; block: Buffer }

export function rawContent(bytes: Uint8Array): Content {
  const cid = Buffer.concat([Buffer.from([1, 0x55]), multihash(bytes)])
  return { id: inBase32(cid), cid, block: Buffer.from(bytes) }
}

function nodeContent(block: Buffer): Content {
  return { id: base58.encode(multihash(block)), cid: multihash(block), block }
}

/** A file in one block, or with its bytes in other ones. */
export function fileContent(bytes: Uint8Array, parts: readonly Content[] = []): Content {
  const unix = Buffer.concat([Buffer.from([8, 2]), field(2, bytes)])
  const links = parts.map(({ cid }) => field(2, Buffer.concat([field(1, cid), field(2, Buffer.alloc(0))])))
  return nodeContent(Buffer.concat([...links, field(1, unix)]))
}

export function folderContent(files: Readonly<Record<string, Content>>): Content {
  const links = Object.entries(files).map(([name, { cid }]) =>
    field(2, Buffer.concat([field(1, cid), field(2, Buffer.from(name))])),
  )
  return nodeContent(Buffer.concat([...links, field(1, Buffer.from([8, 1]))]))
}

export type Gateway = {
  url: string
  /** Paths that were asked, in order. */
  asked: string[]
  /** How many requests were open at once, at most. */
  openMax: () => number
  close(): Promise<void>
}

export async function startServer(answer: RequestListener): Promise<Gateway> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  let [open, openMax] = [0, 0]
  const server = createServer((request, response) => {
    asked.push(request.url!)
    openMax = Math.max(openMax, ++open)
    response.on('close', () => open--)
    answer(request, response)
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, openMax: () => openMax },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Sends blocks by their hash where `blocks` says so, and what is at a path. */
export function gatewayOf(
  contents: readonly Content[],
  files: Readonly<Record<string, string | Buffer>> = {},
): RequestListener {
  // By the hash alone: the same block has names of two kinds.
  const hashOf = (id: string) => contentIdOf(id)?.digest.toString('hex')
  const blocks = new Map(contents.map(({ id, block }) => [hashOf(id), block]))
  return (request, response) => {
    const url = new URL(request.url!, 'http://x')
    const [, , id = ''] = url.pathname.split('/')
    const block = url.searchParams.get('format') === 'raw' ? blocks.get(hashOf(id)) : undefined
    const file = files[decodeURIComponent(url.pathname)]
    if (block !== undefined) response.end(block)
    else if (file !== undefined && !url.searchParams.has('format')) response.end(file)
    else response.writeHead(404).end('no such content')
  }
}

export const webSettings: WebSettings = {
  ...{ ipfs: [], ipns: [], ar: [], https: [] },
  ...{ bytesMax: 2 ** 20, timeoutMs: 2_000, redirectsMax: 3, requestsPerSecond: 10_000, requestsPerHost: 10_000 },
  ...{ storeBytesMax: 64 * 2 ** 20, keepDays: 7 },
}

export type WebWorld = { api: ServedApi; store: Store; web: WebReader; budget: WebBudget; close(): Promise<void> }

export async function startWebWorld(options: {
  settings: Partial<WebSettings>
  fill: (store: Store) => Promise<void>
  bytesPerDay?: number
  reader?: Partial<ConstructorParameters<typeof WebReader>[0]>
  parts?: ServedApiOptions['parts']
}): Promise<WebWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-web-'))
  const store = await openStore(`file:${join(folder, 'store.db')}`, { role: 'owner' })
  await options.fill(store)
  const budget = new DailyBudget(options.bytesPerDay ?? 2 ** 30, realClock, 'metadata.bytes_per_day')
  const log = createLog({ level: 'silent', format: 'json' })
  const settings = { ...webSettings, ...options.settings }
  const web = new WebReader({ settings, store, hasRoom: () => true, budget, log, ...options.reader })
  const api = await serveApi({ store, parts: { web, ...options.parts } })
  return {
    ...{ api, store, web, budget },
    async close() {
      await api.close()
      await web.close()
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}
