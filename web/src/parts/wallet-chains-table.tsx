// The chains of a wallet to be read: its first and last transaction on each.

import { countText, parseMoment } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { Age } from './age.tsx'
import { ReferenceText } from './reference-text.tsx'
import { TableHead } from './table-head.tsx'

type Chains = Schemas['WalletChains']['active_chains']

export function WalletChainsTable({ address, chains }: { address: string; chains: Chains }) {
  return (
    <div class="table-scroll">
      <table class="stacked">
        <TableHead columns={['Chain', 'First seen', 'First transaction', 'Last seen', 'Last transaction']} />
        <tbody>
          {chains.map(({ chain, chain_id, first_transaction, last_transaction }) => (
            <tr key={chain_id}>
              <th scope="row" data-title="Chain">
                <a href={hrefOf(['wallet', address, 'nfts'], { chain })}>{chain}</a>{' '}
                <small class="soft mono">{chain_id}</small>
              </th>
              <Moment transaction={first_transaction} which="First" />
              <Moment transaction={last_transaction} which="Last" />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Moment({ transaction, which }: { transaction: Chains[number]['first_transaction']; which: string }) {
  if (transaction === null) {
    return (
      <td data-title={`${which} seen`} colSpan={2} class="soft">
        not active
      </td>
    )
  }
  return (
    <>
      <td data-title={`${which} seen`}>
        <Age moment={parseMoment(transaction.block_timestamp)} />{' '}
        <small class="soft">block {countText(Number(transaction.block_number))}</small>
      </td>
      <td data-title={`${which} transaction`}>
        <ReferenceText text={transaction.transaction_hash} what="transaction" />
      </td>
    </>
  )
}
