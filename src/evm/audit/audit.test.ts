// How often an audit reads the store, which decides how long it takes on a server.
import { expect, test } from 'vitest'
import { patienceMs, simulatedChain, temporaryStore } from '../../../test/evm-harness.ts'
import { startSimNode } from '../../../test/sim/node.ts'
import { expectedActivity } from '../../../test/sim/truth.ts'
import type { Address } from '../../model.ts'
import { syncRange } from '../index/sync-range.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { FullSource } from '../source/full-source.ts'
import { auditRange } from './audit.ts'
import { DifferenceList } from './compare.ts'

test('wallets with an end in the range are not read one by one; one that the store lacks is found', async () => {
  const node = await startSimNode({ chain: { height: 120, hashes: 'real', transactionsPerBlock: 4, logsPerCall: 2 } })
  const { store, remove } = await temporaryStore()
  const chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: [{ url: node.endpoints[0]!.url }], timeoutMs: 2_000 })
  const signal = AbortSignal.timeout(patienceMs)
  const interval = { from: 0, to: 39 }
  await syncRange({ chain, rpc, store, interval, scope: 'full', patienceMs }, signal)
  const read: Address[] = []
  const counting = new Proxy(store, {
    get: (target, name) => {
      if (name !== 'activityOf') return Reflect.get(target, name)
      return (address: Address) => {
        read.push(address)
        return target.activityOf(address)
      }
    },
  })
  const audit = async (from: number, to: number) => {
    const differences = new DifferenceList(10)
    const covered = await store.coverage(chain.id, 'full')
    const target = { interval: { from, to }, contract: undefined, covered, wallets: covered }
    const source = new FullSource(chain, rpc)
    await auditRange(target, { chain, store: counting, source, witnesses: [], differences }, signal)
    return { differences: differences.listed, read: read.splice(0) }
  }
  const wallets = expectedActivity(node.chain, interval)
  expect(wallets.size).toBeGreaterThan(20)
  expect(await audit(0, 39)).toEqual({ differences: [], read: [] })
  // Those that were active before and after it have both ends elsewhere.
  const within = await audit(15, 25)
  expect(within.differences).toEqual([])
  for (const address of within.read) {
    const { first, last } = wallets.get(address)!
    expect([first.block < 15, last.block > 25]).toEqual([true, true])
  }
  const [lost] = wallets.keys()
  await store.dropActivity(chain.id, [lost as Address])
  expect(await audit(0, 39)).toMatchObject({ differences: [{ kind: 'activity', address: lost }], read: [lost] })
  await rpc.close()
  await remove()
  await node.close()
})
