// The transactions of a made-up chain in the shape of a real one: plain payments, tokens, swaps and a few NFTs, between wallets
// of which few are busy and most are seen once. Blocks are made in order; the same shape and seed give the same ones.
import { pad, type SimEvent, topic, zero } from '../test/sim/events.ts'
import { bytesOfHex, hexOfBytes, integerBytes, keccak, rlp } from '../test/sim/rlp.ts'
import type { SimTransaction } from '../test/sim/transactions.ts'
import { EvmWallets } from './evm-wallets.ts'
import { contractPicker, digest, makeContracts } from './made-contracts.ts'
import type { GeneratedContract } from './made-rows.ts'
import { Random, zipf } from './random.ts'
import type { Shape } from './shape.ts'

/** What a transaction does, beside who sends it. */
type Call = { to: string | null; input: string; value: bigint; events: SimEvent[]; created?: string }
type Sender = { number: number; address: string; nonce: number }

/** Shares of all transactions; swaps get what the logs of the shape leave, payments the rest. */
const tokenShare = 0.32
const creationShare = 1 / 400
const failureShare = 0.03
/** A swap goes over one to three pools, two on average; each logs two transfers, its reserves and the swap. */
const poolsPerSwapMax = 3
const logsPerPool = 4
const tokenCount = 500
const routerCount = 8
/** Where in the chain's whole history the blocks lie, and how much of it each one is. */
const startPart = 0.5
const historyBlocks = 20_000_000

const logTopics = {
  sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  orderFulfilled: '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31',
} as const
const selectors = { transfer: '0xa9059cbb', swap: '0x38ed1739', buy: '0xfb0f3ee1' } as const

export class EvmWorld {
  readonly #shape: Shape
  readonly #random: Random
  readonly #wallets: EvmWallets
  readonly #contracts: readonly GeneratedContract[]
  readonly #pickContract: (part: number) => number
  readonly #pickToken = zipf(tokenCount)
  readonly #swapShare: number
  /** Wallets with lower numbers were seen. */
  #seen: number
  #newLeft = 0

  constructor(shape: Shape, seed: number) {
    this.#shape = shape
    this.#random = new Random(seed)
    this.#wallets = new EvmWallets(seed)
    this.#contracts = makeContracts(shape.contracts)
    this.#pickContract = contractPicker(shape, this.#random)
    this.#seen = shape.walletsAtOnce
    const logsPerSwap = (logsPerPool * (1 + poolsPerSwapMax)) / 2
    this.#swapShare = (shape.logsPerBlock / shape.transactionsPerBlock - tokenShare) / logsPerSwap
  }

  /** The blocks before must have been asked for. */
  transactionsOf(number: number): SimTransaction[] {
    const count = this.#around(this.#shape.transactionsPerBlock)
    let transfersLeft = this.#around(this.#shape.transfersPerBlock)
    this.#newLeft = this.#shape.newWalletsPerBlock
    return Array.from({ length: count }, (_, index) => {
      const wallet = this.#wallet()
      const sender = {
        number: wallet,
        address: this.#wallets.addressOf(wallet),
        nonce: this.#wallets.takeNonce(wallet),
      }
      const isNft = this.#random.unit() * (count - index) < transfersLeft
      const call = isNft ? this.#nft(sender, startPart + number / historyBlocks, transfersLeft) : this.#call(sender)
      if (isNft) transfersLeft -= call.events.reduce((sum, event) => sum + rowsOf(event), 0)
      return this.#transaction({ block: number, index }, sender, call)
    })
  }

