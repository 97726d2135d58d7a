// The roots of a beacon state that the operator trusts, from files or from a beacon node: what proofs of headers after
// the merge are checked against. A source of them that fails proves nothing, and stops nothing.
import { readFile, stat } from 'node:fs/promises'
import { followSignals, pause } from '../../abort.ts'
import { AlmanacError, messageOf, messageWithCauses } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type BeaconRoots, type Network, readBeaconLists } from './networks.ts'

/** A list of summaries grows by 64 bytes a day. */
const bytesMax = 16 * 2 ** 20
const timeoutMs = 30_000
/** How long a look waits for a beacon node: what it answers later counts from then on. */
const lookMsMax = 2_000
/** An entry is added every 27 hours; after a failure it is asked sooner. */
const [againAfterMs, retryAfterMs] = [6 * 3_600_000, 60_000]

/** `historical_summaries` without the state around it, which has hundreds of megabytes: of Nimbus and of Lodestar. */
const summariesPaths = [
  'nimbus/v1/debug/beacon/states/finalized/historical_summaries',
  'eth/v1/lodestar/states/finalized/historical_summaries',
]

type Given = {
  from: string
  roots: BeaconRoots
  stamp: string
  againMs: number
  reason?: string
  /** A question that is under way. */
  asking?: Promise<void>
}

export class TrustedRoots {
  readonly #network: Network | undefined
  readonly #log: Log
  readonly #closing = new AbortController()
  readonly #given: Given[]
  /** How often roots came. */
  changes = 0

  /** `sources`: files with a list in SSZ or JSON, and URLs of beacon nodes. */
  constructor(sources: readonly string[], { network, log }: { network: Network | undefined; log: Log }) {
    this.#network = network
    this.#log = log
    this.#given = sources.map(from => ({ from, roots: {}, stamp: '', againMs: 0 }))
  }

  get roots(): BeaconRoots {
    const known: BeaconRoots = {}
    for (const { roots } of this.#given) {
      known.historicalRoots ??= roots.historicalRoots
      known.historicalSummaries ??= roots.historicalSummaries
    }
    return known
  }

  /** What could not be read. */
  get failure(): string | undefined {
    return this.#given.find(({ reason }) => reason !== undefined)?.reason
  }

  /** Reads what changed, and asks again what is old. */
  async look(signal: AbortSignal): Promise<void> {
    const { signal: closing } = this.#closing
    const looks = this.#given.map(async given => {
      if (!isUrl(given.from)) return await this.#settle(given, () => this.#read(given))
      if (given.asking === undefined && performance.now() < given.againMs) return
      given.asking ??= this.#settle(given, () => this.#ask(given)).finally(() => delete given.asking)
      // One that failed the last time is not waited for.
      if (given.reason !== undefined) return
      using waiting = followSignals(signal, closing)
      await Promise.race([given.asking, pause(lookMsMax, waiting.signal)])
    })
    await Promise.all(looks)
    signal.throwIfAborted()
  }

  close(): void {
    this.#closing.abort()
  }

  async #settle(given: Given, look: () => Promise<void>): Promise<void> {
    try {
      await look()
      delete given.reason
    } catch (error) {
      if (this.#closing.signal.aborted) return
      given.againMs = performance.now() + retryAfterMs
      const reason = messageOf(error)
      if (reason !== given.reason) this.#log.warn({ reason }, 'Roots of the beacon chain cannot be read')
      given.reason = reason
    }
  }

  async #read(given: Given): Promise<void> {
    const stats = await stat(given.from)
    const { size, mtimeMs } = stats
    const stamp = `${size} ${mtimeMs}`
    if (stamp === given.stamp) return
    // A pipe would be waited for, and a device has no end.
    if (!stats.isFile()) throw unreadable(`${given.from} is not a regular file.`)
    if (size > bytesMax) throw unreadable(`${given.from} has ${size} bytes, more than a list of roots.`)
    this.#take(given, this.#listsOf(await readFile(given.from), given.from))
    given.stamp = stamp
  }

  /** Clients have different paths: both are asked at once, and the first list counts. */
  async #ask(given: Given): Promise<void> {
    using turn = followSignals(this.#closing.signal)
    const answers = summariesPaths.map(async path => {
      const url = new URL(given.from)
      url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`
      try {
        return this.#listsOf(await bodyOf(url, turn.signal), `the answer to ${path}`)
      } catch (error) {
        throw new Error(`GET /${path}: ${messageWithCauses(error)}`)
      }
    })
    try {
      this.#take(given, await Promise.any(answers))
      given.againMs = performance.now() + againAfterMs
    } catch (error) {
      const said = (error as AggregateError).errors.map(messageOf).join('; ')
      throw unreadable(`the beacon node at ${new URL(given.from).host} gave no historical_summaries (${said})`)
    } finally {
      turn.abort(new Error('another answer came first'))
    }
  }

  #take(given: Given, roots: BeaconRoots): void {
    given.roots = roots
    this.changes++
  }

  #listsOf(bytes: Buffer, from: string): BeaconRoots {
    const lists = readBeaconLists(bytes, this.#network)
    if (lists !== undefined) return lists
    throw unreadable(`${from} is not a list of historical_summaries or historical_roots, in SSZ or as JSON`)
  }
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

async function bodyOf(url: URL, signal: AbortSignal): Promise<Buffer> {
  const { username, password } = url
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const response = await fetch(bare, {
    headers: { accept: 'application/json', ...(username === '' ? {} : { authorization: `Basic ${basic}` }) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    // The operator trusts this host, and no other that it names.
    redirect: 'manual',
  })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`it answered more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  if (!response.ok) throw new Error(`it answered ${response.status}`)
  return Buffer.concat(chunks)
}

function unreadable(message: string): AlmanacError {
  return new AlmanacError('bad_request', message)
}
