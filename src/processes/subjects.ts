// What one process can ask another one for, as a name in the store and back. Nothing is asked or done here.
import type { Address, ChainId, SolanaNetwork } from '../model.ts'

export type Subject =
  | { kind: 'contract'; chain: ChainId; contract: Address }
  | { kind: 'wallet'; chain: ChainId; wallet: Address }
  | { kind: 'portfolio'; network: SolanaNetwork; owner: Uint8Array }

export function evmTopic(chain: ChainId): string {
  return `evm/${chain}`
}

export function solanaTopic(network: SolanaNetwork): string {
  return `solana/${network}`
}

export function topicOf(subject: Subject): string {
  return subject.kind === 'portfolio' ? solanaTopic(subject.network) : evmTopic(subject.chain)
}

export function nameOf(subject: Subject): string {
  if (subject.kind === 'contract') return `contract/${subject.chain}/${subject.contract}`
  if (subject.kind === 'wallet') return `wallet/${subject.chain}/${subject.wallet}`
  return `portfolio/${subject.network}/${Buffer.from(subject.owner).toString('hex')}`
}

/** Undefined for a name that another version wrote. */
export function subjectOf(name: string): Subject | undefined {
  const [kind, where, what] = name.split('/') as [string, string, string]
  if (kind === 'contract') return { kind, chain: Number(where) as ChainId, contract: what as Address }
  if (kind === 'wallet') return { kind, chain: Number(where) as ChainId, wallet: what as Address }
  if (kind === 'portfolio') return { kind, network: where as SolanaNetwork, owner: Buffer.from(what, 'hex') }
  return undefined
}
