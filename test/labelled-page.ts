// Pages of transfers between given addresses, and the labels that were found for one, as texts. It asks no store.
import { type Address, type Hash, zeroAddress } from '../src/model.ts'
import type { LabelsInMemory, PageLabels } from '../src/query/find-labels.ts'
import { emptyBase, type LabelBase, LabelBaseBuilder, noLabel, prefixCount } from '../src/query/label-base.ts'
import type { RankedLabel } from '../src/store/annotation-store.ts'
import type { TransferPage } from '../src/store/index-reader.ts'
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

/** These labels and no others; of one address the stronger stand first. */
export function labelsInMemory(labels: readonly RankedLabel[], heldMax = Number.POSITIVE_INFINITY): LabelsInMemory {
  const addresses = new Set([...new Set(labels.map(({ address }) => address))].slice(0, heldMax))
  const builder = new LabelBaseBuilder(emptyBase)
  builder.add(
    labels.filter(({ address }) => addresses.has(address)),
    2 ** 24,
  )
  builder.add(
    labels.filter(({ address }) => !addresses.has(address)),
    0,
  )
  return { base: builtBy(builder).base, changed: undefined }
}

/** The base, and in how many steps it was built. */
export function builtBy(
  builder: LabelBaseBuilder,
  replaced = new Uint8Array(prefixCount),
): { base: LabelBase; steps: number } {
  const building = builder.build(replaced)
  for (let steps = 0; ; steps++) {
    const step = building.next()
    if (step.done) return { base: step.value, steps }
  }
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
