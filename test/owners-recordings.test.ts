// Owners of real tokens: blocks of Polygon are stored as a watcher received them, the replaced one included, and who owns
// what over HTTP is what a plain fold of the canonical logs says.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ChainTable } from '../src/chains.ts'
import { decodeTransfers } from '../src/evm/decode/decode.ts'
import { sequenceLogs } from '../src/evm/decode/log-sequence.ts'
import { earlyCollectionsOf } from '../src/evm/decode/token-events.ts'
import type { RpcTransaction } from '../src/evm/rpc/port.ts'
import { parseHash } from '../src/model.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { type NftMove, nftMovesOf } from './evm-truth.ts'
import { canonicalSteps, polygonSteps } from './recordings.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const chain = new ChainTable().parse('polygon')!.id
const nobody = `0x${'0'.repeat(40)}`
const steps = polygonSteps()
const canonical = canonicalSteps(steps)
const first = Number(steps[0]!.block.number)
const moves = nftMovesOf(canonical.flatMap(({ logs }) => logs))
const contracts = [...new Set(moves.map(({ contract }) => contract))]

let api: ServedApi
beforeAll(async () => {
  api = await serveApi({ fill })
})
afterAll(() => api?.close())

test.each([
  ['the last block', undefined],
  ['a final block', first + 25],
  ['a block before the replaced one', first + 18],
])('after %s', async (_, block) => {
  const known = block === undefined ? moves : moves.filter(move => move.block <= block)
  const held = fold(known)
  expect(held.length).toBeGreaterThan(5)
  const query = `chain=polygon${block === undefined ? '' : `&at_block=${block}`}`
  for (const contract of contracts) {
    const wanted = held.filter(row => row.startsWith(contract))
    expect(await rowsOf(`/nft/${contract}/owners?${query}`), contract).toEqual(wanted)
  }
  const wallets = new Set(moves.flatMap(({ from, to }) => [from.toLowerCase(), to.toLowerCase()]))
  wallets.delete(nobody)
  for (const wallet of wallets) {
    const wanted = held.filter(row => row.split(' ')[2] === wallet)
    expect(await rowsOf(`/${wallet}/nft?${query}`), wallet).toEqual(wanted)
  }
})

/** Each block as it came; half of them become final meanwhile. */
async function fill(store: Store): Promise<void> {
  for (const { block, logs } of steps) {
    const number = Number(block.number)
    const { rows: transfers } = decodeTransfers({
      logs: sequenceLogs(logs, { complete: true }),
      earlyCollections: earlyCollectionsOf(chain),
      transactionOf: (_, __, index) => block.transactions[index] as RpcTransaction | undefined,
    })
    const head = { number, hash: parseHash(block.hash!)!, timestamp: Number(block.timestamp) }
    await store.commitHot({
      ...{ chain, ancestor: number - 1, head, blocks: [{ ...head, transfers, activity: noActivity }] },
      covered: { scope: 'full', from: first, evidence: 'bloom' },
    })
    if (number - first > 30) await store.putChainState(chain, { finalized: number - 30 })
  }
}

/** The newest transfer of a token tells by which standard it is held. */
function fold(known: readonly NftMove[]): string[] {
  const tokens = Map.groupBy(known, ({ contract, id }) => `${contract} ${id}`)
  const rows = [...tokens].flatMap(([token, all]) => {
    const newest = all.at(-1)!
    if (!newest.isErc1155) return newest.to === nobody ? [] : [`${token} ${newest.to.toLowerCase()} 1`]
    const sums = new Map<string, bigint>()
    for (const { from, to, amount, isErc1155 } of all) {
      if (!isErc1155) continue
      sums.set(from.toLowerCase(), (sums.get(from.toLowerCase()) ?? 0n) - amount)
      sums.set(to.toLowerCase(), (sums.get(to.toLowerCase()) ?? 0n) + amount)
    }
    sums.delete(nobody)
    return [...sums].flatMap(([owner, sum]) => (sum > 0n ? [`${token} ${owner} ${sum}`] : []))
  })
  return rows.sort()
}

type Page = { cursor: string | null; result: Record<'token_address' | 'token_id' | 'owner_of' | 'amount', string>[] }

async function rowsOf(path: string): Promise<string[]> {
  const rows: string[] = []
  for (let cursor = ''; ; ) {
    const response = await api.get(`/api/v2.2${path}&limit=7${cursor}`)
    expect(response.status, path).toBe(200)
    const page = (await response.json()) as Page
    for (const { token_address, token_id, owner_of, amount } of page.result)
      rows.push(`${token_address} ${token_id} ${owner_of} ${amount}`)
    if (page.cursor === null) return rows.sort()
    cursor = `&cursor=${page.cursor}`
  }
}
