// The transactions of a simulated chain, each a pure function of its identity, whatever block a branch places it in.
import type { ContractTable, SimContract } from './contracts.ts'
import { pad, type SimEvent, topic, topics, word, zero } from './events.ts'
import type { SimChainOptions, TransactionType } from './options.ts'
import { chance, draw, drawHex, hex8, streams } from './random.ts'
import type { ScenarioTransaction } from './scenario.ts'
import { deployer, faucet, fundingWei, type WalletSchedule } from './wallets.ts'

/** `lane` is a wallet lane or a service lane; `slot` is the slot it was made for, or the block on service lanes. */
export type TransactionIdentity = { lane: number; slot: number; variant: number }

export const serviceLanes = { deployment: 0x8000, scenario: 0xa000, stateSync: 0xfffd, faucet: 0xfffe } as const

export type SimTransaction = TransactionIdentity & {
  type: TransactionType
  from: string
  to: string | null
  created: string | null
  nonce: number
  value: bigint
  input: string
  gasPrice: bigint
  gasUsed: number
  succeeded: boolean
  events: readonly SimEvent[]
  /** Of its sender, where it signs. */
  key?: bigint | undefined
}

/** What a transaction costs and how many logs it has, without making them. */
export type TransactionPlan = {
  call: 'plain' | 'nft' | 'erc20'
  contract: SimContract | undefined
  token: SimContract | undefined
  callLogs: number
  logs: number
  value: bigint
  gasPrice: bigint
  gasUsed: number
  succeeded: boolean
}

export class TransactionMaker {
  readonly #options: SimChainOptions
  readonly #wallets: WalletSchedule
  readonly #contracts: ContractTable

  constructor(options: SimChainOptions, wallets: WalletSchedule, contracts: ContractTable) {
    this.#options = options
    this.#wallets = wallets
    this.#contracts = contracts
  }

  /** The hash in cheap mode: drawn, with the identity in its last eight bytes so that it can be looked up without a table. */
  cheapHash({ lane, slot, variant }: TransactionIdentity): string {
    const laneKey = ((variant << 16) | lane) >>> 0
    return `0x${drawHex(6, this.#options.seed, streams.transactionHash, slot, laneKey)}${hex8(slot)}${hex8(laneKey)}`
  }

  identityOfCheapHash(hash: string): TransactionIdentity {
    const laneKey = Number.parseInt(hash.slice(58), 16)
    return { lane: laneKey & 0xffff, slot: Number.parseInt(hash.slice(50, 58), 16), variant: laneKey >>> 16 }
  }

  plan({ lane, slot, variant }: TransactionIdentity): TransactionPlan {
    const { seed, logsPerCall, callsPerStretch, denseEvery, denseFactor } = this.#options
    const laneKey = lane | (variant << 16)
    const drawn = draw(seed, streams.plan, slot, laneKey)
    const block = this.#wallets.blockOfSlot(slot)
    const share = drawn % 100
    const shape = draw(seed, streams.plan, slot, laneKey, 1)
    const contract = share < 70 ? this.#contracts.calledIn(block, shape % callsPerStretch) : undefined
    const tokens = this.#contracts.erc20
    const drawnToken = tokens[(shape >>> 8) % Math.max(1, tokens.length)]
    const tokenReady = drawnToken !== undefined && drawnToken.deployedAt < block
    const call = contract !== undefined ? 'nft' : share < 85 && tokenReady ? 'erc20' : 'plain'
    const succeeded = call === 'plain' || (shape >>> 12) % 32 !== 0
    const token =
      tokenReady && (call === 'erc20' || (call === 'nft' && (shape >>> 16) % 4 === 0)) ? drawnToken : undefined
    const dense = denseEvery > 0 && block % denseEvery === 0 ? denseFactor : 1
    const callLogs = call === 'nft' ? (1 + ((shape >>> 20) % (2 * logsPerCall - 1))) * dense : 0
    const logs = succeeded ? callLogs + (token === undefined ? 0 : 1) : 0
    const amount = draw(seed, streams.plan, slot, laneKey, 2)
    return {
      call,
      contract,
      token,
      callLogs,
      logs,
      value: amount % 5 < 2 && call !== 'plain' ? 0n : BigInt(amount) * powersOfTen[amount % 9]!,
      gasPrice: BigInt(1 + (lane % 5)) * 1_000_000_000n,
      gasUsed: 21_000 + 25_000 * logs,
      succeeded,
    }
  }

