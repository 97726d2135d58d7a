// A process that sends requests with one key through a gate of its own for a while, and says how many were let in. It is started by a
// test, with the store, the secret and how long it shall try.
import { setTimeout as delay } from 'node:timers/promises'
import { AlmanacError } from '../src/errors.ts'
import { StoreGatekeeper } from '../src/keys/gatekeeper.ts'
import { openStore } from '../src/store/open.ts'

const [url, secret, forMs] = process.argv.slice(2) as [string, string, string]
const store = await openStore(url, { role: 'reader' })
const gate = await StoreGatekeeper.open(store)
const refused: Record<string, number> = {}
let admitted = 0
process.send?.({ ready: true })
await new Promise(resolve => process.once('message', resolve))
const deadline = performance.now() + Number(forMs)
await Promise.all(Array.from({ length: 8 }, () => insist()))
await gate.close()
await store.close()
process.send?.({ admitted, refused })
process.disconnect?.()

async function insist(): Promise<void> {
  while (performance.now() < deadline) {
    try {
      await gate.admit(secret, 'portfolio')
      admitted += 1
    } catch (error) {
      if (!(error instanceof AlmanacError)) throw error
      refused[error.code] = (refused[error.code] ?? 0) + 1
      await delay(1)
    }
  }
}
