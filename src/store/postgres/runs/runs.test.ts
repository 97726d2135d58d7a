// Runs of many packs against a file store that got the same commits: pages of any size from any place, counts, wallets,
// and what is left after a range was taken back.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { keyBytesOf, shownRecords } from '../../../../test/index-reads.ts'
import { packTransfer } from '../../../../test/pack-transfer.ts'
import { sharedPostgres } from '../../../../test/postgres-server.ts'
import { draw } from '../../../../test/sim/random.ts'
import { rowsOf } from '../../../../test/store-rows.ts'
import type { ActivityRow, Address, ChainId, Hash, TransferRow } from '../../../model.ts'
import type { IndexRecords } from '../../index-reader.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import { blockSpan } from '../../indexes/by-block.ts'
import { tokenIdOfKey, tokenKey, tokenKeyBytes } from '../../indexes/by-token.ts'
import { walletSpan } from '../../indexes/by-wallet.ts'
import { packActivity } from '../../packed-activity.ts'
import { copyStore } from '../../parts.ts'
import { newestOfBlock, oldestOfBlock, placeBytes, positionOfPlace, wordAt } from '../../runs/place-key.ts'
import { openSqliteParts } from '../../sqlite/parts.ts'
import { openSqliteStore } from '../../sqlite/sqlite-store.ts'
import type { Store, TransferPageQuery } from '../../store.ts'
import { openPostgresParts } from '../parts.ts'
import { openPostgresStore } from '../postgres-store.ts'
import { hashOf } from './slots.ts'

const chain = 1 as ChainId
const contracts = ['a', 'b', 'c', 'd', 'e'].map(digit => `0x${digit.repeat(40)}` as Address)
const blocksPerCommit = 30
const commits = 40
const lastBlock = blocksPerCommit * commits - 1
const queries = Number(process.env.ALMANAC_RUN_QUERIES ?? 20)

const seed = Number(process.env.ALMANAC_SEED ?? Math.floor(Math.random() * 2 ** 31))
let draws = 0
function below(count: number): number {
  return draw(seed, 1, draws++) % count
}

