// Why a chain without a node cannot go on, in words for the status, with what to do about it.
import { blockCount } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import type { Hash } from '../../model.ts'
import { fromHint, type Lack, lackText, laterFrom } from '../rpc/history-floors.ts'
import type { BulkSources } from '../source/bulk-sources.ts'
import type { Unfounded } from './backfill.ts'

export function nothingThere(chain: string, bulk: BulkSources): AlmanacError {
  return sourceFailure(chain, 'has no node, and no source gives it a head', bulk)
}

export function unreadable(chain: string, bulk: BulkSources): AlmanacError {
  return sourceFailure(chain, 'has no node, and no source of it can be read', bulk)
}

/** Nothing is left that could be filled, and blocks are missing all the same. */
export function inNoSource(chain: string, lack: Lack): AlmanacError {
  const lacking = `has no node, and its sources lack ${blockCount(lack.missing)} blocks: ${lackText(lack)}`
  return new AlmanacError('upstream_failed', `${chain} ${lacking}.`, {
    retryable: true,
    hint: `put files with them where chains.${chain}.history says, or set chains.${chain}.portal or chains.${chain}.rpc${fromHint(laterFrom(lack))}.`,
  })
}

/** What sources say of themselves, of those that give less than they should. */
export function sourceReasons(bulk: BulkSources): string {
  const reasons = bulk.status().flatMap(({ name, state, reason, refused: [first] }) => {
    if (state === 'failed' && reason !== undefined) return [`${name}: ${reason}`]
    return first === undefined ? [] : [`${name}: ${first.name}: ${first.reason}`]
  })
  return reasons.join('; ')
}

function sourceFailure(chain: string, what: string, bulk: BulkSources): AlmanacError {
  const reasons = bulk.status().map(({ name, to, reason, refused: [first] }) => {
    const lack = to === undefined ? 'it has no blocks' : `it gives no header of block ${to}`
    return `${name}: ${reason ?? lack}${first === undefined ? '' : ` (${first.name} ${first.reason})`}`
  })
  return new AlmanacError('upstream_failed', `${chain} ${what}: ${reasons.join('; ')}.`, {
    retryable: true,
    hint: `put files with blocks where chains.${chain}.history says, check chains.${chain}.portal, or set chains.${chain}.rpc.`,
  })
}

export function doNotJoin(chain: string, { block, message }: Unfounded): AlmanacError {
  return new AlmanacError('upstream_invalid', `${chain} has blocks of two chains: ${message}.`, {
    retryable: true,
    hint: `set chains.${chain}.anchor to the hash of a block that you know to be on ${chain}, or give it a node. To take back what is stored from block ${block} on, stop the service and run almanac chain unfinalize ${chain} --to ${block - 1}.`,
  })
}

export function misnamed(chain: string, hash: Hash): AlmanacError {
  return new AlmanacError('upstream_invalid', `${chain} has no block ${hash}, which chains.${chain}.anchor names.`, {
    retryable: true,
    hint: `check the hash. Among what a portal gave only blocks with NFT transfers and the highest 10,000 are found.`,
  })
}