  #transaction(place: { block: number; index: number }, sender: Sender, call: Call): SimTransaction {
    const { to, input, value, created = null } = call
    const succeeded = call.events.length === 0 || this.#random.unit() >= failureShare || created !== null
    const events = succeeded ? call.events : []
    return {
      ...{ lane: place.index, slot: place.block, variant: 0, type: this.#random.below(5) === 0 ? 0 : 2 },
      ...{ from: sender.address, key: this.#wallets.keyOf(sender.number), nonce: sender.nonce },
      ...{ to, created, value, input, succeeded, events },
      gasPrice: BigInt(1 + this.#random.below(50)) * 1_000_000_000n,
      gasUsed: 21_000 + 25_000 * events.length,
    }
  }

  #call(sender: Sender): Call {
    const share = this.#random.unit()
    if (share < tokenShare) return this.#token(sender)
    if (share < tokenShare + this.#swapShare) return this.#swap(sender)
    if (share < tokenShare + this.#swapShare + creationShare) return this.#creation(sender)
    return { to: this.#address(), input: '0x', value: this.#amount(), events: [] }
  }

  #token(sender: Sender): Call {
    const contract = tokenAt(this.#pickToken(this.#random.unit()))
    const to = this.#address()
    const amount = this.#amount()
    const input = `${selectors.transfer}${pad(to).slice(2)}${topic(amount).slice(2)}`
    const events: SimEvent[] = [{ type: 'erc20', contract, from: sender.address, to, amount }]
    return { to: contract, input, value: 0n, events }
  }

  #swap(sender: Sender): Call {
    const router = named('router', this.#random.below(routerCount))
    const hops = 1 + this.#random.below(poolsPerSwapMax)
    const events: SimEvent[] = []
    let from = sender.address
    for (let hop = 0; hop < hops; hop++) {
      const index = this.#pickToken(this.#random.unit())
      const pool = named('pool', index)
      const to = hop === hops - 1 ? sender.address : pool
      const [amount, received] = [this.#amount(), this.#amount()]
      const data = `${topic(amount)}${topic(received).slice(2)}`
      events.push(
        { type: 'erc20', contract: tokenAt(index), from, to: pool, amount },
        { type: 'erc20', contract: tokenAt(0), from: pool, to, amount: received },
        logOf(pool, [logTopics.sync], data),
        logOf(pool, [logTopics.swap, pad(router), pad(to)], `${data}${'00'.repeat(64)}`),
      )
      from = pool
    }
    const value = this.#random.below(3) === 0 ? this.#amount() : 0n
    return { to: router, input: `${selectors.swap}${this.#hex(256)}`, value, events }
  }

  /** One token mostly; a fifth of the ERC-1155 transfers are batches of three. A sale also logs the order. */
  #nft(sender: Sender, part: number, rowsMax: number): Call {
    const { contract, standard } = this.#contracts[this.#pickContract(part)]!
    const isMint = this.#random.below(3) === 0
    const parties = { from: isMint ? zero : this.#address(), to: sender.address }
    const isBatch = standard === 'ERC1155' && this.#random.below(5) === 0
    const events: SimEvent[] = []
    if (isBatch) {
      const ids = Array.from({ length: Math.min(3, rowsMax) }, () => this.#tokenId())
      const amounts = ids.map(() => 1n + BigInt(this.#random.below(9)))
      events.push({ type: 'batch', contract, operator: sender.address, ...parties, ids, amounts })
    } else {
      const count = isMint ? Math.min(1 + this.#random.below(3), rowsMax) : 1
      for (let at = 0; at < count; at++) events.push(this.#movedToken(contract, standard, sender, parties))
    }
    const market = named('market', this.#random.below(3))
    if (!isMint) {
      const order = [logTopics.orderFulfilled, pad(parties.from), pad(parties.to)]
      events.push(logOf(market, order, `0x${this.#hex(320)}`))
    }
    const value = this.#random.below(3) === 0 ? 0n : this.#amount()
    return { to: isMint ? contract : market, input: `${selectors.buy}${this.#hex(isMint ? 64 : 512)}`, value, events }
  }

  #movedToken(
    contract: string,
    standard: GeneratedContract['standard'],
    sender: Sender,
    parties: { from: string; to: string },
  ): SimEvent {
    const id = this.#tokenId()
    if (standard === 'ERC721') return { type: 'erc721', contract, ...parties, id }
    return { type: 'single', contract, operator: sender.address, ...parties, id, amount: 1n }
  }

  #creation(sender: Sender): Call {
    const digested = keccak(rlp([bytesOfHex(sender.address), integerBytes(sender.nonce)]))
    const created = hexOfBytes(digested.subarray(12))
    const events: SimEvent[] = [{ type: 'ownership', contract: created, owner: sender.address }]
    return { to: null, input: `0x6080604052${this.#hex(2_048)}`, value: 0n, events, created }
  }

  /** A wallet that receives: the newcomers of the block first. */
  #address(): string {
    const number = this.#newLeft-- > 0 ? this.#seen++ : this.#wallet()
    return this.#wallets.addressOf(number)
  }

  /** By Zipf's law: the busiest takes a twentieth, and a sixth falls on those who are seen once or twice. Or evenly. */
  #wallet(): number {
    if (this.#shape.newWalletsPerBlock === 0) return this.#random.below(this.#seen)
    return Math.floor(this.#seen ** this.#random.unit()) - 1
  }

  /** From half to one and a half of the mean. */
  #around(mean: number): number {
    return Math.round(mean * (0.5 + this.#random.unit()))
  }

  #amount(): bigint {
    return BigInt(this.#random.word()) * 10n ** BigInt(3 + this.#random.below(9))
  }

  #tokenId(): bigint {
    return this.#random.below(12) === 0 ? BigInt(`0x${this.#hex(32)}`) : BigInt(this.#random.below(10_000))
  }

  #hex(bytes: number): string {
    const buffer = Buffer.alloc(bytes)
    this.#random.fill(buffer, 0, bytes)
    return buffer.toString('hex')
  }
}

function rowsOf(event: SimEvent): number {
  if (event.type === 'batch') return event.ids.length
  return event.type === 'erc721' || event.type === 'single' ? 1 : 0
}

/** Any log that moves nothing: the simulator has one kind for those that it does not know. */
function logOf(contract: string, logTopicsOf: readonly string[], data: string): SimEvent {
  return { type: 'malformed', contract, topics: logTopicsOf, data }
}

const names = new Map<string, string>()

function named(kind: string, index: number): string {
  const key = `${kind} ${index}`
  const known = names.get(key)
  if (known !== undefined) return known
  const address = `0x${digest(key).toString('hex', 0, 20)}`
  names.set(key, address)
  return address
}

function tokenAt(index: number): string {
  return named('token', index)
}
