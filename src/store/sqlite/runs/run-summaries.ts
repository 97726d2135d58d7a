// How many runs there are and how large they are, by chain and view: a look at one small table.
import type { View } from '../../runs/view.ts'
import type { RunSummary } from '../../store.ts'
import type { Connection } from '../connection.ts'

const summarise = `SELECT chains.id, view, count(*), sum(records), sum(iif(target IS NULL, 0, records))
  FROM runs JOIN chains ON chain = ordinal GROUP BY chains.id, view ORDER BY chains.id, view`

export function runSummaries(read: Connection, known: readonly View[]): RunSummary[] {
  const names = new Map(known.map(({ id, name }) => [id, name]))
  return read.all(summarise).map(([chain, view, runs, records, mergingRecords]) => {
    const name = names.get(view as number) ?? String(view)
    return { chain, view: name, runs, records, mergingRecords } as RunSummary
  })
}
