// The networks whose history comes in files, and the roots against which their headers are proven canonical: what the
// package has of each, and what the operator adds from a beacon node that is trusted. Never a root from a file itself.
import { builtInChains, type Chain, defineChain } from '../../chains.ts'
import { bytesOfHex, isHexOf } from '../../hex.ts'
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
  historicalRoots?: Buffer | undefined
  /** Block summary root and state summary root of each. */
  historicalSummaries?: Buffer | undefined
}

export const networks: readonly Network[] = [
  {
    name: 'mainnet',
    chain: chainOf('eth', 1),
    genesisHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    historicalRoots: 758,
    accumulator: once(mainnetAccumulator),
    mergeBlock: 15_537_394,
  },
  {
    name: 'sepolia',
    chain: chainOf('sepolia', 11_155_111),
    genesisHash: '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
    historicalRoots: 222,
    era1Checksums: once(sepoliaEra1Checksums),
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

/** An entry of a list of nodes. */
export function nodeOf(nodes: Buffer, index: number): Buffer | undefined {
  const at = index * nodeBytes
  return index >= 0 && at + nodeBytes <= nodes.length ? nodes.subarray(at, at + nodeBytes) : undefined
}

/**
 * `historical_roots` or `historical_summaries` as nodes of 32 bytes: from SSZ, or from the JSON of a beacon node.
 * Undefined where it is neither.
 */
export function readBeaconNodes(bytes: Buffer): Buffer | undefined {
  if (bytes[0] !== '{'.charCodeAt(0)) return bytes.length > 0 && bytes.length % nodeBytes === 0 ? bytes : undefined
  try {
    const answer = JSON.parse(bytes.toString('utf8')) as { data?: BeaconFields } & BeaconFields
    const { historical_roots: roots, historical_summaries: summaries } = answer.data ?? answer
    const pairs = summaries?.flatMap(each => [each.block_summary_root, each.state_summary_root])
    const nodes = pairs ?? roots
    return nodes?.every(node => isHexOf(node, nodeBytes)) ? Buffer.concat(nodes.map(bytesOfHex)) : undefined
  } catch {
    return undefined
  }
}

type BeaconFields = {
  historical_roots?: string[]
  historical_summaries?: { block_summary_root: string; state_summary_root: string }[]
}

function chainOf(name: string, id: number): Chain {
  return builtInChains.find(chain => chain.id === id) ?? defineChain({ name, id })
}

function once(text: string): () => Buffer {
  let bytes: Buffer | undefined
  return () => {
    bytes ??= Buffer.from(text, 'base64')
    return bytes
  }
}
