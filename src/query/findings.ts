// What is wrong with the service, or soon will be, in words for people: made here alone, and shown by `/status` and the
// console. `problems.ts` finds what `/ready`, metrics and alerts name. Pure.
import { durationText } from '../duration-text.ts'
import type { ChainStatus, Finding, SolanaStatus } from '../status.ts'
import type { Problem } from './problems.ts'

/** What is known of the service; without `api` nothing is said of requests and keys. */
export type KnownService = {
  chains: Readonly<Record<string, FoundChain>>
  solana: Readonly<Record<string, SolanaStatus>>
  store: { full_in_seconds: number | null }
  problems: readonly Problem[]
  api?: KnownApi | undefined
}
type KnownApi = {
  errors_per_second: number
  error_share: number
  keys: readonly { id: string; name: string; today: number; quota_per_day: number | null }[]
}
type FoundChain = Pick<ChainStatus, 'state' | 'reason' | 'head_old' | 'head_age_seconds' | 'rpc' | 'sources'>
type Found = Finding & {
  /** Of two that are as bad, the one after what has stopped. */
  isLater?: true
}

const daySeconds = 86_400
/** A share of failed answers that is more than an accident, and as many of them a second. */
const errors = { share: 0.01, perSecond: 0.05 }
const quotaShare = 0.9

/** The worst first. */
export function findingsOf(service: KnownService): Finding[] {
  const found: Found[] = [
    ...service.problems
      .filter(({ chain }) => chain === undefined)
      .map(({ problem, reason }): Found => {
        const detail = problem === 'store_full' ? howToMakeRoom(service) : undefined
        return { tone: 'bad', text: reason.replace(/\.$/, ''), ...(detail === undefined ? {} : { detail }) }
      }),
    ...apiFindings(service.api),
    ...Object.entries(service.chains).flatMap(([name, chain]) => chainFindings(name, chain, service.problems)),
    ...Object.entries(service.solana).flatMap(([name, network]) => networkFindings(name, network)),
    ...storeFindings(service.store.full_in_seconds),
  ]
  const rank = ({ tone, isLater }: Found): number => (tone === 'warn' ? 2 : 0) + (isLater ? 1 : 0)
  return found.sort((a, b) => rank(a) - rank(b)).map(({ isLater, ...finding }) => finding)
}

/** One for what is wrong with the chain itself, and one for each thing that it goes on without. */
function chainFindings(chain: string, status: FoundChain, problems: readonly Problem[]): Found[] {
  const { state, reason, head_old, head_age_seconds, rpc } = status
  const rest = [...endpointFindings(chain, chain, rpc), ...sourceFindings(chain, status)]
  const bad = (text: string, detail = reason): Found => ({
    ...{ tone: 'bad', chain, text },
    ...(detail === undefined ? {} : { detail }),
  })
  if (state === 'disputed') return [bad(`The endpoints of ${chain} disagree on a block that should be final`), ...rest]
  // The store's own problem says it for all chains.
  if (state === 'store_full' && problems.some(({ problem }) => problem === 'store_full')) return rest
  if (state === 'store_full') return [bad(`${chain} cannot store blocks: there is no room`), ...rest]
  if (rpc.length > 0 && rpc.every(({ wrong_chain }) => wrong_chain === true))
    return rest.map(finding => ({ ...finding, tone: 'bad' }))
  // Its endpoints are why.
  if (state === 'stalled') return [bad(`${chain} is stalled`), ...sourceFindings(chain, status)]
  if (head_old === true && head_age_seconds != null) {
    const text = `The newest block of ${chain} is ${durationText(head_age_seconds)} old`
    const why = 'Its node may have stopped importing blocks. Compare it with another endpoint.'
    return [{ ...bad(text, why), isLater: true }, ...rest]
  }
  const behind = problems.find(({ problem, chain: on }) => problem === 'chain_behind' && on === chain)
  return behind === undefined ? rest : [bad(`${chain} is behind`, behind.reason), ...rest]
}

function networkFindings(name: string, { state, reason, rpc }: SolanaStatus): Found[] {
  const chain = `solana ${name}`
  if (state !== 'stalled') return endpointFindings(chain, `Solana ${name}`, rpc)
  return [
    { tone: 'bad', chain, text: `Solana ${name} is stalled`, ...(reason === undefined ? {} : { detail: reason }) },
  ]
}

function endpointFindings(chain: string, called: string, rpc: FoundChain['rpc']): Found[] {
  const strange = rpc.filter(({ wrong_chain }) => wrong_chain === true)
  const failing = rpc.filter(({ healthy, wrong_chain }) => !healthy && wrong_chain !== true)
  const found = [
    { some: strange, does: strange.length === 1 ? 'serves another chain' : 'serve another chain' },
    { some: failing, does: failing.length === 1 ? 'fails' : 'fail' },
  ]
  return found.flatMap(({ some: [first, ...others], does }): Found[] => {
    if (first === undefined) return []
    const which = rpc.length === 1 ? 'The only endpoint' : `${others.length + 1} of ${rpc.length} endpoints`
    const detail = first.reason ?? first.fault
    return [{ tone: 'warn', chain, text: `${which} of ${called} ${does}`, ...(detail == null ? {} : { detail }) }]
  })
}

function sourceFindings(chain: string, { sources = [] }: FoundChain): Found[] {
  return sources.flatMap(({ name, refused }): Found[] => {
    const [first] = refused
    if (first === undefined) return []
    const parts = refused.length === 1 ? 'A part' : `${refused.length} parts`
    const text = `${parts} of ${chain}’s history in ${name} ${refused.length === 1 ? 'is' : 'are'} refused`
    return [{ tone: 'warn', chain, text, detail: `${first.name}: ${first.reason}` }]
  })
}

/** What the chains that wait say to do about it. */
function howToMakeRoom({ chains }: KnownService): string | undefined {
  const waiting = Object.values(chains).find(({ state }) => state === 'store_full')
  const advice = waiting?.reason?.split(' Try: ')[1]
  return advice && `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
}

function storeFindings(seconds: number | null): Found[] {
  if (seconds === null || seconds > 7 * daySeconds) return []
  const detail = 'Add disk, raise limits.store_bytes_max, or index less.'
  const tone = seconds < daySeconds ? 'bad' : 'warn'
  return [{ tone, text: `The store is full in ${durationText(seconds)}`, detail }]
}

function apiFindings(api: KnownApi | undefined): Found[] {
  if (api === undefined) return []
  const isFailing = api.errors_per_second > errors.perSecond && api.error_share > errors.share
  const failing = `${Math.round(api.error_share * 100)}% of requests fail`
  return [
    ...(isFailing ? [{ tone: 'bad', text: failing, detail: 'The log of the service says why.' } as const] : []),
    ...api.keys.flatMap(({ id, name, today, quota_per_day: quota }): Found[] => {
      if (quota === null || today < quota * quotaShare) return []
      const used = today >= quota ? 'up its quota' : `${Math.floor((100 * today) / quota)}% of its quota`
      return [
        { tone: 'warn', key: id, text: `Key ${name} has used ${used}`, detail: 'Quotas begin anew at midnight UTC.' },
      ]
    }),
  ]
}
