// A store that reports which contracts each commit changed, so that the index need not. It changes no commit.
import type { Address, TransferRow } from '../../model.ts'
import type { Store } from '../../store/store.ts'

/** Contracts with hot rows, remembered in case those rows are taken back. */
const hotContractsMax = 100_000

export function changeTrackingStore(store: Store, changed: (contracts: Iterable<Address>) => void): Store {
  const hot = new HotContracts()
  return {
    ...store,
    async commitCold(commit) {
      const result = await store.commitCold(commit)
      changed(contractsOf(commit.transfers))
      return result
    },
    async commitHot(commit) {
      await store.commitHot(commit)
      const takenBack = hot.forgetAbove(commit.ancestor)
      const rows = commit.blocks.flatMap(block => block.transfers)
      hot.remember(rows)
      changed(new Set([...takenBack, ...contractsOf(rows)]))
    },
    async addToHot(chain, blocks, covered) {
      await store.addToHot(chain, blocks, covered)
      const rows = blocks.flatMap(block => block.transfers)
      hot.remember(rows)
      changed(contractsOf(rows))
    },
  }
}

function contractsOf(rows: readonly TransferRow[]): Set<Address> {
  const contracts = new Set<Address>()
  // Rows of one contract mostly follow each other.
  let last: Address | undefined
  for (const { contract } of rows) {
    if (contract === last) continue
    contracts.add(contract)
    last = contract
  }
  return contracts
}

/** The highest hot row of each contract, as far as this process stored it. */
class HotContracts {
  readonly #highest = new Map<Address, number>()
  #top = -1

  remember(rows: readonly TransferRow[]): void {
    for (const { contract, block } of rows) {
      // Inserted again, so that the contract that was silent longest comes first.
      const highest = Math.max(block, this.#highest.get(contract) ?? 0)
      this.#highest.delete(contract)
      this.#highest.set(contract, highest)
      this.#top = Math.max(this.#top, block)
    }
    for (const contract of this.#highest.keys()) {
      if (this.#highest.size <= hotContractsMax) return
      this.#highest.delete(contract)
    }
  }

  /** The contracts with rows above the block. */
  forgetAbove(block: number): Address[] {
    if (this.#top <= block) return []
    this.#top = block
    const above = [...this.#highest].flatMap(([contract, highest]) => (highest > block ? [contract] : []))
    for (const contract of above) this.#highest.delete(contract)
    return above
  }
}
