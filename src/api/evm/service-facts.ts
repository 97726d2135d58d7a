// What the service says of itself to clients of the hosted one: its version, and what each operation costs.
import { once } from '../../once.ts'
import { readyAnswer } from '../answer.ts'
import type { Context } from '../context.ts'
import { dataErrors, jsonSuccess } from '../openapi-parts.ts'
import { perform } from '../operation.ts'
import type { RouteParts } from '../responder.ts'

export const apiVersion: RouteParts = {
  answer: context => sameForAll(context, () => ({ version: context.version })),
  document: (_, version) => ({
    id: version === 'v2' ? 'web3ApiVersion' : 'web3ApiVersionV22',
    tag: 'EVM',
    summary: 'API version',
    description: 'The version of Almanac that answers. Use it to check the address of the service and a key.',
    answers: { 200: jsonSuccess('ApiVersion', 'The version.') },
    errors: dataErrors,
  }),
}

/** Every operation costs a key the same. */
export const endpointWeights: RouteParts = {
  answer: context =>
    sameForAll(context, () =>
      context.served().map(({ id, path }) => ({ endpoint: id, path, rateLimitCost: '1', price: '1' })),
    ),
  document: (_, version) => ({
    id: version === 'v2' ? 'endpointWeights' : 'endpointWeightsV22',
    tag: 'EVM',
    summary: 'Endpoint weights',
    description:
      'Every operation that is served, with what a call counts against limits: one request each. Clients of the hosted service read it to plan their requests.',
    answers: { 200: jsonSuccess('EndpointWeights', 'Every operation, each of which counts as one request.') },
    errors: dataErrors,
  }),
}

/** Made once, when it is first asked for: a start should not wait for it. */
function sameForAll(context: Context, value: () => unknown): ReturnType<RouteParts['answer']> {
  const made = once(() =>
    readyAnswer({ headers: {}, body: Buffer.from(JSON.stringify(value())) as Buffer<ArrayBuffer> }),
  )
  const work = async () => ({ ready: made(), keep: false })
  return request => perform(context, request, { scope: 'any', work })
}
