// The oldest records of tokens: each is looked for in the table and in the runs of its contract, those of the lowest
// blocks first, until no other run can have an older one. Callers hold the snapshot.
import type { Address } from '../../../model.ts'
import type { TokenKey, TokenRecordAt } from '../../index-reader.ts'
import { byToken, tokenKey, tokenKinds, withContract } from '../../indexes/by-token.ts'
import { PackSearch } from '../../runs/pack-search.ts'
import { blockOfPlace, newestOfBlock, oldestOfBlock, writePlace } from '../../runs/place-key.ts'
import type { Connection } from '../connection.ts'
import type { KnownRun, KnownRuns } from '../runs/known-runs.ts'

export type TokenContext = {
  read: Connection
  chain: number
  runs: KnownRuns
  numberOf: (contract: Address) => number | undefined
}

const findInTable = `SELECT key, value FROM view_records WHERE view = ${byToken.id} AND chain = ?
  AND key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1`

/** The packs of runs that may have a key. */
const findPacks = `SELECT bytes FROM json_each(?1) AS asked CROSS JOIN packs ON packs.id =
  (SELECT pack FROM pack_keys WHERE run = asked.value AND key <= ?2 ORDER BY key DESC LIMIT 1)`
/** Of one statement: a statement costs as much as two packs that were read in vain. */
const runsPerLook = 6

export function oldestOfTokens(context: TokenContext, tokens: readonly TokenKey[]): (TokenRecordAt | undefined)[] {
  const { read, runs, numberOf } = context
  const records: (TokenRecordAt | undefined)[] = tokens.map(() => undefined)
  const search = new PackSearch(byToken.keyBytes)
  const all = runs.all(read)
  for (const [contract, places] of Map.groupBy(tokens.keys(), at => tokens[at]!.contract)) {
    const number = numberOf(contract)
    if (number === undefined) continue
    const looks = places.map(at => new Look(context, number, tokens[at]!.tokenId))
    lookInRuns(read, search, runs.ofContract(read, number, all), looks)
    for (const [order, at] of places.entries()) records[at] = looks[order]!.found
  }
  return records
}

function lookInRuns(read: Connection, search: PackSearch, runs: KnownRun[], looks: readonly Look[]): void {
  runs.sort((a, b) => a.from - b.from)
  for (let from = 0; from < runs.length; from += runsPerLook) {
    const some = runs.slice(from, from + runsPerLook)
    const ids = JSON.stringify(some.map(({ id }) => id))
    for (const look of looks)
      if (some[0]!.from <= look.block)
        for (const [pack] of read.all(findPacks, ids, look.last)) look.takeFrom(search, pack as Uint8Array)
  }
}

class Look {
  /** The last key that a record of the token can have: places count down. */
  readonly last: Uint8Array
  found: TokenRecordAt | undefined
  /** Of what was found. */
  block = Number.POSITIVE_INFINITY

  constructor({ read, chain }: TokenContext, contract: number, tokenId: bigint) {
    this.last = withContract(contract, tokenKey(tokenKinds.single, tokenId, { ...oldestOfBlock, block: 0 }))
    const first = this.last.slice()
    writePlace(first, byToken.placeAt, { ...newestOfBlock, block: Number.POSITIVE_INFINITY })
    const row = read.get(findInTable, chain, first, this.last) as [Uint8Array, Uint8Array] | undefined
    if (row !== undefined) this.#take(row[0].subarray(byToken.placeAt), row[1])
  }

  takeFrom(search: PackSearch, pack: Uint8Array): void {
    if (search.lastUpTo(pack, this.last) && search.isAlike(byToken.placeAt))
      this.#take(search.keyFrom(byToken.placeAt), search.value())
  }

  /** A record of the token, if it is older than what was found. */
  #take(place: Uint8Array, value: Uint8Array): void {
    if (this.found !== undefined && Buffer.compare(place, this.found.place) < 0) return
    this.found = { place, value }
    this.block = blockOfPlace(place, 0)
  }
}
