// What the store itself knows of the progress, in the form of /status, and which store a service has that answers. It
// writes nothing.

import { z } from 'zod'
import { apiSettingsOf } from '../api/context.ts'
import { shownStatus } from '../api/operator-routes.ts'
import type { LoadedConfig } from '../config/load.ts'
import { shownCoverage } from '../coverage.ts'
import { ledgerId } from '../ledgers.ts'
import { type ChainId, chainScopes } from '../model.ts'
import { Reports } from '../processes/heartbeat.ts'
import type { Store } from '../store/store.ts'
import { packageVersion } from './current-process.ts'

/** The state of a chain that no process has reported on lately. */
export const stoppedState = 'stopped'

/** The last reports of processes, and the chains that have rows without one. */
export async function storedStatus(store: Store, loaded: LoadedConfig): Promise<string> {
  const service = { store, chains: loaded.chains, settings: apiSettingsOf(loaded.config), version: packageVersion() }
  const { version, ...told } = await shownStatus(service, await new Reports(store).status())
  const silent: Record<string, object> = {}
  for (const { name, id } of loaded.chains.all) {
    const state = name in told.chains ? undefined : await store.chainState(id)
    if (state === undefined) continue
    const { index, views, from } = loaded.config.chains[name] ?? {}
    const watched = await store.watchedContracts(id)
    silent[name] = {
      ...{ state: stoppedState, index, ...(index === 'full' ? { views } : { contracts: watched.length }), from },
      ...{ head: state.head.number, finalized: state.finalized },
      covered: shownCoverage(await store.coverage(id, chainScopes)),
      ...(await storedTokens(store, ledgerId(id, 'erc20'))),
    }
  }
  return JSON.stringify({ version, ...told, chains: { ...told.chains, ...silent } })
}

async function storedTokens(store: Store, ledger: ChainId): Promise<{ erc20?: object }> {
  const state = await store.chainState(ledger)
  if (state === undefined) return {}
  const { length } = await store.watchedContracts(ledger)
  return { erc20: { state: stoppedState, head: state.head.number, contracts: length } }
}

const healthTimeoutMs = 5_000
const healthAnswer = z.looseObject({ status: z.literal('ok'), store_id: z.string().optional() })

/**
 * The id of the store of the service there, or `none` if it is not Almanac. Undefined if nothing answers, or an Almanac
 * that does not say.
 */
export async function storeIdAt(base: string): Promise<string | 'none' | undefined> {
  let text: string
  try {
    const answer = await fetch(new URL('/health', base), { signal: AbortSignal.timeout(healthTimeoutMs) })
    text = await answer.text()
  } catch {
    return undefined
  }
  const health = healthAnswer.safeParse(jsonIn(text))
  return health.success ? health.data.store_id : 'none'
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
