// The chain table: every EVM chain known by name, and what is particular to it. The only place that tells chains apart.
import type { ChainId } from './model.ts'
import { nearestWord } from './nearest-word.ts'

export type Chain = {
  id: ChainId
  /** Short name, shown in answers. */
  name: string
  /** Lower-case hex of the id, as answers show it. */
  hexId: string
  /** Whether nodes of the chain answer the `finalized` tag. */
  finalizedTag: boolean
  /** Depth at which a block is final if the node lacks or refuses the tag. */
  finalityDepth: number
  /** No block less deep than this counts as final, whatever a node says. */
  finalDepthMin: number
  /** Usual time between blocks; for estimates and polling only. */
  blockTimeMs: number
  /** The newest block counts as old from here on; 0: never. Absent: by the usual time between blocks. */
  headAgeMaxSeconds?: number
  /** The network no longer runs: archives and imports only. */
  retired: boolean
  quirks: ChainQuirks
}

export type ChainQuirks = {
  /** Transactions from and to the zero address have logs that the header's bloom omits (Polygon state sync). */
  stateSyncTransactions?: true
  /** Old blocks list transactions that have no receipt, and log indexes with gaps (Ethermint). */
  receiptsMayBeMissing?: true
  /** Headers carry a receipts root that is not the Ethereum trie of the receipts. */
  foreignReceiptsRoot?: true
  /** What a block hash is the hash of. Known from the chain's client and a recorded header, never assumed. */
  headers?: HeaderForm
}

/** The hashed fields of a header after those that every chain has, and what nodes show beside them. */
export type HeaderForm = {
  /** In every header. */
  required?: readonly string[]
  /** In the order in which they are hashed. Each came with a later fork, so the first missing one ends the header. */
  added: readonly string[]
  /** Hashed after all of these, by what headers of the chain showed: fields of a fork that this table does not know. */
  learnt?: readonly string[]
  /** Not hashed. */
  beside?: readonly string[]
  /** The first block of this form. */
  from?: number
}

