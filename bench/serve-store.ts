// The stores that serving is measured on: filled once, kept between runs, with what was put in remembered beside the rows.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { builtInChains } from '../src/chains.ts'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { type Generated, generateTransfers } from './generate.ts'

export type FilledStore = Pick<Generated, 'from' | 'to'> & {
  file: string
  transfers: number
  /** The contract with a tenth of all transfers. */
  largest: Address
  /** Contracts with some pages each, so that their upper half of blocks always has a full page below. */
  contracts: readonly Address[]
}

const chain = builtInChains[0]!.id
const checkpoint = 'bench:serve'
/** Of which half lies below the middle block, give or take a tenth. */
const transfersMin = 400

export async function filledStore(directory: string, transfers: number): Promise<FilledStore> {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `serve-${transfers}.db`)
  const store = await openStore(`file:${file}`, { role: 'owner' })
  try {
    let kept = await store.checkpoint(checkpoint)
    if (kept === undefined) {
      let done = 0
      const onCommit = (commit: { transfers: number }) => {
        done += commit.transfers
        if (done % 1_000_000 === 0) console.log(`filled ${done.toLocaleString('en')} transfers`)
      }
      const { contracts, from, to } = await generateTransfers(store, { chain, transfers, largestShare: 0.1, onCommit })
      // Nothing was there before the first generated block, so that answers are complete.
      await store.addCoverage(chain, 'full', { from: 0, to: from - 1, evidence: 'bloom' })
      const used = contracts.filter(contract => contract.transfers >= transfersMin).map(({ contract }) => contract)
      kept = JSON.stringify({ from, to, largest: contracts[0]!.contract, contracts: used })
      await store.putCheckpoint(checkpoint, kept)
    }
    return { file, transfers, ...(JSON.parse(kept) as Omit<FilledStore, 'file' | 'transfers'>) }
  } finally {
    await store.close()
  }
}
