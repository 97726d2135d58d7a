// Blocks for files of history: recorded ones with what a plain reader of its own makes of them, and made-up chains.
import { keccak256 } from '../src/evm/proof/block-hash.ts'
import { addToBloom, emptyBloom } from '../src/evm/proof/bloom.ts'
import { encodeRlp, type RlpItem } from '../src/evm/proof/rlp.ts'
import { transactionForms } from '../src/evm/proof/transaction-types.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../src/evm/rpc/port.ts'
import { zeroAddress } from '../src/model.ts'
import type { WrittenBlock } from './history-writer.ts'
import type { MainnetBlock } from './recordings.ts'

type Hex = `0x${string}`
type Nested = Hex | readonly Nested[]
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

/** RLP as nested hex texts. */
function read(bytes: Uint8Array): readonly Nested[] {
  return itemAt(Buffer.from(bytes), 0).item as readonly Nested[]
}

function itemAt(bytes: Buffer, at: number): { item: Nested; end: number } {
  const first = bytes[at]!
  if (first < 0x80) return { item: hexOf(bytes.subarray(at, at + 1)), end: at + 1 }
  const short = first % 0x40
  const from = at + (short < 56 ? 1 : short - 54)
  const end = from + (short < 56 ? short : bytes.readUIntBE(at + 1, short - 55))
  if (first < 0xc0) return { item: hexOf(bytes.subarray(from, end)), end }
  const item: Nested[] = []
  for (let next = from; next < end; ) {
    const inner = itemAt(bytes, next)
    item.push(inner.item)
    next = inner.end
  }
  return { item, end }
}

const quantity = (hex: Nested): string => (hex === '0x' ? '0x0' : `0x${BigInt(hex as string).toString(16)}`)
const hashOf = (hex: string): Hex => hexOf(keccak256(Buffer.from(hex.slice(2), 'hex')))

const headerFields = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', '#difficulty'],
  ...['#number', '#gasLimit', '#gasUsed', '#timestamp', 'extraData', 'mixHash', 'nonce', '#baseFeePerGas'],
  ...['withdrawalsRoot', '#blobGasUsed', '#excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'],
  ...['blockAccessListHash', '#slotNumber'],
]

/** What a node would answer for a block, read by another library; senders are the zero address. */
export function answersOf({ header, body, receipts }: MainnetBlock): { block: RpcBlock; receipts: RpcReceipt[] } {
  const fields = read(header).map((value, at): [string, unknown] => {
    const name = headerFields[at]!
    return name.startsWith('#') ? [name.slice(1), quantity(value)] : [name, value]
  })
  const [listed] = read(body)
  const transactions = (listed as readonly Nested[]).map(transactionOf)
  const shown = { ...Object.fromEntries(fields), hash: hexOf(keccak256(header)), transactions }
  const block = shown as unknown as RpcBlock
  let logIndex = 0
  const given = read(receipts).map((receipt, index): RpcReceipt => {
    const [type, status, gas, logs] = receipt as readonly Nested[]
    const place = {
      ...{ blockNumber: block.number!, blockHash: block.hash! },
      ...{ transactionHash: transactions[index]!.hash, transactionIndex: `0x${index.toString(16)}` },
    }
    const placed = (logs as readonly Nested[]).map((log): RpcLog => {
      const [address, topics, data] = log as [Hex, readonly Hex[], Hex]
      return { address, topics, data, ...place, logIndex: `0x${(logIndex++).toString(16)}` }
    })
    const bloom = emptyBloom()
    for (const log of placed) addToBloom(bloom, log)
    const outcome = (status as string).length === 66 ? { root: status as string } : { status: quantity(status!) }
    const rest = { ...outcome, cumulativeGasUsed: quantity(gas!), logs: placed, logsBloom: hexOf(bloom) }
    return { ...place, ...rest, type: quantity(type!), contractAddress: null }
  })
  return { block, receipts: given }
}

function transactionOf(item: Nested, index: number): RpcTransaction {
  const isLegacy = typeof item !== 'string'
  const encoded = isLegacy ? hexOf(encodeRlp(bytesOf(item))) : item
  const type = isLegacy ? 0 : Number(item.slice(0, 4))
  const values = isLegacy ? item : read(Buffer.from(item.slice(4), 'hex'))
  const fields = transactionForms.get(type)!.fields.map(({ name, kind }, at): [string, unknown] => {
    const value = values[at]!
    if (kind === 'quantity' || kind === 'parity') return [name, quantity(value)]
    if (kind === 'to') return [name, value === '0x' ? null : value]
    if (kind === 'access list')
      return [name, (value as [Hex, Hex[]][]).map(([address, storageKeys]) => ({ address, storageKeys }))]
    if (kind !== 'authorizations') return [name, value]
    const lists = value as readonly (readonly Hex[])[]
    return [
      name,
      lists.map(([chainId, address, nonce, yParity, r, s]) => ({
        ...{ chainId: quantity(chainId!), address, nonce: quantity(nonce!) },
        ...{ yParity: quantity(yParity!), r: quantity(r!), s: quantity(s!) },
      })),
    ]
  })
  const place = { hash: hashOf(encoded), from: zeroAddress, transactionIndex: `0x${index.toString(16)}` }
  return { ...Object.fromEntries(fields), ...place, type: `0x${type.toString(16)}` } as unknown as RpcTransaction
}

function bytesOf(item: Nested): RlpItem {
  return typeof item === 'string' ? Buffer.from(item.slice(2), 'hex') : item.map(bytesOf)
}

/** Receipts with their bloom, as era1 has them. */
export function fullReceipts(block: MainnetBlock): Buffer {
  const { receipts } = answersOf(block)
  const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
  const items = read(block.receipts).map((receipt, at): RlpItem => {
    const [type, status, gas, logs] = receipt as [Hex, Hex, Hex, Nested]
    const list: RlpItem = [bytes(status), bytes(gas), bytes(receipts[at]!.logsBloom), bytesOf(logs)]
    return type === '0x' ? list : Buffer.concat([bytes(type), encodeRlp(list)])
  })
  return encodeRlp(items)
}

const emptyRoot = keccak256(Uint8Array.of(0x80))
const nothing = new Uint8Array()

/** A chain of blocks without transactions. `difficulty` of each; 0: after the merge. */
export function madeChain(
  from: number,
  count: number,
  difficulty = 1,
  timeOf = (number: number) => 1_600_000_000 + number,
): (WrittenBlock & { hash: Buffer })[] {
  const blocks: (WrittenBlock & { hash: Buffer })[] = []
  let parent: Uint8Array = new Uint8Array(32)
  for (let number = from; number < from + count; number++) {
    const word = (value: number): Uint8Array => {
      const digits = value.toString(16)
      return value === 0 ? nothing : Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
    }
    const header = encodeRlp([
      ...[parent, new Uint8Array(32), new Uint8Array(20), new Uint8Array(32), emptyRoot, emptyRoot],
      ...[new Uint8Array(256), word(difficulty), word(number), word(30_000_000), nothing, word(timeOf(number))],
      ...[nothing, new Uint8Array(32), new Uint8Array(8)],
    ])
    const total = Buffer.alloc(32)
    total.writeUInt32LE(difficulty * (number + 1))
    const [body, receipts] = [encodeRlp([[], []]), encodeRlp([])]
    const hash = Buffer.from(keccak256(header))
    blocks.push({ header, body, receipts, difficulty: total, hash })
    parent = hash
  }
  return blocks
}
