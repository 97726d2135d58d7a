import { expect, test } from 'vitest'
import { startSimNode } from '../../test/sim/node.ts'
import { ChainTable } from '../chains.ts'
import { connectChain } from './create-evm.ts'

test('the daily budget bounds what is asked of all endpoints together', async () => {
  const node = await startSimNode({ endpoints: [{}, {}] })
  const { rpc } = connectChain(
    'eth',
    { rpc: node.endpoints.map(({ url }) => url), dailyBudget: 8 },
    { chains: new ChainTable(), observer: { request: () => {}, hedge: () => {} } },
  )
  const { signal } = new AbortController()
  const ask = () => rpc.ask([{ method: 'eth_blockNumber', params: [] }], { signal })
  try {
    await expect(
      (async () => {
        for (let asked = 0; asked < 9; asked++) await ask()
      })(),
    ).rejects.toThrow()
    const calls = node.endpoints
      .flatMap(endpoint => [...endpoint.calls.values()])
      .reduce((sum, count) => sum + count, 0)
    expect(calls).toBeGreaterThan(2)
    expect(calls).toBeLessThanOrEqual(8)
  } finally {
    await rpc.close()
    await node.close()
  }
})
