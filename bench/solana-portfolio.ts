// A portfolio of 2,000 tokens over HTTP: from the index, and by asking a node directly for the same facts, turn by turn in
// one run. Two nodes: one with the real programs, and one that is as fast as a node can be, because it sends recorded
// bytes. Run: node bench/solana-portfolio.ts
import { randomFillSync } from 'node:crypto'
import { createServer } from 'node:http'
import { base58 } from '@scure/base'
import { encodeKey } from '../src/base58.ts'
import { displayAmount } from '../src/solana/amounts.ts'
import { metadataAddress } from '../src/solana/pda.ts'
import { metadataProgram, tokenProgramAddresses } from '../src/solana/programs.ts'
import type { Holding, MintUpdate } from '../src/store/store.ts'
import { serveApi } from '../test/served-api.ts'
import { listen } from '../test/solana-listen.ts'
import { startProgramNode } from '../test/solana-program-node.ts'
import { mintData, tokenAccountData } from '../test/solana-snapshot-archive.ts'

const count = Number(process.env.COUNT ?? 2_000)
const rounds = Number(process.env.ROUNDS ?? 60)
const randomKey = () => randomFillSync(new Uint8Array(32))
const owner = randomKey()
const address = encodeKey(owner)
const mints = Array.from({ length: count }, randomKey)
const accounts = Array.from({ length: count }, randomKey)

const holdings = accounts.map(
  (account, index): Holding => ({
    account,
    owner,
    mint: mints[index]!,
    amount: BigInt(index + 1) * 1_234_567n,
    program: 'token',
    slot: 10,
    writeVersion: 0n,
  }),
)
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
    await store.putMints('mainnet', mintUpdates)
    const account = { owner, lamports: 5_000_000_000n, slot: 10, chainTime: 0, readAtMs: Date.now() }
    await store.putOwner('mainnet', account, holdings)
  },
})

// ---- the node: recorded answers by question

const described = (data: Uint8Array, program: string) => ({
  lamports: 2_039_280,
  owner: program,
  data: [Buffer.from(data).toString('base64'), 'base64'],
  executable: false,
  rentEpoch: 0,
  space: data.length,
})
const metadata = (index: number) => {
  const data = Buffer.alloc(607)
  data[0] = 4
  data.set(mints[index]!, 33)
  data.writeUInt32LE(32, 65)
  data.write(`Token number ${index}`, 69)
  data.writeUInt32LE(10, 101)
  data.write(`TKN${index}`, 105)
  return data
}
const answer = (value: unknown) =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 10 }, value } }))
const tokens = answer(
  holdings.map(({ account, mint, amount }) => ({
    pubkey: base58.encode(account),
    account: described(tokenAccountData({ mint, owner, amount }), tokenProgramAddresses.token),
  })),
)
const known = new Map<string, unknown>()
for (const [index, mint] of mints.entries()) {
  known.set(base58.encode(mint), described(mintData({ decimals: 6, supply: 10n ** 15n }), tokenProgramAddresses.token))
  known.set(base58.encode(metadataAddress(mint)), described(metadata(index), metadataProgram))
}
const pages = new Map<string, Buffer>()
const keys = [...known.keys()]
for (let first = 0; first < keys.length; first += 100) {
  const page = keys.slice(first, first + 100)
  pages.set(page[0]!, answer(page.map(key => known.get(key))))
}
const none = answer([])
pages.set(address, answer([null]))
const node = createServer(async (incoming, outgoing) => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method, params } = JSON.parse(Buffer.concat(chunks).toString())
  if (method === 'getMultipleAccounts') outgoing.end(pages.get(params[0][0]))
  else outgoing.end(params[1].programId === tokenProgramAddresses.token ? tokens : none)
})
const nodeUrl = await listen(node)

const real = await startProgramNode()
for (const [index, mint] of mints.entries()) {
  const put = (key: Uint8Array, data: Uint8Array, program: string) =>
    real.setAccount(base58.encode(key), { lamports: 2_039_280, data, program })
  await put(mint, mintData({ decimals: 6, supply: 10n ** 15n }), tokenProgramAddresses.token)
  await put(metadataAddress(mint), metadata(index), metadataProgram)
  const { account, amount } = holdings[index]!
  await put(account, tokenAccountData({ mint, owner, amount }), tokenProgramAddresses.token)
}

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
  const reads: Promise<unknown>[] = []
  for (let first = 0; first < keys.length; first += 100) {
    reads.push(call(url, 'getMultipleAccounts', [keys.slice(first, first + 100), options]))
    if (reads.length === 8) await Promise.all(reads.splice(0))
  }
  await Promise.all(reads)
}

async function askIndex(): Promise<number> {
  const sent = await served.get(`/account/mainnet/${address}/portfolio`, { 'accept-encoding': 'identity' })
  const { tokens } = (await sent.json()) as { tokens: unknown[] }
  return tokens.length
}

if ((await askIndex()) !== count) throw new Error('the index answers something else')
const times = { index: [] as number[], node: [] as number[], recorded: [] as number[] }
async function timed(list: number[], ask: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  await ask()
  list.push(performance.now() - start)
}
for (let round = 0; round < rounds; round++) {
  await timed(times.index, askIndex)
  await timed(times.recorded, () => askNode(nodeUrl))
  await timed(times.node, () => askNode(real.rpcUrl))
}
const p50 = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
const [index, asked, recorded] = [p50(times.index), p50(times.node), p50(times.recorded)]
console.log(
  JSON.stringify({
    what: `portfolio of ${count} tokens`,
    indexP50Ms: Number(index.toFixed(2)),
    nodeP50Ms: Number(asked.toFixed(2)),
    recordedNodeP50Ms: Number(recorded.toFixed(2)),
    ratio: Number((index / asked).toFixed(3)),
    ratioToRecorded: Number((index / recorded).toFixed(3)),
    indexBestMs: Number(Math.min(...times.index).toFixed(2)),
  }),
)
await real.stop()
await served.close()
node.closeAllConnections()
node.close()
