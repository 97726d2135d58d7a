// Reads all records of a contract, a token or a wallet into a sheet, in steps. It keeps nothing.
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../../errors.ts'
import type { IndexReader, IndexRecords } from '../../store/index-reader.ts'
import type { Pace } from '../pace.ts'
import type { AddressTable } from './address-table.ts'
import { ContractFold } from './fold-contract.ts'
import { WalletFold } from './fold-wallet.ts'
import type { Work } from './holdings-admission.ts'
import type { Sheet } from './sheet.ts'
import type { Moves } from './sheet-builder.ts'
import { nameOf, recordsOf, type Subject, spansOf } from './subject.ts'

/** Some 3 MB and a tenth of a second. */
export const smallRecords = 40_000

/** What happened to a subject, to be laid over a sheet with these addresses. */
export function foldMoves(subject: Subject, records: IndexRecords, over: AddressTable): Moves {
  const block = Number.POSITIVE_INFINITY
  const fold = 'wallet' in subject ? new WalletFold(block, { over }) : new ContractFold(block, { ...subject, over })
  fold.add(records)
  return fold.moves()
}

type Folding = { large: LargeSubjects; work: Work; bytesMax: number }

/**
 * What is held after a block. It says what it takes as it goes. Where it turns out to be large and other large work is
 * under way, it begins anew after that: many that wait would hold much.
 */
export async function foldSubject(
  indexes: IndexReader,
  subject: Subject,
  block: number,
  folding: Folding,
): Promise<Sheet> {
  for (;;) {
    const sheet = await foldOnce(indexes, subject, block, folding)
    if (sheet !== undefined) return sheet
    folding.work.takes(0)
    await folding.work.becomeLarge()
  }
}

type Fold = ContractFold | WalletFold

/** False where `fits`, which is asked after each read for all records so far, ends it. */
export async function foldRecords(
  indexes: IndexReader,
  { subject, block, fold, pace }: { subject: Subject; block: number; fold: Fold; pace: Pace },
  fits: (count: number) => boolean,
): Promise<boolean> {
  let count = 0
  for (const span of spansOf(subject, { from: 0, to: block }))
    for await (const records of recordsOf(indexes, span, pace)) {
      fold.add(records)
      count += records.length
      if (!fits(count)) return false
    }
  return true
}

/** Undefined where it has to give way. */
async function foldOnce(
  indexes: IndexReader,
  subject: Subject,
  block: number,
  { large, work, bytesMax }: Folding,
): Promise<Sheet | undefined> {
  const { pace } = work
  if (large.isTooLarge(subject, block)) throw tooLarge(subject, bytesMax)
  const fold = 'wallet' in subject ? new WalletFold(block) : new ContractFold(block, subject)
  const fits = (count: number): boolean => {
    if (fold.byteLength > bytesMax) {
      large.noteTooLarge(subject, block)
      throw tooLarge(subject, bytesMax)
    }
    work.takes(fold.byteLength)
    if (count < smallRecords) return true
    large.note(subject)
    return work.mayBeLarge()
  }
  if (block >= 0 && !(await foldRecords(indexes, { subject, block, fold, pace }, fits))) return undefined
  const sheet = await fold.finish(pace)
  work.made(sheet)
  return sheet
}

export function tooLarge(subject: Subject, bytesMax: number): AlmanacError {
  const name =
    'wallet' in subject
      ? `The wallet ${subject.wallet}`
      : `${subject.tokenId === undefined ? 'The' : `Token ${subject.tokenId} of the`} contract ${subject.contract}`
  return new AlmanacError('list_too_large', `${name} has too many holdings to be answered in pages`, {
    details: { bytesMax },
  })
}

/** After that long it is tried again: tokens are burned too. */
const tooLargeMs = 600_000

/** The subjects that were found to be large, and those that are too large for one sheet. */
export class LargeSubjects {
  readonly #large = new LRUCache<string, true>({ max: 1_000 })
  /** The lowest block of which a subject was too large. */
  readonly #tooLarge = new LRUCache<string, number>({ max: 1_000, ttl: tooLargeMs })

  isLarge(subject: Subject): boolean {
    return this.#large.has(nameOf(subject))
  }

  note(subject: Subject): void {
    this.#large.set(nameOf(subject), true)
  }

  isTooLarge(subject: Subject, block: number): boolean {
    return block >= (this.#tooLarge.get(nameOf(subject)) ?? Number.POSITIVE_INFINITY)
  }

  noteTooLarge(subject: Subject, block: number): void {
    this.#tooLarge.set(nameOf(subject), block)
  }
}
