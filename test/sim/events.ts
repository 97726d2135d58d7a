// What contracts emit, described once: the log that a node shows and the movement that an index must hold both come
// from the description. Shares nothing with the decoder under test.
import type { Address, TransferFacts } from '../../src/model.ts'

export const topics = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  consecutiveTransfer: '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d',
  punkAssign: '0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba',
  punkTransfer: '0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8',
  punkBought: '0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3',
  ownershipTransferred: '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0',
} as const

type Parties = { from: string; to: string }

export type SimEvent = { contract: string } & (
  | ({ type: 'erc721'; id: bigint } & Parties)
  | ({ type: 'erc20'; amount: bigint } & Parties)
  | ({ type: 'single'; operator: string; id: bigint; amount: bigint } & Parties)
  | ({ type: 'batch'; operator: string; ids: readonly bigint[]; amounts: readonly bigint[] } & Parties)
  | ({ type: 'consecutive'; id: bigint; count: number } & Parties)
  | ({ type: 'kitties'; id: bigint } & Parties)
  | { type: 'punk-assign'; to: string; id: bigint }
  | ({ type: 'punk-transfer'; id: bigint } & Parties)
  /** `shownTo` and `price` are zero in the log of an accepted bid; the true recipient is in the Transfer before it. */
  | ({ type: 'punk-bought'; id: bigint; shownTo: string; price: bigint } & Parties)
  | { type: 'approval'; owner: string; spender: string; id: bigint }
  | { type: 'ownership'; owner: string }
  /** Looks like a transfer and is none. Its parties are parties of the transaction anyway. */
  | { type: 'malformed'; topics: readonly string[]; data: string }
)

export type EncodedLog = { address: string; topics: readonly string[]; data: string }

export const zero = '0x0000000000000000000000000000000000000000'

export function encodeEvent(event: SimEvent): EncodedLog {
  const address = event.contract
  switch (event.type) {
    case 'erc721':
      return { address, topics: [topics.transfer, pad(event.from), pad(event.to), topic(event.id)], data: '0x' }
    case 'erc20':
      return { address, topics: [topics.transfer, pad(event.from), pad(event.to)], data: topic(event.amount) }
    case 'single':
      return {
        address,
        topics: [topics.transferSingle, pad(event.operator), pad(event.from), pad(event.to)],
        data: `0x${word(event.id)}${word(event.amount)}`,
      }
    case 'batch':
      return {
        address,
        topics: [topics.transferBatch, pad(event.operator), pad(event.from), pad(event.to)],
        data: encodeArrays(event.ids, event.amounts),
      }
    case 'consecutive':
      return {
        address,
        topics: [topics.consecutiveTransfer, topic(event.id), pad(event.from), pad(event.to)],
        data: topic(event.id + BigInt(event.count - 1)),
      }
    case 'kitties':
      return {
        address,
        topics: [topics.transfer],
        data: `0x${pad(event.from).slice(2)}${pad(event.to).slice(2)}${word(event.id)}`,
      }
    case 'punk-assign':
      return { address, topics: [topics.punkAssign, pad(event.to)], data: topic(event.id) }
    case 'punk-transfer':
      return { address, topics: [topics.punkTransfer, pad(event.from), pad(event.to)], data: topic(event.id) }
    case 'punk-bought':
      return {
        address,
        topics: [topics.punkBought, topic(event.id), pad(event.from), pad(event.shownTo)],
        data: topic(event.price),
      }
    case 'approval':
      return { address, topics: [topics.approval, pad(event.owner), pad(event.spender), topic(event.id)], data: '0x' }
    case 'ownership':
      return { address, topics: [topics.ownershipTransferred, pad(zero), pad(event.owner)], data: '0x' }
    case 'malformed':
      return { address, topics: event.topics, data: event.data }
  }
}

export type Movement = Omit<TransferFacts, 'value' | 'transactionHash'>

/** The rows that an index must hold for an event, in the order of their position in the batch. */
export function movementsOf(event: SimEvent): Movement[] {
  switch (event.type) {
    case 'erc721':
    case 'kitties':
    case 'punk-transfer':
    case 'punk-bought':
      return [movement(event, { standard: 'ERC721', tokenId: event.id })]
    case 'punk-assign':
      return [movement({ from: zero, to: event.to }, { standard: 'ERC721', tokenId: event.id })]
    case 'consecutive':
      return [movement(event, { standard: 'ERC721', tokenId: event.id, idCount: event.count })]
    case 'single': {
      const operator = event.operator as Address
      return [movement(event, { standard: 'ERC1155', operator, tokenId: event.id, amount: event.amount })]
    }
    case 'batch': {
      const operator = event.operator as Address
      return event.ids.map((tokenId, at) =>
        movement(event, { standard: 'ERC1155', batch: true, operator, tokenId, amount: event.amounts[at]! }),
      )
    }
    default:
      return []
  }
}

/** The addresses between which an event moves a token. */
export function partiesOf(event: SimEvent): string[] {
  if (event.type === 'erc20') return [event.from, event.to]
  if (event.type === 'punk-assign') return [zero, event.to]
  return movementsOf(event).length === 0 ? [] : 'from' in event ? [event.from, event.to] : []
}

function movement({ from, to }: Parties, facts: Partial<Movement> & Pick<Movement, 'standard' | 'tokenId'>): Movement {
  return {
    batch: false,
    operator: undefined,
    amount: 1n,
    idCount: 1,
    ...facts,
    from: from as Address,
    to: to as Address,
  }
}

export function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

export function topic(value: bigint): string {
  return `0x${word(value)}`
}

export function pad(address: string): string {
  return `0x000000000000000000000000${address.slice(2)}`
}

function encodeArrays(ids: readonly bigint[], amounts: readonly bigint[]): string {
  const words = [64n, BigInt(64 + 32 + 32 * ids.length), BigInt(ids.length), ...ids, BigInt(amounts.length), ...amounts]
  return `0x${words.map(word).join('')}`
}
