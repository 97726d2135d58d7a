// Why following a chain cannot go on, in words for the status, with what to do about it.
import { AlmanacError } from '../../errors.ts'
import type { Block, Hash } from '../../model.ts'
import type { RangeHeader } from '../source/chain-source.ts'

export function parentMissing(chain: string, { number, parentHash }: RangeHeader): AlmanacError {
  const message = `No ${chain} endpoint has block ${parentHash}, the parent of block ${number}.`
  const hint = 'wait for the node to finish its reorganisation, or add a second endpoint.'
  return new AlmanacError('upstream_failed', message, { retryable: true, hint })
}

/** A branch that leaves the chain below its final block is not followed: a person has to decide. */
export function growsElsewhere(chain: string, { number, parentHash }: RangeHeader, finalHash: Hash): AlmanacError {
  const final = number - 1
  const message = `${chain} block ${number} grows from ${parentHash}, but block ${final} was final as ${finalHash}.`
  const hint = `check that the endpoints serve ${chain}; if that block was never final, stop the service and run almanac chain unfinalize ${chain} --to ${Math.max(0, final - 100)}.`
  return new AlmanacError('upstream_invalid', message, { retryable: true, hint })
}

export function finalElsewhere(chain: string, { number, hash }: Block, stored: Hash): AlmanacError {
  const message = `${chain} endpoint calls block ${number} ${hash} final, but ${stored} is stored.`
  const hint = 'wait: the branches meet again when the endpoint has settled; if it lasts, check the endpoint.'
  return new AlmanacError('upstream_invalid', message, { retryable: true, hint })
}

export function tooFarAhead(chain: string, blocks: number, final: number): AlmanacError {
  const message = `${chain} has ${blocks} blocks above ${final}, the last one that is final: no more are followed until some of them are.`
  const hint = `check what the endpoints of ${chain} call final, and that they serve ${chain}.`
  return new AlmanacError('upstream_invalid', message, { retryable: true, hint })
}
