// Runs Surfpool in a process of its own that `solana-node.ts` starts.
import { createRequire } from 'node:module'
import { beDriven } from './drive-process.ts'

type Surfnet = { rpcUrl: string; wsUrl: string } & Record<string, (...args: unknown[]) => unknown>

const settings = JSON.parse(process.argv[2] ?? '') as { module: string; config: object }
const { Surfnet } = createRequire(import.meta.url)(settings.module) as {
  Surfnet: { startWithConfig(config: object): Surfnet }
}
const surfnet = Surfnet.startWithConfig(settings.config)

await beDriven({ rpcUrl: surfnet.rpcUrl, wsUrl: surfnet.wsUrl }, (method, args) => surfnet[method]?.(...args))
