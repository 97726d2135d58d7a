// Contracts of a chain that the store holds transfers of, to begin with: a list that grows on demand.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ReferenceText } from '../parts/reference-text.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { countText } from '../quantities.ts'
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

type Listed = Schemas['ContractList']['contracts']

export function KnownContracts({ chain, limit = 10 }: { chain: string; limit?: number }) {
  const before = useSignal<Listed>([])
  const after = useSignal<string | undefined>(undefined)
  const isEmpty = useSignal(true)
  // While there is nothing, a new block may bring the first one.
  const head = isEmpty.value ? status.value?.chains[chain]?.head : undefined
  const state = useAnswer(JSON.stringify([chain, after.value, limit, head]), signal =>
    service.GET('/chains/{chain}/contracts', {
      params: { path: { chain }, query: { limit, ...(after.value === undefined ? {} : { after: after.value }) } },
      signal,
    }),
  )
  // Another chain begins anew.
  useEffect(() => {
    before.value = []
    after.value = undefined
  }, [chain, before, after])
  const answer = state.value.answered?.data
  useEffect(() => {
    isEmpty.value = answer === undefined || answer.contracts.length === 0
  }, [answer, isEmpty])
  if (answer === undefined || answer.chain !== chain || answer.contracts.length + before.value.length === 0) return null
  return (
    <section aria-labelledby="known">
      <h2 id="known">Contracts with transfers</h2>
      <div class="table-scroll">
        <table>
          <TableHead columns={['Contract', 'Name', { figures: 'Transfers' }]} />
          <tbody>
            {[...before.value, ...answer.contracts].map(({ address, name, symbol, transfers }) => (
              <tr key={address}>
                <th scope="row">
                  <ReferenceText text={address} what="address" href={hrefOf(['contract', chain, address])} />
                </th>
                <td>{name === null ? <span class="soft">–</span> : `${name}${symbol ? ` (${symbol})` : ''}`}</td>
                <td class="number">{countText(transfers)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {answer.after !== null && (
        <p class="paging">
          <button
            type="button"
            onClick={() => {
              before.value = [...before.value, ...answer.contracts]
              after.value = answer.after ?? undefined
            }}
          >
            More
          </button>
        </p>
      )}
    </section>
  )
}
