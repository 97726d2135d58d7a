// What counts as pasted: whole addresses and hashes, and no question.
import { expect, test } from 'vitest'
import { lookUpText, pastedKind } from './pasted.ts'

test('addresses and hashes are known by their form, and questions are none', () => {
  expect(pastedKind(' 0x8464135c8F25Da09e49BC8782676a84730C318bC ')).toBe('an address')
  expect(pastedKind(`0x${'ab'.repeat(32)}`)).toBe('a hash')
  expect(pastedKind('8auSoPVSFzyyEV6svsGAF37kGcZ5e2gZq98bevt5GNF5')).toBe('a Solana address')
  for (const asked of [
    '',
    'owners of 0x8464135c8f25da09e49bc8782676a84730c318bc',
    '0x8464',
    'getNFTContractTransfersFromToBlocks',
  ])
    expect([asked, pastedKind(asked)]).toEqual([asked, undefined])
})

test('an address can be explained, a hash only looked up', () => {
  expect(lookUpText('an address')).toContain('`almanac explain <chain> <address>`')
  for (const kind of ['a hash', 'a Solana address']) expect(lookUpText(kind)).not.toContain('almanac explain')
})
