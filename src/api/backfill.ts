// The route that pauses, resumes and throttles the history of a chain, in whichever process fills it. It always needs
// the scope `control`.
import { AlmanacError } from '../errors.ts'
import { backfillOrder, orderBackfill } from '../store/backfill-order.ts'
import { jsonAnswer } from './answer.ts'
import { inPath, jsonSuccess, reference } from './openapi-parts.ts'
import { newBackfillOrder } from './operator-schemas.ts'
import { chainParameter, readParameter, unacceptable } from './params.ts'
import type { RouteParts } from './responder.ts'

const bodyBytesMax = 1_024

/** Ends the sentence "<field> must be …". */
const accepts: Readonly<Record<string, string>> = {
  paused: 'true or false',
  throttle: 'null, or an object with blocks_per_second, a number above 0, and hours such as 22:00-06:00',
}

const chainDescription = 'Chain, by name or hex id.'

export const backfill: RouteParts = {
  answer: context => {
    const { store, gatekeeper, log } = context
    const parameter = chainParameter('chain', context.chains, chainDescription)
    return async request => {
      const { key, rateLimit } = await gatekeeper.admit(request.header('x-api-key'), 'control')
      request.rateLimit = rateLimit
      const chain = readParameter(parameter, request.pathParameter('chain'))
      const { paused, throttle } = readOrder(await request.readJson(bodyBytesMax))
      const ordered = { by: `key ${key.name}`, at: new Date().toISOString() }
      await orderBackfill(store, chain.id, {
        ...(paused === undefined ? {} : { paused: paused ? ordered : null }),
        ...(throttle === undefined ? {} : { throttle: throttle && { ...throttle, ...ordered } }),
      })
      log.info({ chain: chain.name, paused, throttle, by: key.id }, 'History ordered')
      const order = await backfillOrder(store, chain.id)
      return jsonAnswer({ chain: chain.name, paused: order.paused ?? null, throttle: order.throttle ?? null })
    }
  },
  document: ({ chains }) => ({
    id: 'orderBackfill',
    summary: 'Backfill control; needs the scope `control`',
    description:
      'Pauses, resumes or slows the filling of the history of a chain. The process that fills the history follows within two seconds, and after a restart. The head is followed, and what requests ask for is indexed, all the same. A field that is left out stays as it is; `throttle: null` returns to the settings of the chain, and `paused: false` does not end a pause that is set there.',
    parameters: [inPath(chainParameter('chain', chains, chainDescription))],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference('NewBackfillOrder'),
          examples: {
            pause: { value: { paused: true } },
            nights: { value: { throttle: { blocks_per_second: 50, hours: '22:00-06:00' } } },
          },
        },
      },
    },
    answers: { 200: jsonSuccess('BackfillOrder', 'What is ordered now.') },
    errors: ['bad_request', 'unauthorized', 'forbidden', 'rate_limited', 'quota_exceeded', 'internal'],
    failures: [unacceptable('throttle', accepts.throttle!)],
  }),
}

function readOrder(body: unknown) {
  const result = newBackfillOrder.safeParse(body)
  if (result.success) return result.data
  const parameter = String(result.error.issues[0]?.path[0] ?? '')
  const accepted = accepts[parameter]
  if (accepted !== undefined) throw unacceptable(parameter, accepted)
  throw new AlmanacError('bad_request', 'The body must be an object with known fields', {
    details: { accepted: Object.keys(accepts) },
  })
}
