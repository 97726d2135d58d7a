// How far a listener was told of the changes of a chain, and how a client keeps that: a signed text. It reads no data.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Address, ChainId, Hash, Position } from '../../model.ts'

/** What a listener wants; all of it must hold. */
export type ChangeFilter = {
  /** The ledgers whose changes are told, under the ids that the store has for them. */
  ledgers: readonly ChainId[]
  contract: Address | undefined
  wallet: Address | undefined
  tokenId: bigint | undefined
  /** Only what is final. */
  finalOnly: boolean
}

/**
 * A block, told up to a place in it, or all of it. `hash`: of a block that was not final yet. What is above is not
 * told.
 */
export type Told = { block: number; hash?: Hash | undefined; place?: PlaceInBlock | undefined }
export type PlaceInBlock = Omit<Position, 'block'>

/** Of one ledger. */
export type LedgerPosition = {
  /** The last time that final rows were taken back, as it was known. */
  era: number
  /** Rows below are never told. */
  from: number
  /** Blocks of the branch of `seen` were told as seen from this one on. */
  seenFrom: number
  seen: Told
  final: Told
  /** Once what went of `seen` is retracted: where to go on instead, the last one first. */
  again?: readonly TellAgain[]
  /** What is above may have been retracted, and is told again then. */
  low?: Told
}
type TellAgain = Pick<LedgerPosition, 'seen' | 'seenFrom'>

/** In the order of the filter's ledgers. */
export type ChangePosition = readonly LedgerPosition[]

/** Answers in a row that got lost, each on another branch. */
const againMax = 4

/**
 * Of a listener that was told all up to `end`, or only some of it after `before`, such as an answer that got lost: what
 * went of the one is retracted, and then it goes on from the other. Undefined where this happened too often.
 */
export function maybeTold(
  { finalOnly }: Pick<ChangeFilter, 'finalOnly'>,
  before: ChangePosition,
  end: ChangePosition,
): ChangePosition | undefined {
  if (before.some(({ again = [] }) => again.length >= againMax)) return undefined
  return end.map((each, at) => {
    const { final, seen, seenFrom, again = [], low = each.low } = before[at]!
    if (finalOnly) return { ...each, final }
    return { ...each, final, again: [{ seen, seenFrom }, ...again], ...(each.low === undefined && low && { low }) }
  })
}

const version = 1
const macBytes = 16
export const positionLengthMax = 3_000

export class PositionSigner {
  readonly #key: Uint8Array

  constructor(secret: Uint8Array) {
    // A derived key, as that of cursors.
    this.#key = createHmac('sha256', secret).update('almanac change position').digest()
  }

  seal(filter: ChangeFilter, position: ChangePosition): string {
    const numbers = position.map(({ era, from, seenFrom, seen, final, again = [], low }) => {
      const others = again.flatMap(each => [...toldParts(each.seen), each.seenFrom])
      const further = [...others, ...(low ? toldParts(low) : [])]
      return [era, from, seenFrom, ...toldParts(seen), ...toldParts(final), ...further]
    })
    const bytes = Buffer.from(JSON.stringify([version, digestOf(filter), ...numbers]))
    return Buffer.concat([bytes, this.#mac(bytes)]).toString('base64url')
  }

  /** Undefined for what this store's secret did not sign; `other question` where it was given for another one. */
  open(filter: ChangeFilter, text: string): ChangePosition | 'other question' | undefined {
    if (text.length > positionLengthMax) return undefined
    const all = Buffer.from(text, 'base64url')
    if (all.length <= macBytes || all.toString('base64url') !== text) return undefined
    const bytes = all.subarray(0, -macBytes)
    if (!timingSafeEqual(this.#mac(bytes), all.subarray(-macBytes))) return undefined
    // The bytes were signed by us, so they are well formed.
    const [signedVersion, digest, ...ledgers] = JSON.parse(bytes.toString()) as [number, string, ...LedgerParts[]]
    if (signedVersion !== version) return undefined
    if (digest !== digestOf(filter)) return 'other question'
    return ledgers.map(([era, from, seenFrom, ...told]) => {
      const again: TellAgain[] = []
      let at = 6
      for (; at + 3 < told.length; at += 4) again.push({ seen: toldOf(told, at), seenFrom: told[at + 3] as number })
      const seen = toldOf(told, 0)
      const low = at < told.length ? { low: toldOf(told, at) } : {}
      return { era, from, seenFrom, seen, final: toldOf(told, 3), ...(again.length > 0 && { again }), ...low }
    })
  }

  #mac(bytes: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(bytes).digest().subarray(0, macBytes)
  }
}

type ToldParts = [block: number, hash: Hash | null, place: readonly number[] | null]
type LedgerParts = [era: number, from: number, seenFrom: number, ...told: ToldParts[number][]]

function toldParts({ block, hash, place }: Told): ToldParts {
  const parts = place && [place.transactionIndex, place.logIndex, place.batchIndex]
  return [block, hash ?? null, parts ?? null]
}

function toldOf(parts: readonly unknown[], at: number): Told {
  const [block, hash, place] = parts.slice(at, at + 3) as ToldParts
  return { block, hash: hash ?? undefined, place: placeOf(place) }
}

function placeOf(parts: readonly number[] | null): PlaceInBlock | undefined {
  if (parts === null) return undefined
  const [transactionIndex, logIndex, batchIndex] = parts as [number, number, number]
  return { transactionIndex, logIndex, batchIndex }
}

/** Whom a position was given to: another question would go on elsewhere. */
function digestOf({ ledgers, contract, wallet, tokenId, finalOnly }: ChangeFilter): string {
  const asked = JSON.stringify([ledgers, contract, wallet, tokenId?.toString(), finalOnly])
  return createHash('sha256').update(asked).digest('base64url').slice(0, 12)
}
