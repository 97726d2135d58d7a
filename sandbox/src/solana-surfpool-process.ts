// Runs Surfpool in a process of its own that `solana-node.ts` starts.
import { createRequire } from 'node:module'
import { beDriven } from './drive-process.ts'

type Surfnet = { rpcUrl: string; wsUrl: string } & Record<string, (...args: unknown[]) => unknown>

/** Surfpool writes an event for each slot and request into a channel of about a thousand. */
const drainMs = 200

const settings = JSON.parse(process.argv[2] ?? '') as { module: string; config: object; firstSlot?: number }
const { Surfnet } = createRequire(import.meta.url)(settings.module) as {
  Surfnet: { startWithConfig(config: object): Surfnet }
}
const surfnet = Surfnet.startWithConfig(settings.config)
// Once the channel is full, all of its threads wait for room, for ever.
setInterval(() => surfnet.drainEvents?.(), drainMs)
if (settings.firstSlot !== undefined) surfnet.timeTravelToSlot?.(settings.firstSlot)

await beDriven({ rpcUrl: surfnet.rpcUrl, wsUrl: surfnet.wsUrl }, (method, args) => surfnet[method]?.(...args))