  /** A transaction that a wallet sends. */
  make(identity: TransactionIdentity): SimTransaction {
    const { lane, slot } = identity
    const plan = this.plan(identity)
    const { nonce, ...wallet } = this.#wallets.sender({ lane, slot })
    const from = this.#wallets.address(wallet)
    const to = plan.contract?.address ?? plan.token?.address ?? this.#wallets.address({ ...wallet, kind: 'cold' })
    const { value, gasPrice, gasUsed, succeeded } = plan
    const { types } = this.#options
    const type = types[lane % types.length]!
    const input = plan.call === 'plain' ? '0x' : `0x${hex8(draw(this.#options.seed, streams.plan, slot, lane, 3))}`
    const events = succeeded ? this.#events(identity, plan, from) : []
    const key = this.#wallets.keyOf(from)
    return {
      ...identity,
      type,
      from,
      to,
      created: null,
      nonce,
      value,
      input,
      gasPrice,
      gasUsed,
      succeeded,
      events,
      key,
    }
  }

  deployment(block: number, contract: SimContract, at: number): SimTransaction {
    const owner = this.#wallets.address(deployer)
    const events: SimEvent[] = [{ type: 'ownership', contract: contract.address, owner }]
    if (contract.kind === 'erc2309') {
      const count = 1 + (draw(this.#options.seed, streams.event, block, at) % 1_000_000)
      events.push({ type: 'consecutive', contract: contract.address, from: zero, to: owner, id: 0n, count })
    }
    return {
      ...{ lane: serviceLanes.deployment + at, slot: block, variant: 0 },
      ...{ type: 0, from: owner, to: null, created: contract.address, nonce: contract.nonce ?? 0, value: 0n },
      ...{ input: '0x6080604052', gasPrice: 1_000_000_000n, gasUsed: deploymentGas, succeeded: true, events },
      key: this.#wallets.keyOf(owner),
    }
  }

  funding(block: number, slot: number): SimTransaction | undefined {
    const funded = this.#wallets.fundedIn(slot)
    if (funded === undefined) return undefined
    const from = this.#wallets.address(faucet)
    return {
      ...{ lane: serviceLanes.faucet, slot: block, variant: 0, type: 0, from, key: this.#wallets.keyOf(from) },
      ...{ to: this.#wallets.address(funded), created: null, nonce: this.#wallets.fundingsUpTo(slot - 1) },
      ...{ value: fundingWei, input: '0x', gasPrice: 1_000_000_000n, gasUsed: 21_000, succeeded: true, events: [] },
    }
  }

  told(block: number, transaction: ScenarioTransaction, at: number): SimTransaction {
    return {
      ...transaction,
      ...{ lane: serviceLanes.scenario + at, slot: block, variant: 0, type: 2, input: '0x6080604052' },
      ...{ gasPrice: 1_000_000_000n, gasUsed: 21_000 + 25_000 * transaction.events.length, succeeded: true },
    }
  }

  /** Polygon's: from and to the zero address, no fee, and an NFT that arrives from the other side of the bridge. */
  stateSync(block: number): SimTransaction | undefined {
    if (this.#options.stateSync === 'none' || block === 0 || block % 64 !== 0) return undefined
    const contract = this.#contracts.all.find(c => c.kind === 'erc721' && c.deployedAt < block)
    const events: SimEvent[] = []
    if (contract !== undefined) {
      const to = this.#party(draw(this.#options.seed, streams.event, block, serviceLanes.stateSync), block)
      events.push({ type: 'erc721', contract: contract.address, from: zero, to, id: BigInt(block) << 128n })
    }
    return {
      ...{
        lane: serviceLanes.stateSync,
        slot: block,
        variant: 0,
        type: 0,
        from: zero,
        to: zero,
        created: null,
        nonce: 0,
      },
      ...{ value: 0n, input: '0x', gasPrice: 0n, gasUsed: 0, succeeded: true, events },
    }
  }

  #events({ lane, slot, variant }: TransactionIdentity, plan: TransactionPlan, sender: string): SimEvent[] {
    const { seed } = this.#options
    const laneKey = lane | (variant << 16)
    const events: SimEvent[] = []
    for (let at = 0; events.length < plan.callLogs; at++) {
      const drawn = draw(seed, streams.event, slot, laneKey, at)
      const made = this.#eventsOf(plan.contract!, drawn, { slot, sender, room: plan.callLogs - events.length })
      events.push(...made)
    }
    if (plan.token !== undefined) {
      const drawn = draw(seed, streams.event, slot, laneKey, 0x10_0000)
      const to = this.#party(drawn, slot)
      events.push({ type: 'erc20', contract: plan.token.address, from: sender, to, amount: BigInt(drawn) * 10n ** 9n })
    }
    return events
  }

  #eventsOf(
    contract: SimContract,
    drawn: number,
    { slot, sender, room }: { slot: number; sender: string; room: number },
  ): SimEvent[] {
    const second = draw(this.#options.seed, streams.event, drawn, slot)
    const share = second % 100
    const from = share < 35 ? zero : share < 70 ? sender : this.#party(second, slot)
    const to = share % 20 === 19 ? zero : this.#party(drawn, slot)
    const id = this.#tokenId(drawn, second)
    const base = { contract: contract.address, from, to }
    switch (contract.kind) {
      case 'erc721':
        if (share % 12 === 5) return [{ type: 'approval', contract: contract.address, owner: sender, spender: to, id }]
        return [{ type: 'erc721', ...base, id }]
      case 'erc2309':
        if (share % 10 !== 3) return [{ type: 'erc721', ...base, id }]
        return [{ type: 'consecutive', ...base, id: BigInt(second) << 32n, count: 1 + (drawn % 2_000_000) }]
      case 'erc1155':
        return [this.#multiToken(base, { drawn, second, sender })]
      case 'malformed':
        if (share < 50) return [{ type: 'malformed', contract: contract.address, ...malformed(drawn % 8, sender) }]
        return [this.#multiToken(base, { drawn, second, sender })]
      case 'kitties':
        return [{ type: 'kitties', ...base, id: BigInt(drawn % 2_000_000) }]
      default:
        return room < 2 || share < 20
          ? [
              {
                type: 'punk-assign',
                contract: contract.address,
                to: this.#party(drawn, slot),
                id: BigInt(drawn % 10_000),
              },
            ]
          : punkSale(contract.address, { share, drawn, from: sender, to: this.#party(drawn, slot) })
    }
  }

  #multiToken(
    base: { contract: string; from: string; to: string },
    { drawn, second, sender }: { drawn: number; second: number; sender: string },
  ): SimEvent {
    const operator = second % 7 === 0 ? base.contract : sender
    const amount = second % 11 === 0 ? 0n : second % 13 === 0 ? 2n ** 256n - 1n : BigInt(1 + (second % 50))
    const id = this.#tokenId(drawn, second)
    if (drawn % 3 !== 0) return { type: 'single', ...base, operator, id, amount }
    const length = (drawn >>> 4) % 7
    // An empty batch moves nothing, so its parties are ones that the transaction has anyway.
    if (length === 0) return { type: 'batch', ...base, from: sender, to: sender, operator, ids: [], amounts: [] }
    const ids = Array.from({ length }, (_, at) => (at === 2 ? id : id ^ BigInt(at)))
    return { type: 'batch', ...base, operator, ids, amounts: ids.map((_, at) => (at === 1 ? 0n : amount)) }
  }

  #tokenId(drawn: number, second: number): bigint {
    if (second % 10 === 7) return BigInt(`0x${drawHex(8, this.#options.seed, streams.event, drawn, second)}`)
    return BigInt(drawn % 10_000)
  }

  /** A wallet of today, or someone who only ever receives. */
  #party(drawn: number, slot: number): string {
    if (!chance(0.6, drawn)) {
      return this.#wallets.address({ kind: 'holder', lane: 0, epoch: slot >>> 12, index: (drawn >>> 3) % 5_000 })
    }
    const lane = (drawn >>> 5) % this.#wallets.lanes
    const index = (drawn >>> 9) % this.#wallets.walletsOf(lane)
    return this.#wallets.address({ kind: 'sender', lane, epoch: this.#wallets.epochOf(lane, slot), index })
  }
}

const powersOfTen = Array.from({ length: 9 }, (_, power) => 10n ** BigInt(power))

export const deploymentGas = 1_500_000

function punkSale(
  contract: string,
  { share, drawn, from, to }: { share: number; drawn: number; from: string; to: string },
): SimEvent[] {
  const id = BigInt(drawn % 10_000)
  const before: SimEvent = { type: 'erc20', contract, from, to, amount: 1n }
  if (share < 50) return [before, { type: 'punk-transfer', contract, from, to, id }]
  const accepted = share >= 75
  const shown = { shownTo: accepted ? zero : to, price: accepted ? 0n : BigInt(drawn) * 10n ** 9n }
  return [before, { type: 'punk-bought', contract, from, to, id, ...shown }]
}

/** Logs that look like transfers and cannot be read as one. */
function malformed(form: number, party: string): { topics: string[]; data: string } {
  const parties = [pad(party), pad(party)]
  const batch = [topics.transferBatch, pad(party), ...parties]
  const words = (...values: bigint[]): string => `0x${values.map(word).join('')}`
  switch (form) {
    case 0:
      return { topics: batch, data: words(64n, 160n, 2n, 1n, 2n, 1n, 1n) }
    case 1:
      return { topics: batch, data: words(64n, 6_400_128n, 200_000n, 1n, 200_000n, 1n) }
    case 2:
      return { topics: batch, data: words(2n ** 255n, 2n ** 200n, 1n, 1n) }
    case 3:
      return { topics: [topics.transferSingle, pad(party), ...parties], data: words(7n) }
    case 4:
      return { topics: [topics.transfer, pad(party)], data: topic(1n) }
    case 5:
      return { topics: batch, data: '0x' }
    case 6:
      return { topics: [topics.transfer], data: '0x' }
    default:
      return { topics: [topics.transferSingle, ...parties], data: words(1n, 1n) }
  }
}
