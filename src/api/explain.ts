// The route that explains what answers show of a contract, for the console; needs the scope `ops` unless the operator opened it.
import { AlmanacError } from '../errors.ts'
import { type Address, type Hash, parseAddress } from '../model.ts'
import {
  type AskedTransfer,
  explainContract,
  explainTransfer,
  type NodeAnswer,
  parseAskedTransfer,
  shownExplanation,
  shownTransfer,
} from '../query/explain.ts'
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Workplace } from './operation.ts'
import { admitOperator } from './ops.ts'

const headers = { 'Cache-Control': 'no-store', ...safetyHeaders }
const nodeWaitMsMax = 10_000

export async function answerExplain(place: Workplace, exchange: Exchange): Promise<Answer> {
  await admitOperator(place, exchange)
  const chain = place.chains.parse(exchange.pathParameter('chain'))
  if (chain === undefined) throw unacceptable('chain', 'a chain by name or id')
  const contract = parseAddress(exchange.pathParameter('contract'))
  if (contract === undefined) throw unacceptable('contract', '0x and 40 hex digits')
  const text = new URLSearchParams(exchange.query).get('transfer')
  const asked = text === null ? undefined : readTransfer(text)
  const explanation = await explainContract(place.store, chain.id, contract)
  const shown = shownExplanation(explanation, place.chains)
  if (asked === undefined) return jsonAnswer(shown, headers)
  const node = await askNode(place, chain.name, contract, asked.transaction)
  const transfer = await explainTransfer(place.store, explanation, asked, node)
  return jsonAnswer({ ...shown, transfer: shownTransfer(transfer) }, headers)
}

/** A node is slow or away now and then; the work of others must not wait for it. */
async function askNode(place: Workplace, chain: string, contract: Address, hash: Hash): Promise<NodeAnswer> {
  if (place.askTransaction === undefined) return 'not asked'
  const waitMs = Math.min(nodeWaitMsMax, place.settings.requestTimeoutMs)
  const signal = AbortSignal.timeout(waitMs)
  try {
    return await place.askTransaction({ chain, contract, hash }, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `No node of ${chain} answered within ${waitMs} ms`
    throw new AlmanacError('timeout', message, { cause: error, retryable: true })
  }
}

function readTransfer(text: string): AskedTransfer {
  const asked = parseAskedTransfer(text)
  if (asked === undefined) throw unacceptable('transfer', 'a transaction hash, or one with :logIndex behind it')
  return asked
}

function unacceptable(parameter: string, accepted: string): AlmanacError {
  return new AlmanacError('bad_request', `${parameter} must be ${accepted}`, { details: { parameter, accepted } })
}
