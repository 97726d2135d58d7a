// The contract of the examples, which must not change with the traffic.
import { expect, test } from 'vitest'
import { steadyContract } from './steady-contract.ts'

const contract = (address: string, verified_collection = false, possible_spam = false) => ({
  ...{ address, verified_collection, possible_spam },
})

test('a verified contract comes first and spam last, in whatever order they are listed', () => {
  const [spam, plain, other, verified] = [
    contract('0x1', false, true),
    contract('0x2'),
    contract('0x3'),
    contract('0x4', true),
  ]
  expect(steadyContract([spam, other, plain])).toBe(plain)
  expect(steadyContract([plain, other, spam])).toBe(plain)
  expect(steadyContract([plain, verified, spam])).toBe(verified)
  expect(steadyContract([spam])).toBe(spam)
  expect(steadyContract([])).toBeUndefined()
})
