// Runs a simulated node in its own process: `node test/sim/main.ts --height 5000 --seed 7`; prints its URLs as one line of JSON.
import { parseArgs } from 'node:util'
import { SimChain } from './chain.ts'
import type { Fault } from './faults.ts'
import { startSimNode } from './node.ts'
import { defaultSimChainOptions, type SimChainOptions } from './options.ts'
import { makeStory } from './story.ts'

const { values } = parseArgs({
  options: {
    /** Any option of the chain, as JSON; wins over the flags below. */
    chain: { type: 'string', default: '{}' },
    /** One list of faults for each endpoint, as JSON: `[[], [{"kind":"drop-logs","rate":0.1}]]`. */
    faults: { type: 'string', default: '[[]]' },
    seed: { type: 'string' },
    height: { type: 'string' },
    hashes: { type: 'string' },
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    /** Mines a block every so many milliseconds. */
    'mine-every-ms': { type: 'string' },
    /** Tells the next move of a seeded story, reorganisations included, every so many milliseconds. */
    'move-every-ms': { type: 'string' },
    /** Makes all answers ready before the URL is printed; `logs` leaves out receipts. */
    warm: { type: 'string' },
    'cache-mb': { type: 'string', default: '1024' },
    /** Accepts `sim_mine`, `sim_reorg`, `sim_finalize` and `sim_faults`. */
    control: { type: 'boolean', default: false },
  },
})

const flags: Partial<SimChainOptions> = {
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  ...(values.height === undefined ? {} : { height: Number(values.height) }),
  ...(values.hashes === undefined ? {} : { hashes: values.hashes === 'real' ? 'real' : 'cheap' }),
}
const chosen = JSON.parse(values.chain) as Partial<SimChainOptions>
const unknown = Object.keys(chosen).filter(key => !(key in defaultSimChainOptions))
if (unknown.length > 0) throw new Error(`unknown options of the chain: ${unknown.join(', ')}`)

const faults = JSON.parse(values.faults) as Fault[][]
const options = { ...flags, ...chosen }
const blocksKept = values.warm === undefined ? 2_000 : (options.height ?? defaultSimChainOptions.height) + 2_000
const node = await startSimNode({
  chain: new SimChain(options, { blocksKept }),
  control: values.control,
  endpoints: faults.map((list, at) => ({ faults: list, port: at === 0 ? Number(values.port) : 0 })),
  host: values.host,
  cacheBytes: Number(values['cache-mb']) * 2 ** 20,
})
if (values.warm !== undefined) node.warm({ from: 0, to: node.chain.head }, { receipts: values.warm !== 'logs' })

const timers: NodeJS.Timeout[] = []
const every = (ms: string | undefined, move: () => void): void => {
  if (ms !== undefined) timers.push(setInterval(move, Number(ms)))
}
const story = makeStory({ seed: node.chain.options.seed, depthMax: Math.min(12, node.chain.options.finalityDepth) })
every(values['mine-every-ms'], () => node.mine())
every(values['move-every-ms'], () => node.tell([story.next().value]))

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const timer of timers) clearInterval(timer)
    void node.close()
  })
}
console.log(JSON.stringify({ urls: node.endpoints.map(endpoint => endpoint.url), head: node.chain.head }))
