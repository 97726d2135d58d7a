// What is wrong with the service, in the words of `/ready`: one list for its body, for metrics and for alerts. It is
// read without a key, so it names chains and no hosts, paths or causes.
import { within } from '../abort.ts'
import type { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { asOfText } from '../head-age.ts'
import type { ChainStatus, ProblemKind, StatusReport } from '../status.ts'
import type { RunSummary, Store, StoreInfo, StoreProblem } from '../store/store.ts'

export type Problem = { problem: ProblemKind; chain?: string; reason: string }

const servesNothing: ReadonlySet<ProblemKind> = new Set([
  'store_silent',
  'store_missing',
  'store_replaced',
  'store_damaged',
])

/** Whether nothing can be served, or not to be trusted. What is wrong with one chain does not stop the others. */
export function stopsServing({ problem }: Problem): boolean {
  return servesNothing.has(problem)
}

export type ProblemSources = {
  store: Pick<Store, 'info' | 'problems'>
  status: () => Promise<StatusReport>
  chains: ChainTable
  lagMaxSeconds: number
}

export async function findProblems({ store, status, chains, lagMaxSeconds }: ProblemSources): Promise<Problem[]> {
  // Both at once: together they may take as long as each.
  const reported = status()
  reported.catch(() => {})
  const ofStore = await storeProblems(store)
  if (ofStore.some(({ problem }) => problem === 'store_silent')) return ofStore
  const report = await reported
  const ofChains = Object.entries(report.chains).flatMap(([name, chain]) =>
    // A network that no longer runs has no head to follow.
    chains.parse(name)?.retired === true ? [] : chainProblems(name, chain, lagMaxSeconds),
  )
  const ofNetworks = Object.entries(report.solana).flatMap(([name, { lag_seconds }]) =>
    behind(`solana ${name}`, lag_seconds, lagMaxSeconds),
  )
  const silent: Problem = { problem: 'indexer_silent', reason: 'The indexer does not answer.' }
  const full = Object.values(report.chains).some(({ state }) => state === 'store_full')
  return [
    ...ofStore,
    ...(full && !ofStore.some(({ problem }) => problem === 'store_full') ? [storeFull] : []),
    ...(report.indexer?.answers === false ? [silent] : []),
    ...ofChains,
    ...ofNetworks,
  ]
}

const storeFull: StoreProblem = {
  problem: 'store_full',
  reason: 'The disk of the store is full: nothing new is stored.',
}

/** Of two seconds in which the caller answers; the status has its own bound. */
const storeMsMax = 1_500

async function storeProblems(store: ProblemSources['store']): Promise<Problem[]> {
  try {
    const [, problems] = await Promise.all([storeInfo(store), withinBound(store.problems())])
    return problems
  } catch (error) {
    const code = error instanceof AlmanacError ? error.code : 'internal'
    if (code === 'store_corrupt')
      return [{ problem: 'store_damaged', reason: 'The store is damaged: answers may lack rows.' }]
    return [{ problem: 'store_silent', reason: `The store does not answer (${code}).` }]
  }
}

export function storeInfo(store: Pick<Store, 'info'>): Promise<StoreInfo> {
  return withinBound(store.info())
}

export async function storeRuns(store: Pick<Store, 'runs'>): Promise<RunSummary[]> {
  return withinBound(store.runs())
}

function withinBound<T>(answer: Promise<T>): Promise<T> {
  const late = () => new AlmanacError('timeout', 'The store does not answer.', { retryable: true })
  return within(storeMsMax, answer, late)
}

/** Blocks that came while the service did not run take a while to read: being behind meanwhile is expected. */
const catchUpSeconds = 60

const noAnswer = 'No endpoint has reported its newest block yet.'
const noBlock = 'It has no node, and no other source has blocks.'

function chainProblems(chain: string, status: ChainStatus, lagMaxSeconds: number): Problem[] {
  const { state, dispute, lag_seconds, following_seconds, head, head_age_seconds, head_old, rpc, sources } = status
  const others = rpc.filter(({ wrong_chain }) => wrong_chain === true).length
  const isHeard = head >= 0 || (others > 0 && others === rpc.length)
  const unheard = !isHeard && (state === 'stalled' || lag_seconds > lagMaxSeconds)
  const catchesUp = state === 'backfilling' && following_seconds !== undefined && following_seconds < catchUpSeconds
  const isArchive = sources !== undefined && rpc.length === 0
  const disputed = 'Its endpoints disagree on a block that should be final.'
  const asOf = asOfText(status)
  const age = `Its newest block is ${Math.round(head_age_seconds ?? 0)} s old${asOf === undefined ? '' : `: answers are ${asOf}`}.`
  return [
    ...(unheard ? [{ problem: 'chain_behind', chain, reason: isArchive ? noBlock : noAnswer } as const] : []),
    ...(head < 0 || catchesUp ? [] : behind(chain, lag_seconds, lagMaxSeconds)),
    // A full store is the state then, and ends nothing of it.
    ...(state === 'disputed' || dispute !== undefined
      ? [{ problem: 'chain_disputed', chain, reason: disputed } as const]
      : []),
    ...(others > 0 ? [{ problem: 'wrong_chain', chain, reason: otherChainText(others, rpc.length) } as const] : []),
    ...(head_old === true ? [{ problem: 'head_old', chain, reason: age } as const] : []),
  ]
}

function otherChainText(others: number, endpoints: number): string {
  if (endpoints === 1) return 'Its endpoint serves another chain, and is not used.'
  return `${others} of its ${endpoints} endpoints ${others === 1 ? 'serves' : 'serve'} another chain, and ${others === 1 ? 'is' : 'are'} not used.`
}

function behind(chain: string, lagSeconds: number, lagMaxSeconds: number): Problem[] {
  if (lagSeconds <= lagMaxSeconds) return []
  const reason = `It is ${Math.round(lagSeconds)} s behind; at most ${lagMaxSeconds} s are allowed.`
  return [{ problem: 'chain_behind', chain, reason }]
}
