// How many logs a second one core sequences, decodes, collects activity from and checks by bloom, and how many receipts it hashes.
// Run: node bench/evm-decode.ts [--shape ethereum] [--seconds 1], which is the time of each step.
import { parseArgs } from 'node:util'
import { defineChain } from '../src/chains.ts'
import { collectActivity } from '../src/evm/decode/activity.ts'
import { decodeTransfers, type LogTransaction } from '../src/evm/decode/decode.ts'
import { sequenceLogs, splitByBlock } from '../src/evm/decode/log-sequence.ts'
import { earlyCollectionsOf, topics } from '../src/evm/decode/token-events.ts'
import { blockHashOf, keccak256 } from '../src/evm/proof/block-hash.ts'
import { addToBloom, emptyBloom } from '../src/evm/proof/bloom.ts'
import { receiptsRoot } from '../src/evm/proof/receipts-root.ts'
import { verifyLogs } from '../src/evm/proof/verify.ts'
import type { RpcBlock, RpcLog, RpcReceipt } from '../src/evm/rpc/port.ts'
import { openAnswers } from './evm-answers.ts'
import { type ShapeName, shapeNameOf } from './shape.ts'

const transactionsPerBlock = 20
const logsPerTransaction = 10
const { values: options } = parseArgs({
  options: { shape: { type: 'string', default: 'small' }, seconds: { type: 'string', default: '1' } },
})
const shape = shapeNameOf(options.shape)
/** Blocks of Ethereum are large. */
const blocksCount = shape === 'small' ? 100 : 20
const secondsPerStep = Number(options.seconds)
const chain = defineChain({ name: 'bench', id: 1 })
const earlyCollections = earlyCollectionsOf(chain.id)

let seed = 1
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
const hex = (number: number): string => `0x${number.toString(16)}`
const named = (name: string): string => Buffer.from(keccak256(Buffer.from(name))).toString('hex')
const word = (digits: string): string => `0x${digits.padStart(64, '0')}`
// A tenth of the wallets make half of the transfers.
const wallet = (): string => named(`wallet ${random(2) === 0 ? random(2_000) : random(20_000)}`).slice(24)
const contract = (): string => `0x${named(`contract ${random(500)}`).slice(24)}`

function event(): { topics: string[]; data: string } {
  const kind = random(100)
  const parties = [word(wallet()), word(wallet())]
  const id = named(`token ${random(1_000_000)}`)
  if (kind < 55) return { topics: [topics.transfer, ...parties], data: word(random(1e9).toString(16)) }
  if (kind < 75) return { topics: [`0x${named(`event ${random(50)}`)}`, parties[0]!], data: word('1') }
  if (kind < 90) return { topics: [topics.transfer, ...parties, word(random(10_000).toString(16))], data: '0x' }
  if (kind < 97)
    return { topics: [topics.transferSingle, word(wallet()), ...parties], data: `0x${id}${word('5').slice(2)}` }
  const array = `${word('3').slice(2)}${id}${id}${word('7').slice(2)}`
  const data = `${word('40')}${word('c0').slice(2)}${array}${array}`
  return { topics: [topics.transferBatch, word(wallet()), ...parties], data }
}

type Made = { blocks: RpcBlock[]; receipts: RpcReceipt[][] }
const { blocks, receipts } = shape === 'small' ? makeBlocks() : readBlocks(shape)

/** What the node of the indexing benchmark answers. */
function readBlocks(name: Exclude<ShapeName, 'small'>): Made {
  const answers = openAnswers(name, chain.id, blocksCount)
  const made: Made = { blocks: [], receipts: [] }
  for (let number = 1; number <= blocksCount; number++) {
    made.blocks.push(JSON.parse(answers.read(number, 'full').toString('latin1')) as RpcBlock)
    made.receipts.push(JSON.parse(answers.read(number, 'receipts').toString('latin1')) as RpcReceipt[])
  }
  answers.close()
  return made
}

