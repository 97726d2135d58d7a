// Whether the service is well, and what is wrong or soon will be, in words for people: made here alone, and shown by
// `/status`, the console and `almanac status`. `problems.ts` finds what `/ready`, metrics and alerts name. Pure.
import { blockCount } from '../coverage.ts'
import { durationText } from '../duration-text.ts'
import { oldHint } from '../head-age.ts'
import type { ChainStatus, Finding, SolanaStatus, Verdict, WebhookStatus } from '../status.ts'
import type { Problem } from './problems.ts'

/** What is known of the service; without `api` nothing is said of requests and keys. */
export type KnownService = {
  chains: Readonly<Record<string, FoundChain>>
  solana: Readonly<Record<string, SolanaStatus>>
  store: { full_in_seconds: number | null }
  problems: readonly Problem[]
  api?: KnownApi | undefined
  webhooks?: WebhookStatus | undefined
}
type KnownApi = {
  errors_per_second: number
  error_share: number
  keys: readonly { id: string; name: string; today: number; quota_per_day: number | null }[]
}
type FoundChain = Pick<
  ChainStatus,
  | 'state'
  | 'reason'
  | 'head_old'
  | 'head_age_seconds'
  | 'eta_seconds'
  | 'rpc'
  | 'sources'
  | 'covered'
  | 'new_header_fields'
>
type Found = Finding & {
  /** Of two that are as bad, the one after what has stopped. */
  isLater?: true
}

const daySeconds = 86_400
/** A share of failed answers that is more than an accident, and as many of them a second. */
const errors = { share: 0.01, perSecond: 0.05 }
const quotaShare = 0.9

/** The findings, the worst first, and the verdict that follows from them. */
export function judge(service: KnownService): { verdict: Verdict; findings: Finding[] } {
  const findings = findingsOf(service)
  const { tone, text, detail = progressText(service) } = findings[0] ?? { tone: 'good', text: 'All systems normal' }
  return { verdict: { tone, text, detail }, findings }
}

/** Such as `2 of 3 chains live, 1 fills history, ETA 12 min`. */
function progressText({ chains, solana }: KnownService): string {
  const states = [...Object.values(chains), ...Object.values(solana)].map(({ state }) => state)
  const live = states.filter(state => state === 'live').length
  const filling = Object.values(chains).filter(({ state }) => state === 'backfilling')
  const etas = filling.flatMap(({ eta_seconds: eta }) => (eta === null ? [] : [eta]))
  const left = etas.length === 0 ? '' : `, ETA ${durationText(Math.max(...etas))}`
  return [
    `${live} of ${states.length} ${states.length === 1 ? 'chain' : 'chains'} live`,
    ...(filling.length === 0 ? [] : [`${filling.length} ${filling.length === 1 ? 'fills' : 'fill'} history${left}`]),
  ].join(', ')
}

function findingsOf(service: KnownService): Finding[] {
  const found: Found[] = [
    ...service.problems
      .filter(({ chain }) => chain === undefined)
      .map(({ problem, reason }): Found => {
        const detail = problem === 'store_full' ? howToMakeRoom(service) : undefined
        return { tone: 'bad', text: reason.replace(/\.$/, ''), ...(detail === undefined ? {} : { detail }) }
      }),
    ...apiFindings(service.api),
    ...webhookFindings(service.webhooks),
    ...Object.entries(service.chains).flatMap(([name, chain]) => chainFindings(name, chain, service.problems)),
    ...Object.entries(service.solana).flatMap(([name, network]) => networkFindings(name, network)),
    ...(service.problems.some(({ problem }) => problem === 'store_full') ? [] : storeFindings(service.store)),
  ]
  const rank = ({ tone, isLater }: Found): number => (tone === 'warn' ? 2 : 0) + (isLater ? 1 : 0)
  return found.sort((a, b) => rank(a) - rank(b)).map(({ isLater, ...finding }) => finding)
}

/** One for what is wrong with the chain itself, and one for each thing that it goes on without. */
function chainFindings(chain: string, status: FoundChain, problems: readonly Problem[]): Found[] {
  const { state, reason, head_old, head_age_seconds, rpc } = status
  const rest = [
    ...endpointFindings(chain, chain, status),
    ...sourceFindings(chain, status),
    ...unconnectedFindings(chain, status),
    ...forkFindings(chain, status),
  ]
  const found = (tone: Found['tone'], text: string, detail = reason): Found => ({
    ...{ tone, chain, text },
    ...(detail === undefined ? {} : { detail }),
  })
  if (state === 'disputed')
    return [found('bad', `The endpoints of ${chain} disagree on a block that should be final`), ...rest]
  // The store's own problem says it for all chains.
  if (state === 'store_full') return rest
  if (rpc.length > 0 && rpc.every(({ wrong_chain }) => wrong_chain === true))
    return rest.map(finding => ({ ...finding, tone: 'bad' }))
  if (state === 'stalled') return [found('bad', `${chain} is stalled`), ...rest]
  if (reason !== undefined) rest.unshift(found('warn', `Blocks of ${chain} are out of reach`))
  if (head_old === true && head_age_seconds != null) {
    const text = `The newest block of ${chain} is ${durationText(head_age_seconds)} old`
    const why = `Its node may have stopped importing blocks. Try: ${oldHint(chain)}`
    return [{ ...found('bad', text, why), isLater: true }, ...rest]
  }
  const behind = problems.find(({ problem, chain: on }) => problem === 'chain_behind' && on === chain)
  return behind === undefined ? rest : [found('bad', `${chain} is behind`, behind.reason), ...rest]
}

