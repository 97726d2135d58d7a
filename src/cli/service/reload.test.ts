import { expect, test } from 'vitest'
import type { LoadedConfig } from '../../config/load.ts'
import { type Config, settingsSchema } from '../../config/settings.ts'
import { createLog } from '../../log.ts'
import { Reloader } from './reload.ts'

test('what was applied in part is taken back by the configuration of before', async () => {
  const loadedOf = (url: string): LoadedConfig =>
    ({ config: settingsSchema.parse({ chains: { eth: { rpc: [url] } } }), warnings: [] }) as never
  const [before, after] = [loadedOf('http://127.0.0.1:1'), loadedOf('http://127.0.0.1:2')]
  const applied: unknown[] = []
  let [file, fails] = [after, true]
  const apply = async ({ chains }: Config) => {
    applied.push(chains.eth?.rpc)
    if (fails) throw new Error('the store is gone')
  }
  const log = createLog({ level: 'silent', format: 'text' })
  const reloader = new Reloader({ loaded: before, load: () => file, log, apply })
  await expect(reloader.reload()).rejects.toThrow('the store is gone')
  file = before
  fails = false
  await reloader.reload()
  await reloader.reload()
  expect(applied).toEqual([['http://127.0.0.1:2'], ['http://127.0.0.1:1']])
})
