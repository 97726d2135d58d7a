// A page of a contract's tokens: by falling hash, then ids of ERC-2309 ranges that did not move alone, ascending. It
// reads nothing.
import type { Address } from '../../model.ts'
import { hashedTokens } from './hash-order.ts'
import type { Holding } from './holding-page.ts'
import type { ContractNftKey, ContractNftsQuestion } from './questions.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import type { FoundSheet } from './sheets.ts'

const hashSpace = 2n ** 128n

type Part = ContractNftsQuestion['part']
export type ContractNftPage = { holdings: Holding[]; next: ContractNftKey | undefined }

export async function contractNftPage(
  found: FoundSheet,
  contract: Address,
  { after, limit, part }: Pick<ContractNftsQuestion, 'after' | 'limit' | 'part'>,
): Promise<ContractNftPage> {
  const holdings: Holding[] = []
  if (after === undefined || 'tokenHash' in after) {
    const bounds = hashBoundsOf(part)
    const below = after !== undefined && (bounds.below === undefined || after.tokenHash < bounds.below)
    const wanted = { ...bounds, ...(below ? { below: after.tokenHash } : {}), limit: limit + 1 }
    const { tokens } = await hashedTokens(found, contract, wanted)
    if (tokens.length > limit) return { holdings: tokens.slice(0, limit), next: pick(tokens[limit - 1]!) }
    holdings.push(...tokens)
    if (!hasRanges(part) || found.sheet.columns.counts === undefined) return { holdings, next: undefined }
    if (holdings.length === limit) {
      const isMore = rangeTokens(found.sheet, -1n, 1).length > 0
      return { holdings, next: isMore && limit > 0 ? pick(tokens.at(-1)!) : undefined }
    }
  }
  const from = after !== undefined && 'rangeId' in after ? after.rangeId : -1n
  const ranged = rangeTokens(found.sheet, from, limit + 1 - holdings.length)
  holdings.push(...ranged)
  if (holdings.length <= limit) return { holdings, next: undefined }
  holdings.pop()
  return { holdings, next: { rangeId: holdings.at(-1)!.tokenId } }
}

export async function contractNftTotal(found: FoundSheet, contract: Address, part: Part): Promise<number> {
  if (part === undefined) return found.sheet.ids
  const { count } = await hashedTokens(found, contract, { ...hashBoundsOf(part), limit: 0 })
  return count + (hasRanges(part) ? rangeCount(found.sheet) : 0)
}

/** Ranges of hashes count from the high end. */
export function hashBoundsOf(part: Part): { below: string | undefined; from: string | undefined } {
  if (part === undefined) return { below: undefined, from: undefined }
  const total = BigInt(part.totalRanges)
  const edge = (range: number): bigint => (BigInt(range) * hashSpace + total - 1n) / total
  const hex = (number: bigint): string => number.toString(16).padStart(32, '0')
  return {
    below: part.range === 0 ? undefined : hex(hashSpace - edge(part.range)),
    from: hex(hashSpace - edge(part.range + 1)),
  }
}

export function hasRanges(part: Part): boolean {
  return part === undefined || part.range === part.totalRanges - 1
}

function rangeTokens(sheet: Sheet, after: bigint, limit: number): Holding[] {
  const { flags, length } = sheet.columns
  const found: Holding[] = []
  const start = sheet.rowAtOrAfter(after + 1n)
  // The row before may be a range that goes on beyond the id.
  for (let row = Math.max(0, start - 1); row < length && found.length < limit; row++) {
    if ((flags[row]! & rowFlags.range) === 0) continue
    const first = sheet.idOf(row)
    const end = first + BigInt(sheet.countOf(row))
    for (let tokenId = first > after ? first : after + 1n; tokenId < end && found.length < limit; tokenId++)
      found.push({ row, tokenId })
  }
  return found
}

function rangeCount({ columns: { flags, counts, length } }: Sheet): number {
  let count = 0
  if (counts !== undefined)
    for (let row = 0; row < length; row++) if (flags[row]! & rowFlags.range) count += counts[row]!
  return count
}

function pick({ tokenHash }: { tokenHash: string }): ContractNftKey {
  return { tokenHash }
}
