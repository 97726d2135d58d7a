// Known blocks, hot and cold, and finding them by number or time. Callers hold the transaction.

import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import type { Connection, Row } from './connection.ts'
import { blockKeySpan } from './tables.ts'

export type BlockTable = 'blocks' | 'hot_blocks'

/** Newest first within a chain: see blockKeySpan. */
export function blockKey(ordinal: number, number: number): number {
  return ordinal * blockKeySpan + (blockKeySpan - 1 - number)
}

function blockOf(row: Row | undefined): Block | undefined {
  if (row === undefined) return undefined
  const number = blockKeySpan - 1 - ((row[0] as number) % blockKeySpan)
  return { number, hash: hexOf<Hash>(row[1] as Uint8Array), timestamp: row[2] as number }
}

/** Writes a known block again only where the new reading differs. */
export function putBlocks(connection: Connection, table: BlockTable, ordinal: number, blocks: readonly Block[]): void {
  const put = connection.prepare(`INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO UPDATE
    SET hash = excluded.hash, timestamp = excluded.timestamp WHERE hash <> excluded.hash OR timestamp <> excluded.timestamp`)
  const newestFirst = [...blocks].sort((a, b) => b.number - a.number)
  for (const { number, hash, timestamp } of newestFirst) put.run(blockKey(ordinal, number), bytesOfHex(hash), timestamp)
}

export function blockAt(connection: Connection, table: BlockTable, ordinal: number, number: number): Block | undefined {
  return blockOf(connection.get(`SELECT key, hash, timestamp FROM ${table} WHERE key = ?`, blockKey(ordinal, number)))
}

/** Hot blocks are above all cold ones. */
export function lowestBlockOf(connection: Connection, ordinal: number, { from, to }: Interval): Block | undefined {
  return connection.snapshot(
    () =>
      lowestBlock(connection, 'blocks', ordinal, { from, to }) ??
      lowestBlock(connection, 'hot_blocks', ordinal, { from, to }),
  )
}

export function blockWithHash(
  connection: Connection,
  ordinal: number,
  hash: Hash,
  { from, to }: Interval,
): Block | undefined {
  return connection.snapshot(() => {
    for (const table of ['blocks', 'hot_blocks'] as const) {
      const find = `SELECT key, hash, timestamp FROM ${table} WHERE key BETWEEN ? AND ? AND hash = ? LIMIT 1`
      const row = connection.get(find, blockKey(ordinal, to), blockKey(ordinal, from), bytesOfHex(hash))
      if (row !== undefined) return blockOf(row)
    }
    return undefined
  })
}

export function hasColdBlocks(connection: Connection, ordinal: number, interval: Interval): boolean {
  return lowestBlock(connection, 'blocks', ordinal, interval) !== undefined
}

/** Cold ones or hot. */
export function hasBlocks(connection: Connection, ordinal: number, interval: Interval): boolean {
  return (['blocks', 'hot_blocks'] as const).some(
    table => lowestBlock(connection, table, ordinal, interval) !== undefined,
  )
}

export function hotBlocksOf(connection: Connection, ordinal: number): Block[] {
  const rows = connection.all(
    'SELECT key, hash, timestamp FROM hot_blocks WHERE key BETWEEN ? AND ? ORDER BY key DESC',
    blockKey(ordinal, blockKeySpan - 1),
    blockKey(ordinal, 0),
  )
  return rows.map(row => blockOf(row) as Block)
}

/** Returns how many there were. */
export function dropBlocksAbove(connection: Connection, table: BlockTable, ordinal: number, number: number): number {
  return connection.run(
    `DELETE FROM ${table} WHERE key >= ? AND key < ?`,
    blockKey(ordinal, blockKeySpan - 1),
    blockKey(ordinal, number),
  )
}

/** Of cold blocks. */
export function dropBlocksWithin(connection: Connection, ordinal: number, { from, to }: Interval): void {
  const highest = Math.min(to, blockKeySpan - 1)
  connection.run('DELETE FROM blocks WHERE key BETWEEN ? AND ?', blockKey(ordinal, highest), blockKey(ordinal, from))
}

export function moveBlocksToCold(connection: Connection, ordinal: number, upTo: number): void {
  const range = [blockKey(ordinal, upTo), blockKey(ordinal, 0)]
  connection.run('INSERT OR REPLACE INTO blocks SELECT * FROM hot_blocks WHERE key BETWEEN ? AND ?', ...range)
  connection.run('DELETE FROM hot_blocks WHERE key BETWEEN ? AND ?', ...range)
}

export function highestHotBlock(connection: Connection, ordinal: number): Block | undefined {
  return nextBelow(connection, 'hot_blocks', ordinal, blockKeySpan - 1)
}

/** The highest known block at or below `number`. Keys run against numbers. */
function nextBelow(connection: Connection, table: BlockTable, ordinal: number, number: number): Block | undefined {
  const find = `SELECT key, hash, timestamp FROM ${table} WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1`
  return blockOf(connection.get(find, blockKey(ordinal, number), blockKey(ordinal, 0)))
}

function lowestBlock(
  connection: Connection,
  table: BlockTable,
  ordinal: number,
  { from, to }: Interval = { from: 0, to: blockKeySpan - 1 },
): Block | undefined {
  const find = `SELECT key, hash, timestamp FROM ${table} WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1`
  return blockOf(connection.get(find, blockKey(ordinal, to), blockKey(ordinal, from)))
}

type Around = { before: Block | undefined; after: Block | undefined }

/** Hot blocks are above all cold ones. */
export function blocksAround(connection: Connection, ordinal: number, timestamp: number): Around {
  return connection.snapshot(() => {
    const hot = blocksAroundIn(connection, 'hot_blocks', ordinal, timestamp)
    const cold = blocksAroundIn(connection, 'blocks', ordinal, timestamp)
    return { before: hot.before ?? cold.before, after: cold.after ?? hot.after }
  })
}

/**
 * Timestamps never decrease with the number, so halving the numbers finds the place: about 25 point reads, and no index
 * of timestamps.
 */
function blocksAroundIn(connection: Connection, table: BlockTable, ordinal: number, timestamp: number): Around {
  let before: Block | undefined
  let after: Block | undefined
  let low = lowestBlock(connection, table, ordinal)?.number ?? 0
  let high = nextBelow(connection, table, ordinal, blockKeySpan - 1)?.number ?? -1
  while (low <= high) {
    const middle = low + Math.floor((high - low) / 2)
    const block = nextBelow(connection, table, ordinal, middle)
    if (block === undefined || block.number < low) {
      low = middle + 1
    } else if (block.timestamp < timestamp) {
      before = block
      low = middle + 1
    } else {
      after = block
      high = block.number - 1
    }
  }
  return { before, after }
}
