// What whole chains take, from their size and the measured costs: a model to choose machines by, without a node. Pure.

import { bytesText, countText, table } from '../terminal.ts'
import { callsPerBlock, type EngineCosts, engineCosts, jsonBytes } from './measured-costs.ts'

/** Whole histories, rounded: public figures and extrapolations of recorded blocks at the end of 2026. */
const chains = {
  Ethereum: {
    ...{ blocks: 23e6, transactions: 2.9e9, logs: 5.5e9 },
    ...{ transfers: 0.4e9, transferBlocks: 13e6, addresses: 350e6 },
  },
  Polygon: {
    ...{ blocks: 79e6, transactions: 5.2e9, logs: 18e9 },
    ...{ transfers: 0.9e9, transferBlocks: 50e6, addresses: 500e6 },
  },
  'a mid-size chain': {
    ...{ blocks: 30e6, transactions: 0.3e9, logs: 0.9e9 },
    ...{ transfers: 40e6, transferBlocks: 10e6, addresses: 25e6 },
  },
} as const

const places = {
  'one machine, file': engineCosts.file,
  'one machine, PostgreSQL': engineCosts.postgres,
  'cluster, Citus': engineCosts.citus,
} as const satisfies Record<string, EngineCosts>

export type Modelled = {
  chain: string
  store: string
  calls: number
  bytes: number
  seconds: number
  disk_bytes: number
  /** Without the activity of wallets and indexes. */
  transfers_disk_bytes: number
}

export function modelledChains(): Modelled[] {
  return Object.entries(chains).flatMap(([chain, size]) =>
    Object.entries(places).map(([store, costs]) => {
      const bytes =
        size.blocks * jsonBytes.block + size.transactions * jsonBytes.transaction + size.logs * jsonBytes.log
      const transfersBytes = size.transfers * costs.transfer + size.transferBlocks * costs.block
      const indexBytes = Object.values(costs.indexes).reduce((sum, each) => sum + each, 0)
      return {
        ...{ chain, store, calls: size.blocks * callsPerBlock, bytes },
        seconds: bytes / costs.jsonPerSecond,
        disk_bytes: transfersBytes + size.transfers * indexBytes + size.addresses * costs.address,
        transfers_disk_bytes: transfersBytes,
      }
    }),
  )
}

const headings = ['CHAIN', 'STORE', 'CALLS', 'BYTES', 'TIME', 'DISK', 'TRANSFERS ALONE']

function cellsOf({ chain, store, calls, bytes, seconds, ...disk }: Modelled): string[] {
  const sizes = [disk.disk_bytes, disk.transfers_disk_bytes].map(bytesText)
  return [chain, store, countText(calls), bytesText(bytes), `${countText(Math.round(seconds / 3_600))} h`, ...sizes]
}

const assumption =
  'Assumed: full mode, proven by receipts, from an empty store to the final block, by two cores with a node that keeps up. docs/scale.md explains each column.'

export function modelText(): string {
  return `${table(headings, modelledChains().map(cellsOf))}\n\n${assumption}`
}

/** For docs/scale.md. */
export function modelMarkdown(): string {
  const rows = modelledChains().map(row => `| ${cellsOf(row).join(' | ')} |`)
  const titles = ['chain', 'store', 'calls', 'bytes fetched', 'time', 'disk', 'disk with `views: [transfers]`']
  return [`| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...rows].join('\n')
}
