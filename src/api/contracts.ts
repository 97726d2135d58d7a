// The route that lists the contracts of a chain that transfers are stored for, so that there is something to begin with.
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Workplace } from './operation.ts'
import { admitOperator } from './ops.ts'
import { contractListParameters, readParameter } from './params.ts'

/** `after` of the answer asks for the next ones; null where there are none. */
export async function answerContracts(place: Workplace, exchange: Exchange): Promise<Answer> {
  await admitOperator(place, exchange)
  const parameters = contractListParameters(place.chains)
  const query = new URLSearchParams(exchange.query)
  const chain = readParameter(parameters.chain, exchange.pathParameter('chain'))
  const given = query.get('after')
  const after = given === null ? undefined : readParameter(parameters.after, given)
  const limit = readParameter(parameters.limit, query.get('limit') ?? '20')
  const { store } = place
  // One more than asked for tells whether there are more.
  const found = await store.contractsOf(chain.id, after, limit + 1)
  const contracts = await Promise.all(
    found.slice(0, limit).map(async address => {
      const [transfers, facts] = await Promise.all([
        store.transferCount({ chain: chain.id, contract: address }),
        store.contractFacts(chain.id, address),
      ])
      return { address, transfers, name: facts?.name ?? null, symbol: facts?.symbol ?? null }
    }),
  )
  return jsonAnswer(
    { chain: chain.name, contracts, after: found.length > limit ? contracts.at(-1)!.address : null },
    { 'Cache-Control': 'no-store', ...safetyHeaders },
  )
}
