// What is read from a node after one block, such as balances and what contracts say: at which block, and for how long
// a reading stands. No HTTP and no JSON.
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../../errors.ts'
import type { Block, Hash } from '../../model.ts'
import type { ChainState } from '../../store/store.ts'

/** Readings of one block, in the order in which they were asked for. */
export type ReadValues<Value> = {
  block: number
  /** Absent where a process of an earlier version read them. */
  hash?: Hash | undefined
  timestamp?: number | undefined
  values: readonly Value[]
}

/** Without a block: at the head of the node. `isEarlier`: the client named a block below the head. */
export type ReadPlace = { block: number | undefined; isEarlier: boolean }

export type ReadQuestion = {
  /** What is unique among all that is read of a chain; its chain comes first. */
  names: readonly string[]
  /** Undefined: the head of the index, or of a node where the index has none yet. */
  toBlock: number | undefined
  state: ChainState | undefined
}

export type Ask<Value> = (place: ReadPlace, missing: readonly number[]) => Promise<ReadValues<Value>>
/** Runs the reading when it has its turn: what others have read by then is not read again. */
export type Turn = <Result>(read: () => Promise<Result>) => Promise<Result>

/** A reading with the block that it was read after. */
type Kept<Value> = { value: Value; hash: Hash | undefined; timestamp: number | undefined }
/** A block whose readings stay: every final one, and others while the head of the index is the same. */
type Stays = {
  block: number
  name: string
  head?: Block
  isEarlier: boolean
  /** Neither final nor the head: the node may have changed its branch between two readings. */
  mayDiffer?: true
}

export class ReadsAtBlock<Value> {
  /** By name and block. The head goes by its hash: a new head, or another one, asks again. */
  readonly #kept: LRUCache<string, Kept<Value>>

  /** `sizeOf`: how much of the bound a reading takes. */
  constructor(sizeMax: number, sizeOf: (value: Value) => number = () => 1) {
    this.#kept = new LRUCache({ maxSize: sizeMax, sizeCalculation: ({ value }) => sizeOf(value) })
  }

  /** `ask` gets the places in `names` of those that are not kept. */
  async answer(
    { names, toBlock, state }: ReadQuestion,
    ask: Ask<Value>,
    turn: Turn = read => read(),
  ): Promise<ReadValues<Value>> {
    const head = state?.head
    if (toBlock !== undefined && head !== undefined && toBlock > head.number) throw aboveHead(toBlock, head.number)
    const stays = staysAt(toBlock, state)
    if (stays !== undefined) return await this.#staying(names, stays, ask, turn)
    const place = { block: toBlock, isEarlier: toBlock !== undefined }
    const all = names.map((_, at) => at)
    return await turn(() => ask(place, all))
  }

  async #staying(names: readonly string[], stays: Stays, ask: Ask<Value>, turn: Turn): Promise<ReadValues<Value>> {
    const { block, head } = stays
    const keys = names.map(name => `${name} ${stays.name}`)
    const kept = this.#keptOf(keys, stays)
    const known = kept ?? (await turn(async () => this.#keptOf(keys, stays) ?? (await this.#read(keys, stays, ask))))
    const { hash = head?.hash, timestamp = head?.timestamp } = known[0] ?? {}
    return { block, hash, timestamp, values: known.map(({ value }) => value) }
  }

  /** Undefined where one is missing. */
  #keptOf(keys: readonly string[], { mayDiffer }: Stays): Kept<Value>[] | undefined {
    const kept = keys.flatMap(key => this.#kept.get(key) ?? [])
    const isWhole = kept.length === keys.length && !(mayDiffer && branchesOf(kept) > 1)
    return isWhole ? kept : undefined
  }

  /** Those that are missing, or all where the node has left the branch of the others. */
  async #read(keys: readonly string[], stays: Stays, ask: Ask<Value>): Promise<Kept<Value>[]> {
    const { block, head, isEarlier, mayDiffer } = stays
    const known = keys.map(key => (mayDiffer ? undefined : this.#kept.get(key)))
    const missing = keys.flatMap((_, at) => (known[at] === undefined ? [at] : []))
    const { values, hash, timestamp } = await ask({ block, isEarlier }, missing)
    // The node may be on another branch at the height of the head.
    const isKept = head === undefined || hash === head.hash
    if (!isKept && missing.length < keys.length) {
      const all = await ask({ block, isEarlier }, [...keys.keys()])
      return all.values.map(value => ({ value, hash: all.hash, timestamp: all.timestamp }))
    }
    for (const [at, place] of missing.entries()) {
      const read: Kept<Value> = { value: values[at]!, hash, timestamp }
      known[place] = read
      if (isKept) this.#kept.set(keys[place]!, read)
    }
    return known as Kept<Value>[]
  }
}

function branchesOf<Value>(kept: readonly Kept<Value>[]): number {
  return new Set(kept.map(({ hash }) => hash)).size
}

function staysAt(toBlock: number | undefined, state: ChainState | undefined): Stays | undefined {
  if (state === undefined) return undefined
  const { head, finalized } = state
  const block = toBlock ?? head.number
  if (block === head.number) return { block, name: head.hash, head, isEarlier: false }
  if (block <= finalized) return { block, name: `${block}`, isEarlier: true }
  // Until the next head, or another one.
  return { block, name: `${block} below ${head.hash}`, isEarlier: true, mayDiffer: true }
}

function aboveHead(toBlock: number, head: number): AlmanacError {
  return new AlmanacError('bad_request', `to_block must not be above the head of the chain, ${head}, not ${toBlock}`, {
    details: { parameter: 'to_block', given: `${toBlock}`, accepted: `a block up to ${head}` },
  })
}

export function noNode(chain: string): AlmanacError {
  return new AlmanacError(
    'not_configured',
    `No process with a node of ${chain} runs: one needs chains.${chain}.rpc and a start without --only api.`,
  )
}
