// Reads all records of a contract, a token or a wallet into a sheet, in steps. It keeps nothing.
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
  const pace = new Pace()
  const fold = 'wallet' in subject ? new WalletFold(block) : new ContractFold(block, subject.tokenId)
  let count = 0
  let end: (() => void) | undefined
  try {
    if (block >= 0)
      for (const span of spansOf(subject, { from: 0, to: block }))
        for await (const records of recordsOf(indexes, span, pace)) {
          fold.add(records)
          count += records.length
          if (fold.byteLength > bytesMax) throw tooLarge(subject, bytesMax)
          if (count >= smallRecords) end ??= await turns.begin()
        }
    return await fold.finish(pace)
  } finally {
    end?.()
  }
}

function tooLarge(subject: Subject, bytesMax: number): AlmanacError {
  const name = 'wallet' in subject ? `The wallet ${subject.wallet}` : `The contract ${subject.contract}`
  return new AlmanacError('answer_too_large', `${name} has more holdings than lists are made of: transfers tell them`, {
    details: { bytesMax },
  })
}

/** One large fold at a time: side by side they would take as long, and the memory of all of them. */
export class FoldTurns {
  #last: Promise<void> = Promise.resolve()

  /** Returns how to end the turn. */
  async begin(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
