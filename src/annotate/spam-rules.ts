// The rules that call a contract possible spam, as data, and how they are added up. Pure: no store, no clock, no node. What the operator or a list says wins over
// all of them (`shown-facts.ts`).
import type { SpamReason } from '../store/annotation-store.ts'
import type { DistributionEvidence } from './spam-distribution.ts'
import type { NameEvidence } from './spam-names.ts'

/** What the contract's own state says of its events. */
export type StateEvidence = {
  /** Holders that the events name and the contract was asked about. */
  holdersAsked: number
  /** Of those, the ones that the contract does not know as holders. */
  deniedShare: number
  /** It says that an address which never received anything holds a token. */
  strangerHolds: number
}

export const noStateEvidence: StateEvidence = { holdersAsked: 0, deniedShare: 0, strangerHolds: 0 }

export type SpamEvidence = NameEvidence & DistributionEvidence & StateEvidence

export type SpamRule = {
  rule: string
  /** For people: what it means that the rule fired. */
  reason: string
  /** Added to the score; what speaks against spam is negative. */
  weight: number
  /** All must hold. */
  when: readonly (readonly [keyof SpamEvidence, 'at least' | 'at most', number])[]
}

/** Counts up with every change of a rule: contracts that were judged by an older table are judged again. */
export const rulesVersion = 1

/** A contract is possible spam from this score on. */
export const spamScore = 1

export const spamRules: readonly SpamRule[] = [
  {
    rule: 'name-lure',
    reason: 'The name calls the reader to a link or to money.',
    weight: 0.5,
    when: [['lureInName', 'at least', 1]],
  },
  { rule: 'name-link', reason: 'The name holds a link.', weight: 0.2, when: [['linkInName', 'at least', 1]] },
  {
    rule: 'name-bait',
    reason: 'The name promises a reward or presses to claim one.',
    weight: 0.25,
    when: [['baitWords', 'at least', 1]],
  },
  {
    rule: 'name-hidden',
    reason: 'The name holds characters that cannot be seen.',
    weight: 0.4,
    when: [['invisibleInName', 'at least', 1]],
  },
  {
    rule: 'imitation',
    reason: 'The name looks like that of a verified collection and is spelt in another way.',
    weight: 1.5,
    when: [['looksLikeVerified', 'at least', 1]],
  },
  {
    rule: 'same-name',
    reason: 'The name is that of a verified collection, which this is not.',
    weight: 0.6,
    when: [['sameNameAsVerified', 'at least', 1]],
  },
  {
    rule: 'unasked',
    reason: 'Nearly all transfers come from one source, cost nothing, and were not asked for by who received them.',
    weight: 0.25,
    when: [
      ['unsolicitedShare', 'at least', 0.8],
      ['zeroValueShare', 'at least', 0.9],
      ['recipients', 'at least', 15],
    ],
  },
  {
    rule: 'burst',
    reason: 'Many received it within an hour.',
    weight: 0.2,
    when: [
      ['unsolicitedShare', 'at least', 0.8],
      ['burstRecipients', 'at least', 150],
    ],
  },
  {
    rule: 'wide-batches',
    reason: 'One transaction serves many recipients.',
    weight: 0.15,
    when: [
      ['unsolicitedShare', 'at least', 0.8],
      ['recipientsPerTransaction', 'at least', 20],
    ],
  },
  {
    rule: 'one-each',
    reason: 'Every recipient got it once.',
    weight: 0.1,
    when: [
      ['oneEachShare', 'at least', 0.97],
      ['recipients', 'at least', 80],
    ],
  },
  {
    rule: 'one-token',
    reason: 'All got the same token.',
    weight: 0.1,
    when: [
      ['sameTokenShare', 'at least', 0.9],
      ['recipients', 'at least', 80],
    ],
  },
  {
    rule: 'unanswered',
    reason: 'Days later hardly any recipient has done anything with it.',
    weight: 0.3,
    when: [
      ['respondedShare', 'at most', 0.005],
      ['recipients', 'at least', 80],
      ['quietHours', 'at least', 72],
    ],
  },
  {
    rule: 'denied',
    reason: 'The contract itself does not know the holders that its events name.',
    weight: 1.2,
    when: [
      ['holdersAsked', 'at least', 3],
      ['deniedShare', 'at least', 0.5],
    ],
  },
  {
    rule: 'held-by-all',
    reason: 'The contract says of an address that never received anything that it holds a token.',
    weight: 1.2,
    when: [['strangerHolds', 'at least', 1]],
  },
  {
    rule: 'asked-for',
    reason: 'Recipients sent transactions to get it.',
    weight: -0.5,
    when: [['solicitedShare', 'at least', 0.2]],
  },
  {
    rule: 'answered',
    reason: 'Recipients gave it on.',
    weight: -0.3,
    when: [
      ['respondedShare', 'at least', 0.04],
      ['recipients', 'at least', 15],
    ],
  },
]

export type Judgement = { score: number; possibleSpam: boolean; reasons: SpamReason[] }

export function judgeSpam(evidence: SpamEvidence, rules: readonly SpamRule[] = spamRules): Judgement {
  const reasons: SpamReason[] = []
  for (const { rule, weight, when } of rules) {
    const fires = when.every(([name, comparison, bound]) =>
      comparison === 'at least' ? evidence[name] >= bound : evidence[name] <= bound,
    )
    if (!fires) continue
    reasons.push({ rule, weight, numbers: Object.fromEntries(when.map(([name]) => [name, rounded(evidence[name])])) })
  }
  const score = rounded(reasons.reduce((sum, { weight }) => sum + weight, 0))
  return { score, possibleSpam: score >= spamScore, reasons }
}

/** Stored and shown: three decimals say enough, and sums of weights stay what they are on paper. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
