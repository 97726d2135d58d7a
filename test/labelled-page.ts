// Pages of transfers between given addresses, and the labels that were found for one, as texts. It asks no store.
import { type Address, type Hash, zeroAddress } from '../src/model.ts'
import type { LabelsAtHand } from '../src/query/find-labels.ts'
import { noLabel, type PageLabels } from '../src/query/label-record.ts'
import { LabelStretches } from '../src/query/label-stretches.ts'
import { LabelTable } from '../src/query/label-table.ts'
import type { RankedLabel } from '../src/store/annotation-store.ts'
import { everyAddress } from '../src/store/label-changes.ts'
import type { TransferPage } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'

/** Each address sends a token to the next one, and the last one gives it away. */
export function pageOfParties(addresses: readonly Address[]): TransferPage {
  const payloads = addresses.map((from, index) =>
    packTransfer({
      ...{ standard: 'ERC721', batch: false, operator: undefined, tokenId: BigInt(index), amount: 1n, value: 0n },
      ...{ from, to: addresses[index + 1] ?? zeroAddress, idCount: 1 },
      transactionHash: `0x${index.toString(16).padStart(64, '0')}` as Hash,
    }),
  )
  const column = addresses.map((_, index) => index)
  return {
    length: addresses.length,
    ...{ blocks: column, transactionIndexes: column, logIndexes: column, batchIndexes: column, timestamps: column },
    blockHashes: Buffer.alloc(addresses.length * 32),
    payloads: Buffer.concat(payloads),
  }
}

/** Everything was read, and these are all labels; in the order of `labelsWithin`. */
export function labelsAtHand(labels: readonly RankedLabel[], bytesMax = 1_000_000): LabelsAtHand {
  const table = new LabelTable(bytesMax)
  for (const _ of table.growing(labels.length, []));
  const held = table.exchange(new Uint32Array(0), labels)
  return { table, stretches: new LabelStretches([{ ...everyAddress, isRead: true, ...held }]) }
}

/** By place, two for each row of the page, the sender's first. */
export function textsOf(page: TransferPage, labels: PageLabels | undefined): (string | undefined)[] {
  return Array.from({ length: page.length * 2 }, (_, place) => {
    const label = labels?.shown[place] ?? noLabel
    if (label === noLabel) return undefined
    const out = Buffer.alloc(labels!.longest + 3)
    return JSON.parse(
      out.toString('utf8', 0, labels!.put(new DataView(out.buffer, out.byteOffset), 0, label)),
    ) as string
  })
}
