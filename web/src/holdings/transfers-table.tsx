// NFT transfers to be read: what moved, from whom to whom, when and where. On a phone a transfer is two lines.
import { NativeAmount } from '../chain/native-amount.tsx'
import { AddressText } from '../parts/address-text.tsx'
import { Age } from '../parts/age.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Table } from '../parts/table.tsx'
import { countText, parseMoment } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { CollectionLink, TokenLink } from './nft-links.tsx'
import './transfers-table.css'

export type ShownTransfer = Schemas['Transfer'] | Schemas['NamedTransfer']

const zero = '0x0000000000000000000000000000000000000000'

export function placeOf(row: ShownTransfer): string {
  return `${row.block_hash} ${row.transaction_index} ${row.log_index} ${row.token_id}`
}

type Props = {
  /** Undefined while they are on their way. */
  rows: readonly ShownTransfer[] | undefined
  chain: string
  fresh?: ReadonlySet<string>
  /** For rows of several contracts. */
  withCollections?: boolean
  /** What is the same in all rows, as on the page of a block or a transaction. */
  without?: 'block' | 'transaction'
  /** How many are drawn while they are on their way. */
  coming?: number
}

export function TransfersTable({ rows, chain, fresh, withCollections = false, without, coming = 8 }: Props) {
  const hasBlock = without === undefined
  const hasTransaction = without !== 'transaction'
  const columns = [
    ...(hasBlock ? ['Age'] : []),
    ...['Type', ...(withCollections ? ['Collection'] : []), 'Token', 'From', 'To', { figures: 'Value' }],
    ...(hasBlock ? [{ figures: 'Block' }] : []),
    ...(hasTransaction ? ['Transaction'] : []),
  ]
  return (
    <Table name="transfers" columns={columns} coming={coming}>
      {rows?.map(row => (
        <tr key={placeOf(row)} class={fresh?.has(placeOf(row)) ? 'fresh' : undefined}>
          {hasBlock && (
            <td data-title="Age" class="aside">
              {/* On a phone it stands for the block and the transaction, which have no room of their own. */}
              <a href={hrefOf(['transaction', chain, row.transaction_hash])}>
                <Age moment={parseMoment(row.block_timestamp)} />
              </a>
            </td>
          )}
          <td data-title="Type" class={kindOf(row) === 'transfer' ? 'not-narrow' : 'second'}>
            {kindOf(row)}
          </td>
          {withCollections && (
            <td data-title="Collection">
              <CollectionLink
                chain={chain}
                address={row.token_address}
                name={'token_name' in row ? row.token_name : null}
              />
            </td>
          )}
          <td data-title="Token">
            <TokenLink chain={chain} contract={row.token_address} id={row.token_id} amount={row.amount} />
          </td>
          <td data-title="From" class="second">
            <AddressText address={row.from_address} label={row.from_address_label} chain={chain} />
          </td>
          <td data-title="To" class="second to">
            <AddressText address={row.to_address} label={row.to_address_label} chain={chain} />
          </td>
          <td data-title="Value" class={row.value === '0' ? 'number not-narrow' : 'number second'}>
            <NativeAmount wei={row.value} chain={chain} />
          </td>
          {hasBlock && (
            <td data-title="Block" class="number not-narrow">
              <a href={hrefOf(['block', chain, row.block_number])}>{countText(Number(row.block_number))}</a>
            </td>
          )}
          {hasTransaction && (
            <td data-title="Transaction" class={hasBlock ? 'not-narrow' : 'aside'}>
              <ReferenceText
                text={row.transaction_hash}
                what="transaction"
                href={hrefOf(['transaction', chain, row.transaction_hash])}
              />
            </td>
          )}
        </tr>
      ))}
    </Table>
  )
}

export function kindOf(row: ShownTransfer): string {
  const kind = row.from_address === zero ? 'mint' : row.to_address === zero ? 'burn' : 'transfer'
  return row.transaction_type === 'Batch' ? `${kind}, batch` : kind
}
