// Measures what reading metadata off chain costs a process: 100,000 tokens whose metadata and pictures lie behind a
// gateway on this machine, asked for page by page while other clients ask for transfers. Memory, and times of those
// answers beside runs where no host may be asked. Run: npm run bench:web [-- --tokens 100000 --seconds 20]
import { parseArgs } from 'node:util'
import type { TokenUri } from '../src/store/annotation-store.ts'
import { apes, chain, fillFinal, plainRow } from '../test/plain-rows.ts'
import { serveApi } from '../test/served-api.ts'
import { gatewayOf, rawContent, startServer, startWebWorld } from '../test/web-world.ts'

const { values } = parseArgs({
  options: { tokens: { type: 'string', default: '100000' }, seconds: { type: 'string', default: '20' } },
})
const tokens = Number(values.tokens)
const seconds = Number(values.seconds)
const pauseMs = 4

const contents = new Map<number, ReturnType<typeof rawContent>>()
const contentOf = (id: number) =>
  rawContent(Buffer.from(JSON.stringify({ name: `Token ${id}`, description: 'x'.repeat(800) })))
const first = Array.from({ length: Math.min(tokens, 20_000) }, (_, id) => contentOf(id))
for (const [id, content] of first.entries()) contents.set(id, content)

// In a process of its own the gateway would cost this one less still.
const gateway = await startServer(gatewayOf([...contents.values()]))
const world = await startWebWorld({
  settings: { ipfs: [gateway.url], requestsPerSecond: 20, requestsPerHost: 20 },
  fill: async store => {
    const rows = Array.from({ length: tokens }, (_, at) => plainRow(apes, at % 20, { tokenId: BigInt(at) }, at))
    await fillFinal(store, rows)
    for (let from = 0; from < tokens; from += 10_000) {
      const uris = Array.from({ length: Math.min(10_000, tokens - from) }, (_, at): TokenUri => {
        const id = from + at
        const { id: cid } = contents.get(id % first.length)!
        return { contract: apes, tokenId: BigInt(id), uri: `ipfs://${cid}`, readAtMs: Date.now() }
      })
      await store.annotate({ tokenUris: { chain, uris } })
    }
  },
})

async function times(isStopped: () => boolean): Promise<number[]> {
  const all: number[] = []
  while (!isStopped()) {
    const began = performance.now()
    await (await world.api.get(`/api/v2.2/nft/${apes}/transfers?limit=100&cursor=`)).arrayBuffer()
    all.push(performance.now() - began)
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
  return all.sort((a, b) => a - b)
}

/** Pages of the collection, one after the other: each shows a hundred tokens that are not known. */
async function page(api: typeof world.api, cursor: { value: string }, isStopped: () => boolean): Promise<number> {
  let shown = 0
  while (!isStopped()) {
    const answer = await api.get(`/api/v2.2/nft/${apes}?limit=100&media_items=true&cursor=${cursor.value}`)
    const { result, cursor: next } = (await answer.json()) as { result: unknown[]; cursor: string | null }
    shown += result.length
    cursor.value = next ?? ''
    await new Promise(resolve => setTimeout(resolve, 500))
  }
  return shown
}

const report: Record<string, object> = {}
/** The same store, served by an app that may ask no host. */
const plain = await serveApi({ store: world.store })
/** Transfers stand for answers that have nothing to do with metadata; all runs page through the collection. */
for (const [name, api] of [
  ['warm-up', plain],
  ['no host', plain],
  ['a gateway', world.api],
  ['no host again', plain],
  ['a gateway again', world.api],
] as const) {
  const cursor = { value: '' }
  const endMs = performance.now() + seconds * 1_000
  const isStopped = () => performance.now() > endMs
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 50)
  const asked = gateway.asked.length
  const [all, shown] = await Promise.all([times(isStopped), page(api, cursor, isStopped)])
  clearInterval(watch)
  const at = (share: number) => Number(all[Math.floor(all.length * share)]!.toFixed(2))
  report[name] = {
    ...{ answers: all.length, p50: at(0.5), p99: at(0.99), 'tokens shown': shown },
    ...{ fetched: gateway.asked.length - asked, 'MB more': Math.round((most - before) / 2 ** 20) },
  }
}
console.table(report)
await plain.close()
await world.close()
await gateway.close()
