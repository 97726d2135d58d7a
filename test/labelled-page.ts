// Pages of transfers between given addresses, and the labels that were found for one, as texts. It asks no store.
import { type Address, type Hash, zeroAddress } from '../src/model.ts'
import type { PageLabels } from '../src/query/page-labels.ts'
import { packTransfer } from '../src/store/transfer-payload.ts'
import type { TransferPage } from '../src/store/transfer-store.ts'

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

/** By place, two for each row of the page, the sender's first. */
export function textsOf(page: TransferPage, labels: PageLabels | undefined): (string | undefined)[] {
  return Array.from({ length: page.length * 2 }, (_, place) => {
    const number = labels?.numbers[place] ?? 0
    if (number === 0) return undefined
    const out = Buffer.alloc(labels!.lengthOf(number))
    labels!.put(out, 0, number)
    return JSON.parse(out.toString()) as string
  })
}