function blockHash(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '0')}` as Hash
}

function walletOf(number: number): Address {
  return `0x${(number * 2_654_435_761).toString(16).padStart(40, '0')}` as Address
}

/** Newest first, as history comes; the first contract has half of all rows. */
async function commitBlocks(stores: readonly Store[], { from, to }: { from: number; to: number }): Promise<void> {
  const transfers: TransferRow[] = []
  const activity: ActivityRow[] = []
  for (let block = from; block <= to; block++)
    for (let transactionIndex = 0; transactionIndex < 4; transactionIndex++) {
      const at = { block, transactionIndex, hash: blockHash(block), timestamp: block * 12 }
      activity.push({ address: walletOf(below(700)), first: at, last: at })
      const contract = contracts[below(2) === 0 ? 0 : below(contracts.length)]!
      const facts = {
        ...{
          standard: 'ERC721' as const,
          batch: false,
          from: walletOf(below(700)),
          to: walletOf(below(700)),
          operator: undefined,
        },
        ...{ tokenId: BigInt(below(2 ** 31)) ** 3n, amount: 1n, value: 0n, transactionHash: blockHash(below(2 ** 31)) },
        idCount: below(50) === 0 ? 5 : 1,
      } as const
      transfers.push({
        // A log is of one contract.
        ...{ block, transactionIndex, logIndex: below(5) * 5 + contracts.indexOf(contract), batchIndex: 0, contract },
        payload: packTransfer(facts),
      })
    }
  for (const store of stores)
    await store.commitCold({
      ...{ chain, transfers, activity: packActivity(activity), ranges: [{ from, to, hash: blockHash(to) }] },
      blocks: Array.from({ length: to - from + 1 }, (_, at) => ({
        ...{ number: from + at, hash: blockHash(from + at), timestamp: (from + at) * 12 },
      })),
      covered: [{ scope: 'full', from, to, evidence: 'receipts-root' }],
    })
}

async function compare(postgres: Store, file: Store): Promise<void> {
  for (let query = 0; query < queries; query++) {
    const contract = contracts[below(contracts.length)]!
    const [a, b] = [below(lastBlock + 10), below(lastBlock + 10)]
    const asked: TransferPageQuery = {
      ...{ chain, contract, order: below(2) === 0 ? 'asc' : 'desc', limit: [1, 7, 100, 1_000][below(4)]! },
      ...(below(3) === 0 ? { fromBlock: Math.min(a, b), toBlock: Math.max(a, b) } : {}),
      ...(below(2) === 0
        ? { after: { block: a, transactionIndex: below(4), logIndex: below(5), batchIndex: below(2) - 1 } }
        : {}),
    }
    expect(rowsOf(await postgres.transferPage(asked)), JSON.stringify(asked)).toEqual(
      rowsOf(await file.transferPage(asked)),
    )
    expect(await postgres.transferCount(asked), JSON.stringify(asked)).toBe(await file.transferCount(asked))
    const wallet = walletOf(below(750))
    expect(await postgres.activityOf(wallet)).toEqual(await file.activityOf(wallet))
    await compareRecords(postgres, file, wallet, contract)
  }
}

/** Of a wallet, of a contract or some of its tokens, or of all blocks, from anywhere. */
async function compareRecords(postgres: Store, file: Store, wallet: Address, contract: Address): Promise<void> {
  const index = indexViews[below(indexViews.length)]!
  const [a, b] = [below(lastBlock + 10), below(lastBlock + 10)].sort((x, y) => x - y) as [number, number]
  const spans = {
    by_wallet: () => walletSpan(wallet, { from: a, to: b }),
    by_block: () => blockSpan({ from: a, to: b }),
    by_token: () => ({
      from: tokenKey(below(2), BigInt(below(2 ** 31)) ** 2n, { ...newestOfBlock, block: b }),
      to: tokenKey(1, BigInt(below(2 ** 31)) ** 3n, { ...oldestOfBlock, block: a }),
    }),
  }
  const query = {
    ...({ chain, index: index.name, ...spans[index.name](), order: below(2) === 0 ? 'keys' : 'back' } as const),
    ...{ limit: [1, 7, 100, 1_000][below(4)]!, ...(index.byContract ? { contract } : {}) },
  }
  for (let pages = 0, after: Uint8Array | undefined; pages < 3; pages++) {
    const asked = { ...query, after }
    const [found, expected] = [await postgres.indexes.indexRecords(asked), await file.indexes.indexRecords(asked)]
    expect(shownRecords(index, found), JSON.stringify(asked)).toEqual(shownRecords(index, expected))
    if (index.name === 'by_block') await compareTransfersAt(postgres, file, expected)
    if (index.name === 'by_token') await compareOldest(postgres, file, contract, expected)
    if (expected.length < query.limit) break
    after = expected.keys.slice(-keyBytesOf(index))
  }
}

async function compareOldest(postgres: Store, file: Store, contract: Address, { keys, length }: IndexRecords) {
  const ids = Array.from({ length: Math.min(length, 30) }, (_, record) => tokenIdOfKey(keys, record * tokenKeyBytes))
  const tokens = ids.flatMap(tokenId => [
    { contract, tokenId },
    { contract, tokenId: tokenId + 1n },
  ])
  const [found, expected] = await Promise.all(
    [postgres, file].map(store => store.indexes.oldestOfTokens(chain, tokens)),
  )
  const shown = (records: typeof found) =>
    records!.map(record => record && Buffer.concat([record.place, record.value]).toString('hex'))
  expect(shown(found)).toEqual(shown(expected))
}

async function compareTransfersAt(
  postgres: Store,
  file: Store,
  { keys, values, length, contracts: known }: IndexRecords,
) {
  const places = Array.from({ length }, (_, record) => ({
    ...{ contract: known.get(wordAt(values, record * 4))!, ...positionOfPlace(keys, record * placeBytes) },
  }))
  const [found, expected] = await Promise.all([postgres, file].map(store => store.indexes.transfersAt(chain, places)))
  expect(rowsOf(found!)).toEqual(rowsOf(expected!))
  expect(found!.length).toBe(length)
  expect(found!.contracts).toEqual(expected!.contracts)
}

test(`runs of many packs answer as a file does (seed ${seed})`, { timeout: 60_000 }, async () => {
  const server = await sharedPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'almanac-runs-'))
  const path = join(folder, 'almanac.db')
  const url = await server.createStore()
  const [postgres, file] = [
    await openPostgresStore(url, { bulkRows: 100, runsPerMerge: 3 }),
    await openSqliteStore(path, { role: 'owner' }),
  ]
  try {
    const numbers = [0, 1, 2, 77, 65_536, 200_000, 2 ** 31 - 1]
    const client = new pg.Client(url)
    await client.connect()
    const { rows } = await client.query('SELECT hashint4(n) AS hash FROM unnest($1::int4[]) AS n', [numbers])
    await client.end()
    expect(rows.map(({ hash }) => hash)).toEqual(numbers.map(hashOf))
    for (let at = commits - 1; at >= 0; at--)
      await commitBlocks([postgres, file], { from: at * blocksPerCommit, to: (at + 1) * blocksPerCommit - 1 })
    await compare(postgres, file)
    const taken = { from: 301, to: 395 }
    for (const store of [postgres, file]) await store.dropRange(chain, 'full', taken)
    for (const store of [postgres, file]) await store.dropRange(chain, contracts[1]!, { from: 500, to: 700 })
    await compare(postgres, file)
    // Of many packs few rows are left.
    for (let from = 700; from < 1_000; from += 10)
      for (const store of [postgres, file])
        await store.dropRange(chain, contracts[0]!, { from: from + 1, to: from + 9 })
    for (const order of ['asc', 'desc'] as const) {
      const thinned = { chain, contract: contracts[0]!, order, limit: 100, fromBlock: 600, toBlock: 1_000 }
      expect(rowsOf(await postgres.transferPage(thinned))).toEqual(rowsOf(await file.transferPage(thinned)))
    }
    await commitBlocks([postgres, file], taken)
    await compare(postgres, file)
    // A copy compares what both hold, page by page.
    const copied = join(folder, 'copy.db')
    const [source, target] = [await openPostgresParts(url), await openSqliteParts(copied)]
    await copyStore(source, target, { pageRows: 333 })
    await source.close()
    await target.close()
    const copy = await openSqliteStore(copied, { role: 'owner' })
    await compare(copy, file)
    await copy.close()
  } finally {
    await postgres.close()
    await file.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
})
