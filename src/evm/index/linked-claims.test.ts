// What is claimed grows down from the anchor by parent hashes, whatever order ranges come in and whoever gives them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import type { Hash, Interval } from '../../model.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { type Claim, LinkedClaims, unanchored } from './linked-claims.ts'

type Story = 'true' | 'other'
const top = 99

function hashOf(story: Story, block: number): Hash {
  return `0x${story === 'true' ? '0' : 'f'}${block.toString(16).padStart(63, '0')}` as Hash
}

function claim({ from, to }: Interval, story: Story): Claim {
  const ends = { parentHash: hashOf(story, from - 1), hash: hashOf(story, to) }
  return { interval: { from, to }, evidence: 'receipts-root', activity: noActivity, endpoint: story, ...ends, ends: [] }
}

/** Blocks 0 to `top` in ranges, by the places where they are cut. */
function rangesOf(cuts: readonly number[]): Interval[] {
  const starts = [...new Set([0, ...cuts])].sort((a, b) => a - b)
  return starts.map((from, at) => ({ from, to: (starts[at + 1] ?? top + 1) - 1 }))
}

test('exactly the ranges of the anchor’s chain are connected, and the others are refused and asked again', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: top }), { maxLength: 20 })
  const lies = fc.infiniteStream(fc.boolean())
  const order = fc.infiniteStream(fc.nat(1_000))
  const property = fc.property(cuts, lies, order, (places, isLie, next) => {
    const links = new LinkedClaims(new Map([[top, { hash: hashOf('true', top), evidence: 'receipts-root' }]]))
    const open = rangesOf(places).map(interval => ({ interval, tries: 0 }))
    const connected: Claim[] = []
    while (open.length > 0) {
      const [{ interval, tries }] = open.splice(next.next().value % open.length, 1) as [(typeof open)[number]]
      // A liar may give a range at most three times before another endpoint is asked.
      const story = tries < 3 && isLie.next().value ? 'other' : 'true'
      const known = links.expectedHash(interval.to)
      const outcome = links.add(claim(interval, story))
      if (known !== undefined && story === 'other') expect(outcome.refused?.interval).toEqual(interval)
      connected.push(...outcome.connected)
      if (outcome.refused !== undefined) {
        expect(outcome.refused.endpoint).toBe('other')
        open.push({ interval: outcome.refused.interval, tries: tries + 1 })
      }
      for (const { endpoint } of outcome.connected) expect(endpoint).toBe('true')
      // Everything above the lowest connected block is connected as well.
      const lowest = Math.min(top + 1, ...connected.map(each => each.interval.from))
      const blocks = connected.reduce((sum, { interval: { from, to } }) => sum + to - from + 1, 0)
      expect(blocks).toBe(top + 1 - lowest)
    }
    expect(connected.length).toBe(rangesOf(places).length)
    expect(links.waiting).toBe(0)
    expect(links.trouble).toBeUndefined()
  })
  fc.assert(property, { numRuns: propertyRuns(500) })
})

test('below a header that is the word of endpoints nothing is known better than it', () => {
  const links = new LinkedClaims(new Map([[29, { hash: hashOf('true', 29), evidence: 'receipts-root' }]]))
  const add = (interval: Interval, known: Partial<Claim>) =>
    links.add({ ...claim(interval, 'true'), ...known }).connected.map(({ evidence }) => evidence)
  expect(add({ from: 20, to: 29 }, { evidence: 'one-endpoint', headersProven: true })).toEqual(['one-endpoint'])
  expect(add({ from: 15, to: 19 }, { evidence: 'receipts-root' })).toEqual(['receipts-root'])
  expect(add({ from: 10, to: 14 }, { evidence: 'two-endpoints', headersProven: false })).toEqual(['two-endpoints'])
  expect(add({ from: 5, to: 9 }, { evidence: 'receipts-root' })).toEqual(['two-endpoints'])
  expect(add({ from: 1, to: 4 }, { evidence: 'one-endpoint', headersProven: true })).toEqual(['one-endpoint'])
  expect(add({ from: 0, to: 0 }, { evidence: 'bloom' })).toEqual(['two-endpoints'])
})

test('a range that is proven itself goes before claimed blocks below it that hang on nothing', () => {
  const floors = new Map([[9, { hash: hashOf('other', 9), evidence: 'unanchored' as const }]])
  const links = new LinkedClaims(new Map([[20, unanchored]]), { floors })
  expect(links.add(claim({ from: 10, to: 20 }, 'true')).refused).toBeDefined()
  const { connected } = links.add({ ...claim({ from: 10, to: 20 }, 'true'), anchor: 'canonical' })
  expect(connected.map(({ evidence }) => evidence)).toEqual(['canonical'])
})

test('a range that does not grow from the claimed blocks below it is refused', () => {
  const expected = new Map([[20, { hash: hashOf('true', 20), evidence: 'receipts-root' }]] as const)
  const distrusted: string[] = []
  const floors = new Map([[9, { hash: hashOf('other', 9), evidence: 'bloom' as const }]])
  const links = new LinkedClaims(expected, { floors, distrust: endpoint => distrusted.push(endpoint) })
  const { connected, refused } = links.add(claim({ from: 10, to: 20 }, 'true'))
  expect(connected).toEqual([])
  expect(refused?.interval).toEqual({ from: 10, to: 20 })
  expect(links.trouble).toMatch(/^block 10 grows from 0x0\w+, but block 9 is stored as 0xf/)
  expect(distrusted).toEqual([])
})

test('a proven block is an anchor for what is below it, and what hangs on nothing may rise only if all else is proven', () => {
  const links = new LinkedClaims(new Map([[59, unanchored]]))
  const add = (interval: Interval, known: Partial<Claim> = {}) =>
    links.add({ ...claim(interval, 'true'), ...known }).connected.map(({ evidence }) => evidence)
  expect(links.isNext(59)).toBe(true)
  expect(links.expectedHash(59)).toBeUndefined()
  expect(add({ from: 50, to: 59 })).toEqual(['unanchored'])
  expect(add({ from: 48, to: 49 }, { evidence: 'one-endpoint', headersProven: true })).toEqual(['one-endpoint'])
  expect(add({ from: 46, to: 47 }, { evidence: 'bloom' })).toEqual(['one-endpoint'])
  expect(add({ from: 40, to: 45 })).toEqual(['unanchored'])
  expect(add({ from: 35, to: 39 }, { anchor: 'receipts-root' })).toEqual(['receipts-root'])
  expect(add({ from: 30, to: 34 })).toEqual(['receipts-root'])
  expect(add({ from: 25, to: 29 }, { anchor: 'canonical', evidence: 'bloom' })).toEqual(['bloom'])
  expect(add({ from: 20, to: 24 })).toEqual(['canonical'])
  expect(add({ from: 15, to: 19 }, { anchor: 'receipts-root' })).toEqual(['canonical'])
  expect(add({ from: 10, to: 14 }, { evidence: 'one-endpoint', headersProven: false })).toEqual(['one-endpoint'])
  expect(add({ from: 5, to: 9 })).toEqual(['one-endpoint'])
  expect(add({ from: 0, to: 4 }, { anchor: 'canonical' })).toEqual(['canonical'])
})
