// The route of the console's search box. The rules are in `query/lookups/search.ts`.
import { z } from 'zod'
import { parsePubkey } from '../../base58.ts'
import type { Chain } from '../../chains.ts'
import type { SolanaNetwork } from '../../model.ts'
import { search as find } from '../../query/lookups/search.ts'
import { AdmissionQueue } from '../admission-queue.ts'
import { jsonAnswer } from '../answer.ts'
import { inQuery, jsonSuccess } from '../openapi-parts.ts'
import { requireOperator } from '../operator-routes.ts'
import { type Parameter, readParameter, unacceptable } from '../params.ts'
import type { RouteParts } from '../responder.ts'

/** A search may read tens of thousands of names: few at once, so that it takes no slots from the operations. */
const searches = { concurrencyMax: 2, queueMax: 32, timeoutMs: 10_000 }

const textLengthMax = 100

const q: Parameter<string> = {
  name: 'q',
  read: text => (text.trim() === '' || text.length > textLengthMax ? undefined : text.trim()),
  accepts: `1 to ${textLengthMax} characters`,
  schema: z.string().min(1).max(textLengthMax),
  description:
    'An address (EVM or Solana), the hash of a transaction or a block, the number of a block, or the name, symbol or label of a contract or wallet.',
  example: 'Bored Ape',
}

export const search: RouteParts = {
  answer: context => {
    const { store, chains: table, contracts, freshen } = context
    const queue = new AdmissionQueue(searches)
    return async request => {
      await requireOperator(context, request)
      const given = new URLSearchParams(request.query).get('q')
      if (given === null) throw unacceptable('q', q.accepts)
      const text = readParameter(q, given)
      return await queue.run(async () => {
        const { chains, solana } = await context.status()
        const known = Object.keys(chains).flatMap((name): Chain | Chain[] => table.parse(name) ?? [])
        const isPubkey = parsePubkey(text) !== undefined
        const networks = Object.keys(solana) as SolanaNetwork[]
        const nodes = { askBlock: freshen?.block, askTransaction: context.askTransaction }
        const dependencies = { store, table, contracts, chains: known, networks, ...nodes }
        return jsonAnswer({ query: text, ...(await find({ text, isPubkey }, dependencies)) })
      })
    }
  },
  document: {
    id: 'search',
    summary: 'Search; always needs the scope `ops`',
    description:
      'What has an address, a hash, a number, a name or a label, the best first. Use it to find the chain and the kind of something. Looks on the chains and networks that are configured. Names are searched for texts within them; in a store with more than 20,000 names or labels, for their beginnings alone. Where no name has the text, those that differ by a typing error are found. A hash is asked of a node of each chain at once, as that of a block and of a transaction (three calls); a chain whose nodes do not answer within 1.5 seconds is named with `block` null.',
    parameters: [{ ...inQuery(q), required: true }],
    answers: { 200: jsonSuccess('SearchAnswer', 'What was found, the best first.') },
    errors: ['bad_request', 'unauthorized', 'forbidden', 'rate_limited', 'quota_exceeded', 'internal', 'overloaded'],
  },
}
