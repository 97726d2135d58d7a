// Rules of a commit that every engine follows: pure, and throwing `conflict`.
import { joinIntervals } from '../coverage.ts'
import { AlmanacError } from '../errors.ts'
import type { Block, Hash, Interval, TransferRow } from '../model.ts'
import type { ColdCommit, HotCommit, Lease } from './store.ts'

/** The highest block that a cold commit claims to be final; -1 where it claims none. */
export function highestBlock({ blocks, covered }: Pick<ColdCommit, 'blocks' | 'covered'>): number {
  let highest = -1
  for (const { number } of blocks) highest = Math.max(highest, number)
  for (const { to } of covered) highest = Math.max(highest, to)
  return highest
}

export function spanOf(intervals: readonly Interval[]): Interval | undefined {
  const joined = joinIntervals(intervals)
  return joined.length === 0 ? undefined : { from: joined[0]!.from, to: joined.at(-1)!.to }
}

/** A row of an unknown block could not be answered with the block's hash and time. */
export function unknownBlock(block: number): AlmanacError {
  return new AlmanacError('conflict', `The commit has a transfer in block ${block}, but not that block.`, {
    hint: 'include every block that has a transfer in the same commit.',
  })
}

export function requireSameBranch(blocks: readonly Block[], hotHashes: ReadonlyMap<number, Hash>): void {
  for (const { number, hash } of blocks) {
    const stored = hotHashes.get(number)
    if (stored !== undefined && stored !== hash)
      throw new AlmanacError('conflict', `Block ${number} is stored as ${stored}; the final commit has ${hash}.`, {
        hint: 'replace the blocks above the common ancestor that are not final, then commit again.',
      })
  }
}

export function requireStored({ number, hash }: Block, stored: Hash | undefined): void {
  if (stored === hash) return
  const now = stored === undefined ? 'it is not a hot block' : `it is now ${stored}`
  throw new AlmanacError('conflict', `Block ${number} is no longer stored as ${hash}: ${now}.`, {
    hint: 'read the hot blocks again and fetch the rows for those.',
    retryable: true,
  })
}

export function requireHotOrder({ ancestor, blocks, head, covered }: HotCommit, finalized: number): void {
  if (ancestor < finalized)
    throw new AlmanacError('conflict', `Blocks above ${ancestor} cannot be replaced: block ${finalized} is final.`, {
      hint: 'check the endpoint that reported the fork. If finality itself was wrong, stop the service and run almanac chain unfinalize.',
    })
  let previous = ancestor
  let claimedNext = covered === undefined ? undefined : Math.max(covered.from, ancestor + 1)
  for (const { number, transfers } of blocks) {
    if (number <= previous || (claimedNext !== undefined && number > claimedNext))
      throw new AlmanacError('conflict', `Block ${number} cannot follow block ${previous} in one commit.`, {
        hint: 'give the blocks lowest first, and without gaps where they are claimed to be complete.',
      })
    requireOwnRows(number, transfers)
    previous = number
    if (claimedNext !== undefined) claimedNext = Math.max(claimedNext, number + 1)
  }
  if (blocks.length > 0 && head.number < previous)
    throw new AlmanacError('conflict', `The commit has head ${head.number}, which is below its last block ${previous}.`)
}

export function requireBelowFinal(to: number, finalized: number): void {
  if (to < finalized) return
  const known = finalized < 0 ? 'no block is final' : `block ${finalized} is the highest final one`
  throw new AlmanacError('conflict', `Finality cannot be taken back to block ${to}: ${known}.`)
}

export function requireOwnRows(number: number, rows: readonly TransferRow[]): void {
  const foreign = rows.find(row => row.block !== number)
  if (foreign !== undefined)
    throw new AlmanacError('conflict', `The commit lists a transfer of block ${foreign.block} under block ${number}.`)
}

export function leaseLost({ name, token }: Lease): AlmanacError {
  return new AlmanacError('conflict', `The lease ${name} with token ${token} now has another holder.`, {
    hint: 'nothing was written; leave this work to its new holder.',
  })
}
