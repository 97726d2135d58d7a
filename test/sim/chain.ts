// A simulated chain: any block of any branch on request, and a head that moves only when it is told to.
import { LRUCache } from 'lru-cache'
import {
  assembleHeader,
  cheapBlockHash,
  forkAt,
  identityOfCheapBlockHash,
  type PlacedTransaction,
  placeTransactions,
  realBlockHash,
  realTransactionHash,
  type SimBlock,
  timestampOf,
  withEtherLog,
} from './block.ts'
import { type Branch, ownerOf, trunk } from './branches.ts'
import { ContractTable } from './contracts.ts'
import type { Header } from './encode.ts'
import { defaultSimChainOptions, type SimChainOptions } from './options.ts'
import { draw, streams } from './random.ts'
import { deploymentGas, type SimTransaction, serviceLanes, TransactionMaker } from './transactions.ts'
import { deployer, faucet, fundingWei, type Wallet, WalletSchedule } from './wallets.ts'

/** Genesis gives so much to the faucet and the deployer. */
export const serviceFundsWei = 10n ** 30n

export class SimChain {
  readonly options: SimChainOptions
  readonly wallets: WalletSchedule
  readonly contracts: ContractTable
  /** Every branch there ever was; the trunk first. */
  readonly branches: Branch[] = [trunk]
  readonly #maker: TransactionMaker
  readonly #blocks: LRUCache<string, SimBlock>
  readonly #trunk: LRUCache<number, SimBlock> | undefined
  /** What nodes answer about blocks of the trunk, where chains of equal options share them. */
  readonly trunkAnswers: LRUCache<string, Buffer> | undefined
  /** Real mode only: hashes by owner and number, and what a real hash stands for. */
  readonly #realHashes = new Map<string, string>()
  readonly #blockOfRealHash = new Map<string, { branch: number; number: number }>()
  readonly #blockOfRealTransaction = new Map<string, number[]>()
  readonly #listeners = new Set<(blocks: { from: number; to: number }) => void>()
  #branch = trunk
  #head: number
  #finalized: number | undefined
  /** Never goes back, even when the head does. */
  #finalizedByDepth = 0

  /** `blocksKept` bounds memory, and `shares` makes blocks once for all chains of equal options: neither is seen. */
  constructor(
    options: Partial<SimChainOptions> = {},
    { blocksKept = 2_000, shares = false }: { blocksKept?: number; shares?: boolean } = {},
  ) {
    this.options = { ...defaultSimChainOptions, ...options }
    this.#blocks = new LRUCache({ max: blocksKept })
    const shared = shares ? sharedBy(this.options) : undefined
    this.#trunk = shared?.trunk
    this.trunkAnswers = shared?.answers
    this.wallets = shared?.wallets ?? new WalletSchedule(this.options)
    this.contracts = new ContractTable(this.options, this.wallets.address(deployer))
    this.#maker = new TransactionMaker(this.options, this.wallets, this.contracts)
    this.#head = this.options.height
    this.#finalizedByDepth = Math.max(0, this.#head - this.options.finalityDepth)
  }

  get head(): number {
    return this.#head
  }

  /** The branch that is canonical now. */
  get branch(): Branch {
    return this.#branch
  }

  get finalized(): number {
    return this.#finalized ?? this.#finalizedByDepth
  }

  // ---- the story

  mine(count = 1): void {
    this.#moveTo(this.#branch, this.#head + count, this.#head + 1)
  }

