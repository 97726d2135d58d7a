// A real node with ERC-20 tokens of every kind, and a service on it: asks the service as clients do, and the tokens
// themselves what is true.
import { join } from 'node:path'
import * as AbiParameters from 'ox/AbiParameters'
import type { Address } from 'ox/Address'
import { fromNumber, type Hex } from 'ox/Hex'
import { expect, vi } from 'vitest'
import { compileOnce } from '../sandbox/src/collections.ts'
import { accounts } from './evm-accounts.ts'
import { mine } from './evm-history.ts'
import { type Deployed, deployment, type Transaction } from './evm-transactions.ts'
import { finality, patience, World } from './evm-world.ts'
import type { EngineName } from './store-engines.ts'

/** Those that answer as tokens do, each of them in a way of its own. */
export const tokenKinds = ['plain', 'fee', 'rebasing', 'wrapped', 'silent', 'old', 'huge'] as const
export const tokenNames = [...tokenKinds, 'refuses', 'saysNothing', 'saysTooMuch', 'neverEnds'] as const
export type TokenName = (typeof tokenNames)[number]
/** What tokens say of themselves; the others say nothing of it. */
export const tokenDecimals: Partial<Record<TokenName, number>> = {
  ...{ plain: 18, fee: 6, rebasing: 18, wrapped: 18, silent: 0, old: 18 },
  // The index reads the first word, however many follow.
  saysTooMuch: 7,
}
export const tokenTitles: Partial<Record<TokenName, readonly [name: string, symbol: string]>> = {
  ...{ plain: ['Plain', 'PLN'], fee: ['Fee', 'FEE'], rebasing: ['Rebasing', 'REB'], wrapped: ['Wrapped', 'WRP'] },
  ...{ silent: ['Silent', 'SIL'], old: ['Old Token', 'OLD'], huge: ['Huge', 'HUGE'] },
}
/** As answers write them. */
export const [alice, bob, carol, dave, erin, frank] = Object.values(accounts).map(
  ({ address }) => address.toLowerCase() as Address,
) as [Address, Address, Address, Address, Address, Address]
export const wallets = [alice, bob, carol, dave, erin, frank]
export const zero = `0x${'00'.repeat(20)}`

const multicall3 = '0xca11bde05977b3631167028862be2a173976ca11'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Some contracts use all the gas that a call may have. */
const callGas = '0x7a120'

export type TransferTruth = {
  transaction_hash: string
  address: string
  block_number: string
  block_hash: string
  block_timestamp: string
  from_address: string
  to_address: string
  value: string
  transaction_index: number
  log_index: number
}

type Page<Row> = { cursor: string | null; result: Row[] }

export class TokenWorld {
  readonly #world: World
  #tokens: Record<TokenName, Deployed> | undefined

  /** On a world of its own, unless one is given. */
  constructor(engine: EngineName = 'sqlite', world = new World('on-demand', engine)) {
    this.#world = world
  }

  get chain(): World {
    return this.#world
  }

  get tokens(): Record<TokenName, Deployed> {
    return this.#tokens!
  }

  /** Tokens that were made and moved, in final blocks and in others. */
  async begin(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#world.begin(environment)
    await this.play()
    await this.#world.settled()
  }

