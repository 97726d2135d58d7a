// The configuration file that `init` writes: what was wished for, what was found, and what else can be set, as comments. Pure.
import { stringify } from 'yaml'
import type { ChainWish, Wishes } from './init-wishes.ts'

/** Comments for each chain and network, by its name; none of them may hold a secret. */
export type Findings = ReadonlyMap<string, readonly string[]>

export function configurationText({ chains, solana, store }: Wishes, found: Findings): string {
  const lines = [
    '# The configuration of Almanac. Every setting is in docs/settings.md; flags and ALMANAC_… variables win over this file.',
    '# Keep it to yourself where the endpoints hold keys.',
    '',
    '# Where the service answers. All interfaces: :8080',
    'listen: 127.0.0.1:8080',
    '',
    '# Where the data is: one SQLite file, or postgres://user:password@host/database',
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
              ? ['    # ws: wss://…   keeps portfolios fresh without asking again']
              : [`    ws: ${scalar(ws)}`]),
          ]),
        ]),
    '',
  ]
  return lines.join('\n')
}

function chainLines({ name, id, rpc, ws, index, contracts }: ChainWish, found: readonly string[]): string[] {
  return [
    ...found.map(line => `  # ${line}`),
    `  ${scalar(name)}:`,
    ...(id === undefined ? [] : [`    id: ${id}`]),
    ...listLines('rpc', rpc),
    ...(ws === undefined ? ['    # ws: wss://…   hears of new blocks at once'] : [`    ws: ${scalar(ws)}`]),
    '    # full: every block, every contract and wallet. on-demand: a contract or a wallet when it is first asked for.',
    `    index: ${index}`,
    ...(contracts.length === 0
      ? ["    # contracts: ['0x…']   indexed without being asked for"]
      : listLines('contracts', contracts)),
    '    # from: 0                the first block of interest',
    '    # requestsPerSecond: 10  the most that is asked of the endpoints together',
    '    # dailyBudget: 100000    the most requests a day',
  ]
}

function listLines(key: string, values: readonly string[]): string[] {
  return [`    ${key}:`, ...values.map(value => `      - ${scalar(value)}`)]
}

/** Quoted where YAML would read something else, as it does with 0x…. */
function scalar(text: string): string {
  return stringify(text, { lineWidth: 0 }).trimEnd()
}
