// Starts the local Solana node that this machine can run: Surfpool where its package loads (Linux x64, macOS),
// otherwise the token programs in a small node of our own, where litesvm loads.
import { join } from 'node:path'
import { type DrivenProcess, startDriven } from './driven-process.ts'
import { loads, type NodePackages } from './installed.ts'

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

// The package exists for two platforms. Elsewhere SURFPOOL_NODE can name a Node that runs it in an emulator, and
// SURFPOOL_MODULE its file.
const surfpoolPackages = ['@solana/surfpool-linux-x64-gnu', '@solana/surfpool-darwin-arm64']
const surfpoolModule = process.env.SURFPOOL_MODULE ?? surfpoolPackages.find(name => loads(name))

/** Installed where Surfpool has no package; on another machine one may be there for other reasons. */
const litesvmPackages = ['linux-arm64-gnu', 'darwin-x64', 'linux-x64-gnu', 'darwin-arm64'].map(
  name => `litesvm-${name}`,
)
export const litesvmPackage = litesvmPackages.find(name => loads(name))

export const solanaPackages: NodePackages = {
  called: 'Surfpool or litesvm',
  names: [...surfpoolPackages, ...litesvmPackages],
  platforms: ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64'],
}

export type SolanaNodeKind = 'surfpool' | 'litesvm'

export const hasSurfpool = surfpoolModule !== undefined

/** Undefined where no node runs on this machine. */
export const solanaNodeKind: SolanaNodeKind | undefined = hasSurfpool
  ? 'surfpool'
  : litesvmPackage !== undefined
    ? 'litesvm'
    : undefined

export type SolanaNodeOptions = {
  /** By default what is usual for the node. */
  firstSlot?: number | undefined
  /** How long a slot takes; by default what is usual for the node. */
  slotMs?: number | undefined
}

export async function startSolanaNode(options: SolanaNodeOptions = {}): Promise<SolanaNode> {
  if (solanaNodeKind === undefined) throw new Error('no Solana node runs on this machine')
  return solanaNodeKind === 'surfpool' ? await startSurfpool(options) : await startProgramProcess(options)
}

export async function startSurfpool({ firstSlot, slotMs }: SolanaNodeOptions = {}): Promise<SolanaNode> {
  const file = processFile('solana-surfpool-process')
  const settings = { module: surfpoolModule, config: { offline: true, slotTimeMs: slotMs }, firstSlot }
  const command = [process.env.SURFPOOL_NODE ?? process.execPath, file, JSON.stringify(settings)]
  const node = await startDriven<{ rpcUrl: string; wsUrl: string }>(command, 'Surfpool')
  return {
    ...offered(node),
    fund: async (address, lamports) => void (await node.call('fundSol', address, lamports)),
    setAccount: async (address, { lamports, data, program }) =>
      void (await node.call('setAccount', address, lamports, [...data], program)),
    travelTo: async unixTimestamp => void (await node.call('timeTravelToTimestamp', unixTimestamp * 1_000)),
  }
}

async function startProgramProcess(options: SolanaNodeOptions): Promise<SolanaNode> {
  const command = [process.execPath, processFile('solana-program-process'), JSON.stringify(options)]
  const node = await startDriven<{ rpcUrl: string; wsUrl: string }>(command, 'the Solana node')
  return {
    ...offered(node),
    fund: async (address, lamports) => void (await node.call('fund', address, lamports)),
    setAccount: async (address, { lamports, data, program }) =>
      void (await node.call('setAccount', address, { lamports, data: [...data], program })),
    travelTo: async unixTimestamp => void (await node.call('travelTo', unixTimestamp)),
  }
}

function offered(
  node: DrivenProcess<{ rpcUrl: string; wsUrl: string }>,
): Pick<SolanaNode, 'rpcUrl' | 'wsUrl' | 'processId' | 'stop'> {
  const { first, processId } = node
  return { rpcUrl: first.rpcUrl, wsUrl: first.wsUrl, processId, stop: () => node.stop() }
}

function processFile(name: string): string {
  return join(import.meta.dirname, `${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`)
}
