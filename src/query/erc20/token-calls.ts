// What ERC-20 contracts say of themselves and of wallets, by a node: supplies, balances, allowances, names. Each answer
// is kept for its block. A contract that refuses, loops or answers nonsense said nothing. No HTTP and no JSON.
import { LRUCache } from 'lru-cache'
import { untilAborted } from '../../abort.ts'
import { numberOfAnswer, textOfAnswer } from '../../annotate/label-text.ts'
import { shownName } from '../../annotate/shown-facts.ts'
import { atMost } from '../../at-most.ts'
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Address, ChainId, ContractCall, Hash } from '../../model.ts'
import type { ChainState, Store } from '../../store/store.ts'
import type { HoldingsOptions } from '../holdings/questions.ts'
import { KeyQueue } from '../key-queue.ts'
import { type Ask, noNode, ReadsAtBlock } from '../lookups/reads-at-block.ts'

export type CallOptions = Pick<HoldingsOptions, 'key' | 'freshen' | 'signal'>

/** `about`: the addresses that the client asked about, which count for its key. */
export type AskedAt = { chain: Chain; toBlock: number | undefined; about: readonly Address[] }

/** In the order of what was asked; undefined where the contract did not say. */
export type Said<Value> = { block: number; values: readonly (Value | undefined)[] }

export type TokenDescription = { name: string | undefined; symbol: string | undefined; decimals: number | undefined }

type Result = string | null

/** In characters, of all that is kept: a balance has 66, and no answer more than two thousand. */
const keptCharacters = 8 * 2 ** 20
const entryCharacters = 200
const describedMax = 5_000
/** Few tokens ever change their names, and some are changed by those who own them. */
const describedMs = 3_600_000

/** Between these others have their turn, and what was read is kept: a wallet with many tokens takes five. */
const callsPerTurn = 400
/** Of the nodes of one chain. */
const turns = {
  ...{ of: 'questions to nodes', places: 4, placesOfKey: 2 },
  ...{ waiting: 4_096, waitingOfKey: 2_048, retryAfterMs: 1_000 },
}

const selectors = {
  ...{ name: '0x06fdde03', symbol: '0x95d89b41', decimals: '0x313ce567' },
  ...{ totalSupply: '0x18160ddd', balanceOf: '0x70a08231', allowance: '0xdd62ed3e' },
} as const

export class TokenCalls {
  readonly #store: Pick<Store, 'chainState'>
  readonly #reads = new ReadsAtBlock<Result>(keptCharacters, result => entryCharacters + (result?.length ?? 0))
  readonly #described = new LRUCache<string, TokenDescription>({ ...atMost(describedMax), ttl: describedMs })
  readonly #queues = new Map<ChainId, KeyQueue>()
  readonly #whileWaiting: WhileWaiting

  /** `whileWaiting` frees what a request holds, such as a slot of a queue. */
  constructor(store: Pick<Store, 'chainState'>, whileWaiting: WhileWaiting = wait => wait()) {
    this.#store = store
    this.#whileWaiting = whileWaiting
  }

