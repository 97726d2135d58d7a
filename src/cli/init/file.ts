// The file that `init` writes: the answers, and as comments what was found and what else can be set. Pure.
import { stringify } from 'yaml'
import type { Answers, ChainAnswers } from './answers.ts'

/** Comments for each chain and network, by its name; none of them may hold a secret. */
export type Findings = ReadonlyMap<string, readonly string[]>

export function configurationText({ chains, solana, store, listen }: Answers, found: Findings): string {
  const lines = [
    '# The configuration of Almanac. Every setting: /docs/settings.html of the service; flags and ALMANAC_… variables win over this file.',
    '# Keep it private if the endpoints contain keys.',
    '',
    '# Address to listen on. All interfaces: :8080',
    `listen: ${scalar(listen ?? '127.0.0.1:8080')}`,
    '',
    '# Where to keep the data: a SQLite file, or postgres://user:password@host/database',
    `store: ${scalar(store ?? 'file:./almanac.db')}`,
    '',
    ...(chains.length === 0
      ? ['# chains:', '#   eth: { rpc: [http://127.0.0.1:8545], index: full }']
      : ['chains:', ...chains.flatMap(chain => chainLines(chain, found.get(chain.name) ?? []))]),
    '',
    ...(solana.length === 0
      ? ['# solana:', '#   mainnet: { rpc: [http://127.0.0.1:8899], ws: ws://127.0.0.1:8900 }']
      : [
          'solana:',
          ...solana.flatMap(({ network, rpc, ws }) => [
            ...(found.get(`solana ${network}`) ?? []).map(line => `  # ${line}`),
            `  ${network}:`,
            ...listLines('rpc', rpc),
            ...(ws === undefined
              ? ['    # ws: wss://…   keeps portfolios fresh without polling']
              : [`    ws: ${scalar(ws)}`]),
          ]),
        ]),
    '',
  ]
  return lines.join('\n')
}

function chainLines({ name, id, rpc, ws, index, contracts }: ChainAnswers, found: readonly string[]): string[] {
  return [
    ...found.map(line => `  # ${line}`),
    `  ${scalar(name)}:`,
    ...(id === undefined ? [] : [`    id: ${id}`]),
    ...listLines('rpc', rpc),
    ...(ws === undefined ? ['    # ws: wss://…   reports new blocks at once'] : [`    ws: ${scalar(ws)}`]),
    '    # full: every block, contract and wallet. on-demand: a contract or wallet when it is first requested; never all that a wallet holds.',
    `    index: ${index}`,
    ...(index === 'full'
      ? ['    # views: [transfers]       leaves out the activity of wallets, about half of the disk, and who owns what']
      : []),
    ...(contracts.length === 0
      ? ["    # contracts: ['0x…']   indexed without waiting for a request"]
      : listLines('contracts', contracts)),
    '    # from: 0                  first block to index',
    '    # requests_per_second: 10  maximum requests per second to all endpoints together',
    '    # daily_budget: 100000     maximum calls per day',
  ]
}

function listLines(key: string, values: readonly string[]): string[] {
  return [`    ${key}:`, ...values.map(value => `      - ${scalar(value)}`)]
}

/** Quoted if YAML would read something else, as with 0x…. */
function scalar(text: string): string {
  return stringify(text, { lineWidth: 0 }).trimEnd()
}
