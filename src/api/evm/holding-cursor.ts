// How cursors carry the place and the filters of the lists of who owns what. It knows neither HTTP nor the lists.
import type { Address } from '../../model.ts'
import type { PageCursor } from '../../query/cursor.ts'
import type { ContractNftKey, HoldingKey } from '../../query/holdings/questions.ts'

/** The two parts of a cursor that tell the last row of a page. */
type LastRow = Pick<PageCursor, 'after' | 'key'>

export type KeyForm<Key> = { carry: (key: Key) => LastRow; read: (carried: LastRow) => Key }

const idDigits = 64

/** A byte for the party, then the token id. */
export const holdingKeys: KeyForm<HoldingKey> = {
  carry: ({ position, leg, tokenId }) => ({
    after: position,
    key: (leg === 'giver' ? '01' : '00') + tokenId.toString(16).padStart(idDigits, '0'),
  }),
  read: ({ after, key }) => ({
    position: after!,
    leg: key.startsWith('01') ? 'giver' : 'recipient',
    tokenId: BigInt(`0x${key.slice(2)}`),
  }),
}

/** A token hash, or the longer id of a token that only ranges moved. */
export const contractNftKeys: KeyForm<ContractNftKey> = {
  carry: key => ({
    after: undefined,
    key: 'tokenHash' in key ? key.tokenHash : key.rangeId.toString(16).padStart(idDigits, '0'),
  }),
  read: ({ key }) => (key.length === idDigits ? { rangeId: BigInt(`0x${key}`) } : { tokenHash: key }),
}

export const addressKeys: KeyForm<Address> = {
  carry: address => ({ after: undefined, key: address.slice(2) }),
  read: ({ key }) => `0x${key}` as Address,
}

/** Each a bit of cursors, the first the lowest. */
const filterFlags = ['excludeSpam', 'tokenCounts', 'normalizeMetadata', 'mediaItems'] as const

type FilterFlag = (typeof filterFlags)[number]

/** What first pages ask for beside the subject, the limit and the format. */
export type HoldingFilter = Record<FilterFlag, boolean> & {
  part: { range: number; totalRanges: number } | undefined
  contracts: readonly Address[]
}

/** A byte of flags, two for the range, then addresses. */
export function carriedFilter({ part, contracts, ...flags }: HoldingFilter): string {
  const bits = filterFlags.reduce((sum, name, at) => sum | (flags[name] ? 1 << at : 0), 0)
  const bytes = [bits, part?.range ?? 0, part?.totalRanges ?? 0]
  return Buffer.from(bytes).toString('hex') + contracts.map(contract => contract.slice(2)).join('')
}

export function filterOf(digits: string): HoldingFilter {
  const [bits, range, totalRanges] = Buffer.from(digits.slice(0, 6), 'hex') as unknown as [number, number, number]
  const contracts = digits.slice(6).match(/.{40}/g) ?? []
  return {
    ...flagsWhere((_, at) => (bits & (1 << at)) !== 0),
    part: totalRanges === 0 ? undefined : { range, totalRanges },
    contracts: contracts.map(each => `0x${each}` as Address),
  }
}

export function flagsWhere(isSet: (name: FilterFlag, at: number) => boolean): Record<FilterFlag, boolean> {
  const flags = filterFlags.map((name, at) => [name, isSet(name, at)] as const)
  return Object.fromEntries(flags) as Record<FilterFlag, boolean>
}
