// The contracts of a simulated chain: what each emits, where it was deployed, and which are called in a stretch of blocks.
import type { ContractKind, SimChainOptions } from './options.ts'
import { draw, streams } from './random.ts'
import { bytesOfHex, integerBytes, keccak, rlp } from './rlp.ts'

export type SimContract = {
  address: string
  kind: ContractKind | 'erc20'
  deployedAt: number
  weight: number
  /** The deployer's nonce of the deployment; undefined for those that genesis holds. */
  nonce: number | undefined
}

// Collections that are known by their address on Ethereum's main chain, chain 1; genesis holds them here.
const knownCollections: { kind: ContractKind; address: string; weight: number }[] = [
  { kind: 'kitties', address: '0x06012c8cf97bead5deae237070f9587f8e7a266d', weight: 0.2 },
  { kind: 'punks', address: '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb', weight: 0.15 },
]

export class ContractTable {
  /** In the order of deployment. */
  readonly all: readonly SimContract[]
  readonly erc20: readonly SimContract[]
  readonly #byAddress: Map<string, SimContract>
  readonly #callable: readonly SimContract[]
  readonly #cumulative: Float64Array
  readonly #options: SimChainOptions

  constructor(options: SimChainOptions, deployerAddress: string) {
    this.#options = options
    const specs = [...generatedSpecs(options), ...options.addedContracts.map(spec => ({ ...spec, deployed: true }))]
    const inOrder = specs
      .map((spec, rank) => ({ ...spec, rank }))
      .sort((a, b) => a.deployedAt - b.deployedAt || a.rank - b.rank)
    let nonce = 0
    this.all = inOrder.map(spec => {
      const ownNonce = spec.deployed ? nonce++ : undefined
      const address = spec.address ?? createdAddress(deployerAddress, ownNonce ?? 0)
      return { address, kind: spec.kind, deployedAt: spec.deployedAt, weight: spec.weight, nonce: ownNonce }
    })
    this.erc20 = this.all.filter(contract => contract.kind === 'erc20')
    this.#byAddress = new Map(this.all.map(contract => [contract.address, contract]))
    this.#callable = this.all.filter(contract => contract.kind !== 'erc20').sort((a, b) => b.weight - a.weight)
    let sum = 0
    this.#cumulative = Float64Array.from(this.#callable, contract => (sum += contract.weight))
  }

  byAddress(address: string): SimContract | undefined {
    return this.#byAddress.get(address)
  }

  deployedIn(block: number): SimContract[] {
    const found: SimContract[] = []
    for (let at = this.#firstDeployedAfter(block - 1); this.all[at]?.deployedAt === block; at++) {
      if (this.all[at]!.nonce !== undefined) found.push(this.all[at]!)
    }
    return found
  }

  /** The deployer's transactions up to and including a block. */
  deploymentsUpTo(block: number): number {
    return this.all[this.#firstDeployedAfter(block) - 1]?.nonce === undefined
      ? 0
      : this.all[this.#firstDeployedAfter(block) - 1]!.nonce! + 1
  }

  /** The contract that call number `call` of a block's stretch goes to; undefined where it is not yet deployed. */
  calledIn(block: number, call: number): SimContract | undefined {
    const { seed, stretchBlocks, callsPerStretch } = this.#options
    const stretch = Math.floor(block / stretchBlocks)
    const drawn = draw(seed, streams.activeSet, stretch, call % callsPerStretch) / 0x1_0000_0000
    const contract = this.#pick(drawn)
    return contract !== undefined && contract.deployedAt < block ? contract : undefined
  }

  /** Whether a contract can have been called in the stretch that a block belongs to. */
  isActive(contract: SimContract, block: number): boolean {
    if (contract.kind === 'erc20') return true
    for (let call = 0; call < this.#options.callsPerStretch; call++) {
      if (this.calledIn(block, call) === contract) return true
    }
    // A contract may be deployed within the stretch: then the last block tells.
    const last = block - (block % this.#options.stretchBlocks) + this.#options.stretchBlocks - 1
    if (contract.deployedAt < block || contract.deployedAt >= last || last === block) return false
    return this.isActive(contract, last)
  }

  #pick(drawn: number): SimContract | undefined {
    const wanted = drawn * (this.#cumulative.at(-1) ?? 0)
    let low = 0
    let high = this.#cumulative.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#cumulative[middle]! > wanted) high = middle
      else low = middle + 1
    }
    return this.#callable[low]
  }

  #firstDeployedAfter(block: number): number {
    let low = 0
    let high = this.all.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.all[middle]!.deployedAt > block) high = middle
      else low = middle + 1
    }
    return low
  }
}

type Spec = { kind: SimContract['kind']; deployedAt: number; weight: number; deployed: boolean; address?: string }

function generatedSpecs(options: SimChainOptions): Spec[] {
  const known = options.chainId === 1 ? knownCollections : []
  const specs: Spec[] = known.map(collection => ({ ...collection, deployedAt: 0, deployed: false }))
  for (let at = 0; at < options.erc20Contracts; at++) {
    specs.push({ kind: 'erc20', deployedAt: 1, weight: 0, deployed: true })
  }
  for (let rank = 0; rank < options.contracts; rank++) {
    const spread = draw(options.seed, streams.contract, rank) % Math.max(1, options.deploymentSpan)
    const deployedAt = rank === 0 ? 1 : 1 + spread
    specs.push({ kind: kindOfRank(rank), deployedAt, weight: 1 / (rank + 1) ** options.zipf, deployed: true })
  }
  return specs
}

function kindOfRank(rank: number): ContractKind {
  if (rank % 12 === 7) return 'malformed'
  if (rank % 12 === 5) return 'erc2309'
  return rank % 3 === 1 ? 'erc1155' : 'erc721'
}

function createdAddress(creator: string, nonce: number): string {
  const digest = keccak(rlp([bytesOfHex(creator), integerBytes(nonce)]))
  return `0x${digest.subarray(12).toString('hex')}`
}
