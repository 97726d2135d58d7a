import { expect, test } from 'vitest'
import { settingChanges, withReloadable } from './changes.ts'
import { settingsSchema } from './settings.ts'

const rpc = ['http://127.0.0.1:1']
const configOf = (given: object) => settingsSchema.parse(given)

test('what changed is named by what it takes, and a chain that came or went as a whole', () => {
  const before = configOf({ chains: { eth: { rpc }, bsc: { rpc } }, solana: { mainnet: { rpc } } })
  const after = configOf({
    chains: {
      eth: { rpc: ['http://127.0.0.1:2'], index: 'full', backfill: { hours: '22:00-06:00' } },
      base_2: { rpc },
    },
    solana: { mainnet: { rpc, requests_per_second: 5, ws: 'ws://127.0.0.1:3' } },
    limits: { page_size_max: 50 },
  })
  expect(settingChanges(before, before)).toEqual({ reloadable: [], needRestart: [] })
  expect(settingChanges(before, after)).toEqual({
    reloadable: ['chains.eth.rpc', 'chains.eth.backfill.hours', 'solana.mainnet.requests_per_second'],
    needRestart: ['chains.bsc', 'chains.base_2', 'chains.eth.index', 'solana.mainnet.ws', 'limits.page_size_max'],
  })
  const running = withReloadable(before, after)
  expect(running.chains.eth).toMatchObject({ rpc: ['http://127.0.0.1:2'], index: 'on-demand' })
  expect([Object.keys(running.chains), running.limits.pageSizeMax]).toEqual([['eth', 'bsc'], 100])
  // What was taken is not named again, and what was not is.
  expect(settingChanges(running, after).reloadable).toEqual([])
  expect(settingChanges(running, after).needRestart).toContain('limits.page_size_max')
})

test('sources of history are taken while it runs, and the first node of a chain is not', () => {
  const archive = configOf({ chains: { eth: { history: 'a', index: 'full' } } })
  const followed = configOf({ chains: { eth: { history: ['a', 'b'], rpc, index: 'full' } } })
  expect(settingChanges(archive, followed)).toEqual({
    reloadable: ['chains.eth.history'],
    needRestart: ['chains.eth.rpc'],
  })
  expect(withReloadable(archive, followed).chains.eth).toMatchObject({ history: ['a', 'b'], rpc: [] })
  expect(withReloadable(followed, archive).chains.eth).toMatchObject({ history: ['a'], rpc })
})
