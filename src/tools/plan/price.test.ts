// What calls cost, as a plan says it.
import { expect, test } from 'vitest'
import { parsePrice, pricedCalls, priceText } from './price.ts'

test('the calls of each chain and of all cost what a million of them cost', () => {
  const priced = pricedCalls(5, { eth: 46_000_000, polygon: 1_500_000 })
  expect(priced).toEqual({ per_million_calls: 5, total: 237.5, chains: { eth: 230, polygon: 7.5 } })
  expect(priceText(priced)).toBe('Cost at 5 per million calls: about 237.50: eth 230.00, polygon 7.50.')
  expect(priceText(priced, { areSummed: false })).toBe('Cost at 5 per million calls: about eth 230.00, polygon 7.50.')
  expect(priceText(pricedCalls(0.45, { eth: 4_200_000_000 }))).toBe('Cost at 0.45 per million calls: about 1,890.00.')
  expect(priceText(pricedCalls(1, { eth: 300 }))).toBe('Cost at 1 per million calls: about 0.01 or less.')
})

test.each(['', '0', '-1', '$5', '5,00', '1e3'])('a price of %j is refused', text => {
  expect(() => parsePrice(text)).toThrow('--price is')
})
