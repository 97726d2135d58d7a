// A portfolio of 2,000 tokens over HTTP: from the index, and by asking a node directly for the same facts, turn by turn in
// one run. The nodes are those of `solana-portfolio-node.ts`. Run: npm run bench:solana -- portfolio
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { displayAmount } from '../src/solana/amounts.ts'
import { tokenProgramAddresses } from '../src/solana/decode.ts'
import type { MintUpdate } from '../src/store/solana-store.ts'
import { serveApi } from '../test/served-api.ts'
import { address, holdings, mints, owner, pagesOfKeys } from './solana-portfolio-accounts.ts'

const rounds = Number(process.env.ROUNDS ?? 100)
const callsAtOnce = 8

const mintUpdates = mints.map(
  (mint, index): MintUpdate => ({
    mint,
    slot: 10,
    readAtMs: Date.now(),
    account: {
      program: 'token',
      decimals: 6,
      supply: 10n ** 15n,
      name: undefined,
      symbol: undefined,
      amountRule: undefined,
    },
    metadata: { name: `Token number ${index}`, symbol: `TKN${index}`, tokenStandard: 2 },
  }),
)
const served = await serveApi({
  parts: { displayAmount },
  async fill(store) {
    await store.updateAccounts('mainnet', { mints: mintUpdates })
    const account = { owner, lamports: 5_000_000_000n, slot: 10, chainTime: 0, readAtMs: Date.now() }
    await store.updateAccounts('mainnet', { reading: { account, holdings } })
  },
})
const nodes = spawn(process.execPath, [join(import.meta.dirname, 'solana-portfolio-node.ts')], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const urls = JSON.parse(String((await once(nodes.stdout, 'data'))[0])) as { recorded: string; real: string }

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const sent = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return sent.json()
}

/** What a client does without us: 3 calls, and one for each hundred mints and metadata accounts. */
async function askNode(url: string): Promise<void> {
  const options = { encoding: 'base64' }
  await Promise.all([
    call(url, 'getMultipleAccounts', [[address], options]),
    ...Object.values(tokenProgramAddresses).map(programId =>
      call(url, 'getTokenAccountsByOwner', [address, { programId }, options]),
    ),
  ])
  for (let first = 0; first < pagesOfKeys.length; first += callsAtOnce) {
    const pages = pagesOfKeys.slice(first, first + callsAtOnce)
    await Promise.all(pages.map(page => call(url, 'getMultipleAccounts', [page, options])))
  }
}

async function askIndex(): Promise<number> {
  const sent = await served.get(`/account/mainnet/${address}/portfolio`, { 'accept-encoding': 'identity' })
  const { tokens } = (await sent.json()) as { tokens: unknown[] }
  return tokens.length
}

if ((await askIndex()) !== mints.length) throw new Error('the index answers something else')
const times = { index: [] as number[], real: [] as number[], recorded: [] as number[] }
/** Of this process, which is the service and its client: other work on the machine hardly changes it. */
const processorTimes: number[] = []
async function timed(list: number[], ask: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  const processor = process.cpuUsage()
  await ask()
  const { user, system } = process.cpuUsage(processor)
  list.push(performance.now() - start)
  if (list === times.index) processorTimes.push((user + system) / 1_000)
}
for (let round = 0; round < rounds; round++) {
  await timed(times.index, askIndex)
  await timed(times.recorded, () => askNode(urls.recorded))
  // The real programs copy every account of theirs for each question: a few rounds show it.
  if (round % 20 === 0) await timed(times.real, () => askNode(urls.real))
}
const p50 = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
const rounded = (value: number, digits: number) => Number(value.toFixed(digits))
const [index, real, recorded] = [p50(times.index), p50(times.real), p50(times.recorded)]
console.log(
  JSON.stringify({
    what: `portfolio of ${mints.length} tokens`,
    indexP50Ms: rounded(index, 2),
    indexProcessorMs: rounded(p50(processorTimes), 2),
    indexBestMs: rounded(Math.min(...times.index), 2),
    recordedNodeP50Ms: rounded(recorded, 2),
    realProgramsP50Ms: rounded(real, 2),
    ratioToRecorded: rounded(index / recorded, 3),
    ratioToReal: rounded(index / real, 3),
  }),
)
nodes.stdin.end()
await once(nodes, 'exit')
await served.close()