function networkFindings(name: string, status: SolanaStatus): Found[] {
  const { state, reason } = status
  const chain = `solana ${name}`
  const rest = endpointFindings(chain, `Solana ${name}`, status)
  if (state !== 'stalled') return rest
  const detail = reason === undefined ? {} : { detail: reason }
  return [{ tone: 'bad', chain, text: `Solana ${name} is stalled`, ...detail }, ...rest]
}

type Asking = Pick<FoundChain, 'reason' | 'rpc'> & { state: string }

function endpointFindings(chain: string, called: string, { rpc, state, reason: told = '' }: Asking): Found[] {
  const strange = rpc.filter(({ wrong_chain }) => wrong_chain === true)
  const failing = rpc.filter(({ healthy, wrong_chain }) => !healthy && wrong_chain !== true)
  // What stalls a chain may be the reason of its endpoint, which it then names.
  const untold = failing.filter(({ endpoint, reason, fault = reason }) =>
    fault == null ? state !== 'stalled' : !told.includes(` endpoint ${endpoint} `),
  )
  const found = [
    {
      count: strange.length,
      some: strange,
      does: strange.length === 1 ? 'serves another chain' : 'serve another chain',
    },
    { count: failing.length, some: untold, does: failing.length === 1 ? 'fails' : 'fail' },
  ]
  return found.flatMap(({ count, some, does }): Found[] => {
    if (some.length === 0) return []
    const which = rpc.length === 1 ? 'The only endpoint' : `${count} of ${rpc.length} endpoints`
    const why = some.flatMap(({ endpoint, reason, fault = reason }) =>
      fault == null ? [] : [fault.includes(endpoint) ? fault : `${endpoint}: ${fault}`],
    )
    const detail = why.length === 0 ? {} : { detail: why.join('; ') }
    return [{ tone: 'warn', chain, text: `${which} of ${called} ${does}`, ...detail }]
  })
}

const refusedMax = 3

/** Why each source cannot be used, and what it got wrong. A source that waits is still being read. */
function sourceFindings(chain: string, { sources = [] }: FoundChain): Found[] {
  const warn = (text: string, detail: string): Found => ({ tone: 'warn', chain, text, detail })
  return sources.flatMap(({ name, state, reason, refused }): Found[] => {
    const parts = refused.length === 1 ? 'A part' : `${refused.length} parts`
    const text = `${parts} of ${chain}’s history in ${name} ${refused.length === 1 ? 'is' : 'are'} refused`
    const shown = refused
      .slice(0, refusedMax)
      .map(({ name, block, reason }) => `${name}${block === undefined ? '' : `, block ${block}`}: ${reason}`)
    const more = refused.length > refusedMax ? [`${refused.length - refusedMax} more`] : []
    return [
      ...(reason === undefined || state === 'waiting'
        ? []
        : [warn(`The source ${name} of ${chain} is ${state}`, reason)]),
      ...(refused.length === 0 ? [] : [warn(text, [...shown, ...more].join('; '))]),
    ]
  })
}

/** Of a chain without a node: its anchor may be missing, wrong, or above a gap. */
function unconnectedFindings(chain: string, { rpc, sources = [], covered, state }: FoundChain): Found[] {
  if (rpc.length > 0 || sources.length === 0 || (state !== 'live' && state !== 'stalled')) return []
  const loose = covered.filter(({ scope, evidence }) => evidence === 'one-endpoint' && scope === 'transfers')
  const blocks = blockCount(loose)
  if (blocks === 0) return []
  const text = `Nothing connects ${blocks === 1 ? 'a block' : `${blocks} blocks`} of ${chain} up to ${loose.at(-1)!.to} to the chain`
  const detail = `The word of one source (one-endpoint). Try: set chains.${chain}.anchor to the hash of one at their top, or check it.`
  return [{ tone: 'warn', chain, text, detail }]
}

function forkFindings(chain: string, { new_header_fields: fields = [] }: FoundChain): Found[] {
  if (fields.length === 0) return []
  const text = `${chain} has header fields of a later fork (${fields.join(', ')})`
  return [{ tone: 'warn', chain, text, detail: 'Its blocks are proven with them. Update Almanac when you can.' }]
}

/** What the chains that wait say to do about it. */
function howToMakeRoom({ chains }: KnownService): string | undefined {
  const waiting = Object.values(chains).find(({ state }) => state === 'store_full')
  const advice = waiting?.reason?.split(' Try: ')[1]
  return advice && `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
}

function storeFindings({ full_in_seconds: seconds }: KnownService['store']): Found[] {
  if (seconds === null || seconds > 7 * daySeconds) return []
  const detail = 'Add disk, raise limits.store_bytes_max, or index less.'
  const tone = seconds < daySeconds ? 'bad' : 'warn'
  return [{ tone, text: `The store is full in ${durationText(seconds)}`, detail }]
}

/** Of those that were paused after failures: nobody else notices. */
function webhookFindings(webhooks: KnownService['webhooks']): Found[] {
  if (webhooks === undefined || webhooks.stopped === 0) return []
  const text =
    webhooks.stopped === 1
      ? 'A webhook is paused after failures'
      : `${webhooks.stopped} webhooks are paused after failures`
  const detail = webhooks.behind.map(({ name, reason }) => `${name}: ${reason}`)[0]
  return [{ tone: 'warn', text, ...(detail === undefined ? {} : { detail }) }]
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
