// Each rule fires at its bounds and says why. No contract is judged here.
import { describe, expect, test } from 'vitest'
import { noDistribution } from './spam-distribution.ts'
import { nameEvidence } from './spam-names.ts'
import { judgeSpam, noStateEvidence, type SpamEvidence, spamRules, spamScore } from './spam-rules.ts'

const nothing: SpamEvidence = {
  ...nameEvidence({ name: 'Quiet', symbol: 'Q' }, new Map()),
  ...noDistribution,
  ...noStateEvidence,
}

test('nothing known is nothing to say', () => {
  expect(judgeSpam(nothing)).toEqual({ score: 0, possibleSpam: false, reasons: [] })
})

test('names are unique, reasons are sentences, weights are not zero', () => {
  expect(new Set(spamRules.map(({ rule }) => rule)).size).toBe(spamRules.length)
  for (const { reason, weight, when } of spamRules) {
    expect(reason).toMatch(/^[A-Z].*\.$/)
    expect(weight).not.toBe(0)
    expect(when.length).toBeGreaterThan(0)
  }
})

describe.each(spamRules)('$rule', ({ rule, weight, when }) => {
  const met = { ...nothing, ...Object.fromEntries(when.map(([name, , bound]) => [name, bound])) } as SpamEvidence
  test('fires at its bounds, with its weight and numbers', () => {
    const fired = judgeSpam(met).reasons.find(reason => reason.rule === rule)
    expect(fired).toEqual({ rule, weight, numbers: Object.fromEntries(when.map(([name, , bound]) => [name, bound])) })
  })
  test.each(when)('needs %s %s %d', (name, comparison, bound) => {
    const short = { ...met, [name]: comparison === 'at least' ? bound - 0.001 : bound + 0.001 }
    expect(judgeSpam(short).reasons.map(reason => reason.rule)).not.toContain(rule)
  })
})

test('no name alone is spam, but for an imitation', () => {
  const named = { ...nothing, lureInName: 1, linkInName: 1, baitWords: 4, moneyInName: 1, sameNameAsVerified: 0 }
  expect(judgeSpam(named).score).toBeLessThan(spamScore)
  expect(judgeSpam({ ...nothing, looksLikeVerified: 1 }).possibleSpam).toBe(true)
})
