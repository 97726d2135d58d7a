// The verdict of the service, while it is heard, with the rest of what it says is wrong. Pure.
import { spanText } from '../quantities.ts'
import type { LiveStatus } from '../state/live.ts'

export type Finding = LiveStatus['findings'][number]

type Verdict = LiveStatus['verdict'] & {
  /** Beyond the one that the verdict names. */
  others: readonly Finding[]
  page?: readonly string[] | undefined
}

/** While the service is not heard nothing is known to be well: what it told last is of then. */
export function verdictOf({ at, verdict, findings }: LiveStatus, lost?: { nowMs: number }): Verdict {
  if (lost !== undefined) {
    const detail = `What is shown is ${spanText((lost.nowMs - at) / 1_000)} old.`
    return { tone: 'warn', text: 'Unknown while the service does not answer', detail, others: findings }
  }
  const [first, ...others] = findings
  return { ...verdict, others, page: first && pageOf(first) }
}

/** The parts of the route of the page that says more. */
export function pageOf({ chain, key }: Finding): readonly string[] | undefined {
  if (chain !== undefined) return ['chain', chain]
  return key === undefined ? undefined : ['keys', key]
}
