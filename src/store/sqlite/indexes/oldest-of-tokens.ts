// The oldest records of tokens: each is looked for in the table and in the runs of its contract, those of the lowest
// blocks first, until no other run can have an older one. Callers hold the snapshot.
import type { Address } from '../../../model.ts'
import type { TokenKey, TokenRecordAt } from '../../index-reader.ts'
import { byToken, tokenKey, tokenKinds, withContract } from '../../indexes/by-token.ts'
import { PackSearch } from '../../runs/pack-search.ts'
import { blockOfPlace, newestOfBlock, oldestOfBlock, writePlace } from '../../runs/place-key.ts'
import type { Connection } from '../connection.ts'
import type { KnownRun, KnownRuns } from '../runs/known-runs.ts'
import { lastUpTo } from '../runs/runs.ts'

export type TokenContext = {
  read: Connection
  chain: number
  runs: KnownRuns
  numberOf: (contract: Address) => number | undefined
}

const findInTable = `SELECT key, value FROM view_records WHERE view = ${byToken.id} AND chain = ?
  AND key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1`

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
  for (const run of runs.sort((a, b) => a.from - b.from))
    for (const look of looks) {
      const mayBeOlder = run.from <= look.block && lastUpTo(read, search, run.id, look.last)
      if (mayBeOlder && search.isAt(look.last, byToken.placeAt)) look.take(search.key, search.value())
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
    if (row !== undefined) this.take(...row)
  }

  /** A record of the token, if it is older than what was found. */
  take(key: Uint8Array, value: Uint8Array): void {
    const place = key.slice(byToken.placeAt)
    if (this.found !== undefined && Buffer.compare(place, this.found.place) < 0) return
    this.found = { place, value }
    this.block = blockOfPlace(place, 0)
  }
}
