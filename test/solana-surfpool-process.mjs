// A Surfpool node in a process of its own, driven by one JSON line per call. Started by `solana-surfpool.ts` only.
// Plain JavaScript: an emulated Node.js takes seconds to strip types.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const { Surfnet } = createRequire(import.meta.url)(process.env.SURFPOOL_MODULE ?? '@solana/surfpool-linux-x64-gnu')
const surfnet = Surfnet.startWithConfig(JSON.parse(process.env.SURFPOOL_CONFIG ?? '{}'))

process.stdout.write(
  `${JSON.stringify({ rpcUrl: surfnet.rpcUrl, wsUrl: surfnet.wsUrl, payerSecretKey: [...surfnet.payerSecretKey] })}\n`,
)
for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line)
  try {
    const result = surfnet[method](...args)
    process.stdout.write(`${JSON.stringify({ result: result ?? null })}\n`)
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
  }
}
process.exit(0)
