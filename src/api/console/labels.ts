// The labels of addresses on a chain over HTTP: those that answers show.
import { AlmanacError } from '../../errors.ts'
import { jsonAnswer } from '../answer.ts'
import { inPath, inQueryList, jsonSuccess } from '../openapi-parts.ts'
import { operatorErrors, requireOperator } from '../operator-routes.ts'
import { addressParameter, chainParameter, QueryText, readParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'

const addressesMax = 100
const { refusal: _, ...anyAddress } = addressParameter(
  `An address; up to ${addressesMax}.`,
  '0x26fcbd3afebbe28d0a8684f790c48368d21665b5',
)
const addresses = { ...anyAddress, name: 'addresses' }

export const labels: RouteParts = {
  answer: context => {
    const chainOf = chainParameter('chain', context.chains, 'Chain, by name or hex id.')
    return async request => {
      await requireOperator(context, request)
      const chain = readParameter(chainOf, request.pathParameter('chain'))
      const asked = new QueryText(request.query).list(addresses) ?? []
      if (asked.length > addressesMax)
        throw new AlmanacError('bad_request', `addresses must be at most ${addressesMax}, not ${asked.length}`, {
          details: { parameter: 'addresses', accepted: `up to ${addressesMax} addresses` },
        })
      const found = await context.store.labelsOf(chain.id, asked)
      return jsonAnswer({ chain: chain.name, labels: Object.fromEntries(found) })
    }
  },
  document: ({ chains }) => ({
    id: 'getLabels',
    summary: 'Labels of a chain; always needs the scope `ops`',
    description: 'The labels that answers show for addresses of a chain, and who set them.',
    parameters: [inPath(chainParameter('chain', chains, 'Chain, by name or hex id.')), inQueryList(addresses)],
    answers: { 200: jsonSuccess('Labels', 'The label of each address that has one.') },
    errors: ['bad_request', ...operatorErrors],
  }),
}
