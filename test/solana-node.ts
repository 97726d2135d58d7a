// What a Solana node for tests offers, and which ones can be had on this machine.
import { startProgramNode } from './solana-program-node.ts'
import { hasSurfpool, startSurfpool } from './solana-surfpool.ts'

export type SolanaNode = {
  rpcUrl: string
  wsUrl: string
  /** Gives an address lamports out of nothing. */
  fund(address: string, lamports: number): Promise<void>
  /** Writes an account as it is, whatever a program would say. */
  setAccount(address: string, account: { lamports: number; data: Uint8Array; program: string }): Promise<void>
  /** Lets the chain's clock say a moment, in unix seconds. */
  travelTo(unixTimestamp: number): Promise<void>
  stop(): Promise<void>
}

export const solanaNodes: readonly { name: string; start: (() => Promise<SolanaNode>) | undefined }[] = [
  { name: 'the real programs behind a small node', start: startProgramNode },
  { name: 'Surfpool', start: hasSurfpool ? startSurfpoolNode : undefined },
]

async function startSurfpoolNode(): Promise<SolanaNode> {
  const surfpool = await startSurfpool()
  return {
    rpcUrl: surfpool.rpcUrl,
    wsUrl: surfpool.wsUrl,
    fund: async (address, lamports) => void (await surfpool.control('fundSol', address, lamports)),
    setAccount: async (address, { lamports, data, program }) =>
      void (await surfpool.control('setAccount', address, lamports, [...data], program)),
    travelTo: async unixTimestamp => void (await surfpool.control('timeTravelToTimestamp', unixTimestamp * 1_000)),
    stop: () => surfpool.stop(),
  }
}
