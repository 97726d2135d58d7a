// The chains of a wallet to be read: its first and last transaction on each.

import { Age } from '../parts/age.tsx'
import { ChainLink } from '../parts/chain-link.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Table } from '../parts/table.tsx'
import { countText, parseMoment } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'

type Chains = Schemas['WalletChains']['active_chains']

export function WalletChainsTable({ address, chains }: { address: string; chains: Chains | undefined }) {
  return (
    <Table
      columns={['Chain', 'First seen', 'First transaction', 'Last seen', 'Last transaction', { hidden: 'Holdings' }]}
      coming={4}
    >
      {chains?.map(({ chain, chain_id, first_transaction, last_transaction }) => (
        <tr key={chain_id}>
          <th scope="row" data-title="Chain">
            <ChainLink name={chain} /> <small class="soft mono">{chain_id}</small>
          </th>
          <Moment chain={chain} transaction={first_transaction} which="First" />
          <Moment chain={chain} transaction={last_transaction} which="Last" />
          <td class="aside">
            <a href={hrefOf(['wallet', address, 'nfts'], { chain })}>NFTs</a>
          </td>
        </tr>
      ))}
    </Table>
  )
}

type MomentProps = { chain: string; transaction: Chains[number]['first_transaction']; which: string }

function Moment({ chain, transaction, which }: MomentProps) {
  if (transaction === null) {
    return (
      <td data-title={`${which} seen`} colSpan={2} class="soft second">
        not active
      </td>
    )
  }
  const { block_number, transaction_hash } = transaction
  return (
    <>
      <td data-title={`${which} seen`} data-name={which.toLowerCase()} class="second">
        <Age moment={parseMoment(transaction.block_timestamp)} />{' '}
        <small class="soft">
          <a href={hrefOf(['block', chain, block_number])}>block {countText(Number(block_number))}</a>
        </small>
      </td>
      <td data-title={`${which} transaction`} class="not-narrow">
        <ReferenceText
          text={transaction_hash}
          what="transaction"
          href={hrefOf(['transaction', chain, transaction_hash])}
        />
      </td>
    </>
  )
}
