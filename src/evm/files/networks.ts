// The networks whose history comes in files, and the roots against which their headers are proven canonical: what the
// package has of each, and what the operator adds from a beacon node that is trusted. Never a root from a file itself.
import { builtInChains, type Chain, defineChain } from '../../chains.ts'
import { bytesOfHex, isHexOf } from '../../hex.ts'
import { ledgerOf } from '../../ledgers.ts'
import { once } from '../../once.ts'
import { mainnetAccumulator, sepoliaEra1Checksums } from './frozen-roots.gen.ts'
import { nodeBytes } from './merkle.ts'

export type Network = {
  /** As file names have it. */
  name: string
  chain: Chain
  genesisHash: string
  /** How many entries `historical_roots` has: `historical_summaries` continues it. */
  historicalRoots: number
  /** The roots of epochs before the merge, one after another. */
  accumulator?: () => Buffer
  /** The first block after the merge, where the accumulator ends. */
  mergeBlock?: number
  /** The SHA-256 of era1 files, one after another. */
  era1Checksums?: () => Buffer
}

/** Of a beacon state, as the operator gives them: nodes of 32 bytes, one after another. */
export type BeaconRoots = {
  historicalRoots?: Uint8Array | undefined
  /** Block summary root and state summary root of each. */
  historicalSummaries?: Uint8Array | undefined
}

export const networks: readonly Network[] = [
  {
    name: 'mainnet',
    chain: chainOf('eth', 1),
    genesisHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    historicalRoots: 758,
    accumulator: once(() => Buffer.from(mainnetAccumulator, 'base64')),
    mergeBlock: 15_537_394,
  },
  {
    name: 'sepolia',
    chain: chainOf('sepolia', 11_155_111),
    genesisHash: '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
    historicalRoots: 222,
    era1Checksums: once(() => Buffer.from(sepoliaEra1Checksums, 'base64')),
  },
  {
    name: 'hoodi',
    chain: chainOf('hoodi', 560_048),
    genesisHash: '0xbbe312868b376a3001692a646dd2d7d1e4406380dfd86b98aa8a34d1557c971b',
    historicalRoots: 0,
  },
]

/** The network that a file's name begins with. */
export function networkOfName(fileName: string): Network | undefined {
  return networks.find(({ name }) => fileName.startsWith(`${name}-`))
}

export function networkOfChain(of: Pick<Chain, 'id'>): Network | undefined {
  const id = ledgerOf(of.id).chain
  return networks.find(({ chain }) => chain.id === id)
}

/** An entry of a list of nodes. */
export function nodeOf(nodes: Uint8Array, index: number): Buffer | undefined {
  const at = index * nodeBytes
  const isIn = index >= 0 && at + nodeBytes <= nodes.length
  return isIn ? Buffer.from(nodes.buffer, nodes.byteOffset + at, nodeBytes) : undefined
}

/**
 * `historical_roots` or `historical_summaries` as nodes of 32 bytes: from SSZ, or from the JSON of a beacon node.
 * Undefined where it is neither.
 */
export function readBeaconNodes(bytes: Buffer): Buffer | undefined {
  if (bytes[0] !== '{'.charCodeAt(0)) return bytes.length > 0 && bytes.length % nodeBytes === 0 ? bytes : undefined
  const lists = readJsonLists(bytes)
  return lists?.historicalSummaries ?? lists?.historicalRoots
}

/**
 * Whichever of both a file or an answer has; undefined if none. SSZ does not say which it is: `historical_roots` has
 * the length that it had at its last fork, for good.
 */
export function readBeaconLists(bytes: Buffer, network: Network | undefined): BeaconRoots | undefined {
  if (bytes[0] === '{'.charCodeAt(0)) return readJsonLists(bytes)
  const nodes = readBeaconNodes(bytes)
  if (nodes === undefined) return undefined
  const isRoots = nodes.length === (network?.historicalRoots ?? 0) * nodeBytes
  return isRoots ? { historicalRoots: nodes } : { historicalSummaries: nodes }
}

function readJsonLists(bytes: Buffer): Record<keyof BeaconRoots, Buffer | undefined> | undefined {
  try {
    const answer = JSON.parse(bytes.toString('utf8')) as { data?: BeaconFields } & BeaconFields
    const { historical_roots: roots, historical_summaries: summaries } = answer.data ?? answer
    const pairs = summaries?.flatMap(each => [each.block_summary_root, each.state_summary_root])
    const lists = { historicalRoots: nodesOf(roots), historicalSummaries: nodesOf(pairs) }
    return lists.historicalRoots === undefined && lists.historicalSummaries === undefined ? undefined : lists
  } catch {
    return undefined
  }
}

/** Undefined where there are none; throws where one is not a root. */
function nodesOf(nodes: readonly string[] | undefined): Buffer | undefined {
  if (nodes?.every(node => isHexOf(node, nodeBytes)) === false) throw new Error('not a root')
  return nodes && Buffer.concat(nodes.map(bytesOfHex))
}

type BeaconFields = {
  historical_roots?: string[]
  historical_summaries?: { block_summary_root: string; state_summary_root: string }[]
}

function chainOf(name: string, id: number): Chain {
  return builtInChains.find(chain => chain.id === id) ?? defineChain({ name, id })
}
