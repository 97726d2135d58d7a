// One block over HTTP: its hash, its time and its evidence. Its transfers are the operation `getNFTTransfersByBlock`.
import { shownEvidence } from '../../model.ts'
import { aboveHead, blockFacts } from '../../query/lookups/block-facts.ts'
import { jsonAnswer } from '../answer.ts'
import { inPath, jsonSuccess } from '../openapi-parts.ts'
import { operatorErrors, requireOperator } from '../operator-routes.ts'
import { chainParameter, readParameter, wholeParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'

const number = wholeParameter('number', { min: 0, description: 'Number of the block.', example: 16_220_243 })

export const block: RouteParts = {
  answer: context => {
    const chainOf = chainParameter('chain', context.chains, 'Chain, by name or hex id.')
    return async request => {
      await requireOperator(context, request)
      const chain = readParameter(chainOf, request.pathParameter('chain'))
      const asked = { chain: chain.id, number: readParameter(number, request.pathParameter('number')) }
      const { isFinal, evidence, timestamp, ...facts } = await blockFacts(context.store, asked, context.freshen?.block)
      return jsonAnswer({
        ...{ chain: chain.name, number: facts.number, hash: facts.hash ?? null, parent_hash: facts.parentHash ?? null },
        timestamp: timestamp === undefined ? null : new Date(timestamp * 1_000).toISOString(),
        ...{ transactions: facts.transactions ?? null, head: facts.head, final: isFinal },
        evidence: evidence === undefined ? null : shownEvidence(evidence),
      })
    }
  },
  document: ({ chains }) => ({
    id: 'getBlockFacts',
    summary: 'Stored block; always needs the scope `ops`',
    description:
      'One block as the store has it: its hash, its time and by which evidence its transfers are known. What the store does not have is asked of a node, and null where there is none.',
    parameters: [inPath(chainParameter('chain', chains, 'Chain, by name or hex id.')), inPath(number)],
    answers: { 200: jsonSuccess('BlockFacts', 'What is known of the block.') },
    errors: ['bad_request', ...operatorErrors, 'not_found', 'upstream_failed'],
    failures: [aboveHead(24_000_000, 23_120_000)],
  }),
}
