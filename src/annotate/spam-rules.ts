// The rules that call a contract possible spam, as data, and how they add up. Pure: no store, no clock, no node. Marks
// of the operator and of lists win over all of them (`shown-facts.ts`).
import type { SpamReason } from '../store/annotation-store.ts'
import type { DistributionEvidence } from './spam-distribution.ts'
import type { NameEvidence } from './spam-names.ts'

/** What the contract's own state says about its events. */
export type StateEvidence = {
  /** Holders named by events that the contract was asked about. */
  holdersAsked: number
  /** The share of those that the contract does not know as holders. */
  deniedShare: number
  /** 1 where it claims that an address which never received anything holds a token. */
  strangerHolds: number
}

export const noStateEvidence: StateEvidence = { holdersAsked: 0, deniedShare: 0, strangerHolds: 0 }

export type SpamEvidence = NameEvidence & DistributionEvidence & StateEvidence

export type SpamRule = {
  rule: string
  /** What it means that the rule fired, for people. */
  reason: string
  /** Added to the score; negative for evidence against spam. */
  weight: number
  /** All must hold. */
  when: readonly (readonly [keyof SpamEvidence, 'at least' | 'at most', number])[]
}

/** Raise with every change of a rule: contracts judged by an older version are judged again. */
export const rulesVersion = 1

/** A contract is possible spam from this score on. */
export const spamScore = 1

// biome-ignore format: two lines a rule read as the table it is.
export const spamRules: readonly SpamRule[] = [
  { rule: 'name-lure', weight: 0.5, reason: 'The name calls the reader to a link or to money.',
    when: [['lureInName', 'at least', 1]] },
  { rule: 'name-link', weight: 0.2, reason: 'The name holds a link.',
    when: [['linkInName', 'at least', 1]] },
  { rule: 'name-bait', weight: 0.25, reason: 'The name promises a reward or presses to claim one.',
    when: [['baitWords', 'at least', 1]] },
  { rule: 'name-hidden', weight: 0.4, reason: 'The name holds characters that cannot be seen.',
    when: [['invisibleInName', 'at least', 1]] },
  { rule: 'imitation', weight: 1.5, reason: 'The name looks like that of a verified collection and is spelt in another way.',
    when: [['looksLikeVerified', 'at least', 1]] },
  { rule: 'same-name', weight: 0.6, reason: 'The name is that of a verified collection, which this is not.',
    when: [['sameNameAsVerified', 'at least', 1]] },
  { rule: 'unasked', weight: 0.25, reason: 'Nearly all transfers come from one source, cost nothing, and were not asked for by who received them.',
    when: [['unsolicitedShare', 'at least', 0.8], ['zeroValueShare', 'at least', 0.9], ['recipients', 'at least', 15]] },
  { rule: 'burst', weight: 0.2, reason: 'Many received it within an hour.',
    when: [['unsolicitedShare', 'at least', 0.8], ['burstRecipients', 'at least', 150]] },
  { rule: 'wide-batches', weight: 0.15, reason: 'One transaction serves many recipients.',
    when: [['unsolicitedShare', 'at least', 0.8], ['recipientsPerTransaction', 'at least', 20]] },
  { rule: 'one-each', weight: 0.1, reason: 'Every recipient got it once.',
    when: [['oneEachShare', 'at least', 0.97], ['recipients', 'at least', 80]] },
  { rule: 'one-token', weight: 0.1, reason: 'All got the same token.',
    when: [['sameTokenShare', 'at least', 0.9], ['recipients', 'at least', 80]] },
  { rule: 'unanswered', weight: 0.3, reason: 'Days later hardly any recipient has done anything with it.',
    when: [['respondedShare', 'at most', 0.005], ['recipients', 'at least', 80], ['quietHours', 'at least', 72]] },
  { rule: 'denied', weight: 1.2, reason: 'The contract itself does not know the holders that its events name.',
    when: [['holdersAsked', 'at least', 3], ['deniedShare', 'at least', 0.5]] },
  { rule: 'held-by-all', weight: 1.2, reason: 'The contract says of an address that never received anything that it holds a token.',
    when: [['strangerHolds', 'at least', 1]] },
  { rule: 'asked-for', weight: -0.5, reason: 'Recipients sent transactions to get it.',
    when: [['solicitedShare', 'at least', 0.2]] },
  { rule: 'answered', weight: -0.3, reason: 'Recipients gave it on.',
    when: [['respondedShare', 'at least', 0.04], ['recipients', 'at least', 15]] },
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

/** Three decimals, so that sums of weights are shown as they are on paper. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