  /** Makes and moves the tokens on the chain of the world. */
  async play(): Promise<void> {
    this.#tokens = await this.#deploy()
    for (const block of firstBlocks(this.tokens)) await mine(this.#world.node, block)
    for (let block = 0; block < finality; block++) await mine(this.#world.node)
    for (const block of lastBlocks(this.tokens)) await mine(this.#world.node, block)
  }

  end(): Promise<void> {
    return this.#world.end()
  }

  async #deploy(): Promise<Record<TokenName, Deployed>> {
    const { node } = this.#world
    const compiled = await compileOnce(join(import.meta.dirname, 'erc20-tokens.sol'))
    const plans: [TokenName | 'multicall', string, unknown[]?][] = [
      ['plain', 'Token', ['Plain', 'PLN', 18]],
      ...(['fee', 'rebasing', 'wrapped', 'silent', 'old', 'huge'] as const).map((name): [TokenName, string] => [
        name,
        `${name[0]!.toUpperCase()}${name.slice(1)}Token`,
      ]),
      ...(['refuses', 'saysNothing', 'saysTooMuch', 'neverEnds'] as const).map(
        (name, way): [TokenName, string, unknown[]] => [name, 'HostileToken', [way]],
      ),
      ['multicall', 'Multicall3'],
    ]
    const nonce = Number(await node.ask('eth_getTransactionCount', alice, 'latest'))
    const made = plans.map(([, contract, args = []], at) =>
      deployment(compiled[contract]!, { from: 'alice', nonce: nonce + at, args }),
    )
    for (let at = 0; at < made.length; at += 4)
      await mine(
        node,
        made.slice(at, at + 4).map(({ transaction }) => transaction),
      )
    const code = await node.ask('eth_getCode', made.at(-1)!.contract.address, 'latest')
    await node.ask('hardhat_setCode', multicall3, code)
    const tokens = plans.slice(0, -1).map(([name], at) => [name, made[at]!.contract] as const)
    return Object.fromEntries(tokens) as Record<TokenName, Deployed>
  }

  /** Waits until the service has the head of the node, and every token of the names. */
  async indexed(...names: readonly TokenName[]): Promise<void> {
    for (const name of names)
      await vi.waitFor(async () => {
        const { headers, body } = await this.json<{ index_complete: boolean }>(
          `/erc20/${this.tokens[name].address}/transfers?limit=1&to_block=${await this.head()}`,
        )
        expect([name, headers.get('x-index-complete'), body.index_complete]).toEqual([name, 'true', true])
      }, patience)
  }

  async head(): Promise<number> {
    return Number(await this.#world.node.ask('eth_blockNumber'))
  }

  async json<Body>(path: string, version = 'v2.2'): Promise<{ status: number; headers: Headers; body: Body }> {
    const response = await this.#world.get(`/api/${version}${path}`)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
  }

  async ok<Body>(path: string, version = 'v2.2'): Promise<Body> {
    const { status, body } = await this.json<Body>(path, version)
    expect([path, status, status === 200 ? '' : body]).toEqual([path, 200, ''])
    return body
  }

  /** The rows of all pages. */
  async rowsOf<Row>(path: string): Promise<Row[]> {
    const rows: Row[] = []
    for (let next = path; ; ) {
      const { result, cursor } = await this.ok<Page<Row>>(next)
      rows.push(...result)
      if (cursor === null) return rows
      const separator = path.includes('?') ? '&' : '?'
      next = `${path}${separator}cursor=${cursor}`
    }
  }

  /** What a token says, or undefined where it refuses or says no number. */
  async says(
    token: TokenName,
    call: string,
    args: readonly unknown[] = [],
    block?: number,
  ): Promise<bigint | undefined> {
    const { address } = this.tokens[token]
    const at = block === undefined ? 'latest' : fromNumber(block)
    const { data } = this.tokens.plain.call(call, ...args)
    const said = await this.#world.node.ask('eth_call', { to: address, data, gas: callGas }, at).catch(() => '0x')
    const hex = said as Hex
    return hex.length < 66 || hex.length > 2_050
      ? undefined
      : (AbiParameters.decode([{ type: 'uint256' }], hex.slice(0, 66) as Hex)[0] as bigint)
  }

  /** Newest first, by the node's own logs. */
  async transfersOf(address: Address): Promise<TransferTruth[]> {
    const { node } = this.#world
    const logs = (await node.ask('eth_getLogs', {
      fromBlock: '0x0',
      toBlock: 'latest',
      address,
      topics: [transferTopic],
    })) as {
      blockNumber: Hex
      blockHash: Hex
      transactionHash: Hex
      transactionIndex: Hex
      logIndex: Hex
      topics: Hex[]
      data: Hex
    }[]
    const rows: TransferTruth[] = []
    const times = new Map<Hex, Hex>()
    for (const log of logs.filter(({ topics }) => topics.length === 3).toReversed()) {
      const time =
        times.get(log.blockNumber) ??
        ((await node.ask('eth_getBlockByNumber', log.blockNumber, false)) as { timestamp: Hex }).timestamp
      times.set(log.blockNumber, time)
      rows.push({
        transaction_hash: log.transactionHash,
        address: address.toLowerCase(),
        block_number: `${Number(log.blockNumber)}`,
        block_hash: log.blockHash,
        block_timestamp: new Date(Number(time) * 1_000).toISOString(),
        from_address: `0x${log.topics[1]!.slice(26)}`,
        to_address: `0x${log.topics[2]!.slice(26)}`,
        value: `${BigInt(log.data)}`,
        transaction_index: Number(log.transactionIndex),
        log_index: Number(log.logIndex),
      })
    }
    return rows
  }
}

const unit = 10n ** 18n

function firstBlocks(t: Record<TokenName, Deployed>): Transaction[][] {
  const hostile = [t.refuses, t.saysNothing, t.saysTooMuch, t.neverEnds]
  return [
    [
      { from: 'alice', ...t.plain.call('mint', alice, 1_000n * unit) },
      { from: 'alice', ...t.plain.call('transfer', bob, 250n * unit) },
      { from: 'bob', ...t.plain.call('transfer', carol, 1n) },
      { from: 'bob', ...t.plain.call('transfer', bob, 5n * unit) },
      { from: 'alice', ...t.fee.call('mint', alice, 1_000_000n) },
      { from: 'alice', ...t.fee.call('transfer', bob, 500_000n) },
    ],
    [
      { from: 'alice', ...t.rebasing.call('mint', alice, 70n) },
      { from: 'alice', ...t.rebasing.call('mint', bob, 30n) },
      { from: 'bob', ...t.rebasing.call('rebase', 3n) },
      { from: 'alice', value: 12n, ...t.wrapped.call('deposit') },
      { from: 'alice', ...t.wrapped.call('transfer', bob, 5n) },
      { from: 'alice', ...t.silent.call('mintSilently', alice, 9n) },
      { from: 'alice', ...t.silent.call('transfer', carol, 4n) },
    ],
    [
      { from: 'alice', ...t.old.call('mint', bob, 17n) },
      { from: 'alice', ...t.huge.call('mint', bob, 2n ** 255n) },
      ...hostile.map((token): Transaction => ({ from: 'alice', ...token.call('mint', bob, 100n) })),
      { from: 'alice', ...t.plain.call('approve', bob, 77n) },
    ],
  ]
}

/** Not final. */
function lastBlocks(t: Record<TokenName, Deployed>): Transaction[][] {
  return [
    [
      { from: 'alice', ...t.plain.call('transfer', dave, 3n * unit) },
      { from: 'carol', ...t.plain.call('transfer', erin, 1n) },
    ],
    [
      { from: 'alice', ...t.plain.call('burn', 100n * unit) },
      { from: 'bob', ...t.wrapped.call('withdraw', 2n) },
    ],
  ]
}
