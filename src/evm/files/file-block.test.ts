// The 13 recorded blocks of mainnet, from Arrow Glacier to Prague, read from bytes and compared with what another
// library and the way over JSON-RPC make of them.
import { isDeepStrictEqual } from 'node:util'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { beforeAll, expect, test } from 'vitest'
import { answersOf, fullReceipts } from '../../../test/history-blocks.ts'
import { type MainnetBlock, mainnetBlocks } from '../../../test/recordings.ts'
import { zeroAddress } from '../../model.ts'
import { activityCount } from '../../store/packed-activity.ts'
import { unpackTransfer } from '../../store/transfer-payload.ts'
import { transferTopics } from '../decode/token-events.ts'
import { keccak256, keccakDigits } from '../proof/block-hash.ts'
import { recoverSender } from '../proof/recover-sender.ts'
import { encodeRlp } from '../proof/rlp.ts'
import { UnreadableBytes } from '../proof/rlp-cursor.ts'
import { signedPart } from '../proof/transactions-root.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { decodeRange } from '../source/decode-range.ts'
import { decodeBlocks } from './decode-blocks.ts'
import { readBlock, readHeader } from './file-block.ts'
import { networks } from './networks.ts'

const { chain } = networks[0]!
type Recorded = { block: MainnetBlock; answers: { block: RpcBlock; receipts: RpcReceipt[] } }
let recorded: Recorded[]

beforeAll(() => {
  recorded = mainnetBlocks().map((block, at) => ({ block, answers: withSenders(answersOf(block), at % 4 === 0) }))
})

/** Of all transactions, or of those that rows name: recovering them takes most of the time. */
function withSenders(answers: Recorded['answers'], all: boolean): Recorded['answers'] {
  const transactions = answers.block.transactions as RpcTransaction[]
  const hasRows = ({ logs }: RpcReceipt): boolean =>
    logs.some(({ topics }) => topics.length === 4 && transferTopics.includes(topics[0]!))
  for (const [index, transaction] of transactions.entries())
    if (all || hasRows(answers.receipts[index]!)) transaction.from = senderOf(transaction)
  return answers
}

/** As the way over JSON-RPC encodes what is signed. */
function senderOf(transaction: RpcTransaction): string {
  const { bytes, parity } = signedPart(transaction)!
  return recoverSender(keccak256(bytes), signatureOf(transaction), parity)!
}

function signatureOf(transaction: RpcTransaction): Buffer {
  const { r, s } = transaction as unknown as Record<'r' | 's', string>
  return Buffer.from([r, s].map(each => each.slice(2).padStart(64, '0')).join(''), 'hex')
}

/** One has 1.6 MB of receipts, which would take most of the time. */
const isSmall = ({ block }: Recorded): boolean => block.receipts.length < 1_000_000

/** With all that a log says, which may be getters. */
function plainLog(log: RpcLog): RpcLog {
  const { address, topics, data, blockNumber, blockHash, transactionHash, transactionIndex, logIndex } = log
  return { address, topics, data, blockNumber, blockHash, transactionHash, transactionIndex, logIndex }
}

const readRecorded = ({ header, body, receipts }: MainnetBlock, areSlim = true) =>
  readBlock({ header: readHeader(header), body, receipts, areSlim, chainId: 1 })

test('rows, headers and places are those of the same blocks over JSON-RPC', () => {
  for (const { block, answers } of recorded.filter(isSmall)) {
    const read = readRecorded(block)
    const { number } = read.header
    const interval = { from: number, to: number }
    const given = { blocks: [answers.block], receipts: [answers.receipts] }
    const hasAll = (answers.block.transactions as RpcTransaction[]).every(({ from }) => from !== zeroAddress)
    for (const scope of hasAll ? (['transfers', 'full'] as const) : (['transfers'] as const)) {
      const range = decodeBlocks(chain, [read], { scope, bytes: 0 })
      const result = decodeRange({ chain, scope, interval, answers: given, grain: 'range', bytes: 0 })
      if (!result.ok) throw new Error(result.failure.message)
      expect(range).toEqual(result.range)
      expect(activityCount(range.activity) > 0).toBe(scope === 'full')
    }
    const logs = answers.receipts.flatMap(receipt => receipt.logs)
    for (const log of read.logs.logs.map(plainLog)) expect(log).toEqual(logs[Number(log.logIndex)])
    expect(read.logCount).toBe(answers.receipts.reduce((sum, { logs }) => sum + logs.length, 0))
    const transactions = answers.block.transactions as RpcTransaction[]
    type Facts = Pick<RpcTransaction, 'hash' | 'to' | 'value' | 'nonce'>
    const factsOf = ({ hash, to, value, nonce }: Facts): Facts => ({ hash, to, value, nonce })
    expect(read.transactions.map(factsOf)).toEqual(transactions.map(factsOf))
  }
})

