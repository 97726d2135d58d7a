// Whether memory stays flat while ever other accounts are asked for. The node sends recorded bytes. Run:
// node --expose-gc bench/solana-memory.ts
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listen } from '../sandbox/src/listen.ts'
import { createLog } from '../src/log.ts'
import { Network } from '../src/solana/network.ts'
import { openStore } from '../src/store/open.ts'

const count = Number(process.env.COUNT ?? 100_000)
const atOnce = 32
const samples = 10

const answer = (value: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: slot() }, value } })
const slot = () => 1_000 + Math.floor(performance.now() / 400)
const clock = Buffer.alloc(40)
clock.writeBigInt64LE(1_800_000_000n, 32)
const owned = { lamports: 5_000_000_000, owner: '11111111111111111111111111111111', data: ['', 'base64'] }
const clockAccount = { ...owned, data: [clock.toString('base64'), 'base64'] }
const node = createServer(async (incoming, outgoing) => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method } = JSON.parse(Buffer.concat(chunks).toString())
  outgoing.end(answer(method === 'getMultipleAccounts' ? [owned, clockAccount] : []))
})
const folder = await mkdtemp(join(tmpdir(), 'almanac-bench-'))
const store = await openStore(`file:${join(folder, 'bench.db')}`, { role: 'owner' })
const settings = { rpc: [await listen(node)], maxAgeMs: 2_000, subscriptionsMax: 0, reconcileMs: 60_000 }
const network = new Network({ network: 'devnet', settings, store, log: createLog({ level: 'silent', format: 'json' }) })

const started = performance.now()
const heaps: number[] = []
let asked = 0
async function asker(until: number): Promise<void> {
  while (asked < until) {
    asked++
    // A loaded machine may make the node late; the account is asked for once more.
    const owner = randomFillSync(new Uint8Array(32))
    await network.freshen(owner).catch(() => network.freshen(owner))
  }
}
for (let sample = 1; sample <= samples; sample++) {
  await Promise.all(Array.from({ length: atOnce }, () => asker((count * sample) / samples)))
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  heaps.push(Math.round((heapUsed + external) / 2 ** 20))
  console.log(JSON.stringify({ asked, heapMegabytes: heaps.at(-1), rssMegabytes: Math.round(rss / 2 ** 20) }))
}
const perSecond = Math.round(count / ((performance.now() - started) / 1_000))
console.log(JSON.stringify({ what: 'memory over accounts', count, perSecond, heapMegabytes: heaps }))
await network.close()
node.closeAllConnections()
node.close()
await store.close()
await rm(folder, { recursive: true, force: true })
