// What the service tells as it happens: its status, the past that plots show, new blocks. Comes back by itself after a break.
import { computed, effect, signal } from '@preact/signals'
import { readEvents } from './event-stream.ts'
import { type Past, withSample } from './past.ts'
import { type Problem, problemOf, type Schemas, unreachable } from './service.ts'
import { endSession, key, keyWorked, refusalOfKey } from './session.ts'

export type LiveStatus = Schemas['LiveStatus']
export type LiveChain = LiveStatus['chains'][string]
export type LiveNetwork = LiveStatus['solana'][string]
export type Coverage = LiveChain['coverage']
export type Endpoint = LiveChain['rpc'][number]

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  /** Nothing is heard: what is shown is of then. */
  | { state: 'lost'; problem: Problem; sinceMs: number }

export const status = signal<LiveStatus | undefined>(undefined)
export const past = signal<Past>({ at: [], lines: [] })
export const connection = signal<Connection>({ state: 'connecting' })
/** Changes only where the connection does. */
export const isLive = computed(() => connection.value.state === 'live')
/** The last head of each chain that was told as new. */
export const heads = signal<Readonly<Record<string, number>>>({})

/** The first one that is indexed here. */
export function firstChain(): string {
  return Object.keys(status.value?.chains ?? {})[0] ?? 'eth'
}

/** Undefined where no head was read yet: then there is nothing to be behind. */
export function lagOf(of: LiveChain | LiveNetwork): number | undefined {
  const isRead = 'slot' in of ? of.slot > 0 : of.head >= 0
  return isRead ? of.lag_seconds : undefined
}

const silenceMs = 25_000
const retryMs = { first: 500, most: 10_000 }

/** Listens for as long as there is a key. */
export function startLive(): void {
  effect(() => {
    const secret = key.value
    if (secret === undefined) return
    const stop = new AbortController()
    void listen(secret, stop.signal)
    return () => {
      stop.abort()
      status.value = undefined
      past.value = { at: [], lines: [] }
      connection.value = { state: 'connecting' }
    }
  })
}

async function listen(secret: string, signal: AbortSignal): Promise<void> {
  for (let delayMs = retryMs.first; !signal.aborted; delayMs = Math.min(delayMs * 2, retryMs.most)) {
    try {
      const response = await fetch('/events', { headers: { 'x-api-key': secret }, cache: 'no-store', signal })
      if (!response.ok) {
        const problem = problemOf(await response.json().catch(() => undefined), response)
        if (response.status === 401 || response.status === 403) return endSession(refusalText(problem.message))
        lose(problem)
      } else {
        keyWorked()
        for await (const event of readEvents(response, silenceMs)) {
          if (signal.aborted) return
          if (event.name === 'unauthorized') return endSession(refusalText('Invalid key'))
          take(event.name, JSON.parse(event.data))
          delayMs = retryMs.first
        }
        lose(told('The service ended the connection.'))
      }
    } catch {
      if (signal.aborted) return
      lose({ ...unreachable, message: 'The service does not answer.' })
    }
    await new Promise(resolve => setTimeout(resolve, delayMs))
  }
}

function refusalText(message: string): string {
  return message === 'Invalid key' ? refusalOfKey() : `${message}. The console needs a key with the scope ops.`
}

/** The service was reached, so it is no use to look whether it runs. */
function told(message: string): Problem {
  return { ...unreachable, message, status: 503 }
}

function lose(problem: Problem): void {
  const before = connection.value
  connection.value = { state: 'lost', problem, sinceMs: before.state === 'lost' ? before.sinceMs : Date.now() }
}

function take(name: string, data: unknown): void {
  if (name === 'trouble') {
    lose(told((data as { message: string }).message))
    return
  }
  connection.value = { state: 'live' }
  if (name === 'status') status.value = data as LiveStatus
  else if (name === 'history') past.value = data as Past
  else if (name === 'sample') past.value = withSample(past.value, data as Schemas['LiveSample'])
  else if (name === 'block') {
    const { chain, number } = data as Schemas['LiveBlock']
    heads.value = { ...heads.value, [chain]: number }
  }
}
