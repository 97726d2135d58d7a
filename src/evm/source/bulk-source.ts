// What the indexer asks of a source that gives history in bulk, files or a portal: blocks that were checked where they
// were read. The sources themselves are elsewhere; none of them is asked for the head.
import type { Block, Hash, Interval } from '../../model.ts'
import type { SourceStatus } from '../../status.ts'
import type { WholeScope } from '../../views.ts'
import type { DecodedRange, Header } from './chain-source.ts'

export type { SourceStatus } from '../../status.ts'

/** Gives history in bulk, checked: files or a portal. */
export interface BulkSource {
  readonly kind: SourceStatus['kind']
  /** As people see it: a folder, a host. Never a path with a key. */
  readonly name: string
  /** Looks again what it has: at a start, on reload and before a round of history. Cheap where nothing changed. */
  look(signal: AbortSignal): Promise<void>
  /** What it has and did not get wrong: disjoint, lowest first. */
  readonly holds: readonly Interval[]
  /** How many blocks to ask for at once, ending with this one: they never cross the end of a file. */
  blocksAt(number: number, scope?: WholeScope): number
  /**
   * Checked blocks: those asked for, or a part of them, as the `interval` of the answer says. Throws SourceLost
   * where it cannot give them now (altered, cut, lying, away too long): they have then left `holds`, and why is in its
   * status.
   */
  range(interval: Interval, asked: BulkRequest, signal: AbortSignal): Promise<DecodedRange>
  /** A header of its own; undefined if it has none, or one that does not hash to its hash. */
  header(number: number, signal: AbortSignal): Promise<BulkHeader | undefined>
  /** The highest block of the interval that is proven or that the operator names. */
  anchorIn(interval: Interval, signal: AbortSignal): Promise<Anchor | undefined>
  /** The block that the operator names, and whether it has it, once it has looked; absent where none is named. */
  readonly named?: { hash: Hash; isFound: boolean | undefined } | undefined
  /** Grows when it may know an anchor that it did not know before: roots to check proofs against, the named block. */
  readonly proofs: number
  /** How often it got something wrong. */
  readonly refusals: number
  status(): SourceStatus
  close(): Promise<void>
}

/**
 * `transfers` gives rows and no activity of wallets, `full` both, with every sender recovered. The rows are the same:
 * what is stored is never amended.
 */
export type BulkRequest = {
  scope: WholeScope
  /** The hash of the last block, if it is known: a range of another chain is then refused. */
  lastHash?: Hash | undefined
}

/** `unproven`: it lacks fields that its hash is of, so that the parent it names is the word of its source. */
export type BulkHeader = Header & { unproven?: true }

/** A block that is of the chain by itself: proven, or by the operator's word. */
export type Anchor = Pick<Block, 'number' | 'hash'> & { evidence: 'canonical' | 'receipts-root' }

/** The source cannot give what it was asked for: others may. */
export class SourceLost extends Error {}
