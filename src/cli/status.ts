// The command that asks a running server how it is. It reads /status over HTTP and nothing else.
import { Command } from 'commander'
import { z } from 'zod'
import { parseListen } from '../config/listen-address.ts'
import { AlmanacError } from '../errors.ts'
import { addConfigOptions, loadConfigFor } from './config-options.ts'
import { paint, printable, printData, table } from './terminal.ts'

const answerTimeoutMs = 10_000

const chainStatus = z.looseObject({
  state: z.string().optional(),
  head: z.number().nullish(),
  lag_seconds: z.number().nullish(),
  complete: z.boolean().optional(),
  eta_seconds: z.number().nullish(),
})
const solanaStatus = z.looseObject({
  state: z.string().optional(),
  slot: z.number().nullish(),
  lag_seconds: z.number().nullish(),
})
const statusAnswer = z.looseObject({
  version: z.string().optional(),
  store: z.looseObject({ location: z.string().optional() }).optional(),
  chains: z.record(z.string(), chainStatus).default({}),
  solana: z.record(z.string(), solanaStatus).default({}),
})

type StatusOptions = { url?: string; key?: string; json?: true }

export function statusCommand(): Command {
  const command = new Command('status')
    .description('Ask the running server how far it is.')
    .option('--url <url>', 'Where the server answers; without it, where the setting listen says. (ALMANAC_URL)')
    .option('--key <secret>', 'A key with the scope ops. (ALMANAC_KEY)')
    .option('--json', 'Print the answer as JSON.')
  addConfigOptions(command, ['listen']).action(async (options: StatusOptions) => {
    // An empty variable counts as unset, as everywhere.
    const base = options.url ?? (process.env.ALMANAC_URL || serverUrl(loadConfigFor(command).config.listen))
    const text = await askStatus(base, options.key ?? (process.env.ALMANAC_KEY || undefined))
    printData(options.json ? text : describeStatus(readStatus(base, text)))
  })
  return command
}

async function askStatus(base: string, key: string | undefined): Promise<string> {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  let answer: Response
  try {
    answer = await fetch(new URL('/status', base), { headers, signal: AbortSignal.timeout(answerTimeoutMs) })
  } catch (error) {
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error
    throw new AlmanacError('upstream_failed', `Nothing answers at ${base}.`, {
      cause,
      retryable: true,
      hint: 'start the server, or say where it is with --url.',
    })
  }
  const text = await answer.text()
  if (answer.ok) return text
  const keyProblem = answer.status === 401 || answer.status === 403
  throw new AlmanacError(
    keyProblem ? 'unauthorized' : 'upstream_failed',
    `${base} answered ${answer.status} to /status.`,
    {
      cause: printable(text.slice(0, 200)),
      retryable: answer.status >= 500 || answer.status === 429,
      hint: keyProblem ? 'give a key with the scope ops: --key or ALMANAC_KEY.' : 'look at the log of the server.',
    },
  )
}

function readStatus(base: string, text: string): z.output<typeof statusAnswer> {
  try {
    return statusAnswer.parse(JSON.parse(text))
  } catch (cause) {
    throw new AlmanacError('upstream_invalid', `What answers at ${base} is not this service.`, { cause })
  }
}

function describeStatus(status: z.output<typeof statusAnswer>): string {
  const seconds = (value: number | null | undefined) => (value == null ? '-' : `${value} s`)
  const chains = Object.entries(status.chains).map(([name, chain]) => [
    printable(name),
    printable(chain.state ?? '-'),
    String(chain.head ?? '-'),
    seconds(chain.lag_seconds),
    chain.complete ? 'yes' : 'no',
    seconds(chain.eta_seconds),
  ])
  const solana = Object.entries(status.solana).map(([name, network]) => [
    `solana ${printable(name)}`,
    printable(network.state ?? '-'),
    String(network.slot ?? '-'),
    seconds(network.lag_seconds),
    '-',
    '-',
  ])
  const rows = [...chains, ...solana]
  const heading = `Almanac ${printable(status.version ?? '')}, store ${printable(status.store?.location ?? '-')}`
  if (rows.length === 0) return `${heading}\nNothing is indexed.`
  return `${paint.bold(heading)}\n${table(['CHAIN', 'STATE', 'HEAD', 'LAG', 'COMPLETE', 'LEFT'], rows)}`
}

/** Where to ask a server that listens at this address: one that listens everywhere is asked on this machine. */
function serverUrl(listen: string): string {
  const { host, port } = parseListen(listen)!
  const asked = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}`
}
