// The busiest contracts of a chain, to begin with. The page of the chain has them all.
import { nameText } from '../holdings/nft-links.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Table } from '../parts/table.tsx'
import { countText } from '../quantities.ts'
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

export function KnownContracts({ chain, limit = 10 }: { chain: string; limit?: number }) {
  const complete = status.value?.chains[chain]?.complete
  const state = useAnswer(JSON.stringify([chain, limit, complete]), signal =>
    service.GET('/chains/{chain}/contracts', { params: { path: { chain }, query: { limit } }, signal }),
  )
  const { answered, problem, again } = state.value
  // What was asked of another chain is of that one.
  const rows = answered?.data.chain === chain ? answered.data.contracts : undefined
  return (
    <Panel
      id="known"
      title="Contracts with transfers"
      note={`on ${chain}`}
      actions={<a href={hrefOf(['chain', chain])}>All contracts</a>}
      flush
    >
      {problem !== undefined && (
        <FailureNote problem={problem} what="The contracts could not be listed." onRetry={again} />
      )}
      {rows?.length === 0 && (
        <EmptyState title={`No contract of ${chain} is known yet`}>
          Enter the address of one to see its transfers.
        </EmptyState>
      )}
      {rows?.length !== 0 && problem === undefined && (
        <Table columns={['Contract', 'Address', { figures: 'Transfers' }]} coming={6}>
          {rows?.map(({ address, name, symbol, transfers }) => (
            <tr key={address}>
              <th scope="row" data-title="Contract">
                <a href={hrefOf(['contract', chain, address])}>
                  {nameText(name, symbol) ?? <span class="soft">unnamed</span>}
                </a>
              </th>
              <td data-title="Address" class="second">
                <ReferenceText
                  text={address}
                  what="address"
                  href={hrefOf(['explore', 'transfers'], { address, chain })}
                />
              </td>
              <td data-title="Transfers" class="number aside">
                {countText(transfers)}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  )
}
