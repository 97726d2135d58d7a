// The route by which operators see which Solana accounts were read. Nothing is read for it.
import { z } from 'zod'
import { encodeKey, parsePubkey } from '../../base58.ts'
import type { ReadOwner } from '../../store/solana-store.ts'
import { jsonAnswer } from '../answer.ts'
import { inPath, inQuery, jsonSuccess } from '../openapi-parts.ts'
import { requireOperator } from '../operator-routes.ts'
import { type Parameter, readParameter, wholeParameter } from '../params.ts'
import type { RouteParts } from '../responder.ts'
import { exampleAccount, network } from './parameters.ts'

const accountListMax = 100

const limit = wholeParameter('limit', {
  ...{ min: 1, max: accountListMax, default: 20, example: 20 },
  description: `How many to list, at most ${accountListMax}.`,
})

/** A place that stays while accounts are read again, which brings them to the front. */
const before: Parameter<ReadOwner> = {
  name: 'before',
  read: text => {
    const [, readAtMs = '', address = ''] = /^(\d{1,15})-(\w+)$/.exec(text) ?? []
    const owner = parsePubkey(address)
    return owner && { owner, readAtMs: Number(readAtMs) }
  },
  accepts: 'what `before` of a page says',
  schema: z.string().regex(/^\d{1,15}-[1-9A-HJ-NP-Za-km-z]{32,44}$/),
  description: 'Lists the accounts that were read before this place.',
  example: `1731844800000-${exampleAccount}`,
}

function placeOf({ owner, readAtMs }: ReadOwner): string {
  return `${readAtMs}-${encodeKey(owner)}`
}

/** `before` in the answer asks for the next ones; null on the last page. */
export const readAccounts: RouteParts = {
  answer: context => async request => {
    // Also where `ops_open` is set: it says what clients asked about.
    await requireOperator(context, request)
    const query = new URLSearchParams(request.query)
    const asked = readParameter(network, request.pathParameter('network'))
    const given = query.get('before')
    const place = given === null ? undefined : readParameter(before, given)
    const most = readParameter(limit, query.get('limit') ?? '20')
    // One more than requested shows whether there are more.
    const found = await context.store.solanaOwners(asked, { limit: most + 1, before: place })
    const shown = found.slice(0, most)
    return jsonAnswer({
      network: asked,
      accounts: shown.map(({ owner, readAtMs }) => ({
        ...{ address: encodeKey(owner), read_at: new Date(readAtMs).toISOString() },
      })),
      before: found.length > most ? placeOf(shown.at(-1)!) : null,
    })
  },
  document: {
    id: 'listSolanaAccounts',
    summary: 'Solana accounts that were read; needs the scope `ops`',
    description:
      'The Solana accounts that clients asked for and this service read, the last one first. Use it to see what is kept.',
    parameters: [inPath(network), inQuery(before), inQuery(limit)],
    answers: { 200: jsonSuccess('AccountList', 'Accounts in the order of their last reading.') },
    errors: ['bad_request', 'unauthorized', 'forbidden', 'internal'],
  },
}
