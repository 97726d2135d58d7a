import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import { type Address, zeroAddress } from '../../model.ts'
import { holdersOf } from './holder-check.ts'

const people = Array.from({ length: 5 }, (_, at) => `0x${String(at + 1).repeat(40)}` as Address)
const address = fc.constantFrom(zeroAddress, ...people)

test('every holder that is asked about holds the token, if the events are true', () => {
  const move = fc.record({
    standard: fc.constantFrom('ERC721' as const, 'ERC1155' as const),
    ...{ from: address, to: address, tokenId: fc.bigInt(0n, 4n), amount: fc.bigInt(0n, 2n) },
    idCount: fc.constantFrom(1, 1, 1, 3),
  })
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), drawn => {
      // Oldest first, as a contract would do it: a holder gives only what it has.
      const owners = new Map<bigint, Address>()
      const balances = new Map<string, bigint>()
      const key = (holder: Address, id: bigint) => `${holder} ${id}`
      const done: typeof drawn = []
      for (const each of drawn) {
        const { standard, to, tokenId, idCount } = each
        if (standard === 'ERC721') {
          const from = owners.get(tokenId) ?? zeroAddress
          if (idCount > 1 && from !== zeroAddress) continue
          for (let id = tokenId; id < tokenId + BigInt(idCount); id++)
            if (id === tokenId || !owners.has(id)) owners.set(id, to)
          done.push({ ...each, from, amount: 1n })
          continue
        }
        const has = balances.get(key(each.from, tokenId)) ?? 0n
        const from = each.from === zeroAddress || has >= each.amount ? each.from : zeroAddress
        if (from !== zeroAddress) balances.set(key(from, tokenId), has - each.amount)
        balances.set(key(to, tokenId), (balances.get(key(to, tokenId)) ?? 0n) + each.amount)
        done.push({ ...each, from, idCount: 1 })
      }
      for (const { standard, holder, tokenId } of holdersOf(done.toReversed())) {
        if (standard === 'ERC721') expect(owners.get(tokenId)).toBe(holder)
        else expect(balances.get(key(holder, tokenId)) ?? 0n).toBeGreaterThan(0n)
      }
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('burnt tokens are not asked about, and no more than a few holders are', () => {
  const one = { standard: 'ERC721' as const, from: zeroAddress, amount: 1n, idCount: 1 }
  const dead = '0x000000000000000000000000000000000000dead' as Address
  expect(
    holdersOf([
      { ...one, to: zeroAddress, tokenId: 1n },
      { ...one, to: dead, tokenId: 2n },
    ]),
  ).toEqual([])
  const many = Array.from({ length: 100 }, (_, at) => ({ ...one, to: people[at % 5]!, tokenId: BigInt(at) }))
  expect(holdersOf(many).length).toBe(8)
})
