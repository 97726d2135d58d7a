// The portfolio operation over HTTP. The rules are in `query/portfolio.ts`.
import { exactAmount } from '../exact-amount.ts'
import { portfolioOf } from '../query/portfolio.ts'
import type { Answer } from './answer.ts'
import { readyAnswer } from './answer-cache.ts'
import type { Exchange } from './exchange.ts'
import { perform, type Workplace } from './operation.ts'
import { portfolioParameters, readParameter } from './params.ts'
import { writePortfolio } from './portfolio-json.ts'

/** Never kept: how old the reading is changes by the second, and an indexer may have to read it again. */
export function answerPortfolio(place: Workplace, exchange: Exchange): Answer | Promise<Answer> {
  return perform(place, exchange, {
    scope: 'portfolio',
    work: async () => {
      const network = readParameter(portfolioParameters.network, exchange.pathParameter('network'))
      const owner = readParameter(portfolioParameters.address, exchange.pathParameter('address'))
      const { store, freshen } = place
      const displayAmount = place.displayAmount ?? ((amount, mint) => exactAmount(amount.toString(), mint.decimals))
      const answer = await portfolioOf(store, { network, owner }, { freshen, displayAmount })
      const ready = readyAnswer({
        headers: {
          'X-Solana-Slot': `${answer.slot}`,
          Age: `${Math.max(0, Math.floor((Date.now() - answer.readAtMs) / 1_000))}`,
        },
        body: writePortfolio(answer),
      })
      return { ready, keep: false }
    },
  })
}
