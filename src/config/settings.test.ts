import { describe, expect, test } from 'vitest'
import { allLeaves, flagOf, variableOf } from './overrides.ts'
import { schemaAt } from './setting.ts'
import { parseListen, settingsSchema } from './settings.ts'

describe('the table of settings', () => {
  test.each(allLeaves.map(leaf => [leaf.path.join('.'), leaf] as const))(
    '%s is spelled, described and preset as all are',
    (name, { path, about, accepts, defaultValue }) => {
      for (const part of path) expect(part).toMatch(/^([a-z]+(_[a-z]+)*|<name>)$/)
      expect(about, name).toMatch(/^[A-Z`].*\.$/)
      // It completes "accepted: …."
      expect(accepts, name).toMatch(/^[^A-Z].*[^.]$/)
      if (defaultValue !== undefined)
        expect(schemaAt(settingsSchema, path)!.parse(defaultValue), name).toEqual(defaultValue)
    },
  )

  test('no two settings share a variable or a flag', () => {
    for (const names of [allLeaves.map(({ path }) => variableOf(path)), allLeaves.map(({ path }) => flagOf(path))])
      expect(new Set(names).size).toBe(names.length)
  })

  test('an empty file is the defaults of the table', () => {
    const config = settingsSchema.parse({})
    expect(config).toMatchObject({ listen: '127.0.0.1:8080', store: 'file:./almanac.db', opsOpen: false })
    expect([config.chains, config.solana]).toEqual([{}, {}])
  })

  test('a chain has the defaults of the table too', () => {
    const { chains } = settingsSchema.parse({ chains: { eth: { rpc: 'http://a' } } })
    const usual = {
      backfill: { paused: false },
      index: 'on-demand',
      contracts: [],
      from: 0,
      senderSample: 2_000,
    }
    expect(chains.eth).toEqual({ rpc: ['http://a'], ...usual })
  })
})

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  [':0', { host: '0.0.0.0', port: 0 }],
  ['[::1]:65535', { host: '::1', port: 65_535 }],
  ['almanac.example:80', { host: 'almanac.example', port: 80 }],
])('%s', (text, address) => {
  expect(parseListen(text)).toEqual(address)
})

test.each(['', '8080', 'a:', ':65536', '::1:80', '[::1]', 'http://a:80', 'a b:80', 'a:80:90', 'a:-1', 'a:1e3'])(
  '%j is none',
  text => {
    expect(parseListen(text)).toBeUndefined()
  },
)