export const ethereumHeaders: HeaderForm = {
  added: [
    ...['baseFeePerGas', 'withdrawalsRoot', 'blobGasUsed', 'excessBlobGas'],
    ...['parentBeaconBlockRoot', 'requestsHash', 'blockAccessListHash', 'slotNumber'],
  ],
}
const bscHeaders: HeaderForm = { ...ethereumHeaders, beside: ['milliTimestamp'] }
// Blocks before Nitro were made by another client.
const arbitrumHeaders: HeaderForm = {
  ...ethereumHeaders,
  beside: ['l1BlockNumber', 'sendCount', 'sendRoot'],
  from: 22_207_817,
}
const avalancheHeaders: HeaderForm = {
  required: ['extDataHash'],
  added: [
    ...['baseFeePerGas', 'extDataGasUsed', 'blockGasCost', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot'],
    ...['timestampMilliseconds', 'minDelayExcess'],
  ],
  beside: ['blockExtraData'],
}

type ChainRow = [
  name: string,
  id: number,
  finalizedTag: boolean,
  finalityDepth: number,
  finalDepthMin: number,
  blockTimeMs: number,
  quirks?: ChainQuirks,
  retired?: true,
]

// In the order in which answers list chains, which is that of the API that Almanac is compatible with. Depths are what
// exchanges wait for, rounded up. The least depths are below what honest nodes of the chain call final, or close to it.
// Fantom's block hashes are those of events and Cronos's those of Tendermint; of Palm no header was at hand to learn
// from.
const rows: ChainRow[] = [
  ['eth', 0x1, true, 96, 32, 12_000, { headers: ethereumHeaders }],
  ['goerli', 0x5, true, 96, 32, 12_000, { headers: ethereumHeaders }, true],
  ['sepolia', 0xaa36a7, true, 96, 32, 12_000, { headers: ethereumHeaders }],
  ['polygon', 0x89, true, 512, 16, 2_000, { stateSyncTransactions: true, headers: ethereumHeaders }],
  ['mumbai', 0x13881, false, 512, 16, 2_000, { stateSyncTransactions: true, headers: ethereumHeaders }, true],
  ['bsc', 0x38, true, 64, 8, 750, { headers: bscHeaders }],
  ['bsc testnet', 0x61, true, 64, 8, 750, { headers: bscHeaders }],
  ['avalanche', 0xa86a, true, 16, 4, 2_000, { headers: avalancheHeaders }],
  ['fantom', 0xfa, false, 32, 8, 1_000],
  ['palm', 0x2a15c308d, false, 32, 8, 5_000],
  ['cronos', 0x19, false, 32, 8, 6_000, { receiptsMayBeMissing: true, foreignReceiptsRoot: true }],
  ['arbitrum', 0xa4b1, true, 4_096, 64, 250, { headers: arbitrumHeaders }],
]

/** The chains that requests always accept. */
export const builtInChains: readonly Chain[] = rows.map(
  ([name, id, finalizedTag, finalityDepth, finalDepthMin, blockTimeMs, quirks, retired]) => ({
    ...defineChain({ name, id }),
    finalizedTag,
    finalityDepth,
    finalDepthMin,
    blockTimeMs,
    retired: retired ?? false,
    quirks: quirks ?? {},
  }),
)

type MoreRow = [name: string, id: number, finalityDepth: number, blockTimeMs: number, retired?: true]

// Depths stand in for nodes that refuse the `finalized` tag: on a rollup about what its batches take to be final on
// Ethereum, elsewhere what exchanges wait for. Header forms are learnt from the nodes, as for any configured chain.
const moreRows: MoreRow[] = [
  ['base', 8_453, 1_024, 2_000],
  ['optimism', 10, 1_024, 2_000],
  ['linea', 59_144, 4_096, 2_000],
  ['zora', 7_777_777, 1_024, 2_000],
  ['zksync', 324, 8_192, 1_000],
  ['blast', 81_457, 1_024, 2_000],
  ['gnosis', 100, 64, 5_000],
  ['scroll', 534_352, 4_096, 3_000],
  ['mantle', 5_000, 1_024, 2_000],
  ['celo', 42_220, 2_048, 1_000],
  ['moonbeam', 1_284, 32, 6_000],
  ['moonriver', 1_285, 32, 6_000],
  ['sonic', 146, 32, 1_000],
  ['ronin', 2_020, 64, 3_000],
  ['polygon zkevm', 1_101, 4_096, 3_000],
  ['arbitrum nova', 42_170, 4_096, 250],
  ['opbnb', 204, 4_096, 500],
  ['metis', 1_088, 1_024, 4_000],
  ['aurora', 1_313_161_554, 64, 1_000],
  ['kava', 2_222, 32, 6_000],
  ['mode', 34_443, 1_024, 2_000],
  ['sei', 1_329, 64, 400],
  ['unichain', 130, 2_048, 1_000],
  ['ink', 57_073, 2_048, 1_000],
  ['world chain', 480, 1_024, 2_000],
  ['berachain', 80_094, 32, 2_000],
  ['abstract', 2_741, 8_192, 1_000],
  ['soneium', 1_868, 1_024, 2_000],
  ['lisk', 1_135, 1_024, 2_000],
  ['chiliz', 88_888, 64, 3_000],
  ['apechain', 33_139, 4_096, 250],
  ['pulse', 369, 96, 10_000],
  ['monad', 143, 64, 400],
  ['hyperevm', 999, 64, 1_000],
  ['base sepolia', 84_532, 1_024, 2_000],
  ['optimism sepolia', 11_155_420, 1_024, 2_000],
  ['arbitrum sepolia', 421_614, 4_096, 250],
  ['linea sepolia', 59_141, 4_096, 2_000],
  ['polygon amoy', 80_002, 512, 2_000],
  ['avalanche fuji', 43_113, 16, 2_000],
  ['gnosis chiado', 10_200, 64, 5_000],
  ['hoodi', 560_048, 96, 12_000],
  ['holesky', 17_000, 96, 12_000, true],
]

/** Chains that the configuration may call by name or id alone. Requests accept those that are configured. */
const moreChains: readonly Chain[] = moreRows.map(([name, id, finalityDepth, blockTimeMs, retired = false]) => ({
  ...defineChain({ name, id }),
  finalityDepth,
  blockTimeMs,
  retired,
}))

/** The chains that need no settings but an endpoint. */
export const namedChains: readonly Chain[] = [...builtInChains, ...moreChains]

/** Those that still run. */
export const offeredChains: readonly Chain[] = namedChains.filter(({ retired }) => !retired)

/** A chain that the operator configures by name and id, with safe defaults for the rest. */
export function defineChain({ name, id }: { name: string; id: number }): Chain {
  // Those of Anvil, Hardhat, Ganache and `geth --dev`, which make a block when they are given work.
  const isDevelopment = id === 1_337 || id === 31_337
  return {
    id: id as ChainId,
    name,
    hexId: `0x${id.toString(16)}`,
    finalizedTag: true,
    finalityDepth: 128,
    finalDepthMin: 8,
    blockTimeMs: 2_000,
    ...(isDevelopment ? { headAgeMaxSeconds: 0 } : {}),
    retired: false,
    quirks: {},
  }
}

/** What an endpoint serves instead of its configured chain, and what to do about it. */
export function otherChain(id: number, expected: number): { serves: string; hint: string } {
  const actual = namedChains.find(chain => chain.id === id)
  return {
    serves: `serves chain ${id}${actual === undefined ? '' : ` (${actual.name})`}, not ${expected}`,
    hint: `check the URL, or name the chain ${actual?.name ?? id}.`,
  }
}

/** Common names of chains that have another name here. Requests accept only the names of the chain table. */
const commonNames: Readonly<Record<string, string>> = {
  ethereum: 'eth',
  mainnet: 'eth',
  'ethereum mainnet': 'eth',
  'eth mainnet': 'eth',
  matic: 'polygon',
  'polygon pos': 'polygon',
  bnb: 'bsc',
  binance: 'bsc',
  'bnb chain': 'bsc',
  'bnb smart chain': 'bsc',
  'binance smart chain': 'bsc',
  'bnb testnet': 'bsc testnet',
  avax: 'avalanche',
  'avalanche c-chain': 'avalanche',
  ftm: 'fantom',
  cro: 'cronos',
  arb: 'arbitrum',
  'arbitrum one': 'arbitrum',
  'base mainnet': 'base',
  op: 'optimism',
  'op mainnet': 'optimism',
  'op sepolia': 'optimism sepolia',
  'zora network': 'zora',
  'zksync era': 'zksync',
  era: 'zksync',
  xdai: 'gnosis',
  'gnosis chain': 'gnosis',
  chiado: 'gnosis chiado',
  'polygon zk evm': 'polygon zkevm',
  zkevm: 'polygon zkevm',
  nova: 'arbitrum nova',
  worldchain: 'world chain',
  bera: 'berachain',
  pulsechain: 'pulse',
  'chiliz chain': 'chiliz',
  amoy: 'polygon amoy',
  fuji: 'avalanche fuji',
}

/** A chain of the table by its name or id. */
export function namedChain(text: string): Chain | undefined {
  const meant = parseChainText(text)
  return namedChains.find(chain => ('id' in meant ? chain.id === meant.id : chain.name === meant.name))
}

/** The name here of a chain by a common name, in any case, with spaces, dashes or underscores. */
export function chainCommonlyCalled(name: string): string | undefined {
  const plain = (text: string) =>
    text
      .trim()
      .toLowerCase()
      .replace(/[\s_-]+/g, ' ')
  const common = Object.keys(commonNames).find(known => plain(known) === plain(name))
  if (common !== undefined) return commonNames[common]
  return namedChains.find(chain => plain(chain.name) === plain(name))?.name
}

/** The one of some chains that a mistyped name means, be it near to its name here or to a common one. */
export function nearestChain(text: string, names: readonly string[]): string | undefined {
  const common = new Map(Object.entries(commonNames).filter(([, name]) => names.includes(name)))
  const called = chainCommonlyCalled(text)
  if (called !== undefined && names.includes(called)) return called
  const nearest = nearestWord(text, [...names, ...common.keys()])
  return nearest && (common.get(nearest) ?? nearest)
}

/** A name in any case, a hex id in any case and padding, or a decimal id. */
export function parseChainText(text: string): { name: string } | { id: number } {
  const name = text.trim().toLowerCase()
  return /^(0x[0-9a-f]{1,32}|[0-9]{1,32})$/.test(name) ? { id: Number(name) } : { name }
}

/** Every chain that requests of this instance may name: the built-in chains, then the operator's own. */
export class ChainTable {
  readonly all: readonly Chain[]
  /** The one that a request means which names none. */
  readonly usual: Chain
  /** The operator's own. */
  readonly added: readonly Chain[]
  /** Those that the operator wants indexed, whether or not a node ever answered. */
  readonly configured: readonly Chain[]
  readonly #byName: Map<string, Chain>
  readonly #byId: Map<number, Chain>

  constructor(added: readonly Chain[] = [], configured: readonly string[] = []) {
    this.added = added
    this.all = [...builtInChains, ...added]
    this.usual = this.all[0]!
    this.configured = this.all.filter(({ name }) => configured.includes(name))
    this.#byName = new Map(this.all.map(chain => [chain.name.toLowerCase(), chain]))
    this.#byId = new Map(this.all.map(chain => [chain.id, chain]))
  }

  byId(id: number): Chain | undefined {
    return this.#byId.get(id)
  }

  parse(text: string): Chain | undefined {
    const meant = parseChainText(text)
    return 'id' in meant ? this.#byId.get(meant.id) : this.#byName.get(meant.name)
  }
}
