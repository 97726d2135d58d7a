// Who sends which transaction: schedules of senders from which a nonce or a balance at any block is computed directly.
//
// Blocks that hold transactions are numbered as slots. Each position in a block is a lane with its own wallets. A lane's
// time is cut into rounds, in which each of its wallets sends once in a shuffled order, and rounds into epochs, after
// which the lane goes on with fresh wallets. A wallet's nonce is therefore the round within its epoch.
import { type Branch, ownerOf } from './branches.ts'
import { addressOfKey, keyOf } from './keys.ts'
import type { SimChainOptions } from './options.ts'
import { draw, hex8, mix, streams } from './random.ts'

export const walletKinds = { sender: 0, cold: 1, service: 2, holder: 3 } as const
export type WalletKind = keyof typeof walletKinds
export type Wallet = { kind: WalletKind; lane: number; epoch: number; index: number }

/** One transaction of a lane: the slot it was made for. Reorganisations may place it in the neighbouring slot. */
export type Sending = { lane: number; slot: number }

export const faucet: Wallet = { kind: 'service', lane: 0, epoch: 0, index: 1 }
export const deployer: Wallet = { kind: 'service', lane: 0, epoch: 0, index: 2 }

/** What the faucet gives to each new wallet, in wei: more than a wallet can spend in its life. */
export const fundingWei = 10n ** 20n

export class WalletSchedule {
  readonly lanes: number
  readonly #seed: number
  readonly #rounds: number
  readonly #emptyEvery: number
  readonly #addresses = new Map<number, string>()
  readonly #signed: boolean
  /** Of those that sign: an address tells nothing of its wallet then. */
  readonly #keys = new Map<string, { key: bigint; wallet: Wallet }>()

  constructor(options: Omit<SimChainOptions, 'height' | 'finalityDepth' | 'scenario'>) {
    if (options.transactionsPerBlock > options.transactionsPerWallet) {
      throw new Error(
        'transactionsPerWallet must be at least transactionsPerBlock: the faucet funds one wallet a block',
      )
    }
    if (options.emptyEvery === 1) throw new Error('emptyEvery must be 0 or at least 2')
    this.lanes = options.transactionsPerBlock
    this.#seed = options.seed
    this.#rounds = options.transactionsPerWallet
    this.#emptyEvery = options.emptyEvery
    this.#signed = options.signed
  }

  /** A power of two, so that an odd multiplier permutes it; from few busy wallets to many rare ones. */
  walletsOf(lane: number): number {
    return 2 << ((lane * 3) % 13)
  }

