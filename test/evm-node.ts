// A real EVM node for a test, on `eth`'s id, with blocks of twelve seconds whatever the clock says, and with reorganisations.
import type { Hex } from 'ox/Hex'
import { type EvmNode as SandboxNode, startEvmNode as startSandboxNode } from '../sandbox/src/evm-node.ts'

export type EvmNode = Omit<SandboxNode, 'mine' | 'mineEmpty'> & {
  /** Mines a block of these signed transactions, in their order. */
  mine(transactions: readonly Hex[]): Promise<void>
  /** Replaces as many of the newest blocks as are given. */
  reorganise(blocks: readonly (readonly Hex[])[]): Promise<void>
  /** Takes back every block above this one. */
  rewind(to: number): Promise<void>
}

const genesisTimestamp = 1_700_000_000
const blockTimeSeconds = 12

export async function startEvmNode(): Promise<EvmNode> {
  const node = await startSandboxNode({ chainId: 1, genesisTimestamp })
  const ask: EvmNode['ask'] = (method, ...params) => node.ask(method, ...params)
  /** By the head at which it was taken: the node has no call for reorganisations. */
  const snapshots = new Map<number, unknown>()
  const mine: EvmNode['mine'] = async transactions => {
    const head = (await ask('eth_getBlockByNumber', 'latest', false)) as { number: Hex; timestamp: Hex }
    snapshots.set(Number(head.number), await ask('evm_snapshot'))
    await node.mine(transactions, Number(head.timestamp) + blockTimeSeconds)
  }
  const rewind: EvmNode['rewind'] = async to => {
    if (Number(await ask('eth_blockNumber')) === to) return
    if ((await ask('evm_revert', snapshots.get(to))) !== true) throw new Error(`cannot go back to block ${to}`)
  }
  return {
    chainId: node.chainId,
    url: node.url,
    ask,
    mine,
    rewind,
    async reorganise(blocks) {
      await rewind(Number(await ask('eth_blockNumber')) - blocks.length)
      for (const transactions of blocks) await mine(transactions)
    },
    stop: () => node.stop(),
  }
}
