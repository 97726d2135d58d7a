// A node that forges what it can: alone nothing wrong is stored under a word of proof, beside an honest one nothing wrong is
// stored at all.
import { afterEach, describe, expect, test } from 'vitest'
import { ethereumHeaders } from '../src/chains.ts'
import { topics, zeroWord } from '../src/evm/decode/token-events.ts'
import type { ChainIndexer } from '../src/evm/index/chain-indexer.ts'
import { addToBloom, emptyBloom } from '../src/evm/proof/bloom.ts'
import { receiptsRoot } from '../src/evm/proof/receipts-root.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../src/evm/rpc/port.ts'
import { type ChainId, type Evidence, evidences, zeroAddress } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import { expectSame } from './evm-fault-checks.ts'
import {
  caughtUp,
  patienceMs,
  simulatedChain,
  startIndexer,
  storedTransfers,
  temporaryStore,
  truthByContract,
} from './evm-harness.ts'
import { someCases } from './release-runs.ts'
import { forgedAnswers } from './sim/hostile.ts'
import { receiptTexts } from './sim/json.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { expectedActivity } from './sim/truth.ts'
import { thorough } from './thorough.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

// The state-sync transaction of block 64 is final.
const height = 76
const light = { transactionsPerBlock: 4, logsPerCall: 2 }
const shape = { height, hashes: 'real', finalityDepth: 10, transactionsPerWallet: 8, ...light } as const
const wrongAddress = `0x${'bad0'.repeat(10)}`
const wrongHash = `0x${'66'.repeat(32)}`

type Lie = (method: string, result: unknown, node: SimNode) => unknown