function makeBlocks(): Made {
  const blocks: RpcBlock[] = []
  const receipts: RpcReceipt[][] = []
  for (let number = 1; number <= blocksCount; number++) {
    const hash = `0x${named(`block ${number}`)}`
    const bloom = emptyBloom()
    const list: RpcReceipt[] = []
    const transactions = Array.from({ length: transactionsPerBlock }, (_, index) => ({
      hash: `0x${named(`transaction ${number} ${index}`)}`,
      from: `0x${wallet()}`,
      to: contract(),
      value: hex(random(2) * 1e15),
      nonce: hex(index),
      transactionIndex: hex(index),
    }))
    for (const [index, transaction] of transactions.entries()) {
      const logs = Array.from({ length: logsPerTransaction }, (_, at) => ({
        address: contract(),
        ...event(),
        blockNumber: hex(number),
        blockHash: hash,
        transactionHash: transaction.hash,
        transactionIndex: hex(index),
        logIndex: hex(index * logsPerTransaction + at),
        removed: false,
      }))
      for (const log of logs) addToBloom(bloom, log)
      const base = {
        transactionHash: transaction.hash,
        transactionIndex: hex(index),
        blockNumber: hex(number),
        blockHash: hash,
      }
      const rest = {
        contractAddress: null,
        cumulativeGasUsed: hex(21_000 * (index + 1)),
        logs,
        type: '0x2',
        status: '0x1',
      }
      list.push({ ...base, ...rest, logsBloom: `0x${'00'.repeat(256)}` })
    }
    const links = {
      number: hex(number),
      hash,
      parentHash: `0x${named(`block ${number - 1}`)}`,
      timestamp: hex(number * 12),
    }
    const roots = { stateRoot: hash, transactionsRoot: hash, receiptsRoot: hash, sha3Uncles: hash, mixHash: hash }
    const rest = {
      miner: contract(),
      difficulty: '0x0',
      gasLimit: '0x1c9c380',
      gasUsed: '0x5208',
      extraData: '0x',
      nonce: '0x0000000000000000',
    }
    blocks.push({ ...links, ...roots, ...rest, logsBloom: `0x${Buffer.from(bloom).toString('hex')}`, transactions })
    receipts.push(list)
  }
  return { blocks, receipts }
}

// Texts as they come from a node: parsed, flat, each its own.
const logsJson = JSON.stringify({ blocks, logs: receipts.flat().flatMap(receipt => receipt.logs) })
const receiptsJson = JSON.stringify(receipts)
type Answer = { blocks: RpcBlock[]; logs: RpcLog[] }
const fresh = (): Answer => JSON.parse(logsJson) as Answer

/** CPU time of this thread, so that neither other programs nor the collector's threads count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Runs a step on fresh answers and prints the rate; only the step is timed. */
function measure<T>(name: string, make: () => T, step: (answer: T) => number): void {
  let units = 0
  let elapsedMs = 0
  for (let warm = 0; warm < 5; warm++) step(make())
  while (elapsedMs < secondsPerStep * 1000) {
    const answer = make()
    const start = cpuMs()
    units += step(answer)
    elapsedMs += cpuMs() - start
  }
  const rate = Math.round((units / elapsedMs) * 1000).toLocaleString('en')
  const each = ((elapsedMs / units) * 1000).toFixed(2)
  console.log(`${name.padEnd(36)} ${rate.padStart(12)}/s  ${each} µs each`)
}

const numbers = blocks.map((_, index) => index + 1)
const transactionsIn = (answer: Answer) => (_: RpcLog, block: number, index: number) =>
  answer.blocks[block - 1]!.transactions[index] as LogTransaction

function decode(answer: Answer): number {
  const logs = sequenceLogs(answer.logs, { complete: true })
  const { malformed } = decodeTransfers({ logs, earlyCollections, transactionOf: transactionsIn(answer) })
  if (Object.values(malformed).some(count => count > 0)) throw new Error('the benchmark made a malformed log')
  return logs.length
}

function activity(answer: Answer): number {
  const logs = sequenceLogs(answer.logs, { complete: true })
  collectActivity({ blocks: answer.blocks, logs, earlyCollections })
  return logs.length
}

function verify(answer: Answer): number {
  const logs = sequenceLogs(answer.logs, { complete: true })
  const { parts } = splitByBlock(logs, numbers)
  for (const [index, block] of answer.blocks.entries()) {
    const verdict = verifyLogs({ chain, block, logs: parts[index]! })
    if (!verdict.ok) throw new Error(verdict.failure.message)
  }
  return logs.length
}

const transactionCount = receipts.flat().length
const logCount = receipts.flat().reduce((sum, { logs }) => sum + logs.length, 0)
console.log(`${blocksCount} blocks, ${transactionCount} transactions, ${logCount} logs\n`)
measure(
  'JSON.parse alone: logs',
  () => undefined,
  () => fresh().logs.length,
)
measure('sequence: logs', fresh, answer => sequenceLogs(answer.logs, { complete: true }).length)
measure('sequence + decode: logs', fresh, decode)
measure('sequence + activity: logs', fresh, activity)
measure('sequence + verify by bloom: logs', fresh, verify)
measure('decode + verify by bloom: logs', fresh, answer => {
  decode(answer)
  return verify(answer)
})
measure('all of them: logs', fresh, answer => {
  decode(answer)
  activity(answer)
  return verify(answer)
})
measure(
  'receipts root: logs',
  () => JSON.parse(receiptsJson) as RpcReceipt[][],
  lists => {
    for (const list of lists) receiptsRoot(list)
    return logCount
  },
)
measure('block hash: blocks', fresh, answer => {
  for (const block of answer.blocks) blockHashOf(block)
  return answer.blocks.length
})
