// The sheet of a wallet with what happened since put on top: a copy in which the tokens that moved have new rows. No
// reading.
import { zeroAddress } from '../../model.ts'
import { inSteps, type Pace } from '../pace.ts'
import type { TokenChange } from './changes.ts'
import { CopiedRows } from './copied-rows.ts'
import { standards } from './fold-contract.ts'
import { idFields } from './patch-sheet.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { SheetBuilder } from './sheet-builder.ts'

/** A token that moved: its transfers, oldest first, and its row until now. */
type Moved = { party: number; tokenId: bigint; changes: TokenChange[]; row: number | undefined }

/** Undefined where the records must be folded anew: with ranges, or transfers of both standards of one token. */
export async function patchedWallet(
  base: Sheet,
  changes: readonly TokenChange[],
  pace: Pace,
): Promise<Sheet | undefined> {
  if (base.standards & standards.mixed || changes.some(({ idCount }) => idCount !== 1)) return undefined
  const builder = new SheetBuilder(base.addresses)
  const tokens = await movedTokens(base, builder, changes, pace)
  const { flags } = base.columns
  for (const { changes: own, row } of tokens) {
    const isErc1155 = row === undefined ? own[0]!.isErc1155 : (flags[row]! & rowFlags.erc1155) !== 0
    if (own.some(change => change.isErc1155 !== isErc1155)) return undefined
  }
  builder.transfers = base.transfers + changes.length
  builder.standards = changes.reduce(
    (all, { isErc1155 }) => all | (isErc1155 ? standards.erc1155 : standards.erc721),
    base.standards,
  )
  const copied = new CopiedRows(base, builder)
  const gone = tokens.flatMap(({ row }) => (row === undefined ? [] : [row])).sort((a, b) => a - b)
  let from = 0
  for (const row of [...gone, base.columns.length]) {
    await copied.copy(from, row, pace)
    from = row + 1
  }
  const fresh = builder.length
  for (const token of tokens) append(base, builder, token)
  builder.settle(fresh)
  return await copied.finish(pace)
}

async function movedTokens(
  base: Sheet,
  builder: SheetBuilder,
  changes: readonly TokenChange[],
  pace: Pace,
): Promise<Moved[]> {
  const tokens = new Map<string, Moved>()
  const parties = new Set<number>()
  for (const change of changes) {
    const party = builder.addresses.addText(change.contract!)
    const name = `${party} ${change.tokenId}`
    const known = tokens.get(name)
    if (known !== undefined) known.changes.push(change)
    else tokens.set(name, { party, tokenId: change.tokenId, changes: [change], row: undefined })
    parties.add(party)
  }
  const { length, parties: rowParties } = base.columns
  await inSteps(length, pace, row => {
    const party = rowParties[row]!
    const token = parties.has(party) ? tokens.get(`${party} ${base.idOf(row)}`) : undefined
    if (token !== undefined) token.row = row
  })
  return [...tokens.values()]
}

function append(base: Sheet, builder: SheetBuilder, { party, tokenId, changes, row: old }: Moved): void {
  const { place, to, isErc1155 } = changes.at(-1)!
  const isReceived = to !== zeroAddress
  const flags = (isErc1155 ? rowFlags.erc1155 : 0) | (isReceived ? 0 : rowFlags.giver)
  const row = builder.append({ ...idFields(tokenId), place, placeAt: 0, flags, party })
  let amount = isReceived ? 1n : 0n
  if (isErc1155) {
    amount = old === undefined ? 0n : base.amountOf(old)
    for (const change of changes)
      if (change.from !== change.to) amount += change.to === zeroAddress ? -change.amount : change.amount
  }
  builder.setAmount(row, amount)
}
