// What indexing costs, measured: everything that `plan`, `forget` and the model in docs/scale.md reckon with is here.
//
//   npm run bench:constants                          measures the file and the JSON, and prints these constants
//   npm run bench:constants -- --store postgres://…  the same on a server, in an empty database
//   npm run bench:files                              measures the speed of files
//   npm run bench:senders                            measures how many senders are recovered
//
// Run it on an idle machine and put in what it prints. Figures are of two cores.

import type { IndexName } from '../../views.ts'

export type EngineCosts = {
  /** Bytes on the disk, indexes included: of a transfer, an address with activity, a block with transfers. */
  transfer: number
  address: number
  block: number
  /** Of a transfer in each index. */
  indexes: Readonly<Record<IndexName, number>>
  /** The range of measurements of a transfer. */
  measured: string
  /** Bytes of JSON that are fetched, checked, decoded and stored in a second, in full mode in the shape of Ethereum. */
  jsonPerSecond: number
}

const inFile = { by_wallet: 72, by_token: 64, by_block: 9 }
const inPostgres = { by_wallet: 86, by_token: 72, by_block: 11 }

export const engineCosts = {
  file: {
    transfer: 100,
    address: 108,
    block: 55,
    indexes: inFile,
    measured: '96 to 118',
    jsonPerSecond: 38_000_000,
  },
  postgres: {
    transfer: 136,
    address: 122,
    block: 109,
    indexes: inPostgres,
    measured: '132 to 140',
    jsonPerSecond: 36_000_000,
  },
  citus: {
    transfer: 136,
    address: 122,
    block: 109,
    indexes: inPostgres,
    measured: '132 to 140',
    jsonPerSecond: 18_000_000,
  },
} as const satisfies Record<string, EngineCosts>

/** Of blocks with transactions and receipts, as nodes send them: JSON, not compressed. */
export const jsonBytes = { block: 1_360, transaction: 1_846, log: 631 }

export function jsonBytesOf(size: { blocks: number; transactions: number; logs: number }): number {
  return size.blocks * jsonBytes.block + size.transactions * jsonBytes.transaction + size.logs * jsonBytes.log
}

/** A block and its receipts. */
export const callsPerBlock = 2

export const fromFiles = {
  /** How many times as fast as from JSON the same blocks are indexed, without wallets: npm run bench:files. */
  speed: 1.1,
  /** What recorded blocks of Ethereum take as files, of what they take as JSON. */
  bytesOfJson: 0.13,
}

/** Recovered from signatures by each core: npm run bench:senders. */
export const sendersPerSecond = 1_800
