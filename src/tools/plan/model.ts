// What whole chains take, from their size and the measured costs: a model to choose machines by, without a node. Pure.

import { bytesText, type Column, countText, fitted, fittedTable } from '../../cli/terminal.ts'
import {
  callsPerBlock,
  type EngineCosts,
  engineCosts,
  fromFiles,
  jsonBytesOf,
  sendersPerSecond,
} from './measured-costs.ts'

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
  /** Where its history comes in files: what they take, and both passes over them. */
  files?: { bytes: number; seconds: number; senders_seconds: number }
}

export function modelledChains(): Modelled[] {
  return Object.entries(chains).flatMap(([chain, size]) =>
    Object.entries(places).map(([store, costs]) => {
      const bytes = jsonBytesOf(size)
      const transfersBytes = size.transfers * costs.transfer + size.transferBlocks * costs.block
      const indexBytes = Object.values(costs.indexes).reduce((sum, each) => sum + each, 0)
      return {
        ...{ chain, store, calls: size.blocks * callsPerBlock, bytes },
        seconds: bytes / costs.jsonPerSecond,
        disk_bytes: transfersBytes + size.transfers * indexBytes + size.addresses * costs.address,
        transfers_disk_bytes: transfersBytes,
        ...(chain === 'Ethereum' ? { files: filesOf(size, costs) } : {}),
      }
    }),
  )
}

/** The machine has two cores. */
const cores = 2

function filesOf(size: (typeof chains)['Ethereum'], costs: EngineCosts): NonNullable<Modelled['files']> {
  const json = jsonBytesOf(size)
  const seconds = json / costs.jsonPerSecond / fromFiles.speed
  const recovering = size.transactions / (sendersPerSecond * cores)
  return { bytes: json * fromFiles.bytesOfJson, seconds, senders_seconds: seconds + recovering }
}

const columns: readonly Column[] = [
  ...[{ title: 'CHAIN' }, { title: 'STORE' }, { title: 'CALLS', drop: 2 }, { title: 'BYTES', drop: 3 }],
  ...[{ title: 'TIME' }, { title: 'DISK' }, { title: 'TRANSFERS ALONE', drop: 4 }],
]

function cellsOf({ chain, store, calls, bytes, seconds, ...disk }: Modelled): string[] {
  const sizes = [disk.disk_bytes, disk.transfers_disk_bytes].map(bytesText)
  return [chain, store, countText(calls), bytesText(bytes), hoursText(seconds), ...sizes]
}

const filesColumns: readonly Column[] = [
  ...[{ title: 'CHAIN FROM FILES' }, { title: 'STORE' }, { title: 'BYTES', drop: 2 }],
  ...[{ title: 'TRANSFERS', drop: 3 }, { title: 'SENDERS' }, { title: 'DISK' }, { title: 'TRANSFERS ALONE', drop: 4 }],
]

/** Of those whose history comes in files. */
function filesCells({ chain, store, files, ...disk }: Modelled): string[][] {
  if (files === undefined) return []
  const sizes = [disk.disk_bytes, disk.transfers_disk_bytes].map(bytesText)
  return [[chain, store, bytesText(files.bytes), hoursText(files.seconds), hoursText(files.senders_seconds), ...sizes]]
}

function hoursText(seconds: number): string {
  return `${countText(Math.round(seconds / 3_600))} h`
}

const assumption =
  'Assumed: full mode, proven by receipts, from an empty store to the final block, by two cores with a node that keeps up. docs/scale.md explains each column.'

export function modelText(): string {
  const rows = modelledChains()
  const tables = [fittedTable(columns, rows.map(cellsOf)), fittedTable(filesColumns, rows.flatMap(filesCells))]
  return [...tables, fitted(assumption, { output: process.stdout })].join('\n\n')
}

/** For docs/scale.md. */
export function modelMarkdown(): string {
  const titles = ['chain', 'store', 'calls', 'bytes fetched', 'time', 'disk', 'disk with `views: [transfers]`']
  return markdown(titles, modelledChains().map(cellsOf))
}

/** For the guide to whole chains. */
export function filesMarkdown(): string {
  const titles = ['chain', 'store', 'files', 'transfers', 'then wallets', 'disk', 'disk with `views: [transfers]`']
  return markdown(titles, modelledChains().flatMap(filesCells))
}

/** Of a store in one file, at a usual price of calls. For the README. */
export function sizingMarkdown(): string {
  const titles = ['chain', 'history from', 'calls', 'at $5 a million calls', 'time', 'disk']
  const money = (calls: number) => {
    const dollars = (calls / 1e6) * dollarsPerMillionCalls
    return `$${dollars < 1 ? dollars.toFixed(2) : countText(dollars)}`
  }
  const rows = modelledChains()
    .filter(({ store }) => store === 'one machine, file')
    .flatMap(({ chain, calls, seconds, disk_bytes, files }) => {
      const nodes = [chain, 'a node', countText(calls), money(calls), hoursText(seconds), bytesText(disk_bytes)]
      if (files === undefined) return [nodes]
      const passes = `${hoursText(files.seconds)}, then wallets ${hoursText(files.senders_seconds)}`
      return [nodes, [chain, 'files', 'of the head alone', '–', passes, bytesText(disk_bytes)]]
    })
  const calls = chains.Ethereum.blocks / blocksPerLogsCall
  const { transfer, indexes } = engineCosts.file
  const bytes = collectionTransfers * Object.values(indexes).reduce((sum, each) => sum + each, transfer)
  const contract = 'one contract of Ethereum with a million transfers'
  return markdown(titles, [...rows, [contract, 'a node', countText(calls), money(calls), 'minutes', bytesText(bytes)]])
}

const dollarsPerMillionCalls = 5
/** What providers usually allow. */
const blocksPerLogsCall = 10_000
const collectionTransfers = 1e6

function markdown(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map(cells => `| ${cells.join(' | ')} |`)
  return [`| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...lines].join('\n')
}