  /** The slot of a block with transactions; undefined for an empty block. */
  slotOf(block: number): number | undefined {
    if (block <= 0) return undefined
    if (this.#emptyEvery === 0) return block - 1
    if (block % this.#emptyEvery === 0) return undefined
    return block - Math.floor(block / this.#emptyEvery) - 1
  }

  /** The last slot at or below a block; -1 where there is none. */
  lastSlotAt(block: number): number {
    if (block <= 0) return -1
    return this.#emptyEvery === 0 ? block - 1 : block - Math.floor(block / this.#emptyEvery) - 1
  }

  blockOfSlot(slot: number): number {
    return this.#emptyEvery === 0 ? slot + 1 : slot + Math.floor(slot / (this.#emptyEvery - 1)) + 1
  }

  /**
   * The slot in which a lane's transaction of `slot` stands on a branch, which is also the one whose transaction stands
   * in `slot`: branches swap the two of a pair. Whoever owns the lower block of a pair decides for both.
   */
  partner(branch: Branch, { lane, slot }: Sending): number {
    const low = slot - (slot % 2)
    const owner = ownerOf(branch, this.blockOfSlot(low))
    if (owner.id === 0 || draw(this.#seed, streams.branch, owner.id, lane, low) % 4 !== 0) return slot
    return slot ^ 1
  }

  sender({ lane, slot }: Sending): Wallet & { nonce: number } {
    const count = this.walletsOf(lane)
    const within = slot % (count * this.#rounds)
    const epoch = Math.floor(slot / (count * this.#rounds))
    const round = Math.floor(within / count)
    const { factor, shift } = this.#shuffle(lane, epoch, round)
    const index = (Math.imul(factor, within % count) + shift) & (count - 1)
    return { kind: 'sender', lane, epoch, index, nonce: round }
  }

  /** The slot that the wallet's transaction with this nonce was made for. */
  slotOfNonce(wallet: Wallet, nonce: number): number {
    const count = this.walletsOf(wallet.lane)
    const { factor, shift } = this.#shuffle(wallet.lane, wallet.epoch, nonce)
    const position = Math.imul(wallet.index - shift, inverse(factor)) & (count - 1)
    return (wallet.epoch * this.#rounds + nonce) * count + position
  }

  /** How many transactions a sender has sent up to and including a block. */
  nonceAt(branch: Branch, wallet: Wallet, block: number): number {
    const lastSlot = this.lastSlotAt(block)
    const count = this.walletsOf(wallet.lane)
    const round = Math.floor(lastSlot / count) - wallet.epoch * this.#rounds
    if (lastSlot < 0 || round < 0) return 0
    if (round >= this.#rounds) return this.#rounds
    const slot = this.slotOfNonce(wallet, round)
    return round + (this.partner(branch, { lane: wallet.lane, slot }) <= lastSlot ? 1 : 0)
  }

  /** The wallet that the faucet funds in a slot. */
  fundedIn(slot: number): Wallet | undefined {
    const lane = slot % this.#rounds
    if (lane >= this.lanes) return undefined
    const epochSlots = this.walletsOf(lane) * this.#rounds
    const epoch = Math.floor(slot / epochSlots) + 1
    return { kind: 'sender', lane, epoch, index: Math.floor((slot % epochSlots) / this.#rounds) }
  }

  /** The slot in which a wallet is funded; undefined for those that genesis funds. */
  fundingSlot(wallet: Wallet): number | undefined {
    if (wallet.epoch === 0) return undefined
    const epochSlots = this.walletsOf(wallet.lane) * this.#rounds
    return (wallet.epoch - 1) * epochSlots + wallet.index * this.#rounds + wallet.lane
  }

  /** Transactions of the faucet in the slots up to and including `lastSlot`. */
  fundingsUpTo(lastSlot: number): number {
    const slots = lastSlot + 1
    return Math.floor(slots / this.#rounds) * this.lanes + Math.min(slots % this.#rounds, this.lanes)
  }

  epochOf(lane: number, slot: number): number {
    return Math.floor(slot / (this.walletsOf(lane) * this.#rounds))
  }

  address(wallet: Wallet): string {
    const place = wallet.lane | (walletKinds[wallet.kind] << 16)
    if (wallet.index >= 1 << 17 || wallet.epoch >= 1 << 17) return this.#makeAddress(place, wallet)
    const key = (place * (1 << 17) + wallet.epoch) * (1 << 17) + wallet.index
    const known = this.#addresses.get(key)
    if (known !== undefined) return known
    const made = this.#makeAddress(place, wallet)
    if (this.#addresses.size >= 100_000) this.#addresses.clear()
    this.#addresses.set(key, made)
    return made
  }

  /** The key of a wallet that signs. */
  keyOf(address: string): bigint | undefined {
    return this.#keys.get(address)?.key
  }

  #makeAddress(place: number, wallet: Wallet): string {
    if (this.#signed && (wallet.kind === 'sender' || wallet.kind === 'service')) {
      const { kind, lane, epoch, index } = wallet
      const key = keyOf(`${this.#seed} ${place} ${epoch} ${index}`)
      const address = addressOfKey(key)
      this.#keys.set(address, { key, wallet: { kind, lane, epoch, index } })
      return address
    }
    const a = draw(this.#seed, streams.address, place, wallet.epoch, wallet.index)
    const b = mix(a ^ 0x5bd1e995) >>> 0
    // The coordinates are masked, not hidden: whoever holds an address can compute its wallet without a table.
    const words = [
      a,
      b,
      (wallet.index ^ mix(a + 1)) >>> 0,
      (wallet.epoch ^ mix(b + 1)) >>> 0,
      (place ^ mix(a ^ b)) >>> 0,
    ]
    return `0x${words.map(hex8).join('')}`
  }

  walletOf(address: string): Wallet | undefined {
    const signing = this.#keys.get(address)?.wallet
    if (signing !== undefined) return signing
    const words = [0, 1, 2, 3, 4].map(at => Number.parseInt(address.slice(2 + at * 8, 10 + at * 8), 16))
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = words
    const place = (e ^ mix(a ^ b)) >>> 0
    const kind = (Object.keys(walletKinds) as WalletKind[]).find(name => walletKinds[name] === place >>> 16)
    if (kind === undefined) return undefined
    const wallet = { kind, lane: place & 0xffff, epoch: (d ^ mix(b + 1)) >>> 0, index: (c ^ mix(a + 1)) >>> 0 }
    return this.address(wallet) === address ? wallet : undefined
  }

  #shuffle(lane: number, epoch: number, round: number): { factor: number; shift: number } {
    const drawn = draw(this.#seed, streams.permutation, lane, epoch, round)
    return { factor: (drawn >>> 16) | 1, shift: drawn & 0xffff }
  }
}

/** The inverse of an odd number modulo 2^32, by Newton's method. */
function inverse(odd: number): number {
  let x = odd
  for (let step = 0; step < 5; step++) x = Math.imul(x, 2 - Math.imul(odd, x))
  return x
}
