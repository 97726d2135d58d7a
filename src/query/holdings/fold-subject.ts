// Reads all records of a contract, a token or a wallet into a sheet, in steps. It keeps nothing.
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../../errors.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { Pace } from '../pace.ts'
import { ContractFold } from './fold-contract.ts'
import { WalletFold } from './fold-wallet.ts'
import type { Sheet } from './sheet.ts'
import { recordsOf, type Subject, spansOf } from './subject.ts'

/** Some 3 MB and a tenth of a second. */
const smallRecords = 40_000

export type FoldBounds = {
  turns: FoldTurns
  /** While it is made; the sheet itself takes less. */
  bytesMax: number
}

/** What is held after a block. Small folds go on at once; a large one waits for the large ones before it. */
export async function foldSubject(
  indexes: IndexReader,
  subject: Subject,
  block: number,
  { turns, bytesMax }: FoldBounds,
): Promise<Sheet> {
  if (turns.isTooLarge(subject, block)) throw tooLarge(subject, bytesMax)
  const pace = new Pace()
  const fold = 'wallet' in subject ? new WalletFold(block) : new ContractFold(block, subject)
  let count = 0
  let end: (() => void) | undefined
  try {
    if (block >= 0)
      for (const span of spansOf(subject, { from: 0, to: block }))
        for await (const records of recordsOf(indexes, span, pace)) {
          fold.add(records)
          count += records.length
          if (fold.byteLength > bytesMax) {
            turns.noteTooLarge(subject, block)
            throw tooLarge(subject, bytesMax)
          }
          if (count >= smallRecords) end ??= await turns.begin()
        }
    return await fold.finish(pace)
  } finally {
    end?.()
  }
}

export function tooLarge(subject: Subject, bytesMax: number): AlmanacError {
  const name =
    'wallet' in subject
      ? `The wallet ${subject.wallet}`
      : `${subject.tokenId === undefined ? 'The' : `Token ${subject.tokenId} of the`} contract ${subject.contract}`
  return new AlmanacError('list_too_large', `${name} has more holdings than pages are made of`, {
    details: { bytesMax },
  })
}

/** After that long it is tried again: tokens are burned too. */
const tooLargeMs = 600_000

/** One large fold at a time: side by side they would take as long, and the memory of all of them. */
export class FoldTurns {
  #last: Promise<void> = Promise.resolve()
  /** The lowest block of which a subject was too large. */
  readonly #tooLarge = new LRUCache<string, number>({ max: 1_000, ttl: tooLargeMs })

  /** Returns how to end the turn. */
  async begin(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }

  isTooLarge(subject: Subject, block: number): boolean {
    return block >= (this.#tooLarge.get(nameOf(subject)) ?? Number.POSITIVE_INFINITY)
  }

  noteTooLarge(subject: Subject, block: number): void {
    this.#tooLarge.set(nameOf(subject), block)
  }
}

export function nameOf(subject: Subject): string {
  const { chain } = subject
  return 'wallet' in subject ? `${chain} ${subject.wallet}` : `${chain} ${subject.contract} ${subject.tokenId}`
}
