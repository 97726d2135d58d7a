// One transaction over HTTP: as a node has it, with its stored transfers. The rules are in
// `query/lookups/transaction.ts`.
import { z } from 'zod'
import { parseHash, shownEvidence } from '../../model.ts'
import { blockFacts } from '../../query/lookups/block-facts.ts'
import { findTransaction, notInBlock, type TransactionAnswer } from '../../query/lookups/transaction.ts'
import { AdmissionQueue } from '../admission-queue.ts'
import { jsonAnswer } from '../answer.ts'
import { askNode, nodeQuestions } from '../explain.ts'
import { inPath, jsonSuccess, nodeErrors } from '../openapi-parts.ts'
import { operatorErrors, requireOperator } from '../operator-routes.ts'
import { chainParameter, type Parameter, readParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'
import { writeMixedTransfers } from '../transfer-json.ts'

const hashParameter = {
  name: 'hash',
  read: parseHash,
  accepts: '0x and 64 hex digits',
  schema: z.string().regex(/^0[xX][0-9a-fA-F]{64}$/),
  description: 'Hash of the transaction.',
  example: '0x46ab6d3c3d1ab1ff5ad8ea03d3dc6ba4f7f1ed8b4e5e0f0a96a7dd3f0be0e76d',
} satisfies Parameter<unknown>

export const transaction: RouteParts = {
  answer: context => {
    const chainOf = chainParameter('chain', context.chains, 'Chain, by name or hex id.')
    const questions = new AdmissionQueue(nodeQuestions)
    return async request => {
      await requireOperator(context, request)
      const { id, name } = readParameter(chainOf, request.pathParameter('chain'))
      const hash = readParameter(hashParameter, request.pathParameter('hash'))
      const node = await questions.run(() => askNode(context, { chain: name, contract: undefined, hash }))
      const found = await findTransaction(context, { chain: { id, name }, hash }, node)
      const block = await blockFacts(context.store, { chain: id, number: found.node.block }, context.freshen?.block)
      const labels = await context.store.labelsOf(
        id,
        [found.node.from, found.node.to].flatMap(address => address ?? []),
      )
      return jsonAnswer({ chain: name, hash, ...shown(found, { block, labels }), transfers: transfersOf(found) })
    }
  },
  document: ({ chains }) => ({
    id: 'getTransaction',
    summary: 'Transaction; always needs the scope `ops`',
    description: 'Sender, receiver, value and block of one transaction, and the NFT transfers in it that are stored.',
    parameters: [inPath(chainParameter('chain', chains, 'Chain, by name or hex id.')), inPath(hashParameter)],
    answers: { 200: jsonSuccess('Transaction', 'The transaction and its NFT transfers, in the order of their logs.') },
    errors: ['bad_request', ...operatorErrors, 'not_found', 'overloaded', ...nodeErrors],
    failures: [notInBlock('eth', `${hashParameter.example}`)],
  }),
}

type Around = { block: Awaited<ReturnType<typeof blockFacts>>; labels: ReadonlyMap<string, string> }

function shown({ node, more }: TransactionAnswer, { block, labels }: Around) {
  const { from, to, created } = node
  return {
    ...{ block: node.block, block_hash: block.hash ?? null, transaction_index: node.transactionIndex },
    block_timestamp: block.timestamp === undefined ? null : new Date(block.timestamp * 1_000).toISOString(),
    ...{ final: block.isFinal, evidence: block.evidence === undefined ? null : shownEvidence(block.evidence) },
    ...{ succeeded: node.succeeded, value: node.value, logs: node.logs.length, endpoint: node.endpoint },
    ...{ from_address: from ?? null, from_address_label: (from && labels.get(from)) ?? null },
    ...{ to_address: to ?? null, to_address_label: (to && labels.get(to)) ?? null },
    created_contract: created ?? null,
    ...{ gas_used: node.gasUsed ?? null, fee: node.fee ?? null },
    ...{ nonce: node.nonce ?? null, method: node.method ?? null },
    more_transfers: more,
  }
}

/** As the operations show transfers. */
function transfersOf({ rows, facts, labels }: TransactionAnswer): unknown {
  const shape = { format: 'decimal', dialect: 'live', withNames: true, head: '[', tail: ']' } as const
  const { bytes, release } = writeMixedTransfers({ rows, facts, labels, ...shape })
  const text = bytes.toString()
  release()
  return JSON.parse(text)
}
