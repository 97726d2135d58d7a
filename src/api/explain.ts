// The route that explains to the console what answers show of a contract. The rules are in `query/explain.ts`.
import { AlmanacError } from '../errors.ts'
import { parseAddress } from '../model.ts'
import {
  type AskedTransfer,
  type AskTransaction,
  explainContract,
  explainTransfer,
  type NodeAnswer,
  parseAskedTransfer,
  shownExplanation,
  shownTransfer,
} from '../query/explain.ts'
import { AdmissionQueue } from './admission-queue.ts'
import { jsonAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { jsonSuccess, textInPath } from './openapi-parts.ts'
import { requireOperator } from './operator-routes.ts'
import { unacceptable } from './params.ts'
import type { RouteParts } from './responder.ts'

const nodeWaitMsMax = 10_000
/** Questions to nodes: few, so that they take neither the nodes' budget nor slots from the operations. */
export const nodeQuestions = { concurrencyMax: 4, queueMax: 16, timeoutMs: 2 * nodeWaitMsMax }

export const explanation: RouteParts = {
  answer: context => {
    const { store, chains, holdings } = context
    const questions = new AdmissionQueue(nodeQuestions)
    return async request => {
      await requireOperator(context, request)
      const chain = chains.parse(request.pathParameter('chain'))
      if (chain === undefined) throw unacceptable('chain', 'a chain by name or id')
      const contract = parseAddress(request.pathParameter('contract'))
      if (contract === undefined) throw unacceptable('contract', '0x and 40 hex digits')
      const text = new URLSearchParams(request.query).get('transfer')
      const asked = text === null ? undefined : readTransfer(text)
      const explanation = await explainContract({ store, holdings }, chain.id, contract)
      const shown = shownExplanation(explanation, chains)
      if (asked === undefined) return jsonAnswer(shown)
      const node = await questions.run(() => askNode(context, { chain: chain.name, contract, hash: asked.transaction }))
      const transfer = await explainTransfer(store, explanation, asked, node)
      return jsonAnswer({ ...shown, transfer: shownTransfer(transfer) })
    }
  },
  document: {
    id: 'explainContract',
    summary: 'Explain a contract; always needs the scope `ops`',
    description:
      'What the index has of a contract, by which evidence, and what is missing. Use it when an answer is incomplete or looks wrong.',
    parameters: [
      textInPath('chain', 'Chain, by name or id.', 'eth'),
      textInPath('contract', 'Address of the contract.', '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'),
      {
        name: 'transfer',
        in: 'query',
        description:
          'A transaction hash, optionally followed by `:logIndex`: why it is or is not in the index. Asks a node for it.',
        schema: { type: 'string' },
      },
    ],
    answers: { 200: jsonSuccess('Explanation', 'Flags, names, labels and coverage with their origins.') },
    errors: ['bad_request', 'unauthorized', 'forbidden', 'internal', 'overloaded', 'upstream_failed'],
    failures: [unacceptable('contract', '0x and 40 hex digits')],
  },
}

/** Other requests must not wait for a node that is slow or away. */
export async function askNode(context: Context, asked: Parameters<AskTransaction>[0]): Promise<NodeAnswer> {
  if (context.askTransaction === undefined) return 'not asked'
  const waitMs = Math.min(nodeWaitMsMax, context.settings.requestTimeoutMs)
  const signal = AbortSignal.timeout(waitMs)
  try {
    return await context.askTransaction(asked, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `No node of ${asked.chain} answered within ${waitMs} ms`
    throw new AlmanacError('timeout', message, { cause: error, retryable: true })
  }
}

function readTransfer(text: string): AskedTransfer {
  const asked = parseAskedTransfer(text)
  if (asked === undefined) throw unacceptable('transfer', 'a transaction hash, optionally followed by :logIndex')
  return asked
}
