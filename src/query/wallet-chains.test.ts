// A wallet is complete on a chain where the whole chain is indexed and nothing had to be taken back of it.
import { expect, test } from 'vitest'
import { temporaryStore } from '../../test/evm-harness.ts'
import { ChainTable } from '../chains.ts'
import type { Address, ChainId, Hash } from '../model.ts'
import { setActivityGap } from '../store/activity-gaps.ts'
import { packActivity } from '../store/packed-activity.ts'
import { WalletChains } from './wallet-chains.ts'

test.each([
  [['receipts-root', 'receipts-root'], 'one-endpoint'],
  [['receipts-root', 'two-endpoints'], 'one-endpoint'],
  [['two-endpoints', 'two-endpoints'], 'two-endpoints'],
] as const)('of senders, blocks known by %s are %s', async ([below, above], evidence) => {
  const { store, remove } = await temporaryStore()
  try {
    const table = new ChainTable([])
    const { id: chain } = table.parse('eth')!
    const head = { number: 9, hash: `0x${'9'.repeat(64)}` as Hash, timestamp: 90 }
    const covered = [
      { from: 0, to: 4, evidence: below, scope: 'full' },
      { from: 5, to: 9, evidence: above, scope: 'full' },
    ] as const
    await store.commitCold({ chain, covered, blocks: [head], transfers: [], activity: packActivity([]) })
    await store.putChainState(chain, { head })
    const wallet = `0x${'1'.repeat(40)}` as Address
    const options = { key: undefined, freshen: undefined, freshenWaitMs: 0 }
    const wallets = new WalletChains(store, table)
    expect((await wallets.answer({ wallet, chains: undefined }, options as never)).evidence).toBe(evidence)
  } finally {
    await remove()
  }
})

test('a wallet with a gap is incomplete on that chain, and no other wallet is', async () => {
  const { store, remove } = await temporaryStore()
  try {
    const table = new ChainTable([])
    const eth = table.parse('eth')!
    const [wallet, other] = ['1', '2'].map(digit => `0x${digit.repeat(40)}` as Address) as [Address, Address]
    const head = { number: 9, hash: `0x${'9'.repeat(64)}` as Hash, timestamp: 90 }
    const ref = { block: 5, transactionIndex: 0, hash: head.hash, timestamp: 50 }
    const activity = packActivity([wallet, other].map(address => ({ address, first: ref, last: ref })))
    const covered = [{ from: 0, to: 9, evidence: 'bloom', scope: 'full' }] as const
    await store.commitCold({ chain: eth.id, covered, blocks: [head], transfers: [], activity })
    await store.putChainState(eth.id, { head })
    const wallets = new WalletChains(store, table)
    const incomplete = async (asked: Address): Promise<ChainId[]> => {
      const options = { key: undefined, freshen: undefined, freshenWaitMs: 0 }
      const answer = await wallets.answer({ wallet: asked, chains: undefined }, options as never)
      return answer.incomplete.map(({ id }) => id)
    }
    expect(await incomplete(wallet)).toEqual([])
    await setActivityGap(store, eth.id, wallet, Infinity)
    expect(await incomplete(wallet)).toEqual([eth.id])
    expect(await incomplete(other)).toEqual([])
    await setActivityGap(store, eth.id, wallet, undefined)
    expect(await incomplete(wallet)).toEqual([])
    // Closed by a transaction above the block up to which some may be missing.
    await setActivityGap(store, eth.id, wallet, 5)
    expect(await incomplete(wallet)).toEqual([eth.id])
    await setActivityGap(store, eth.id, wallet, 4)
    expect(await incomplete(wallet)).toEqual([])
  } finally {
    await remove()
  }
})
