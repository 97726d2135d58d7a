import { expect, test } from 'vitest'
import { builtInChains, chainCommonlyCalled, namedChain, namedChains, offeredChains, otherChain } from './chains.ts'

test('no two chains share a name or an id, and names are those that the configuration accepts', () => {
  expect(new Set(namedChains.map(({ id }) => id)).size).toBe(namedChains.length)
  expect(new Set(namedChains.map(({ name }) => name)).size).toBe(namedChains.length)
  for (const { name } of namedChains) expect(name).toMatch(/^[a-z][a-z0-9 _-]{0,31}$/)
  expect(builtInChains).toHaveLength(12)
  expect(offeredChains.length).toBeGreaterThan(40)
})

test('networks that no longer run are known and not offered', () => {
  const retired = namedChains.filter(chain => chain.retired).map(({ name }) => name)
  expect(retired).toEqual(['goerli', 'mumbai', 'holesky'])
  for (const name of retired) expect(offeredChains.map(chain => chain.name)).not.toContain(name)
})

test.each([
  ['8453', 'base'],
  ['0x2105', 'base'],
  ['0XA4B1', 'arbitrum'],
  ['Optimism', 'optimism'],
  ['324', 'zksync'],
])('%s is %s', (text, name) => {
  expect(namedChain(text)?.name).toBe(name)
})

test.each([
  ['zksync-era', 'zksync'],
  ['OP Mainnet', 'optimism'],
  ['xDai', 'gnosis'],
  ['worldchain', 'world chain'],
  ['base_sepolia', 'base sepolia'],
  ['8453', undefined],
])('%s is commonly called %s', (text, name) => {
  expect(chainCommonlyCalled(text)).toBe(name)
})

test('an endpoint of another chain is told by the name of that chain', () => {
  expect(otherChain(8453, 10)).toEqual({
    serves: 'serves chain 8453 (base), not 10',
    hint: 'check the URL, or name the chain base.',
  })
})

test('a form of headers is only known of chains of which a header was recorded', () => {
  const added = namedChains.filter(({ name }) => !builtInChains.some(chain => chain.name === name))
  for (const { quirks } of added) expect(quirks).toEqual({})
})
