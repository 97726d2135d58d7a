// The small node around the real token programs, whose `jsonParsed` is the work of the official codec, so that it can be an oracle for ours.
import { getTokenDecoder } from '@solana-program/token-2022'
import type { SolanaNode } from '../sandbox/src/solana-node.ts'
import * as sandbox from '../sandbox/src/solana-program-node.ts'

export function startProgramNode(options: sandbox.ProgramNodeOptions = {}): Promise<SolanaNode> {
  return sandbox.startProgramNode({ parseTokenAccount, ...options })
}

function parseTokenAccount(data: Uint8Array): unknown {
  const { mint, owner, amount, state } = getTokenDecoder().decode(data)
  const info = { mint, owner, tokenAmount: { amount: String(amount) }, state: ['', 'initialized', 'frozen'][state] }
  return { parsed: { type: 'account', info } }
}
