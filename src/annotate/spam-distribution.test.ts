// The numbers of how tokens reached their holders, on small made-up histories. No verdict is judged.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Address, type Hash, type SentBy, zeroAddress } from '../model.ts'
import { distributionEvidence, noDistribution, type SampledTransfer } from './spam-distribution.ts'

const address = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address
const transaction = (index: number) => `0x${index.toString(16).padStart(64, '0')}` as Hash
const row = (changes: Partial<SampledTransfer> & { sentBy?: SentBy } = {}): SampledTransfer => ({
  ...{ from: zeroAddress, to: address(1), tokenId: 1n, value: 0n, transactionHash: transaction(1), timestamp: 0 },
  ...changes,
})
const times = (count: number, make: (index: number) => SampledTransfer) =>
  Array.from({ length: count }, (_, at) => make(at))

test('an airdrop in two batches', () => {
  const rows = times(100, at => row({ to: address(at + 1), sentBy: 'other', transactionHash: transaction(at % 2) }))
  expect(distributionEvidence(rows, 36_000)).toEqual({
    ...{ unsolicitedShare: 1, solicitedShare: 0, recipients: 100, burstRecipients: 100, recipientsPerTransaction: 50 },
    ...{ oneEachShare: 1, zeroValueShare: 1, sameTokenShare: 1, respondedShare: 0, quietHours: 10 },
  })
})

test('a mint that people pay for', () => {
  const rows = times(10, at => row({ to: address(at + 1), sentBy: 'recipient', value: 5n, tokenId: BigInt(at) }))
  expect(distributionEvidence(rows, 0)).toEqual({ ...noDistribution, solicitedShare: 1 })
})

test('the source with most gifts is looked at; others are not its doing', () => {
  const gifts = times(6, at => row({ from: address(50), to: address(at + 1), sentBy: 'giver' }))
  const sales = times(4, at => row({ from: address(at + 1), to: address(60 + at), sentBy: 'giver' }))
  const evidence = distributionEvidence([...gifts, ...sales], 0)
  expect(evidence.unsolicitedShare).toBe(0.6)
  expect(evidence.recipients).toBe(6)
  expect(evidence.respondedShare).toBeCloseTo(4 / 6)
})

test('the busiest hour is found', () => {
  const rows = [0, 1_000, 3_000, 5_000, 5_500, 6_000, 20_000].map((timestamp, at) =>
    row({ to: address(at + 1), sentBy: 'other', timestamp }),
  )
  expect(distributionEvidence(rows, 0).burstRecipients).toBe(4)
})

test('burns and rows of unknown senders say nothing', () => {
  expect(distributionEvidence([row(), row({ to: zeroAddress, from: address(2), sentBy: 'giver' })], 0)).toEqual(
    noDistribution,
  )
})

test('shares are between 0 and 1, and the order of rows does not matter', () => {
  const drawn = fc.record({
    from: fc.nat(6).map(address),
    to: fc.nat(6).map(address),
    tokenId: fc.bigInt(0n, 3n),
    value: fc.bigInt(0n, 1n),
    transactionHash: fc.nat(4).map(transaction),
    timestamp: fc.nat(20_000),
    sentBy: fc.constantFrom('recipient' as const, 'giver' as const, 'other' as const),
  })
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 40 }), rows => {
      const evidence = distributionEvidence(rows, 30_000)
      for (const [name, value] of Object.entries(evidence)) {
        expect(value, name).toBeGreaterThanOrEqual(0)
        if (name.endsWith('Share')) expect(value, name).toBeLessThanOrEqual(1)
      }
      expect(evidence.burstRecipients).toBeLessThanOrEqual(evidence.recipients)
    }),
  )
})
