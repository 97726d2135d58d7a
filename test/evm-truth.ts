// What the answers must be for a real node's chain: read from the node receipt by receipt and decoded by ox. It shares no code with src/evm.
import * as AbiEvent from 'ox/AbiEvent'
import type { Address } from 'ox/Address'
import * as ContractAddress from 'ox/ContractAddress'
import type { Hex } from 'ox/Hex'
import type { EvmNode } from './evm-node.ts'

export type TransferRecord = {
  block_number: string
  block_timestamp: string
  block_hash: Hex
  transaction_hash: Hex
  transaction_index: number
  log_index: number
  value: string
  contract_type: 'ERC721' | 'ERC1155'
  transaction_type: 'Single' | 'Batch'
  token_address: string
  token_id: string
  from_address: string
  from_address_label: string | null
  to_address: string
  to_address_label: string | null
  amount: string
  operator: string | null
  possible_spam: 'false'
  verified_collection: 'false'
}

/** Of the built-in pack, only what every chain has: where mints come from and burns go. */
const labelOf = (address: string): string | null => (BigInt(address) === 0n ? 'Null address' : null)

export type TransactionRecord = { block_timestamp: string; block_number: string; transaction_hash: Hex }

export type ChainTruth = {
  head: number
  types: ReadonlySet<string>
  /** Of all contracts, newest first, as they are answered. */
  transfers: readonly TransferRecord[]
  transfersOf(contract: Address): TransferRecord[]
  activityOf(wallet: Address): { first: TransactionRecord; last: TransactionRecord } | undefined
  /** What a wallet sent, and what gave it ether before that: all that can be told without an index. */
  sentBy(wallet: Address): { first: TransactionRecord; last: TransactionRecord } | undefined
}

type NodeBlock = { number: Hex; hash: Hex; timestamp: Hex; transactions: NodeTransaction[] }
type NodeTransaction = { hash: Hex; from: Address; to: Address | null; value: Hex; nonce: Hex; type: string }
type NodeLog = { address: Address; topics: [Hex, ...Hex[]]; data: Hex; logIndex: Hex }
type NodeReceipt = { logs: NodeLog[]; type: string }

const nftEvents = [
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event ConsecutiveTransfer(uint256 indexed id, uint256 toTokenId, address indexed from, address indexed to)',
].map(text => AbiEvent.from(text) as AbiEvent.AbiEvent)
const coinEvents = [
  AbiEvent.from('event Transfer(address indexed from, address indexed to, uint256 value)') as AbiEvent.AbiEvent,
]

type Arguments = { from: Address; to: Address; operator: Address; id: bigint; value: bigint } & {
  toTokenId: bigint
  ids: bigint[]
  values: bigint[]
}
type EventLog = NodeLog & { eventName: string; args: Arguments }

/** Those of the logs that one of the events fits. */
function parseEventLogs(events: readonly AbiEvent.AbiEvent[], logs: readonly NodeLog[]): EventLog[] {
  return logs.flatMap(log =>
    events.flatMap(event => {
      if (AbiEvent.getSelector(event) !== log.topics[0]) return []
      try {
        const args = AbiEvent.decode(event, log) as unknown as Arguments
        return [{ ...log, eventName: event.name, args }]
      } catch {
        return []
      }
    }),
  )
}

export type NftMove = Moved & { contract: string; block: number; isErc1155: boolean }

/** What logs in the order of the chain say that moved, decoded by ox. */
export function nftMovesOf(
  logs: readonly { address: string; topics: readonly string[]; data: string; blockNumber: string | null }[],
): NftMove[] {
  return logs.flatMap(log =>
    parseEventLogs(nftEvents, [{ ...log, logIndex: '0x0' } as unknown as NodeLog]).flatMap(parsed =>
      movedBy(parsed).map(moved => ({
        ...moved,
        ...{ contract: log.address.toLowerCase(), block: Number(log.blockNumber), isErc1155: moved.operator !== null },
      })),
    ),
  )
}

type Role = 'sender' | 'funded' | 'party'
type Moved = { from: Address; to: Address; id: bigint; amount: bigint; operator: Address | null; batch: boolean }

type Seen = { wallet: string; record: TransactionRecord; role: Role }
type BlockTruth = { transfers: TransferRecord[]; seen: Seen[]; types: ReadonlySet<string> }

/** By their hash, which says all that is in them: the truth is asked for again and again, of a chain that grows. */
const knownBlocks = new WeakMap<EvmNode, Map<Hex, BlockTruth>>()

