// Sheets of stretches of what is too large for one: of a contract by ids, of a token by addresses, of a wallet by
// tokens. Memory stays bounded, and the records of a token or of a wallet are read several times. It keeps nothing, and
// whether all of it is of one branch is for the caller to check.
import type { IndexReader } from '../../../store/index-reader.ts'
import { tokenKey, tokenKinds } from '../../../store/indexes/by-token.ts'
import { newestOfBlock, placeBytes } from '../../../store/runs/place-key.ts'
import type { Pace } from '../../pace.ts'
import type { Stretch } from '../address-table.ts'
import { ContractFold } from '../fold-contract.ts'
import { foldRecords, tooLarge } from '../fold-subject.ts'
import { WalletFold } from '../fold-wallet.ts'
import { comparePlaces, rowFlags, type Sheet } from '../sheet.ts'
import { SheetBuilder } from '../sheet-builder.ts'
import { type ContractSubject, recordsOf, type Subject, spansOf, type WalletSubject } from '../subject.ts'

/** `tokenId`: of a token of a contract with too many holders for one sheet, of which each part has some. */
export type Part = { sheet: Sheet; tokenId?: bigint }

export type PartBounds = {
  /** A part takes up to four times as much while it is made. */
  partBytes: number
}
/** With what ends the work once its clients have left. */
export type PartWork = PartBounds & { pace: Pace }

/** What parts take, one after the other, with the addresses that are counted of them and the ranges of all. */
export function bytesOfParts({ partBytes }: PartBounds): number {
  return 8 * partBytes
}

/** Of a row, its parties, and the room that columns have to grow. */
const rowBytes = 128
/** Ranges stay in memory from the first part to the last: some 65,000, which take less than they are counted as. */
const rangeBytesMax = 2 ** 28
const idMax = 2n ** 256n - 1n

/** Of a contract ids ascend from part to part, of a token addresses. */
export function partsOf(indexes: IndexReader, subject: Subject, block: number, work: PartWork): AsyncGenerator<Part> {
  if ('wallet' in subject) return walletParts(indexes, subject, block, work)
  return subject.tokenId === undefined
    ? contractParts(indexes, subject, block, work)
    : tokenParts(indexes, { ...subject, tokenId: subject.tokenId }, block, work)
}

async function* contractParts(
  indexes: IndexReader,
  { chain, contract }: ContractSubject,
  block: number,
  bounds: PartWork,
): AsyncGenerator<Part> {
  const { partBytes, pace } = bounds
  const fold = new ContractFold(block, { partRows: Math.ceil(partBytes / rowBytes) })
  let span = spansOf({ chain, contract }, { from: 0, to: block })[0]!
  for (;;) {
    let isLarge = false
    for await (const records of recordsOf(indexes, span, pace)) {
      fold.add(records)
      for (const part of fold.takeParts()) yield { sheet: await part.finish(pace) }
      if (fold.byteLength - fold.partBytes > rangeBytesMax) throw tooLarge({ chain, contract }, rangeBytesMax)
      // Parts end in time, so what takes more is the token that is being read.
      isLarge = fold.partBytes > 4 * partBytes && fold.isInToken
      if (isLarge) break
    }
    if (!isLarge) break
    const tokenId = fold.leaveToken()
    for (const part of fold.takeParts()) yield { sheet: await part.finish(pace) }
    yield* tokenParts(indexes, { chain, contract, tokenId }, block, bounds)
    if (tokenId === idMax) break
    const from = tokenKey(tokenKinds.single, tokenId + 1n, { ...newestOfBlock, block: Number.POSITIVE_INFINITY })
    span = { ...span, from }
  }
  yield { sheet: await fold.finish(pace) }
}

async function* tokenParts(
  indexes: IndexReader,
  subject: ContractSubject & { tokenId: bigint },
  block: number,
  work: PartWork,
): AsyncGenerator<Part> {
  const foldOf = (parties: Stretch<Uint8Array>) => new ContractFold(block, { ...subject, parties })
  for await (const sheet of stretches(indexes, { subject, block, foldOf }, work)) {
    yield { sheet, tokenId: subject.tokenId }
    // An ERC-721 token has one owner, whatever the stretch.
    if (sheet.columns.length > 0 && sheet.isErc721(0)) return
  }
}

async function* walletParts(
  indexes: IndexReader,
  subject: WalletSubject,
  block: number,
  work: PartWork,
): AsyncGenerator<Part> {
  const foldOf = (stretch: Stretch<string>) => new WalletFold(block, { stretch })
  for await (const sheet of stretches(indexes, { subject, block, foldOf }, work)) yield { sheet }
}

type Folding<End> = {
  subject: Subject
  block: number
  foldOf: (stretch: Stretch<End>) => (ContractFold | WalletFold) & { middle: End }
}

/** One stretch after the other, each of which is halved until it is small enough. */
async function* stretches<End extends string | Uint8Array>(
  indexes: IndexReader,
  { subject, block, foldOf }: Folding<End>,
  { partBytes, pace }: PartWork,
): AsyncGenerator<Sheet> {
  for (let stretch: Stretch<End> = { after: undefined, to: undefined }; ; ) {
    const fold = foldOf(stretch)
    const fits = () => fold.partBytes <= 4 * partBytes
    if (await foldRecords(indexes, { subject, block, fold, pace }, fits)) {
      yield await fold.finish(pace)
      if (stretch.to === undefined) return
      stretch = { after: stretch.to, to: undefined }
    } else stretch = { ...stretch, to: narrower(stretch.to, fold.middle, subject, partBytes) }
  }
}

/** Only many ranges over the same ids cannot be parted. */
function narrower<End extends string | Uint8Array>(
  to: End | undefined,
  middle: End,
  subject: Subject,
  bytesMax: number,
): End {
  if (to !== undefined && Buffer.from(to).equals(Buffer.from(middle))) throw tooLarge(subject, bytesMax)
  return middle
}

/** One row for each token that takes several parts: its newest holder. */
export async function* newestOfToken(parts: AsyncIterable<Part>): AsyncGenerator<Sheet> {
  let newest: Sheet | undefined
  for await (const { sheet, tokenId } of parts) {
    if (tokenId !== undefined) newest = await newer(newest, sheet)
    else {
      // Between two such tokens there is always a part, if an empty one.
      if (newest !== undefined) yield newest
      newest = undefined
      yield sheet
    }
  }
}

async function newer(known: Sheet | undefined, sheet: Sheet): Promise<Sheet | undefined> {
  if (sheet.order.length === 0) return known
  const row = sheet.order[0]!
  const { places, flags } = sheet.columns
  if (known !== undefined) {
    const byPlace = comparePlaces(known.columns.places, 0, places, row * placeBytes)
    const byLeg = (known.columns.flags[0]! & rowFlags.giver) - (flags[row]! & rowFlags.giver)
    if ((byPlace || byLeg) < 0) return known
  }
  const builder = new SheetBuilder(sheet.addresses)
  builder.copyRows(sheet.columns, row, row + 1)
  return await builder.finish()
}
