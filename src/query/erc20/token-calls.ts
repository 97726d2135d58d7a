// What ERC-20 contracts say of themselves and of wallets, by a node: supplies, balances, allowances, names. Each answer
// is kept for its block. A contract that refuses, loops or answers nonsense said nothing. No HTTP and no JSON.
import { LRUCache } from 'lru-cache'
import { numberOfAnswer, textOfAnswer } from '../../annotate/label-text.ts'
import { shownName } from '../../annotate/shown-facts.ts'
import { atMost } from '../../at-most.ts'
import type { Chain } from '../../chains.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Address, ContractCall } from '../../model.ts'
import type { ChainState, Store } from '../../store/store.ts'
import type { Freshen, IndexingKey } from '../freshen.ts'
import { noNode, ReadsAtBlock } from '../lookups/reads-at-block.ts'

export type CallOptions = { key: IndexingKey; freshen: Freshen | undefined }

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

const selectors = {
  ...{ name: '0x06fdde03', symbol: '0x95d89b41', decimals: '0x313ce567' },
  ...{ totalSupply: '0x18160ddd', balanceOf: '0x70a08231', allowance: '0xdd62ed3e' },
} as const

export class TokenCalls {
  readonly #store: Pick<Store, 'chainState'>
  readonly #reads = new ReadsAtBlock<Result>(keptCharacters, result => entryCharacters + (result?.length ?? 0))
  readonly #described = new LRUCache<string, TokenDescription>({ ...atMost(describedMax), ttl: describedMs })

  constructor(store: Pick<Store, 'chainState'>) {
    this.#store = store
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

  async #call(
    { chain, toBlock, about }: AskedAt,
    calls: readonly ContractCall[],
    { key, freshen }: CallOptions,
  ): Promise<{ block: number; results: readonly Result[] }> {
    const state = await this.#stateOf(chain)
    const names = calls.map(({ to, data }) => `${chain.id}/${to}/${data}`)
    const { block, values } = await this.#reads.answer({ names, toBlock, state }, async (place, missing) => {
      if (freshen?.calls === undefined) throw noNode(chain.name)
      const wanted = missing.map(at => calls[at]!)
      const { results, ...rest } = await freshen.calls({ chain: chain.id, ...place, about, calls: wanted }, key)
      return { ...rest, values: results }
    })
    return { block, results: values }
  }
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
