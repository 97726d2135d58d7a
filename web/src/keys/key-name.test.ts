import { expect, test } from 'vitest'
import { keyNameOf } from './key-name.ts'

test('the key that the sandbox brings is called what it is, and every other key by its name', () => {
  expect(keyNameOf('ALMANAC_KEY', { sandbox: true })).toBe('key of the sandbox')
  expect(keyNameOf('shop', { sandbox: true })).toBe('shop')
  expect([{}, undefined].map(service => keyNameOf('ALMANAC_KEY', service))).toEqual(['ALMANAC_KEY', 'ALMANAC_KEY'])
})
