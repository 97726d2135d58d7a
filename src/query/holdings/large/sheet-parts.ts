// Sheets of stretches of what is too large for one: of a contract by ids, of a token by addresses, of a wallet by
// tokens. Memory stays bounded, and the records of a token or of a wallet are read several times. It keeps nothing, and
// whether all of it is of one branch is for the caller to check.
import type { IndexReader } from '../../../store/index-reader.ts'
import { tokenKey, tokenKinds } from '../../../store/indexes/by-token.ts'
import { newestOfBlock, placeBytes } from '../../../store/runs/place-key.ts'
import type { Pace } from '../../pace.ts'
import type { AddressStretch } from '../address-table.ts'
import { ContractFold } from '../fold-contract.ts'
import { tooLarge } from '../fold-subject.ts'
import { type TokenStretch, WalletFold } from '../fold-wallet.ts'
import { comparePlaces, rowFlags, type Sheet } from '../sheet.ts'
import { SheetBuilder } from '../sheet-builder.ts'
import { type ContractSubject, recordsOf, type Subject, spansOf, type WalletSubject } from '../subject.ts'

/** Of a token with too many holders for one sheet, each part has some of them. */
export type ContractPart = { sheet: Sheet; tokenId: bigint | undefined }

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

/** Ids ascend from part to part. */
export async function* contractParts(
  indexes: IndexReader,
  { chain, contract }: ContractSubject,
  block: number,
  bounds: PartWork,
): AsyncGenerator<ContractPart> {
  const { partBytes, pace } = bounds
  const fold = new ContractFold(block, { partRows: Math.ceil(partBytes / rowBytes) })
  let span = spansOf({ chain, contract }, { from: 0, to: block })[0]!
  for (;;) {
    let isLarge = false
    for await (const records of recordsOf(indexes, span, pace)) {
      fold.add(records)
      for (const part of fold.takeParts()) yield { sheet: await part.finish(pace), tokenId: undefined }
      if (fold.byteLength - fold.partBytes > rangeBytesMax) throw tooLarge({ chain, contract }, rangeBytesMax)
      // Parts end in time, so what takes more is the token that is being read.
      isLarge = fold.partBytes > 4 * partBytes && fold.isInToken
      if (isLarge) break
    }
    if (!isLarge) break
    const tokenId = fold.leaveToken()
    for (const part of fold.takeParts()) yield { sheet: await part.finish(pace), tokenId: undefined }
    for await (const sheet of tokenParts(indexes, { chain, contract, tokenId }, block, bounds)) yield { sheet, tokenId }
    if (tokenId === idMax) break
    const from = tokenKey(tokenKinds.single, tokenId + 1n, { ...newestOfBlock, block: Number.POSITIVE_INFINITY })
    span = { ...span, from }
  }
  yield { sheet: await fold.finish(pace), tokenId: undefined }
}

/** Addresses ascend from part to part. */
export async function* tokenParts(
  indexes: IndexReader,
  subject: ContractSubject,
  block: number,
  { partBytes, pace }: PartWork,
): AsyncGenerator<Sheet> {
  for (let parties: AddressStretch = { after: undefined, to: undefined }; ; ) {
    const fold = new ContractFold(block, { ...subject, parties })
    const sheet = await foldedWithin(indexes, { subject, block, fold, bytesMax: 4 * partBytes, pace })
    if (sheet === undefined) {
      parties = { ...parties, to: narrower(parties.to, fold.middleParty, subject, partBytes) }
      continue
    }
    yield sheet
    // An ERC-721 token has one owner, whatever the stretch.
    const isSum = sheet.columns.length === 0 || !sheet.isErc721(0)
    if (parties.to === undefined || !isSum) return
    parties = { after: parties.to, to: undefined }
  }
}

export async function* walletParts(
  indexes: IndexReader,
  subject: WalletSubject,
  block: number,
  { partBytes, pace }: PartWork,
): AsyncGenerator<Sheet> {
  for (let tokens: TokenStretch = { after: undefined, to: undefined }; ; ) {
    const fold = new WalletFold(block, tokens)
    const sheet = await foldedWithin(indexes, { subject, block, fold, bytesMax: 4 * partBytes, pace })
    if (sheet === undefined) {
      tokens = { ...tokens, to: narrower(tokens.to, fold.middleToken, subject, partBytes) }
      continue
    }
    yield sheet
    if (tokens.to === undefined) return
    tokens = { after: tokens.to, to: undefined }
  }
}

type Folding = { subject: Subject; block: number; fold: ContractFold | WalletFold; bytesMax: number; pace: Pace }

/** Undefined where it takes more. */
async function foldedWithin(
  indexes: IndexReader,
  { subject, block, fold, bytesMax, pace }: Folding,
): Promise<Sheet | undefined> {
  for (const span of spansOf(subject, { from: 0, to: block }))
    for await (const records of recordsOf(indexes, span, pace)) {
      fold.add(records)
      if (fold.partBytes > bytesMax) return undefined
    }
  return await fold.finish(pace)
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
export async function* newestOfToken(parts: AsyncIterable<ContractPart>): AsyncGenerator<Sheet> {
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
  const { places, flags, ids, idWidth, parties, mintBlocks, minters } = sheet.columns
  if (known !== undefined) {
    const byPlace = comparePlaces(known.columns.places, 0, places, row * placeBytes)
    const byLeg = (known.columns.flags[0]! & rowFlags.giver) - (flags[row]! & rowFlags.giver)
    if ((byPlace || byLeg) < 0) return known
  }
  const builder = new SheetBuilder()
  const party = builder.addresses.addFrom(sheet.addresses, parties[row]!)
  const id = { id: ids, idFrom: row * idWidth, idTo: (row + 1) * idWidth }
  builder.append({ ...id, place: places, placeAt: row * placeBytes, flags: flags[row]!, party })
  builder.setAmount(0, sheet.amountOf(row))
  const minter = builder.addresses.addFrom(sheet.addresses, minters[row]!)
  builder.setMint(0, 1, { block: mintBlocks[row]!, minter })
  if (flags[row]! & rowFlags.range) builder.setRange(0, sheet.countOf(row), sheet.columns.offsets![row]!)
  return await builder.finish()
}