  /** Replaces the last `depth` blocks by `length` others. The new branch may be shorter than the old one. */
  reorg({ depth, length }: { depth: number; length: number }): Branch {
    const fork = this.#head - depth
    if (depth < 1 || length < 0 || fork < this.finalized) {
      throw new Error(
        `a reorganisation of ${depth} blocks at ${this.#head} would pass the final block ${this.finalized}`,
      )
    }
    const branch = { id: this.branches.length, parent: ownerOf(this.#branch, fork), fork }
    this.branches.push(branch)
    this.#moveTo(branch, fork + length, fork + 1)
    return branch
  }

  /** Makes another branch canonical again, as when a losing fork wins in the end. */
  switchTo(branch: Branch, head: number): void {
    if (head <= branch.fork) throw new Error(`branch ${branch.id} begins above ${branch.fork}`)
    let shared = Math.min(head, this.#head)
    while (shared >= 0 && ownerOf(branch, shared) !== ownerOf(this.#branch, shared)) shared--
    this.#moveTo(branch, head, shared + 1)
  }

  /** Moves the finalized tag by hand; `undefined` lets it follow the head again. */
  finalize(number: number | undefined): void {
    this.#finalized = number
  }

  /** Tells of each move of the head, with the blocks that are new. */
  onHead(listener: (blocks: { from: number; to: number }) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #moveTo(branch: Branch, head: number, from: number): void {
    this.#branch = branch
    this.#head = head
    this.#finalizedByDepth = Math.max(this.#finalizedByDepth, head - this.options.finalityDepth)
    for (const listener of this.#listeners) listener({ from: Math.max(0, from), to: head })
  }

  // ---- blocks

  block(number: number, branch = this.#branch): SimBlock {
    const owner = ownerOf(branch, number)
    const key = `${owner.id}:${number}`
    const known = this.#blocks.get(key)
    if (known !== undefined) return known
    const made = this.#assemble(number, owner)
    this.#blocks.set(key, made)
    return made
  }

  hashOf(number: number, branch = this.#branch): string {
    const owner = ownerOf(branch, number)
    if (!this.#isReal(number)) return cheapBlockHash(this.options.seed, owner.id, number)
    // Real hashes build on each other: go down to the nearest known one, then up, without recursion.
    let known = number
    while (this.#isReal(known) && !this.#realHashes.has(this.#realKey(known, owner))) known--
    for (let next = known + 1; next <= number; next++) this.block(next, owner)
    return this.#realHashes.get(this.#realKey(number, owner))!
  }

  /** The block with a hash, on whichever branch it is; undefined for a hash that no block has. */
  blockByHash(hash: string): SimBlock | undefined {
    const { branch: id, number } = this.#blockOfRealHash.get(hash) ?? identityOfCheapBlockHash(hash)
    const branch = this.branches[id]
    if (branch === undefined || ownerOf(branch, number) !== branch) return undefined
    return this.hashOf(number, branch) === hash ? this.block(number, branch) : undefined
  }

  isCanonical(block: SimBlock): boolean {
    return block.number <= this.#head && ownerOf(this.#branch, block.number).id === block.branch
  }

  /** A transaction of the canonical branch, up to the head. */
  transactionByHash(hash: string): { block: SimBlock; transaction: PlacedTransaction } | undefined {
    const candidates = this.#blockOfRealTransaction.get(hash) ?? this.#blocksOfCheapTransaction(hash)
    for (const number of candidates) {
      if (number < 0 || number > this.#head) continue
      const block = this.block(number)
      const transaction = block.transactions.find(t => t.hash === hash)
      if (transaction !== undefined) return { block, transaction }
    }
    return undefined
  }

  // ---- state

  /** Undefined for an address that belongs to nobody here. */
  walletOf(address: string): Wallet | undefined {
    return this.wallets.walletOf(address)
  }

  nonceAt(address: string, block: number): number {
    const wallet = this.walletOf(address)
    if (wallet === undefined) return this.isDeployed(address, block) ? 1 : 0
    if (wallet.kind === 'sender') return this.wallets.nonceAt(this.#branch, wallet, block)
    if (wallet.kind !== 'service') return 0
    if (wallet.index === deployer.index) return this.contracts.deploymentsUpTo(block)
    return this.wallets.fundingsUpTo(this.wallets.lastSlotAt(block))
  }

  /** Contracts pass on what they are sent: their balance is always zero. */
  balanceAt(address: string, block: number): bigint {
    const wallet = this.walletOf(address)
    if (wallet === undefined || wallet.kind === 'holder') return 0n
    if (wallet.kind === 'service') {
      const sent = BigInt(this.nonceAt(address, block))
      const gasPrice = 1_000_000_000n
      const each = wallet.index === faucet.index ? fundingWei + 21_000n * gasPrice : BigInt(deploymentGas) * gasPrice
      return serviceFundsWei - sent * each
    }
    const sender: Wallet = { ...wallet, kind: 'sender' }
    const plans = this.#sentPlans(sender, block)
    if (wallet.kind === 'cold') return plans.reduce((sum, p) => sum + (p.call === 'plain' ? p.value : 0n), 0n)
    const spent = plans.reduce((sum, p) => sum + p.gasPrice * BigInt(p.gasUsed) + (p.succeeded ? p.value : 0n), 0n)
    const fundingSlot = this.wallets.fundingSlot(sender)
    const funded = fundingSlot === undefined || fundingSlot <= this.wallets.lastSlotAt(block)
    return (funded ? fundingWei : 0n) - spent
  }

  isDeployed(address: string, block: number): boolean {
    const contract = this.contracts.byAddress(address) ?? this.options.scenario?.contract(address)
    return contract !== undefined && contract.deployedAt <= block
  }

  /** Block of the wallet's transaction with this nonce on the canonical branch; it may lie above the head. */
  blockOfNonce(wallet: Wallet, nonce: number): number {
    const slot = this.wallets.slotOfNonce(wallet, nonce)
    return this.wallets.blockOfSlot(this.wallets.partner(this.#branch, { lane: wallet.lane, slot }))
  }

  // ---- making

  /** Whether a block of the canonical branch is at hand. */
  isKept(number: number): boolean {
    return this.#blocks.has(`${ownerOf(this.#branch, number).id}:${number}`)
  }

  /** Whether a contract may have logs in a block; false is certain and takes no generation. */
  mayHaveLogs(address: string, number: number): boolean {
    const told = this.options.scenario?.contract(address)
    if (told !== undefined) return told.deployedAt <= number
    const contract = this.contracts.byAddress(address)
    if (contract === undefined || contract.deployedAt > number) return false
    if (contract.deployedAt === number || ownerOf(this.#branch, number).id !== 0) return true
    if (this.options.stateSync !== 'none' && number % 64 === 0) return true
    if (!this.contracts.isActive(contract, number)) return false
    const slot = this.wallets.slotOf(number)
    if (slot === undefined) return false
    for (let lane = 0; lane < this.wallets.lanes; lane++) {
      const plan = this.#maker.plan({ lane, slot, variant: 0 })
      if (plan.contract === contract || plan.token === contract) return true
    }
    return false
  }

  /** The stretch of blocks around a block in which a contract is surely silent, as its last block; or the block before. */
  silentUntil(address: string, number: number): number {
    const told = this.options.scenario?.contract(address)
    if (told !== undefined) return Math.max(told.deployedAt, number) - 1
    const contract = this.contracts.byAddress(address)
    if (contract === undefined) return Number.MAX_SAFE_INTEGER
    if (contract.deployedAt > number) return contract.deployedAt - 1
    const { stretchBlocks, stateSync } = this.options
    const last = number - (number % stretchBlocks) + stretchBlocks - 1
    const plain = stateSync === 'none' && ownerOf(this.#branch, last).id === 0 && contract.deployedAt < number
    return plain && !this.contracts.isActive(contract, number) ? last : number - 1
  }

  #assemble(number: number, owner: Branch): SimBlock {
    const kept = owner.id === 0 ? this.#trunk?.get(number) : undefined
    const block = kept ?? this.#make(number, owner)
    if (kept === undefined && owner.id === 0) this.#trunk?.set(number, block)
    if (this.#isReal(number)) {
      // Whoever has a block can ask for those below it by their hashes; making it has made them.
      if (kept !== undefined && number > 0) this.hashOf(number - 1, owner)
      this.#remember(block)
    }
    return block
  }

  #make(number: number, owner: Branch): SimBlock {
    const real = this.options.hashes === 'real'
    const transactions = placeTransactions(this.#transactionsOf(number, owner), transaction => {
      if (!real || transaction.lane === serviceLanes.stateSync) return this.#maker.cheapHash(transaction)
      return realTransactionHash(this.options.chainId, transaction)
    })
    const parentHash = (): string => (number === 0 ? `0x${'00'.repeat(32)}` : this.hashOf(number - 1, owner))
    const makeHeader = (): Header =>
      assembleHeader(this.options, { number, branch: owner.id, parentHash: parentHash() }, transactions)
    const facts = { number, branch: owner.id, timestamp: timestampOf(this.options, number), transactions }
    if (!this.#isReal(number)) {
      return new LazyBlock({ ...facts, hash: cheapBlockHash(this.options.seed, owner.id, number) }, makeHeader)
    }
    const header = makeHeader()
    return { ...facts, hash: realBlockHash(header), header }
  }

  #remember({ number, branch, hash, transactions }: SimBlock): void {
    this.#realHashes.set(`${branch}:${number}`, hash)
    this.#blockOfRealHash.set(hash, { branch, number })
    for (const transaction of transactions) {
      const blocks = this.#blockOfRealTransaction.get(transaction.hash)
      if (blocks === undefined) this.#blockOfRealTransaction.set(transaction.hash, [number])
      else if (!blocks.includes(number)) blocks.push(number)
    }
  }

  #transactionsOf(number: number, owner: Branch): SimTransaction[] {
    const transactions = this.contracts.deployedIn(number).map((c, at) => this.#maker.deployment(number, c, at))
    const slot = this.wallets.slotOf(number)
    if (slot !== undefined) {
      const funding = this.#maker.funding(number, slot)
      if (funding !== undefined) transactions.push(funding)
      const { lanes } = this.wallets
      const rotation = owner.id === 0 ? 0 : draw(this.options.seed, streams.branch, owner.id, number) % lanes
      for (let at = 0; at < lanes; at++) {
        const lane = (at + rotation) % lanes
        const source = this.wallets.partner(owner, { lane, slot })
        transactions.push(this.#maker.make({ lane, slot: source, variant: this.#variant(owner, lane, source) }))
      }
    }
    const told = owner.id === 0 ? (this.options.scenario?.transactionsIn(number) ?? []) : []
    for (const [at, each] of told.entries()) transactions.push(this.#maker.told(number, each, at))
    const stateSync = this.#maker.stateSync(number)
    if (stateSync !== undefined) transactions.push(stateSync)
    return forkAt(this.options, number)?.etherLogs === true ? transactions.map(withEtherLog) : transactions
  }

  /** On a fork half of the transactions are the very ones of the trunk; the others were replaced by their senders. */
  #variant(owner: Branch, lane: number, slot: number): number {
    if (owner.id === 0) return 0
    return draw(this.options.seed, streams.branch, owner.id, slot, lane + 1) % 2 === 0 ? 0 : owner.id
  }

  #sentPlans(sender: Wallet, block: number) {
    const { lane } = sender
    return Array.from({ length: this.wallets.nonceAt(this.#branch, sender, block) }, (_, nonce) => {
      const slot = this.wallets.slotOfNonce(sender, nonce)
      const placed = this.wallets.blockOfSlot(this.wallets.partner(this.#branch, { lane, slot }))
      return this.#maker.plan({ lane, slot, variant: this.#variant(ownerOf(this.#branch, placed), lane, slot) })
    })
  }

  #blocksOfCheapTransaction(hash: string): number[] {
    const { lane, slot } = this.#maker.identityOfCheapHash(hash)
    if (lane >= serviceLanes.deployment) return [slot]
    if (lane >= this.wallets.lanes) return []
    return [this.wallets.blockOfSlot(this.wallets.partner(this.#branch, { lane, slot }))]
  }

  #isReal(number: number): boolean {
    return this.options.hashes === 'real' && number >= this.options.realFrom
  }

  #realKey(number: number, branch: Branch): string {
    return `${ownerOf(branch, number).id}:${number}`
  }
}

/** A signed chain knows its wallets by the addresses that it has made: the wallets go with the blocks. */
type Shared = {
  trunk: LRUCache<number, SimBlock>
  answers: LRUCache<string, Buffer>
  wallets: WalletSchedule
}
const shared = new LRUCache<string, Shared>({ max: 8 })
const sharedAnswersBytesMax = 32 * 2 ** 20

/** Texts that are kept ready to send, within a bound of their bytes. */
export function answersCache(maxSize: number): LRUCache<string, Buffer> {
  return new LRUCache({ maxSize, sizeCalculation: bytes => bytes.length + 64 })
}

/** Real hashes alone take time to make; what a scenario tells has no text to compare. */
function sharedBy({ height: _, finalityDepth: __, scenario, ...shape }: SimChainOptions): Shared | undefined {
  if (shape.hashes !== 'real' || scenario !== undefined) return undefined
  const key = JSON.stringify(shape)
  let made = shared.get(key)
  if (made === undefined) {
    made = {
      trunk: new LRUCache({ max: 2_000 }),
      answers: answersCache(sharedAnswersBytesMax),
      wallets: new WalletSchedule(shape),
    }
    shared.set(key, made)
  }
  return made
}

class LazyBlock implements SimBlock {
  readonly number: number
  readonly branch: number
  readonly hash: string
  readonly timestamp: number
  readonly transactions: readonly PlacedTransaction[]
  readonly drawn = true as const
  readonly #make: () => Header
  #header: Header | undefined

  constructor(facts: Omit<SimBlock, 'header'>, make: () => Header) {
    this.number = facts.number
    this.branch = facts.branch
    this.hash = facts.hash
    this.timestamp = facts.timestamp
    this.transactions = facts.transactions
    this.#make = make
  }

  get header(): Header {
    this.#header ??= this.#make()
    return this.#header
  }
}
