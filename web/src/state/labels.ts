// What addresses are called, where answers do not say it: asked for many at once, and kept while the console is open.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { service } from './service.ts'
import { key, typedKey } from './session.ts'

/** By chain and address; null where it has no label. */
const known = signal<ReadonlyMap<string, string | null>>(new Map())
const asked = new Set<string>()
let waiting: { chain: string; address: string }[] = []

/** As many as one request names. */
const addressesMax = 100

/** Undefined while it is not known; null where there is none. `given` is what an answer says already. */
export function useLabel(chain: string, address: string, given?: string | null): string | null | undefined {
  const key = keyOf(chain, address)
  const isGiven = given !== undefined
  useEffect(() => {
    if (!isGiven) ask(chain, address)
  }, [chain, address, isGiven])
  return isGiven ? given : known.value.get(key)
}

function keyOf(chain: string, address: string): string {
  return `${chain} ${address.toLowerCase()}`
}

function ask(chain: string, address: string): void {
  const key = keyOf(chain, address)
  if (asked.has(key) || !/^0x[0-9a-f]{40}$/i.test(address)) return
  asked.add(key)
  waiting.push({ chain, address: address.toLowerCase() })
  // Those of one page are asked for together.
  if (waiting.length === 1) queueMicrotask(askAll)
}

function askAll(): void {
  const byChain = Map.groupBy(waiting, ({ chain }) => chain)
  waiting = []
  for (const [chain, each] of byChain) {
    const addresses = each.map(({ address }) => address)
    for (let at = 0; at < addresses.length; at += addressesMax)
      void askSome(chain, addresses.slice(at, at + addressesMax))
  }
}

async function askSome(chain: string, addresses: string[]): Promise<void> {
  const params = { path: { chain }, query: { addresses } }
  // Those who are not signed in ask with the key of the form, as their request did.
  const headers = key.value === undefined ? { 'x-api-key': typedKey.value } : {}
  const { data } = await service.GET('/chains/{chain}/labels', { params, headers }).catch(() => ({ data: undefined }))
  if (data === undefined) {
    // A label is not worth a failure: the next look asks again.
    for (const address of addresses) asked.delete(keyOf(chain, address))
    return
  }
  const next = new Map(known.value)
  for (const address of addresses) next.set(keyOf(chain, address), data.labels[address] ?? null)
  known.value = next
}