test('senders are those of another library', () => {
  const types = new Map<unknown, number>()
  for (const { answers } of recorded.filter(isSmall))
    for (const transaction of answers.block.transactions as RpcTransaction[]) {
      // Two of each type in a block: that library takes its time.
      if (transaction.from === zeroAddress) continue
      const key = `${answers.block.number} ${transaction.type}`
      if ((types.get(key) ?? 0) === 2) continue
      types.set(key, (types.get(key) ?? 0) + 1)
      types.set(transaction.type, (types.get(transaction.type) ?? 0) + 1)
      const { bytes, parity } = signedPart(transaction)!
      const signature = Buffer.concat([Buffer.of(parity), signatureOf(transaction)])
      const point = secp256k1.Signature.fromBytes(signature, 'recovered').recoverPublicKey(keccak256(bytes))
      expect(transaction.from).toBe(`0x${keccakDigits(point.toBytes(false).subarray(1)).slice(24)}`)
    }
  for (const type of ['0x0', '0x2', '0x3', '0x4']) expect(types.get(type), type).toBeGreaterThan(0)
})

test('all NFT transfers are found, each as its log says', () => {
  let [erc721, erc1155, ranges] = [0, 0, 0]
  for (const { block, answers } of recorded) {
    const rows = decodeBlocks(chain, [readRecorded(block)], { scope: 'transfers', bytes: 0 }).transfers.map(
      ({ contract, transactionIndex, logIndex, batchIndex, payload }) => {
        const { standard, from, to, tokenId, amount, value, transactionHash, idCount, sentBy } = unpackTransfer(payload)
        const moved = { standard, from, to, tokenId, amount, value, transactionHash, idCount, sentBy }
        return { contract, transactionIndex, logIndex, batchIndex, ...moved }
      },
    )
    const expected = answers.receipts.flatMap(({ logs }, transactionIndex) => {
      const transaction = answers.block.transactions[transactionIndex] as RpcTransaction
      return logs.flatMap(({ address, topics, data, logIndex }) => {
        const word = (at: number): bigint => BigInt(`0x${data.slice(2 + 64 * at, 66 + 64 * at)}`)
        const party = (at: number): string => `0x${topics[at]!.slice(26)}`
        const [value, transactionHash] = [BigInt(transaction.value), transaction.hash]
        const place = { contract: address, transactionIndex, logIndex: Number(logIndex) }
        const sent = (from: string, to: string): string =>
          to === transaction.from ? 'recipient' : from === transaction.from ? 'giver' : 'other'
        const parties = (from: number, to: number) => {
          return { from: party(from), to: party(to), sentBy: sent(party(from), party(to)) }
        }
        if (topics[0]?.startsWith('0xddf252ad') && topics.length === 4) {
          erc721++
          const moved = { ...parties(1, 2), tokenId: BigInt(topics[3]!), amount: 1n, idCount: 1 }
          return [{ ...place, batchIndex: 0, standard: 'ERC721', ...moved, value, transactionHash }]
        }
        if (topics[0]?.startsWith('0xdeaa91b6')) {
          ranges++
          const tokenId = BigInt(topics[1]!)
          const moved = { ...parties(2, 3), tokenId, amount: 1n, idCount: Number(word(0) - tokenId) + 1 }
          return [{ ...place, batchIndex: 0, standard: 'ERC721', ...moved, value, transactionHash }]
        }
        const isBatch = topics[0]?.startsWith('0x4a39dc06')
        if (!isBatch && !topics[0]?.startsWith('0xc3d58168')) return []
        erc1155++
        const [ids, amounts] = isBatch ? [Number(word(0)) / 32, Number(word(1)) / 32] : [-1, 0]
        return Array.from({ length: isBatch ? Number(word(ids)) : 1 }, (_, batchIndex) => {
          const moved = { tokenId: word(ids + 1 + batchIndex), amount: word(amounts + 1 + batchIndex), idCount: 1 }
          return { ...place, batchIndex, standard: 'ERC1155', ...parties(2, 3), ...moved, value, transactionHash }
        })
      })
    })
    // The test's own comparison takes seconds for ten thousand rows.
    expect(isDeepStrictEqual(rows, expected), String(answers.block.number)).toBe(true)
  }
  expect({ erc721, erc1155, ranges }).toEqual({ erc721: 10_332, erc1155: 18, ranges: 1 })
})

test('receipts with their bloom give the same block as receipts without', () => {
  for (const { block } of recorded.filter(isSmall)) {
    const [full, slim] = [readRecorded({ ...block, receipts: fullReceipts(block) }, false), readRecorded(block)]
    expect([full.header, full.logs, full.logCount]).toEqual([slim.header, slim.logs, slim.logCount])
  }
})

test('what a root does not hold is refused', () => {
  const { block } = recorded[0]!
  const other = recorded[3]!.block
  expect(() => readRecorded({ ...block, body: other.body })).toThrow(/transactions that hash to/)
  expect(() => readRecorded({ ...other, receipts: block.receipts })).toThrow(/260 transactions and 19 receipts/)
  const receipts = Buffer.from(block.receipts)
  // The address of the first log.
  receipts[receipts.indexOf(Buffer.from('ddf252ad', 'hex')) - 10]! ^= 1
  expect(() => readRecorded({ ...block, receipts })).toThrow(/19 receipts that hash to/)
  const parts = { body: block.body, receipts: block.receipts, areSlim: true, chainId: 11_155_111 }
  expect(() => readBlock({ header: readHeader(block.header), ...parts })).toThrow('signed for the chain 1')
  expect(() => readHeader(encodeRlp([]))).toThrow(UnreadableBytes)
  expect(() => readHeader(Buffer.concat([block.header, Buffer.of(0)]))).toThrow('goes on after its end')
})
