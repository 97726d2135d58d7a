// Whether the service is well, in one sentence that names what is wrong, and the rest of what to know. Pure.
import { percentText, spanText } from '../quantities.ts'
import { splitReason } from '../reasons.ts'
import type { LiveChain, LiveNetwork, LiveStatus } from '../state/live.ts'

export type Finding = {
  tone: 'bad' | 'warn'
  text: string
  /** Why, or what to do. */
  detail?: string | undefined
  /** The parts of the route of the page that says more. */
  page?: readonly string[]
  /** Of two that are as bad, the one after what has stopped. */
  isLater?: true
}

export type Verdict = {
  tone: 'good' | 'warn' | 'bad'
  sentence: string
  detail: string
  /** Beyond the one that the sentence names. */
  others: readonly Finding[]
  page?: readonly string[] | undefined
}

const daySeconds = 86_400
/** A share of failed answers that is more than an accident, and as many of them a second. */
const errors = { share: 0.01, perSecond: 0.05 }
const quotaShare = 0.9

/** While the service is not heard nothing is known to be well: what it told last is of then. */
export function verdictOf(status: LiveStatus, lost?: { nowMs: number }): Verdict {
  const found = findingsOf(status)
  if (lost !== undefined) {
    const sentence = 'Unknown while the service does not answer'
    const detail = `What is shown is ${spanText((lost.nowMs - status.at) / 1_000)} old.`
    return { tone: 'warn', sentence, detail, others: found }
  }
  const [first, ...others] = found
  if (first === undefined)
    return { tone: 'good', sentence: 'All systems normal', detail: stateText(status), others: [] }
  const { tone, text, detail = stateText(status), page } = first
  return { tone, sentence: text, detail, others, page }
}

/** The worst first. */
export function findingsOf(status: LiveStatus): Finding[] {
  const found = [
    ...status.problems
      .filter(({ chain }) => chain === undefined)
      .map(({ problem, reason }): Finding => {
        const detail = problem === 'store_full' ? howToMakeRoom(status) : undefined
        return { tone: 'bad', text: withoutPoint(reason), detail }
      }),
    ...apiFindings(status),
    ...Object.entries(status.chains).flatMap(([name, chain]) => chainFindings(name, chain, status)),
    ...Object.entries(status.solana).flatMap(([name, network]) => networkFindings(name, network)),
    ...storeFindings(status),
  ]
  const rank = ({ tone, isLater }: Finding): number => (tone === 'warn' ? 2 : 0) + (isLater ? 1 : 0)
  return found.sort((a, b) => rank(a) - rank(b))
}

/** One for what is wrong with the chain itself, and one for each thing that it goes on without. */
function chainFindings(name: string, chain: LiveChain, { problems }: LiveStatus): Finding[] {
  const page = ['chain', name]
  const rest = [...endpointFindings(name, chain.rpc, page), ...sourceFindings(name, chain, page)]
  const { state, reason: detail, head_old, head_age_seconds } = chain
  const bad = (text: string, why = detail): Finding => ({ tone: 'bad', text, detail: why, page })
  if (state === 'disputed') return [bad(`The endpoints of ${name} disagree on a block that should be final`), ...rest]
  // The store's own problem says it for all chains.
  if (state === 'store_full' && problems.some(({ problem }) => problem === 'store_full')) return rest
  if (state === 'store_full') return [bad(`${name} cannot store blocks: there is no room`), ...rest]
  if (chain.rpc.length > 0 && chain.rpc.every(({ wrong_chain }) => wrong_chain === true))
    return rest.map(finding => ({ ...finding, tone: 'bad' }))
  // Its endpoints are why.
  if (state === 'stalled') return [bad(`${name} is stalled`), ...sourceFindings(name, chain, page)]
  if (head_old === true && head_age_seconds != null)
    return [
      {
        ...bad(
          `The newest block of ${name} is ${spanText(head_age_seconds)} old`,
          'Its node may have stopped importing blocks. Compare it with another endpoint.',
        ),
        isLater: true,
      },
      ...rest,
    ]
  const behind = problems.find(({ problem, chain: on }) => problem === 'chain_behind' && on === name)
  return behind === undefined ? rest : [bad(`${name} is behind`, behind.reason), ...rest]
}

function networkFindings(name: string, { state, reason, rpc }: LiveNetwork): Finding[] {
  const page = ['chain', `solana ${name}`]
  if (state === 'stalled') return [{ tone: 'bad', text: `Solana ${name} is stalled`, detail: reason, page }]
  return endpointFindings(`Solana ${name}`, rpc, page)
}

function endpointFindings(name: string, rpc: LiveChain['rpc'], page: readonly string[]): Finding[] {
  const isStrange = ({ wrong_chain }: LiveChain['rpc'][number]): boolean => wrong_chain === true
  const [strange, failing] = [rpc.filter(isStrange), rpc.filter(each => !each.healthy && !isStrange(each))]
  const found = [
    { some: strange, does: strange.length === 1 ? 'serves another chain' : 'serve another chain' },
    { some: failing, does: failing.length === 1 ? 'fails' : 'fail' },
  ]
  return found.flatMap(({ some, does }): Finding[] => {
    const [first] = some
    if (first === undefined) return []
    const which = rpc.length === 1 ? 'The only endpoint' : `${some.length} of ${rpc.length} endpoints`
    const detail = first.reason ?? first.fault ?? undefined
    return [{ tone: 'warn', text: `${which} of ${name} ${does}`, detail, page }]
  })
}

function sourceFindings(name: string, { sources = [] }: LiveChain, page: readonly string[]): Finding[] {
  return sources.flatMap(source => {
    const [first] = source.refused
    if (first === undefined) return []
    const count = source.refused.length
    const text = `${count === 1 ? 'A part' : `${count} parts`} of ${name}’s history in ${source.name} ${count === 1 ? 'is' : 'are'} refused`
    return [{ tone: 'warn' as const, text, detail: `${first.name}: ${first.reason}`, page }]
  })
}

/** What the chains that wait say to do about it. */
function howToMakeRoom({ chains }: LiveStatus): string | undefined {
  const waiting = Object.values(chains).find(({ state }) => state === 'store_full')
  return splitReason(waiting?.reason ?? '').advice
}

function storeFindings({ store: { full_in_seconds: seconds } }: LiveStatus): Finding[] {
  if (seconds === null || seconds > 7 * daySeconds) return []
  const detail = 'Add disk, raise limits.store_bytes_max, or index less.'
  return [{ tone: seconds < daySeconds ? 'bad' : 'warn', text: `The store is full in ${spanText(seconds)}`, detail }]
}

function apiFindings({ api }: LiveStatus): Finding[] {
  if (api === undefined) return []
  const failing = api.errors_per_second > errors.perSecond && api.error_share > errors.share
  const share = percentText(api.error_share, 1)
  return [
    ...(failing
      ? [{ tone: 'bad' as const, text: `${share} of requests fail`, detail: 'The log of the service says why.' }]
      : []),
    ...api.keys.flatMap(({ id, name, today, quota_per_day: quota }) => {
      if (quota === null || today < quota * quotaShare) return []
      const text =
        today >= quota
          ? `Key ${name} has used up its quota`
          : `Key ${name} has used ${percentText(today, quota)} of its quota`
      return [{ tone: 'warn' as const, text, detail: 'Quotas begin anew at midnight UTC.', page: ['keys', id] }]
    }),
  ]
}

/** What there is to know of a service that is well. */
export function stateText({ chains, solana }: LiveStatus): string {
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

function withoutPoint(text: string): string {
  return text.replace(/\.$/, '')
}
