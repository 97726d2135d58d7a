// The oldest records of tokens, and which contracts have ranges: single keys are looked for in few runs of each
// contract first, those of the lowest blocks, and in twice as many of the next ones where that was not enough.
import type { Address } from '../../model.ts'
import type { OldestOfTokens, TokenKey, TokenRecordAt } from '../index-reader.ts'
import { byToken, tokenKey, tokenKinds, withContract } from '../indexes/by-token.ts'
import { PackSearch } from '../runs/open-pack.ts'
import { blockOfPlace, newestOfBlock, oldestOfBlock } from '../runs/place-key.ts'
import type { Core } from './core.ts'
import type { Mirror } from './mirror.ts'
import { inMoment, stale } from './read-records.ts'
import { everyBlock } from './runs.ts'
import { looks, type Work } from './work.ts'

/** Of each contract. Most tokens are as old as their contract. */
const runsAtFirst = 3
const idMax = 2n ** 256n - 1n

/** A span of keys whose first bytes are the same; its last record is looked for. */
type TokenLook = {
  contract: number
  first: Uint8Array
  last: Uint8Array
  alikeBytes: number
  found?: TokenRecordAt | undefined
}

/** None where the index is not kept. */
export function* oldestOfTokens(
  core: Core,
  chain: number,
  tokens: readonly TokenKey[],
  rangesOf: readonly Address[],
): Work<OldestOfTokens> {
  const contracts = [...tokens.map(({ contract }) => contract), ...rangesOf]
  const numbers = yield* core.dictionary.numbersOf(chain, contracts)
  return yield* inMoment(core.mirrors, chain, function* (mirror: Mirror) {
    const asked = tokens.map(({ contract, tokenId }) => {
      const number = numbers.get(contract)
      return number === undefined ? undefined : newLook(number, tokenKinds.single, [tokenId, tokenId])
    })
    const ranges = rangesOf.flatMap(contract => {
      const number = numbers.get(contract)
      return number === undefined ? [] : [[contract, newLook(number, tokenKinds.range, [0n, idMax])] as const]
    })
    let left: readonly TokenLook[] = asked.filter(look => look !== undefined)
    for (let [from, to] = [0, runsAtFirst]; left.length > 0; [from, to] = [to, to + 2 * (to - from)]) {
      const found = yield* find(mirror, chain, left, { from, to })
      if (found === stale) return stale
      left = found
    }
    const inRanges = ranges.map(([, look]) => look)
    if ((yield* find(mirror, chain, inRanges, { from: 0, to: Number.POSITIVE_INFINITY })) === stale) return stale
    return {
      records: asked.map(look => look?.found),
      withRanges: new Set(ranges.flatMap(([contract, { found }]) => (found === undefined ? [] : [contract]))),
    }
  })
}

function newLook(contract: number, kind: number, [lowest, highest]: readonly [bigint, bigint]): TokenLook {
  const first = withContract(contract, tokenKey(kind, lowest, { ...newestOfBlock, block: Number.POSITIVE_INFINITY }))
  const last = withContract(contract, tokenKey(kind, highest, { ...oldestOfBlock, block: 0 }))
  const alikeBytes = first.findIndex((byte, at) => byte !== last[at])
  return { contract, first, last, alikeBytes }
}

/** Answers those of which runs that were not looked into may have an older record. */
function* find(
  mirror: Mirror,
  chain: number,
  asked: readonly TokenLook[],
  runs: { from: number; to: number },
): Work<readonly TokenLook[] | typeof stale> {
  if (asked.length === 0) return asked
  const wanted = asked.map(({ contract, last }) => ({ contract, key: last, blocks: everyBlock }))
  const batch = yield* looks({ kind: 'looks', chain, view: byToken, looks: wanted, runs, fold: mirror.fold })
  if (!batch.isKept) return []
  if (batch.changes !== mirror.changes) return stale
  const search = new PackSearch(byToken.keyBytes)
  for (const { looks: of, bytes } of batch.packs)
    for (const at of of) {
      const look = asked[at]!
      if (!search.lastUpTo(bytes, look.last) || !search.isAlike(look.alikeBytes)) continue
      const record = { place: search.keyFrom(byToken.placeAt), value: search.value() }
      if (look.found === undefined || Buffer.compare(record.place, look.found.place) > 0) look.found = record
    }
  const left = asked.filter(({ contract, found }) => {
    const from = batch.beyond.get(contract)
    return from !== undefined && (found === undefined || blockOfPlace(found.place, 0) >= from)
  })
  // Recent blocks are above all others.
  for (const look of asked) if (!left.includes(look)) look.found ??= inRecent(mirror, chain, look)
  return left
}

function inRecent(mirror: Mirror, chain: number, look: TokenLook): TokenRecordAt | undefined {
  const { keys, values, lengths } = mirror.records({
    ...{ kind: 'records', chain, view: byToken, contract: look.contract, order: 'back' },
    ...{ first: look.last, last: look.first, limit: 1, blocks: everyBlock, isOneSubject: false },
    ...{ packsFactor: 1, runsGiven: 0, fold: undefined },
  })
  if (lengths.length === 0) return undefined
  return { place: keys.subarray(byToken.placeAt, byToken.keyBytes), value: values.subarray(0, lengths[0]) }
}
