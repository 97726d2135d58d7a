// The route that explains what answers show of a contract, for the console. Needs the scope `ops` unless the operator opened it.
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
import { jsonAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { type Json, jsonSuccess, operation } from './openapi-parts.ts'
import { admitOperator } from './ops.ts'
import { unacceptable } from './params.ts'
import type { Handler } from './responder.ts'

const nodeWaitMsMax = 10_000

export function answerExplain(context: Context): Handler {
  const { store, chains } = context
  return async request => {
    await admitOperator(context, request)
    const chain = chains.parse(request.pathParameter('chain'))
    if (chain === undefined) throw unacceptable('chain', 'a chain by name or id')
    const contract = parseAddress(request.pathParameter('contract'))
    if (contract === undefined) throw unacceptable('contract', '0x and 40 hex digits')
    const text = new URLSearchParams(request.query).get('transfer')
    const asked = text === null ? undefined : readTransfer(text)
    const explanation = await explainContract(store, chain.id, contract)
    const shown = shownExplanation(explanation, chains)
    if (asked === undefined) return jsonAnswer(shown)
    const node = await askNode(context, chain.name, contract, asked.transaction)
    const transfer = await explainTransfer(store, explanation, asked, node)
    return jsonAnswer({ ...shown, transfer: shownTransfer(transfer) })
  }
}

/** Other requests must not wait for a node that is slow or away. */
async function askNode(context: Context, chain: string, contract: Address, hash: Hash): Promise<NodeAnswer> {
  if (context.askTransaction === undefined) return 'not asked'
  const waitMs = Math.min(nodeWaitMsMax, context.settings.requestTimeoutMs)
  const signal = AbortSignal.timeout(waitMs)
  try {
    return await context.askTransaction({ chain, contract, hash }, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `No node of ${chain} answered within ${waitMs} ms`
    throw new AlmanacError('timeout', message, { cause: error, retryable: true })
  }
}

function readTransfer(text: string): AskedTransfer {
  const asked = parseAskedTransfer(text)
  if (asked === undefined) throw unacceptable('transfer', 'a transaction hash, optionally followed by :logIndex')
  return asked
}

export function explainDocument(): Json {
  const inPath = { in: 'path', required: true, schema: { type: 'string' } }
  return operation({
    id: 'explainContract',
    summary: 'Why answers show what they show of a contract; needs the scope `ops` unless the operator opened it',
    parameters: [
      { name: 'chain', description: 'Chain, by name or id.', example: 'eth', ...inPath },
      { name: 'contract', description: 'Address of the contract.', example: exampleContract, ...inPath },
      {
        name: 'transfer',
        in: 'query',
        description:
          'A transaction hash, optionally followed by `:logIndex`: why it is or is not in the index. Asks a node for it.',
        schema: { type: 'string' },
      },
    ],
    answers: { 200: jsonSuccess('Explanation', 'Flags, names, labels and coverage with their origins.', examples) },
    errors: ['bad_request', 'unauthorized', 'forbidden', 'internal', 'upstream_failed'],
  })
}

const exampleContract = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'
const packMark = {
  ...{ chain: 'eth', contract: exampleContract, verified: true, spam: null },
  ...{ rank: 'built-in', source: 'built-in', updated_at: '2026-11-15T00:00:00.000Z' },
}
const examples = {
  verified: {
    ...{ chain: 'eth', contract: exampleContract },
    possible_spam: {
      ...{ value: false, because: 'verified', mark: null, score: null, score_needed: 1, rules_version: null },
      ...{ judged_at: null, judged_on: null, rules: [] },
    },
    verified_collection: { value: true, because: 'pack', mark: packMark },
    ...{ name: 'BoredApeYachtClub', symbol: 'BAYC', interfaces: ['erc721'], deployer: null, created_block: 12287507 },
    read_at: '2026-11-15T12:00:00.000Z',
    labels: [
      {
        ...{ chain: 'eth', label: 'Bored Ape Yacht Club', rank: 'built-in', source: 'built-in' },
        ...{ updated_at: '2026-11-15T00:00:00.000Z', shown: true },
      },
    ],
    marks: [packMark],
    index: {
      ...{ head: 21000000, finalized: 20999936, transfers: 250000 },
      covered: [{ from: 12287507, to: 21000000, evidence: 'two-endpoints' }],
    },
  },
}
