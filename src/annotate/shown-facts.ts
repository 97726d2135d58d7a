// What answers show of a contract, decided from what is known and what was said of it. Pure: no store, no clock.
import type { ContractFacts } from '../store/contract-facts-store.ts'
import type { Mark } from '../store/mark-store.ts'

export type ShownFacts = {
  name: string | undefined
  symbol: string | undefined
  possibleSpam: boolean
  verifiedCollection: boolean
}

/** Which mark decided; `rules`: no mark did, so the score stands; `verified`: a verified collection is not taken for spam. */
export type Verdict = { value: boolean; by: Mark | 'rules' | 'verified' | 'nobody' }

/**
 * `marks` come strongest first. The operator's pins win, then imported lists, then the pack, then the rules. What the rules
 * say does not count against a collection that is verified: only a mark can call such a one spam.
 */
export function verdictsOf(
  facts: ContractFacts | undefined,
  marks: readonly Mark[],
): { verified: Verdict; spam: Verdict } {
  const verifiedMark = marks.find(mark => mark.verified !== undefined)
  const spamMark = marks.find(mark => mark.spam !== undefined)
  const verified: Verdict =
    verifiedMark === undefined
      ? { value: false, by: 'nobody' }
      : { value: verifiedMark.verified as boolean, by: verifiedMark }
  if (spamMark !== undefined) return { verified, spam: { value: spamMark.spam as boolean, by: spamMark } }
  if (verified.value) return { verified, spam: { value: false, by: 'verified' } }
  return { verified, spam: { value: facts?.possibleSpam ?? false, by: 'rules' } }
}

/** Undefined where nothing is known and nobody said anything. */
export function shownFacts(facts: ContractFacts | undefined, marks: readonly Mark[]): ShownFacts | undefined {
  if (facts === undefined && marks.length === 0) return undefined
  const { verified, spam } = verdictsOf(facts, marks)
  return { name: facts?.name, symbol: facts?.symbol, possibleSpam: spam.value, verifiedCollection: verified.value }
}
