// Which Solana nodes the tests can have on this machine.
import { hasSurfpool, type SolanaNode, startSurfpool } from '../sandbox/src/solana-node.ts'
import { startProgramNode } from './solana-program-node.ts'

export type { SolanaNode }

export const solanaNodes: readonly { name: string; start: (() => Promise<SolanaNode>) | undefined }[] = [
  { name: 'the real programs behind a small node', start: startProgramNode },
  { name: 'Surfpool', start: hasSurfpool ? startSurfpool : undefined },
]
