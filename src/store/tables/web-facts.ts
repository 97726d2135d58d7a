// What was fetched from the web, within a bound on all of it.
import { type Engine, plain, plainUnseen, put, row, rows, run, textOf, type Work } from '../core/work.ts'
import type { WebFact, WebFactStore } from '../web-fact-store.ts'

const find = `SELECT name, status, evidence, type, size, width, height, read_at,
    CASE WHEN size <= $1:big AND size > 0 THEN content END FROM web_facts WHERE name IN $2:blobs`
const sum = 'SELECT coalesce(sum(size), 0), count(*) FROM web_facts'
const drop = `DELETE FROM web_facts WHERE name IN
  (SELECT name FROM web_facts WHERE name <> $1 ORDER BY read_at LIMIT $2:int)`
/** A fact without content takes about as much. */
const rowBytes = 200
/** The sum reads an index of all: so many writes go by what is known. */
const writesPerSum = 256

export function webFactStore(engine: Engine): WebFactStore {
  let bytes = 0
  let writes = 0
  function* putFact({ readAtMs, content, ...fact }: WebFact, bytesMax: number): Work<void> {
    yield* put('web_facts', [{ ...fact, read_at: readAtMs, content: content ?? null }])
    bytes += fact.size + rowBytes
    if (writes++ % writesPerSum !== 0 && bytes <= bytesMax) return
    let count = yield* measure()
    while (bytes > bytesMax && count > 1) {
      if ((yield* run(drop, fact.name, Math.max(1, Math.ceil(count / 16)))) === 0) break
      count = yield* measure()
    }
  }
  /** How many there are. */
  function* measure(): Work<number> {
    const [size, count] = (yield* row(sum))!.map(Number) as [number, number]
    bytes = size + count * rowBytes
    return count
  }
  return {
    webFacts: (names, contentBytesMax) =>
      engine.read(function* () {
        const found = yield* rows(find, contentBytesMax, names)
        return found.map(([name, status, evidence, type, size, width, height, readAtMs, content]) => ({
          ...{ name: Buffer.from(name), status, evidence, type: textOf(type) ?? null, size, width, height, readAtMs },
          content: content === null ? undefined : Buffer.from(content),
        }))
      }),
    putWebFact: (fact, { bytesMax, seen = false }) =>
      engine.write(() => putFact(fact, bytesMax), seen ? plain : plainUnseen),
  }
}
