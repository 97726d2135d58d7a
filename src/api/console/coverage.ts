// What of a stretch of blocks is covered, and by which evidence, over HTTP: what the live status leaves out where there
// are very many intervals.
import { wholeCoverage } from '../../coverage.ts'
import { type CoveredInterval, chainScopes, shownEvidence } from '../../model.ts'
import { wholeScopeOf } from '../../views.ts'
import { jsonAnswer } from '../answer.ts'
import { inPath, inQuery, jsonSuccess } from '../openapi-parts.ts'
import { operatorErrors, requireOperator } from '../operator-routes.ts'
import { chainParameter, QueryText, readParameter, unacceptable, wholeParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'

const intervalsMax = 1_000
const from = wholeParameter('from', { min: 0, description: 'First block.', example: 16_220_000 })
const to = wholeParameter('to', { min: 0, description: 'Last block.', example: 16_221_000 })

export const coverage: RouteParts = {
  answer: context => {
    const chainOf = chainParameter('chain', context.chains, 'Chain, by name or hex id.')
    return async request => {
      await requireOperator(context, request)
      const chain = readParameter(chainOf, request.pathParameter('chain'))
      const query = new QueryText(request.query)
      const range = { from: query.optional(from) ?? -1, to: query.optional(to) ?? -1 }
      if (range.from < 0 || range.to < range.from) throw unacceptable('from', 'a block, and to one at or above it')
      const [claims, report] = await Promise.all([context.store.coverage(chain.id, chainScopes), context.status()])
      const whole = wholeCoverage(claims, wholeScopeOf(report.chains[chain.name]?.views))
      const kept = whole.length > 0 ? whole : claims.filter(({ scope }) => scope === 'watched')
      const within = kept.flatMap(interval => cut(interval, range))
      const longest =
        within.length <= intervalsMax
          ? within
          : within.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, intervalsMax)
      const intervals = longest.sort((a, b) => a.from - b.from)
      return jsonAnswer({ chain: chain.name, ...range, intervals, intervals_total: within.length })
    }
  },
  document: ({ chains }) => ({
    id: 'getChainCoverage',
    summary: 'Coverage of a chain; always needs the scope `ops`',
    description: 'The blocks of a stretch that are indexed, as intervals in ascending order, each with its evidence.',
    parameters: [
      inPath(chainParameter('chain', chains, 'Chain, by name or hex id.')),
      ...[from, to].map(parameter => ({ ...inQuery(parameter), required: true })),
    ],
    answers: { 200: jsonSuccess('ChainCoverage', 'The covered intervals of the stretch.') },
    errors: ['bad_request', ...operatorErrors],
  }),
}

function cut({ from: first, to: last, evidence }: CoveredInterval, range: { from: number; to: number }) {
  const interval = { from: Math.max(first, range.from), to: Math.min(last, range.to) }
  return interval.from > interval.to ? [] : [{ ...interval, evidence: shownEvidence(evidence) }]
}
