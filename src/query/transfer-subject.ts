// What a list of transfers over several contracts is of, and how a cursor carries it. Pure.
import type { Address, Hash } from '../model.ts'
import type { PageCursor } from './cursor.ts'

export const directions = ['both', 'from', 'to'] as const
export type Direction = (typeof directions)[number]

/** Of a wallet's transfers: those that it gave (`from`), received (`to`) or both, of these contracts or of all. */
export type WalletFilter = { direction: Direction; contracts: readonly Address[] }

/** As many as a cursor has room for. */
export const filterContractsMax = 25

export type TransferSubject =
  | ({ list: 'wallet-transfers'; wallet: Address } & WalletFilter)
  | { list: 'token-transfers'; contract: Address; tokenId: bigint }
  | { list: 'block-transfers'; block: number | Hash }
  | { list: 'transfers' }

type CursorSubject = Pick<PageCursor, 'list' | 'subject' | 'filter'>

const idDigits = 64
const numberDigits = 14

export function carriedSubject(subject: TransferSubject): CursorSubject {
  switch (subject.list) {
    case 'wallet-transfers':
      return { list: subject.list, subject: subject.wallet.slice(2), filter: carriedFilter(subject) }
    case 'token-transfers': {
      const id = subject.tokenId.toString(16).padStart(idDigits, '0')
      return { list: subject.list, subject: subject.contract.slice(2) + id, filter: '' }
    }
    case 'block-transfers': {
      const { block } = subject
      const digits = typeof block === 'string' ? block.slice(2) : block.toString(16).padStart(numberDigits, '0')
      return { list: subject.list, subject: digits, filter: '' }
    }
    default:
      return { list: subject.list, subject: '', filter: '' }
  }
}

/** The filters of a wallet's list besides its address; empty where there are none. */
function carriedFilter({ direction, contracts }: WalletFilter): string {
  if (direction === 'both' && contracts.length === 0) return ''
  const first = directions.indexOf(direction).toString(16).padStart(2, '0')
  return first + contracts.map(contract => contract.slice(2)).join('')
}

/** Of a cursor that this process or another one of the store made. */
export function walletFilterOf(filter: string): WalletFilter {
  if (filter === '') return { direction: 'both', contracts: [] }
  const contracts = filter.slice(2).match(/.{40}/g) ?? []
  return {
    direction: directions[Number.parseInt(filter.slice(0, 2), 16)]!,
    contracts: contracts.map(digits => `0x${digits}` as Address),
  }
}