  /** Of one wallet several tokens, or of one token several wallets. */
  async balances(asked: AskedAt, pairs: readonly { token: Address; wallet: Address }[], options: CallOptions) {
    const calls = pairs.map(({ token, wallet }) => ({ to: token, data: selectors.balanceOf + wordOf(wallet) }))
    return numbersIn(await this.#call(asked, calls, options))
  }

  async totalSupplies(asked: AskedAt, tokens: readonly Address[], options: CallOptions): Promise<Said<bigint>> {
    return numbersIn(await this.#call(asked, tokens.map(supplyOf), options))
  }

  /** The supply of a token and what some wallets have, all at one block. */
  async supplyAndBalances(
    asked: AskedAt,
    token: Address,
    wallets: readonly Address[],
    options: CallOptions,
  ): Promise<{ block: number; supply: bigint | undefined; balances: readonly (bigint | undefined)[] }> {
    const balances = wallets.map(wallet => ({ to: token, data: selectors.balanceOf + wordOf(wallet) }))
    const { block, values } = numbersIn(await this.#call(asked, [supplyOf(token), ...balances], options))
    return { block, supply: values[0], balances: values.slice(1) }
  }

  async allowance(
    asked: AskedAt,
    { token, owner, spender }: { token: Address; owner: Address; spender: Address },
    options: CallOptions,
  ): Promise<bigint | undefined> {
    const data = selectors.allowance + wordOf(owner) + wordOf(spender)
    return numbersIn(await this.#call(asked, [{ to: token, data }], options)).values[0]
  }

  /** What tokens say of themselves now. */
  async describe(
    { chain, about }: Omit<AskedAt, 'toBlock'>,
    tokens: readonly Address[],
    options: CallOptions,
  ): Promise<ReadonlyMap<Address, TokenDescription>> {
    const keyOf = (token: Address) => `${chain.id} ${token}`
    const missing = tokens.filter(token => !this.#described.has(keyOf(token)))
    const calls = missing.flatMap(to =>
      [selectors.name, selectors.symbol, selectors.decimals].map(data => ({ to, data })),
    )
    const { results } =
      calls.length === 0 ? { results: [] } : await this.#call({ chain, about, toBlock: undefined }, calls, options)
    const described = missing.map((token, at): [Address, TokenDescription] => {
      const [name, symbol, decimals] = results.slice(at * 3)
      return [token, descriptionOf(name, symbol, decimals)]
    })
    for (const [token, description] of described) this.#described.set(keyOf(token), description)
    const known = tokens.map((token): [Address, TokenDescription | undefined] => [
      token,
      this.#described.get(keyOf(token)),
    ])
    return new Map([...known.flatMap(([token, each]) => (each ? [[token, each] as const] : [])), ...described])
  }

  /** Of the tokens, and before the first of them was asked for that of the chain. */
  async #stateOf({ id }: Chain): Promise<ChainState | undefined> {
    return (await this.#store.chainState(ledgerId(id, 'erc20'))) ?? (await this.#store.chainState(id))
  }

  /** All at one block, in turns between keys. What was read stays known where the client leaves or the node fails. */
  async #call(
    { chain, toBlock, about }: AskedAt,
    calls: readonly ContractCall[],
    options: CallOptions,
  ): Promise<{ block: number; results: readonly Result[] }> {
    const { key, freshen, signal } = options
    const state = await this.#stateOf(chain)
    // Without a head of the index the node tells the block, and it has to be one.
    const size = state === undefined ? Number.POSITIVE_INFINITY : callsPerTurn
    const results: Result[] = []
    let said: { block: number; hash: Hash | undefined } | undefined
    // Without a call the block is told.
    for (let from = 0; from === 0 || from < calls.length; from += size) {
      signal?.throwIfAborted()
      const part = calls.slice(from, from + size)
      const names = part.map(({ to, data }) => `${chain.id}/${to}/${data}`)
      const ask: Ask<Result> = async (place, missing) => {
        if (freshen?.calls === undefined) throw noNode(chain.name)
        const wanted = missing.map(at => part[at]!)
        const { results, ...rest } = await freshen.calls({ chain: chain.id, ...place, about, calls: wanted }, key)
        return { ...rest, values: results }
      }
      const { block, hash, values } = await this.#reads.answer({ names, toBlock, state }, ask, read =>
        this.#inTurn(chain.id, options, read),
      )
      if (said !== undefined && said.hash !== hash) throw replaced(chain.name, block)
      said = { block, hash }
      results.push(...values)
    }
    return { block: said!.block, results }
  }

  async #inTurn<T>(chain: ChainId, { key, signal }: CallOptions, read: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(chain) ?? new KeyQueue(turns)
    this.#queues.set(chain, queue)
    const turn = queue.ask([key.id])
    try {
      await this.#whileWaiting(() => (signal === undefined ? turn.begun : untilAborted(turn.begun, signal)))
      return await read()
    } finally {
      turn.end()
    }
  }
}

type WhileWaiting = <Waited>(wait: () => Promise<Waited>) => Promise<Waited>

function replaced(chain: string, block: number): AlmanacError {
  return new AlmanacError('upstream_failed', `Block ${block} of ${chain} was replaced while contracts were asked.`, {
    retryable: true,
  })
}

function supplyOf(to: Address): ContractCall {
  return { to, data: selectors.totalSupply }
}

function wordOf(address: Address): string {
  return address.slice(2).padStart(64, '0')
}

function numbersIn({ block, results }: { block: number; results: readonly Result[] }): Said<bigint> {
  return { block, values: results.map(numberOfAnswer) }
}

function descriptionOf(
  name: Result | undefined,
  symbol: Result | undefined,
  decimals: Result | undefined,
): TokenDescription {
  const places = numberOfAnswer(decimals)
  return {
    name: shownName(textOfAnswer(name)),
    symbol: shownName(textOfAnswer(symbol)),
    decimals: places === undefined || places > decimalsMax ? undefined : Number(places),
  }
}

/** `decimals()` is a byte. */
const decimalsMax = 255n
