// A process that sends the webhooks of a store until it is killed.
import { startThread } from '../src/cli/service/send-webhooks.ts'

const [store = '', leaseMs = ''] = process.argv.slice(2)
await startThread({
  ...{ store, addedChains: [], dialect: 'live', leaseMs: Number(leaseMs) },
  settings: { allowPrivate: true, allowHttp: true, maxPerKey: 100 },
  log: { level: 'error', format: 'json', colours: false },
})
process.send?.('started')