const onReceipts =
  (change: (log: RpcLog, receipt: RpcReceipt) => object): Lie =>
  (method, result) => {
    if (method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return result
    return (result as RpcReceipt[]).map(receipt => ({
      ...receipt,
      logs: receipt.logs.map(log => ({ ...log, ...change(log, receipt) })),
    }))
  }

const onTransactions =
  (change: (transaction: RpcTransaction) => object): Lie =>
  (method, result) => {
    if (method !== 'eth_getBlockByNumber') return result
    const block = result as RpcBlock | null
    if (block === null || typeof block.transactions[0] !== 'object') return result
    const transactions = (block.transactions as RpcTransaction[]).map(each => ({ ...each, ...change(each) }))
    return { ...block, transactions }
  }

/** Every recipient another, the time another, and roots and blooms that fit; `change` spoils the form of the header. */
const forgedHeader =
  (change: (block: Record<string, unknown>) => object): Lie =>
  (method, result, node) => {
    const isBlock = method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash'
    if (result === null || (!isBlock && method !== 'eth_getBlockReceipts')) return result
    if (!isBlock) return forgedReceipts(result as RpcReceipt[])
    const block = result as RpcBlock
    const texts = receiptTexts(node.chain.block(Number(block.number)), render)
    const receipts = forgedReceipts(texts.map(text => JSON.parse(text) as RpcReceipt))
    const logsBloom = bloomOf(receipts.flatMap(receipt => receipt.logs))
    const forged = { ...block, receiptsRoot: receiptsRoot(receipts), logsBloom, timestamp: '0x1' }
    return change(forged)
  }

const render = { chainId: 1, stateSyncListed: false, stateSyncIndex: undefined, logTimestamps: false }

function forgedReceipts(receipts: readonly RpcReceipt[]): RpcReceipt[] {
  return receipts.map(receipt => {
    const logs = receipt.logs.map(log => {
      if (log.topics.length < 4) return log
      return { ...log, topics: [...log.topics].with(2, `0x${'00'.repeat(12)}${wrongAddress.slice(2)}`) }
    })
    return { ...receipt, logs, logsBloom: bloomOf(logs) }
  })
}

function bloomOf(logs: readonly RpcLog[]): string {
  const bloom = emptyBloom()
  for (const log of logs) addToBloom(bloom, log)
  return `0x${Buffer.from(bloom).toString('hex')}`
}

/** The transaction 0 of each block has another hash, in the block, its receipt and its logs. */
const otherHash =
  (change: (hash: string) => string): Lie =>
  (method, result, node) => {
    const hashed = onTransactions(({ transactionIndex, hash }) =>
      transactionIndex === '0x0' ? { hash: change(hash) } : {},
    )
    if (method === 'eth_getBlockByNumber') return hashed(method, result, node)
    if (method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return result
    return (result as RpcReceipt[]).map((receipt, index) => {
      if (index > 0) return receipt
      const transactionHash = change(receipt.transactionHash)
      return { ...receipt, transactionHash, logs: receipt.logs.map(log => ({ ...log, transactionHash })) }
    })
  }

/** Its last digit as a character that ends in the same byte. */
function withCharacterBeyond(hex: string): string {
  return hex.slice(0, -1) + String.fromCharCode(0x100 + hex.charCodeAt(hex.length - 1))
}

/** With how many senders to recover, where that matters: it takes most of the time. */
const lies: [string, Lie, oneIn?: number][] = [
  ['marks logs as removed', onReceipts(() => ({ removed: true }))],
  ['leaves out the log index', onReceipts(() => ({ logIndex: null }))],
  ['moves logs to another transaction index', onReceipts(() => ({ transactionIndex: '0x0' }))],
  ['moves logs to another transaction', onReceipts(() => ({ transactionHash: wrongHash }))],
  ['numbers logs otherwise', onReceipts(log => ({ logIndex: `0x${(Number(log.logIndex) + 1_000).toString(16)}` }))],
  ['adds an unknown field to a forged header', forgedHeader(block => ({ ...block, x: '0x0' }))],
  ['leaves a field out of a forged header', forgedHeader(({ mixHash: _, ...block }) => block)],
  ['leaves the last field out of a forged header', forgedHeader(({ baseFeePerGas: _, ...block }) => block)],
  ['nulls a field of a forged header', forgedHeader(block => ({ ...block, stateRoot: null }))],
  ['nulls the last field of a forged header', forgedHeader(block => ({ ...block, baseFeePerGas: null }))],
  ['forges a header as it is', forgedHeader(block => block)],
  ['lies about the value', onTransactions(() => ({ value: '0xde0b6b3a7640000' }))],
  ['lies about the recipient', onTransactions(() => ({ to: wrongAddress }))],
  ['lies about the hash', otherHash(() => wrongHash)],
  ['marks a hash as something other than hex', otherHash(hash => `1${hash.slice(1)}`)],
  [
    'writes values with zeros before them',
    onTransactions(({ value }) => ({ value: `0x${value.slice(2).padStart(65, '0')}` })),
  ],
  [
    'writes data with characters beyond ASCII',
    onReceipts(({ data }) => (data.length > 98 ? { data: withCharacterBeyond(data) } : {})),
  ],
  ['lies about the value and leaves out a signature', onTransactions(() => ({ value: '0x1', s: undefined }))],
  ['lies about the value under an unknown type', onTransactions(() => ({ value: '0x1', type: '0x7d' }))],
  ['lies about the sender', onTransactions(() => ({ from: wrongAddress })), 1],
  ['answers odd types inside receipts', onReceipts(() => ({ topics: { toString: 1 }, data: 5 }))],
]

type World = { honest: boolean; oneIn?: number | undefined; polygon?: boolean }

async function start(lie: Lie, { honest, oneIn = 50, polygon = false }: World) {
  const node = await startSimNode({
    chain: { ...shape, signed: true, stateSync: polygon ? 'listed' : 'none' },
    endpoints: honest ? [{}, { faults: [{ kind: 'latency', delayMs: 40 }] }] : [{}],
  })
  cleanups.push(() => node.close())
  node.endpoints[0]!.forgery = forgedAnswers((answer, { method }) =>
    answer.error === undefined ? { ...answer, result: lie(method, answer.result, node) } : answer,
  )
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const chain = {
    ...simulatedChain(node),
    quirks: { headers: ethereumHeaders, ...(polygon ? { stateSyncTransactions: true as const } : {}) },
  }
  const { indexer, stop } = startIndexer(node, store, { chain, senderSample: oneIn })
  cleanups.push(stop)
  return { node, store, indexer }
}

/** The rows of proven intervals, and those that should be there. */
async function provenRows(node: SimNode, store: Store, words: readonly Evidence[] = ['receipts-root', 'bloom']) {
  const chain = node.chain.options.chainId as ChainId
  const covered = await store.coverage(chain, 'full')
  const proven = covered.filter(({ evidence }) => words.includes(evidence))
  const isProven = ({ block }: { block: number }) => proven.some(({ from, to }) => block >= from && block <= to)
  const stored: unknown[] = []
  const expected: unknown[] = []
  for (const [contract, truth] of truthByContract(node.chain, { from: 0, to: height })) {
    stored.push(...(await storedTransfers(store, node.chain, contract)).filter(isProven))
    expected.push(...truth.filter(isProven))
  }
  return { covered, stored, expected }
}

async function expectProven(node: SimNode, store: Store): Promise<void> {
  await expectTruth(node, store)
  const covered = await store.coverage(node.chain.options.chainId as ChainId, 'full')
  expect(covered).toEqual([{ scope: 'full', from: 0, to: height, evidence: 'receipts-root' }])
}

/** Everything, and as it is. */
async function expectTruth(node: SimNode, store: Store): Promise<void> {
  const { stored, expected } = await provenRows(node, store, evidences)
  expectSame(stored, expected, 'transfers')
  expect(expected.length).toBeGreaterThan(100)
  for (const [address, activity] of expectedActivity(node.chain, { from: 0, to: height }))
    expectSame((await store.activityOf(address)).get(node.chain.options.chainId as ChainId), activity, address)
}

/** It has everything, or has said no. */
async function settled(indexer: ChainIndexer): Promise<void> {
  const isSettled = async () => {
    const { complete, rpc } = await indexer.status()
    return complete || rpc[0]!.errors! > 2
  }
  await expect.poll(isSettled, { timeout: patienceMs }).toBe(true)
}

const besides = someCases(lies, 4)

describe.each(lies)('a node that %s', (name, lie, oneIn) => {
  test('alone gets nothing wrong stored as proven', async () => {
    const { node, store, indexer } = await start(lie, { honest: false, oneIn })
    await settled(indexer)
    const { stored, expected } = await provenRows(node, store)
    expect(stored).toEqual(expected)
    const { covered, evidence_reason } = await indexer.status()
    const weak = covered.filter(({ evidence }) => evidence === 'one-endpoint')
    expect(weak.length > 0).toBe(evidence_reason !== undefined)
    expect(covered.filter(({ evidence }) => evidence !== 'one-endpoint')).toEqual([])
  })

  test.runIf(besides.some(([each]) => each === name))('beside an honest one changes no row', async () => {
    const { node, store, indexer } = await start(lie, { honest: true, oneIn })
    await caughtUp(indexer, node)
    await expectProven(node, store)
  })
})

test('a node that writes hex in capitals gives the same rows', async () => {
  const capitals = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`
  const lie = onReceipts(log => ({
    topics: log.topics.map(capitals),
    data: capitals(log.data),
    address: capitals(log.address),
  }))
  const { node, store, indexer } = await start(lie, { honest: false })
  await caughtUp(indexer, node)
  await expectProven(node, store)
})

/** Its hash is made up, and its log is a token that nobody made. */
function invented(block: string, blockHash: string, at: { index: number; log: number }): RpcReceipt {
  const [transactionIndex, logIndex] = [`0x${at.index.toString(16)}`, `0x${at.log.toString(16)}`]
  const place = { blockHash, blockNumber: block, transactionHash: wrongHash, transactionIndex }
  const words = [zeroWord, `0x${'00'.repeat(12)}${wrongAddress.slice(2)}`, `0x${'00'.repeat(31)}01`]
  const log = { ...place, logIndex, address: wrongAddress, topics: [topics.transfer, ...words], data: '0x' }
  const gas = { cumulativeGasUsed: '0x0', type: '0x0', status: '0x1', contractAddress: null }
  return { ...place, ...gas, logs: [log], logsBloom: bloomOf([log]) }
}

const addsReceipt: Lie = (method, result) => {
  const receipts = result as RpcReceipt[]
  if (method !== 'eth_getBlockReceipts' || !Array.isArray(result) || receipts.length === 0) return result
  const { blockHash, blockNumber } = receipts[0]! as RpcReceipt & { blockNumber: string }
  const log = receipts.flatMap(({ logs }) => logs).length
  return [...receipts, invented(blockNumber, blockHash, { index: receipts.length, log })]
}

const movesReceipt: Lie = (method, result) => {
  const receipts = result as RpcReceipt[]
  if (method !== 'eth_getBlockReceipts' || !Array.isArray(result) || receipts.length === 0) return result
  const last = receipts.at(-1)!
  const place = { transactionHash: wrongHash, transactionIndex: `0x${receipts.length.toString(16)}` }
  const logs = last.logs.map(log => ({ ...log, ...place }))
  return receipts.with(-1, { ...last, ...place, logs })
}

const addsTransaction: Lie = (method, result, node) => {
  const block = onTransactions(() => ({ value: '0x1' }))(method, result, node) as RpcBlock | null
  const first = method === 'eth_getBlockByNumber' && block?.transactions[0]
  if (typeof first !== 'object') return block
  const stateSync = { ...first, from: zeroAddress, to: zeroAddress, hash: wrongHash, transactionIndex: '0xff' }
  return { ...block, transactions: [...block!.transactions, stateSync] }
}

describe.each<[string, Lie]>([
  ['adds logs of a state-sync transaction', addsReceipt],
  ['moves logs to a state-sync transaction', movesReceipt],
  ['adds a state-sync transaction and lies about the value of all others', addsTransaction],
  ['adds an unknown field to a forged header', forgedHeader(block => ({ ...block, x: '0x0' }))],
])('a node of Polygon that %s', (_, lie) => {
  test('alone gets nothing wrong stored as proven', async () => {
    const { node, store, indexer } = await start(lie, { honest: false, oneIn: 0, polygon: true })
    await settled(indexer)
    const { stored, expected } = await provenRows(node, store)
    expect(stored).toEqual(expected)
  })

  thorough('beside an honest one changes no row', async () => {
    const { node, store, indexer } = await start(lie, { honest: true, oneIn: 0, polygon: true })
    await caughtUp(indexer, node)
    await expectTruth(node, store)
  })
})

test('two nodes of Polygon that say the same of state-sync transactions are two endpoints', async () => {
  const { node, store, indexer } = await start((_, result) => result, { honest: true, oneIn: 0, polygon: true })
  await caughtUp(indexer, node)
  await expectTruth(node, store)
  expect(await store.coverage(node.chain.options.chainId as ChainId, 'full')).toContainEqual(
    expect.objectContaining({ evidence: 'two-endpoints' }),
  )
})
