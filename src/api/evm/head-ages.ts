// How old the newest known block of the chains that an answer is about is: told in a header, by the clock at the moment
// of sending, once a chain that runs would have a newer one. It decides nothing and fails no answer.
import type { Chain, ChainTable } from '../../chains.ts'
import { headAgeMax, usualBlockTime } from '../../head-age.ts'
import type { ChainId } from '../../model.ts'
import type { CursorSigner } from '../../query/cursor.ts'
import type { Store } from '../../store/store.ts'
import type { ApiRequest, Head } from '../request.ts'

/**
 * The chain of the parameter `chain`: `indexed` where it has to be configured or stored, `asked` where any is
 * answered. `several`: those of `chains`, or all.
 */
export type AboutChains = 'indexed' | 'asked' | 'several'

type Parts = {
  chains: ChainTable
  store: Pick<Store, 'chainState' | 'hotBlocks'>
  /** What the operator has set for a chain. */
  headAgeMaxOf?: ((chain: string) => number | undefined) | undefined
  revision: () => number
  cursors: CursorSigner
}

export class HeadAges {
  readonly #parts: Parts
  /** Holds until the next commit. */
  #known: { revision: number; heads: Map<ChainId, Promise<Head | undefined>> } = { revision: -1, heads: new Map() }

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The newest known blocks of the chains that a request is about. */
  async asked(request: ApiRequest, about: AboutChains): Promise<readonly Head[]> {
    try {
      const chains = await this.#chainsOf(new URLSearchParams(request.query), about)
      const heads = await Promise.all(chains.map(chain => this.#headOf(chain)))
      return heads.filter(head => head !== undefined)
    } catch {
      // What is wrong with the store shows in the answer itself.
      return []
    }
  }

  async #chainsOf(asked: URLSearchParams, about: AboutChains): Promise<readonly Chain[]> {
    const { chains: table, cursors } = this.#parts
    if (about === 'several') {
      const named = [...asked].flatMap(([name, value]) => (name.startsWith('chains') ? value.split(',') : []))
      return named.length === 0 ? table.all : named.flatMap(name => table.parse(name) ?? [])
    }
    const [named, cursor] = [asked.get('chain'), asked.get('cursor')]
    if (named) return [table.parse(named) ?? []].flat()
    if (!cursor) return [table.usual]
    const carried = cursors.open(cursor)
    return [(carried && table.byId(carried.chain)) ?? []].flat()
  }

  #headOf(chain: Chain): Promise<Head | undefined> {
    const revision = this.#parts.revision()
    if (this.#known.revision !== revision) this.#known = { revision, heads: new Map() }
    const { heads } = this.#known
    const known = heads.get(chain.id)
    if (known !== undefined) return known
    const read = this.#read(chain)
    heads.set(chain.id, read)
    // A stalled chain makes no commit that would have it read again.
    read.catch(() => heads.delete(chain.id))
    return read
  }

  async #read(chain: Chain): Promise<Head | undefined> {
    const { store, chains, headAgeMaxOf } = this.#parts
    const head = (await store.chainState(chain.id))?.head
    if (head === undefined) return undefined
    // The table knows the time between blocks of its own chains; of another one its newest blocks tell it.
    const hot = chains.added.includes(chain) ? await store.hotBlocks(chain.id) : []
    const set = headAgeMaxOf?.(chain.name)
    const aged = set === undefined ? chain : { ...chain, headAgeMaxSeconds: set }
    const ageMaxSeconds = headAgeMax(aged, usualBlockTime(chain, hot))
    return ageMaxSeconds === undefined ? undefined : { timestamp: head.timestamp, ageMaxSeconds }
  }
}
