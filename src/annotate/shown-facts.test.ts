// Which flags are shown where marks and rules disagree. No store is asked.
import { expect, test } from 'vitest'
import type { Address, ChainId } from '../model.ts'
import type { ContractFacts, Mark } from '../store/annotation-store.ts'
import { decisionsOf, shownFacts } from './shown-facts.ts'

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const facts: ContractFacts = { chain, contract, name: 'Name', symbol: 'N', possibleSpam: true }
const mark = (changes: Partial<Mark>): Mark => ({
  ...{ chain, contract, source: 's', rank: 'imported', verified: undefined, spam: undefined, updatedAt: 1 },
  ...changes,
})

test('nothing known and nothing said shows nothing', () => {
  expect(shownFacts(undefined, [])).toBeUndefined()
})

test('without marks the rules stand', () => {
  expect(shownFacts(facts, [])).toEqual({ name: 'Name', symbol: 'N', possibleSpam: true, verifiedCollection: false })
  expect(decisionsOf(facts, []).spam).toEqual({ value: true, by: 'rules' })
})

test('a name is shown without characters that would change what stands beside it', () => {
  const odd = { ...facts, name: 'A\u202epe', symbol: '\u2066N\u2069' }
  expect(shownFacts(odd, [])).toMatchObject({ name: 'Ape', symbol: 'N' })
})

test('the strongest mark that speaks of a flag decides it', () => {
  const pin = mark({ rank: 'operator', verified: false })
  const list = mark({ verified: true, spam: false })
  const { verified, spam } = decisionsOf(facts, [pin, list])
  expect(verified).toEqual({ value: false, by: pin })
  expect(spam).toEqual({ value: false, by: list })
})

test('only a mark can call a verified collection spam', () => {
  const listed = mark({ verified: true })
  expect(decisionsOf(facts, [listed]).spam).toEqual({ value: false, by: 'verified' })
  const pinned = mark({ rank: 'operator', spam: true })
  expect(shownFacts(undefined, [pinned, listed])).toEqual({
    ...{ name: undefined, symbol: undefined },
    ...{ possibleSpam: true, verifiedCollection: true },
  })
})
