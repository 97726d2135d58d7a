// Headers by JSON-RPC: the head and the final block in one batch, and single headers by hash or number.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { isHexOf, quantityHex, quantityOf } from '../../hex.ts'
import type { Hash, Interval } from '../../model.ts'
import { rpcFailureOf } from '../rpc/errors.ts'
import type { RpcHeader, RpcPort } from '../rpc/port.ts'
import type { Header, HeadReport } from './chain-source.ts'
import { headerOf } from './chain-source.ts'

/** What every source of a chain can tell, whatever it fetches beside. */
export class HeaderSource {
  readonly #rpc: RpcPort
  readonly #chainName: string
  /** Off once the endpoints have shown that they do not know the tag. */
  #asksFinalized: boolean
  #finalized: Header | undefined

  constructor(chain: Chain, rpc: RpcPort) {
    this.#rpc = rpc
    this.#chainName = chain.name
    this.#asksFinalized = chain.finalizedTag
  }

  async head(signal: AbortSignal): Promise<HeadReport> {
    const latestCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }
    if (this.#asksFinalized) {
      const finalizedCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
      try {
        const { endpoint, values } = await this.#rpc.ask([latestCall, finalizedCall], { signal, urgent: true })
        this.#finalized = readHeader(values[1]) ?? this.#finalized
        return { latest: this.#readable(values[0], endpoint), finalized: this.#finalized }
      } catch (error) {
        // Whether the tag or the endpoint is at fault shows when the head alone is asked for.
        const { endpoint, values } = await this.#rpc.ask([latestCall], { signal, urgent: true })
        const kind = rpcFailureOf(error)?.kind
        if (this.#finalized === undefined && (kind === 'tag-unknown' || kind === 'refused')) this.#asksFinalized = false
        // A node that knows the tag is believed for as long as it cannot be asked: a depth could go beyond its word.
        return { latest: this.#readable(values[0], endpoint), finalized: this.#finalized }
      }
    }
    const { endpoint, values } = await this.#rpc.ask([latestCall], { signal, urgent: true })
    return { latest: this.#readable(values[0], endpoint), finalized: undefined }
  }

  async headerByHash(hash: Hash, signal: AbortSignal): Promise<Header | undefined> {
    const { values } = await this.#rpc.ask([{ method: 'eth_getBlockByHash', params: [hash, false] }], {
      signal,
      urgent: true,
    })
    return readHeader(values[0])
  }

  async headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined> {
    const { values } = await this.#rpc.ask([{ method: 'eth_getBlockByNumber', params: [quantityHex(number), false] }], {
      signal,
      urgent: true,
    })
    return readHeader(values[0])
  }

  #readable(value: unknown, endpoint: string): Header {
    const header = readHeader(value)
    if (header !== undefined) return header
    this.#rpc.distrust(endpoint, 'it has no readable head')
    throw new AlmanacError(
      'upstream_invalid',
      `${this.#chainName} endpoint ${endpoint} answered eth_getBlockByNumber(latest) without a readable block.`,
      {
        retryable: true,
        hint: 'check that the node is synced, or add a second endpoint.',
      },
    )
  }
}

function readHeader(value: unknown): Header | undefined {
  const header = value as RpcHeader | null | undefined
  if (typeof header !== 'object' || header === null) return undefined
  const readable =
    isHexOf(header.hash, 32) &&
    isHexOf(header.parentHash, 32) &&
    quantityOf(header.number, Number.MAX_SAFE_INTEGER) >= 0 &&
    quantityOf(header.timestamp, 2 ** 40) >= 0
  return readable ? headerOf(header) : undefined
}

// Asks for something until an endpoint's answer passes its check: whoever fails is told on and not asked again. It checks nothing itself.

export type CheckedAsk<Answers, Result> = {
  chain: Chain
  rpc: RpcPort
  interval: Interval
  /** Of anybody but these. */
  ask: (exclude: ReadonlySet<string>) => Promise<Answers>
  /** What the answers mean, or the reason why they cannot be right. */
  check: (answers: Answers) => Promise<Result | string> | Result | string
}

export async function askChecked<Answers extends { endpoint: string }, Result extends object>({
  chain,
  rpc,
  interval,
  ask,
  check,
}: CheckedAsk<Answers, Result>): Promise<Result> {
  const distrusted = new Set<string>()
  for (;;) {
    const answers = await ask(distrusted)
    const checked = await check(answers)
    if (typeof checked !== 'string') return checked
    rpc.distrust(answers.endpoint, checked)
    distrusted.add(answers.endpoint)
    if (distrusted.size < rpc.endpoints.length) continue
    const who = distrusted.size === 1 ? `endpoint ${answers.endpoint}` : `all ${distrusted.size} endpoints`
    throw checkFailed(chain, interval, `${who}: ${checked}`)
  }
}

export function checkFailed(chain: Chain, { from, to }: Interval, reason: string): AlmanacError {
  return new AlmanacError('upstream_invalid', `${chain.name} blocks ${from} to ${to} failed their check: ${reason}.`, {
    retryable: true,
    hint: `add an endpoint of another provider to chains.${chain.name}.rpc; nothing wrong is stored meanwhile.`,
  })
}