async function readBlock(node: EvmNode, number: number, block: NodeBlock): Promise<BlockTruth> {
  const transfers: TransferRecord[] = []
  const seen: Seen[] = []
  const types = new Set<string>()
  const time = new Date(Number(block.timestamp) * 1_000).toISOString()
  for (const [index, transaction] of block.transactions.entries()) {
    const receipt = (await node.ask('eth_getTransactionReceipt', transaction.hash)) as NodeReceipt
    types.add(receipt.type)
    const record = { block_timestamp: time, block_number: `${number}`, transaction_hash: transaction.hash }
    const funds = BigInt(transaction.value) > 0n
    const created = ContractAddress.fromCreate({ from: transaction.from, nonce: BigInt(transaction.nonce) })
    const add = (wallet: string, role: Role = 'party') => seen.push({ wallet: wallet.toLowerCase(), record, role })
    add(transaction.from, 'sender')
    add(transaction.to ?? created, funds ? 'funded' : 'party')
    for (const { args } of parseEventLogs(coinEvents, receipt.logs)) {
      add(args.from)
      add(args.to)
    }
    for (const log of parseEventLogs(nftEvents, receipt.logs)) {
      for (const moved of movedBy(log)) {
        add(moved.from)
        add(moved.to)
        transfers.push({
          block_number: `${number}`,
          block_timestamp: time.slice(0, 19),
          block_hash: block.hash,
          transaction_hash: transaction.hash,
          transaction_index: index,
          log_index: Number(log.logIndex),
          value: `${BigInt(transaction.value)}`,
          contract_type: moved.operator === null ? 'ERC721' : 'ERC1155',
          transaction_type: moved.batch ? 'Batch' : 'Single',
          token_address: log.address.toLowerCase(),
          token_id: `${moved.id}`,
          from_address: moved.from.toLowerCase(),
          from_address_label: labelOf(moved.from),
          to_address: moved.to.toLowerCase(),
          to_address_label: labelOf(moved.to),
          amount: `${moved.amount}`,
          operator: moved.operator?.toLowerCase() ?? null,
          possible_spam: 'false',
          verified_collection: 'false',
        })
      }
    }
  }
  return { transfers, seen, types }
}

export async function readTruth(node: EvmNode): Promise<ChainTruth> {
  const head = Number(await node.ask('eth_blockNumber'))
  const transfers: TransferRecord[] = []
  const seen: Seen[] = []
  const types = new Set<string>()
  const known = knownBlocks.get(node) ?? new Map<Hex, BlockTruth>()
  knownBlocks.set(node, known)
  for (let number = 0; number <= head; number++) {
    const block = (await node.ask('eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as NodeBlock
    const told = known.get(block.hash) ?? (await readBlock(node, number, block))
    known.set(block.hash, told)
    transfers.push(...told.transfers)
    seen.push(...told.seen)
    for (const type of told.types) types.add(type)
  }
  const spanOf = (records: TransactionRecord[]) =>
    records.length === 0 ? undefined : { first: records[0]!, last: records.at(-1)! }
  return {
    head,
    types,
    transfers: transfers.toReversed(),
    transfersOf: contract => transfers.filter(row => row.token_address === contract.toLowerCase()).reverse(),
    activityOf: wallet => spanOf(seen.filter(row => row.wallet === wallet.toLowerCase()).map(row => row.record)),
    sentBy: wallet => {
      const own = seen.filter(row => row.wallet === wallet.toLowerCase() && row.role !== 'party')
      const sent = own.filter(row => row.role === 'sender')
      return spanOf([...own.slice(0, 1), ...sent].map(row => row.record))
    },
  }
}

function movedBy(log: EventLog): Moved[] {
  const { from, to } = log.args
  if (log.eventName === 'TransferBatch') {
    const { operator, ids, values } = log.args
    return ids.map((id, at) => ({ from, to, id, amount: values[at]!, operator, batch: true }))
  }
  if (log.eventName === 'TransferSingle') {
    const { operator, id, value } = log.args
    return [{ from, to, id, amount: value, operator, batch: false }]
  }
  const { id } = log.args
  const last = log.eventName === 'ConsecutiveTransfer' ? log.args.toTokenId : id
  const count = Number(last - id) + 1
  return Array.from({ length: count }, (_, at) => ({
    from,
    to,
    id: id + BigInt(at),
    amount: 1n,
    operator: null,
    batch: false,
  }))
}
