// Starts a local Solana node: the real token programs in a small node of our own, in a process of its own.
import { join } from 'node:path'
import { startDriven } from './driven-process.ts'
import { loads, packageNames } from './installed.ts'

export type SolanaNode = {
  rpcUrl: string
  wsUrl: string
  /** Where it has a process of its own. */
  processId?: number | undefined
  /** Adds lamports to an address. */
  fund(address: string, lamports: number): Promise<void>
  /** Writes an account directly, past its program. */
  setAccount(address: string, account: { lamports: number; data: Uint8Array; program: string }): Promise<void>
  /** Sets the chain's clock, in unix seconds. */
  travelTo(unixTimestamp: number): Promise<void>
  stop(): Promise<void>
}

/** Undefined where none loads. */
export const litesvmPackage = packageNames('litesvm').find(loads)

export type SolanaNodeOptions = {
  /** By default what is usual for the node. */
  firstSlot?: number | undefined
  /** How long a slot takes; by default what is usual for the node. */
  slotMs?: number | undefined
}

export async function startSolanaNode(options: SolanaNodeOptions = {}): Promise<SolanaNode> {
  if (litesvmPackage === undefined) throw new Error('no Solana node runs on this machine')
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const file = join(import.meta.dirname, `solana-program-process.${extension}`)
  const command = [process.execPath, file, JSON.stringify(options)]
  const node = await startDriven<{ rpcUrl: string; wsUrl: string }>(command, 'the Solana node')
  return {
    ...{ ...node.first, processId: node.processId, stop: () => node.stop() },
    fund: async (address, lamports) => void (await node.call('fund', address, lamports)),
    setAccount: async (address, { lamports, data, program }) =>
      void (await node.call('setAccount', address, { lamports, data: [...data], program })),
    travelTo: async unixTimestamp => void (await node.call('travelTo', unixTimestamp)),
  }
}
