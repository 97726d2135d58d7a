// Bait and imitation in names are counted, and ordinary names are left alone. No verdict is judged.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import { invisibleCount, type NameEvidence, nameEvidence, skeletonOf, verifiedNamesOf } from './spam-names.ts'

const verified = verifiedNamesOf(['Bored Ape Yacht Club', 'CryptoPunks', 'Azuki', 'Doodles'])
const evidence = (name: string, symbol = '') => nameEvidence({ name, symbol }, verified)
/** The names of what was found. */
const found = (name: string, symbol = '') =>
  (Object.entries(evidence(name, symbol)) as [keyof NameEvidence, number][])
    .filter(([, value]) => value > 0)
    .map(([key]) => key)

describe('lures', () => {
  test.each([
    ['Claim rewards at eth-drop.com'],
    ['$1000 USDC - visit usdc-gift.xyz'],
    ['Voucher 5000 USDT, redeem now'],
    ['ETH airdrop https://x.y'],
    ['领取空投 eth2.vip'],
    ['Получите награду на site.ru'],
    ['Reclama tu premio en premio.site'],
    ['에어드랍 받기 drop.io'],
    ['C\u200blaim your prize at apes\u2024com'],
    ['\uff23\uff4c\uff41\uff49\uff4d your 2 ETH'],
  ])('%s', name => expect(found(name)).toContain('lureInName'))

  test.each([
    ...[
      ['Free Punks'],
      ['Rewards Club'],
      ['vitalik.eth'],
      ['Nouns'],
      ['Chapter No.1'],
      ['Version 2.0'],
      ['Lucky Cats'],
    ],
    ...[
      ['The Gift of Time'],
      ['nouns.wtf'],
      ['0xmons.xyz'],
      ['Reclaimed Woods'],
      ['Swapmeet'],
      ['$PRITE'],
      ['Ether.Cards'],
    ],
  ])('%s is not a lure', name => expect(found(name)).not.toContain('lureInName'))
})

describe('imitation', () => {
  test.each([
    ['Bored Аpe Yacht Club'],
    ['B0red Ape Yacht Club'],
    ['Bored Ape\u200b Yacht Club'],
    ['CryptοPunks'],
    ['Cryptopunκs'],
    ['Azukı'],
    ['ＡＺＵＫＩ'],
    ['Doodles\u3164'],
  ])('%s looks like a verified collection', name => expect(found(name)).toContain('looksLikeVerified'))

  test.each([['bored ape yacht club'], ['Crypto Punks'], ['AZUKI'], ['Azuki Airdrop'], ['Doodles (reward)']])(
    '%s is spelt like one',
    name => expect(found(name)).toContain('sameNameAsVerified'),
  )

  test.each([['Bored Ape Kennel Club'], ['Azuki Elementals'], ['Doodads'], ['Punks'], ['']])('%s is neither', name => {
    expect(found(name)).not.toContain('looksLikeVerified')
    expect(found(name)).not.toContain('sameNameAsVerified')
  })
})

test('what cannot be seen is counted, emoji aside', () => {
  expect(invisibleCount('a\u200bb\u2060c\u3164')).toBe(3)
  expect(invisibleCount('family 👨‍👩‍👧 and 🏴‍☠️ ❤️')).toBe(0)
})

test('no name makes it fail, and a likeness is one both ways', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, symbol) => {
      for (const value of Object.values(evidence(name, symbol))) expect(Number.isFinite(value)).toBe(true)
      if (skeletonOf(name).length < 5) return
      const { sameNameAsVerified } = nameEvidence({ name, symbol }, verifiedNamesOf([name]))
      expect(sameNameAsVerified).toBe(1)
    }),
    { numRuns: propertyRuns(200) },
  )
})
