// Proves that a header is canonical by what ere files carry for it: a branch of Merkle hashes from the block hash up to
// a root of the frozen accumulator (before the merge), of `historical_roots` or of `historical_summaries`.

import { rlpList } from '../proof/rlp-cursor.ts'
import { blocksPerEpoch } from './history-file.ts'
import { branchRoot, nodeBytes } from './merkle.ts'
import { type BeaconRoots, type Network, nodeOf } from './networks.ts'

const proofKinds = ['accumulator', 'historical-roots', 'historical-summaries'] as const
export type ProofKind = (typeof proofKinds)[number]

/** `unknown`: the root that it leads to is not at hand. */
export type ProofVerdict = { is: 'proven'; by: ProofKind } | { is: 'wrong' | 'unknown'; why: string }

export type ProvenHeader = { number: number; hash: string; isBeforeMerge: boolean }

/** `bytes`: a number for the kind of proof, and the proof in SSZ, as RLP. */
export function checkProof(
  bytes: Buffer,
  header: ProvenHeader,
  { network, roots }: { network: Network | undefined; roots: BeaconRoots },
): ProofVerdict {
  const fields = rlpList(bytes)
  const type = fields.number()
  const proof = Buffer.from(fields.string().content())
  fields.end()
  const form = forms[type]
  if (form === undefined) return { is: 'unknown', why: `its proof is of the unknown type ${type}` }
  if (proof.length !== form.bytes) return { is: 'wrong', why: `its proof of type ${type} has ${proof.length} bytes` }
  if (network === undefined) return { is: 'unknown', why: 'its network is not known' }
  const leaf = Buffer.from(header.hash.slice(2), 'hex')
  if (form.kind === 'accumulator') {
    const root = network.accumulator && nodeOf(network.accumulator(), Math.floor(header.number / blocksPerEpoch))
    if (root === undefined) return { is: 'unknown', why: `no accumulator of ${network.name} has its epoch` }
    return verdictOf('accumulator', branchRoot(leaf, proof, recordIndex(header.number)), root)
  }
  return checkBeaconProof(leaf, proof, form, network, roots)
}

type Form = { kind: ProofKind; beaconNodes: number; executionNodes: number; bytes: number }

const accumulatorNodes = 15
const beaconForm = (kind: ProofKind, beaconNodes: number, executionNodes: number): Form => ({
  ...{ kind, beaconNodes, executionNodes },
  // The branch to the beacon block, its root, the branch within it, and its slot.
  bytes: (beaconNodes + 1 + executionNodes) * nodeBytes + 8,
})

/** By their number in the format. */
const forms: readonly (Form | undefined)[] = [
  { kind: 'accumulator', beaconNodes: 0, executionNodes: 0, bytes: accumulatorNodes * nodeBytes },
  beaconForm('historical-roots', 14, 11),
  beaconForm('historical-summaries', 13, 11),
  // Blobs doubled the places of a payload's fields.
  beaconForm('historical-summaries', 13, 12),
]

/** The hash of a header among the records of its epoch: below the list, its 8,192 places, and two fields each. */
function recordIndex(number: number): number {
  return 4 * blocksPerEpoch + 2 * (number % blocksPerEpoch)
}

/** The block hash below a beacon block: body, execution payload, block hash. */
const hashIndex = (executionNodes: number): number => (12 * 16 + 9) * 2 ** (executionNodes - 7) + 12

function checkBeaconProof(
  leaf: Buffer,
  proof: Buffer,
  { kind, beaconNodes, executionNodes }: Form,
  network: Network,
  { historicalRoots, historicalSummaries }: BeaconRoots,
): ProofVerdict {
  const rootAt = beaconNodes * nodeBytes
  const beaconRoot = proof.subarray(rootAt, rootAt + nodeBytes)
  const slotAt = rootAt + nodeBytes + executionNodes * nodeBytes
  const computed = branchRoot(leaf, proof.subarray(rootAt + nodeBytes, slotAt), hashIndex(executionNodes))
  if (!computed.equals(beaconRoot)) return { is: 'wrong', why: 'its proof leads to another beacon block' }
  const slot = Number(proof.readBigUInt64LE(slotAt))
  const epoch = Math.floor(slot / blocksPerEpoch)
  const place = slot % blocksPerEpoch
  if (kind === 'historical-roots') {
    const root = historicalRoots && nodeOf(historicalRoots, epoch)
    if (root === undefined) return { is: 'unknown', why: `historical_roots has no entry ${epoch}` }
    // Block roots are the first half of what an entry is the root of.
    return verdictOf(kind, branchRoot(beaconRoot, proof.subarray(0, rootAt), 2 * blocksPerEpoch + place), root)
  }
  const entry = epoch - network.historicalRoots
  const root = historicalSummaries && nodeOf(historicalSummaries, 2 * entry)
  if (root === undefined) return { is: 'unknown', why: `historical_summaries has no entry ${entry}` }
  return verdictOf(kind, branchRoot(beaconRoot, proof.subarray(0, rootAt), blocksPerEpoch + place), root)
}

function verdictOf(by: ProofKind, computed: Buffer, root: Buffer): ProofVerdict {
  if (computed.equals(root)) return { is: 'proven', by }
  return {
    is: 'wrong',
    why: `its proof leads to the root ${computed.toString('hex')}, known is ${root.toString('hex')}`,
  }
}
