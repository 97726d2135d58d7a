// How answers come to what lies behind addresses on the web. Types, and what follows from a fact: whoever fetches
// implements the rest. Absent where the operator permits no host.
import { createHash } from 'node:crypto'
import { within } from '../../abort.ts'
import type { WebFact } from '../../store/web-fact-store.ts'
import type { IndexingKey } from '../freshen.ts'
import type { WebAddress } from './web-address.ts'

export type WebPurpose = 'metadata' | 'picture'

export type WebFacts = {
  /** Whether the operator permits a host that has it. */
  mayAsk(address: WebAddress): boolean
  /** What was fetched, in the order of the addresses. Content of more bytes is left out. */
  stored(addresses: readonly WebAddress[], contentBytesMax: number): Promise<(WebFact | undefined)[]>
  /**
   * Fetches within the share of the key, once for all who ask meanwhile, and stores what came. Resolves when it is
   * done or given up, and never fails. Undefined: not now. `seen`: answers that were kept show something else.
   */
  fetch(
    address: WebAddress,
    asked: { purpose: WebPurpose; key: IndexingKey; seen?: boolean },
  ): Promise<void> | undefined
  isOld(fact: WebFact, nowMs: number): boolean
}

export const jsonType = 'application/json'

export function factNameOf({ name }: WebAddress): Buffer {
  return createHash('sha256').update(name).digest()
}

const contentBytesMax = 64 * 2 ** 20

type Asked = {
  purpose: WebPurpose
  key: IndexingKey
  waitMs: number
  /** Goes around what a request waits for. */
  wait: (waiting: () => Promise<unknown>) => Promise<unknown>
}

/** With its whole content: at once where it is known, else what came within the time. */
export async function factFromWeb(
  web: WebFacts,
  address: WebAddress,
  { purpose, key, waitMs, wait }: Asked,
): Promise<WebFact | undefined> {
  const [known] = await web.stored([address], contentBytesMax)
  if (known !== undefined && !web.isOld(known, Date.now())) return known
  const fetched = web.fetch(address, { purpose, key })
  if (fetched === undefined || known !== undefined) return known
  await wait(() => within(waitMs, fetched).catch(() => {}))
  return (await web.stored([address], contentBytesMax))[0]
}
