// Whether the service is well, in one sentence: the worst of what it says is wrong, and the rest of what to know. Pure.
import { spanText } from '../quantities.ts'
import type { LiveStatus } from '../state/live.ts'

export type Finding = LiveStatus['findings'][number]

export type Verdict = {
  tone: 'good' | 'warn' | 'bad'
  sentence: string
  detail: string
  /** Beyond the one that the sentence names. */
  others: readonly Finding[]
  page?: readonly string[] | undefined
}

/** While the service is not heard nothing is known to be well: what it told last is of then. */
export function verdictOf(status: LiveStatus, lost?: { nowMs: number }): Verdict {
  const [first, ...others] = status.findings
  if (lost !== undefined) {
    const sentence = 'Unknown while the service does not answer'
    const detail = `What is shown is ${spanText((lost.nowMs - status.at) / 1_000)} old.`
    return { tone: 'warn', sentence, detail, others: status.findings }
  }
  if (first === undefined)
    return { tone: 'good', sentence: 'All systems normal', detail: stateText(status), others: [] }
  const { tone, text, detail = stateText(status) } = first
  return { tone, sentence: text, detail, others, page: pageOf(first) }
}

/** The parts of the route of the page that says more. */
export function pageOf({ chain, key }: Finding): readonly string[] | undefined {
  if (chain !== undefined) return ['chain', chain]
  return key === undefined ? undefined : ['keys', key]
}

/** What there is to know of a service that is well. */
function stateText({ chains, solana }: LiveStatus): string {
  const states = [...Object.values(chains), ...Object.values(solana)].map(({ state }) => state)
  const live = states.filter(state => state === 'live').length
  const filling = Object.values(chains).filter(({ state }) => state === 'backfilling')
  const etas = filling.flatMap(({ eta_seconds }) => (eta_seconds === null ? [] : [eta_seconds]))
  const left = etas.length === 0 ? '' : `, ETA ${spanText(Math.max(...etas))}`
  return [
    `${live} of ${states.length} ${states.length === 1 ? 'chain' : 'chains'} live`,
    ...(filling.length === 0 ? [] : [`${filling.length} ${filling.length === 1 ? 'fills' : 'fill'} history${left}`]),
  ].join(', ')
}
