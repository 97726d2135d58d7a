// The stores that reading at scale is measured on: made once, kept where asked for, with requests drawn while they were
// made remembered beside the rows.
import type { Address, ChainId, Position, TransferRow } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { generateTransfers } from './generate.ts'
import { Random } from './random.ts'
import type { Shape } from './shape.ts'

export const scaleChain = 1 as ChainId
const checkpoint = 'bench:scale'
const draws = 1_000

/** Where a page begins. */
export type Place = { contract: Address; after: Position }

export type ScaleStore = {
  file: string
  transfers: number
  wallets: number
  /** The oldest block. */
  from: number
  /** Of a random transfer: contracts with many of them are drawn more often. */
  byRow: Place[]
  /** Of a random contract, at a random one of its transfers. */
  byContract: Place[]
}

/** Uses the file where it is such a store, and makes it otherwise. */
export async function scaleStore(file: string, transfers: number, shape: Shape): Promise<ScaleStore> {
  const store = await openStore(`file:${file}`, { role: 'owner' })
  try {
    const kept = await store.checkpoint(checkpoint)
    if (kept !== undefined) return { file, ...(JSON.parse(kept) as Omit<ScaleStore, 'file'>) }
    const draw = new Draw(transfers, shape.contracts)
    const onCommit = ({ rows }: { rows: readonly TransferRow[] }): void => {
      for (const row of rows) draw.see(row)
    }
    const { from } = await generateTransfers(store, { chain: scaleChain, transfers, shape, activity: true, onCommit })
    const made = { transfers, wallets: shape.wallets, from, byRow: draw.byRow, byContract: draw.byContract }
    await store.putCheckpoint(checkpoint, JSON.stringify(made))
    return { file, ...made }
  } finally {
    await store.close()
  }
}

/** Every row is as likely as any other to be drawn; of each drawn contract likewise. */
class Draw {
  readonly byRow: Place[] = []
  readonly #random: Random
  readonly #ofContract = new Map<Address, { seen: number; place: Place }>()
  readonly #contractShare: number
  #seen = 0

  constructor(seed: number, contracts: number) {
    this.#random = new Random(seed)
    this.#contractShare = Math.min(1, (2 * draws) / contracts)
  }

  see({ contract, payload: _, ...after }: TransferRow): void {
    this.#seen++
    if (this.byRow.length < draws) this.byRow.push({ contract, after })
    else {
      const at = this.#random.below(this.#seen)
      if (at < draws) this.byRow[at] = { contract, after }
    }
    if (Number.parseInt(contract.slice(2, 10), 16) / 2 ** 32 >= this.#contractShare) return
    const known = this.#ofContract.get(contract)
    if (known === undefined) this.#ofContract.set(contract, { seen: 1, place: { contract, after } })
    else if (this.#random.below(++known.seen) === 0) known.place = { contract, after }
  }

  get byContract(): Place[] {
    return [...this.#ofContract.values()].map(({ place }) => place).slice(0, draws)
  }
}

/** Such a store in small: as many transfers for each contract and wallet. */
export function inSmall(shape: Shape, share: number): Shape {
  return { ...shape, contracts: Math.ceil(shape.contracts * share), wallets: Math.ceil(shape.wallets * share) }
}

/** Writes on below what is there. */
export async function writeOn({ file, from }: Pick<ScaleStore, 'file' | 'from'>, transfers: number, shape: Shape) {
  const store = await openStore(`file:${file}`, { role: 'owner' })
  try {
    const options = { chain: scaleChain, transfers, shape, activity: true, below: from }
    const { from: oldest } = await generateTransfers(store, options)
    const kept = JSON.parse((await store.checkpoint(checkpoint))!) as ScaleStore
    await store.putCheckpoint(
      checkpoint,
      JSON.stringify({ ...kept, transfers: kept.transfers + transfers, from: oldest }),
    )
  } finally {
    await store.close()
  }
}
