import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Address } from '../../model.ts'
import { openStore } from '../open.ts'
import { Connection } from './connection.ts'
import { LabelFilter } from './label-filter.ts'
import { readOptions } from './open-file.ts'

const addressOf = (name: string) => `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}` as Address

test('lets every labelled address pass and few others, and starts anew when labels change', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-labels-'))
  const path = join(directory, 'almanac.db')
  try {
    const store = await openStore(`file:${path}`, { role: 'owner' })
    // More than one piece, with two labels for some addresses across the boundary of pieces.
    const labelled = Array.from({ length: 25_000 }, (_, index) => addressOf(`labelled ${index}`))
    const label = { chain: undefined, label: 'x', source: 'a', rank: 'imported', updatedAt: 1 } as const
    await store.putLabels(
      labelled.flatMap(address => [
        { ...label, address },
        { ...label, address, source: 'b' },
      ]),
    )
    const connection = new Connection(path, readOptions)
    const filter = new LabelFilter(connection)
    const others = Array.from({ length: 5_000 }, (_, index) => addressOf(`other ${index}`))
    expect(filter.possible(others).size).toBe(others.length)
    await filter.settled()
    expect([...filter.possible(labelled)]).toEqual(labelled)
    expect(filter.possible(others).size).toBeLessThan(others.length / 50)
    await store.putLabels([{ ...label, address: others[0]! }])
    expect(filter.possible(others).size).toBe(others.length)
    await filter.settled()
    expect(filter.possible(others).has(others[0]!)).toBe(true)
    expect(filter.possible(others).size).toBeLessThan(others.length / 50)
    connection.close()
    await store.close()
  } finally {
    rmSync(directory, { recursive: true })
  }
})
