import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { LabelFilter } from './label-filter.ts'
import type { LabelHint } from './label-store.ts'

const addressOf = (name: string) => createHash('sha256').update(name).digest().subarray(0, 20)

const mayHave = (hint: LabelHint | undefined, address: Buffer) => hint!.candidates(address, [0]).length === 1
/** How many of them, asked for together. */
const passing = (hint: LabelHint | undefined, given: readonly Buffer[]) =>
  hint!.candidates(
    Buffer.concat(given),
    given.map((_, index) => index * 20),
  ).length

/** Labels as an engine would tell of them. */
function addresses(initial: Buffer[]) {
  let version = 1
  let sorted = initial.toSorted(Buffer.compare)
  return {
    version: () => version,
    isOpen: () => true,
    after: (after: Uint8Array, limit: number) => {
      const from = after.length === 0 ? 0 : sorted.findIndex(address => Buffer.compare(address, after) > 0)
      const found = from === -1 ? [] : sorted.slice(from, from + limit)
      return found.length === 0 ? undefined : Buffer.concat(found)
    },
    add(address: Buffer) {
      sorted = [...sorted, address].sort(Buffer.compare)
      version += 1
    },
  }
}

test('lets every labelled address pass and few others, and starts anew when labels change', async () => {
  // More than one piece.
  const labelled = Array.from({ length: 25_000 }, (_, index) => addressOf(`labelled ${index}`))
  const others = Array.from({ length: 5_000 }, (_, index) => addressOf(`other ${index}`))
  const source = addresses(labelled)
  const filter = new LabelFilter(source)
  expect(filter.hint()).toBeUndefined()
  await filter.settled()
  const hint = filter.hint()!
  expect(passing(hint, labelled)).toBe(labelled.length)
  expect(labelled.slice(0, 100).every(address => mayHave(hint, address))).toBe(true)
  expect(passing(hint, others)).toBeLessThan(others.length / 50)
  source.add(others[0]!)
  expect(filter.hint()).toBeUndefined()
  await filter.settled()
  expect(filter.hint()!.candidates(Buffer.concat([Buffer.alloc(7), others[0]!]), [7])).toEqual([0])
  expect(passing(filter.hint(), others)).toBeLessThan(others.length / 50)
})

test('addresses that are alike but for one end are told apart', async () => {
  const digits = (n: number) => n.toString(16).padStart(8, '0')
  for (const alike of [(n: number) => digits(n).padStart(40, '5'), (n: number) => digits(n).padEnd(40, '5')]) {
    const labelled = Array.from({ length: 1_000 }, (_, index) => Buffer.from(alike(index), 'hex'))
    const filter = new LabelFilter(addresses(labelled))
    filter.hint()
    await filter.settled()
    const others = Array.from({ length: 1_000 }, (_, index) => Buffer.from(alike(100_000 + index), 'hex'))
    expect(passing(filter.hint(), others)).toBeLessThan(50)
  }
})

test('what could not be read is tried again', async () => {
  let fails = true
  const filter = new LabelFilter({
    ...addresses([addressOf('a')]),
    after: (after: Uint8Array) => {
      if (fails) throw new Error('gone')
      return after.length === 0 ? addressOf('a') : undefined
    },
  })
  filter.hint()
  await filter.settled()
  fails = false
  expect(filter.hint()).toBeUndefined()
  await filter.settled()
  expect(mayHave(filter.hint(), addressOf('a'))).toBe(true)
})
