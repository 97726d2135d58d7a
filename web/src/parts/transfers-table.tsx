// NFT transfers to be read: what moved, from whom to whom, when and where.

import { countText, parseMoment } from '../quantities.ts'
import type { Schemas } from '../state/service.ts'
import { Age } from './age.tsx'
import { CollectionLink, PartyLink, TokenLink } from './nft-links.tsx'
import { ReferenceText } from './reference-text.tsx'
import { TableHead } from './table-head.tsx'

export type ShownTransfer = Schemas['Transfer'] | Schemas['NamedTransfer']

const zero = '0x0000000000000000000000000000000000000000'

export function placeOf(row: ShownTransfer): string {
  return `${row.block_hash} ${row.transaction_index} ${row.log_index} ${row.token_id}`
}

type Props = {
  rows: readonly ShownTransfer[]
  chain: string
  fresh?: ReadonlySet<string>
  /** For rows of several contracts. */
  withCollections?: boolean
}

export function TransfersTable({ rows, chain, fresh, withCollections = false }: Props) {
  const place = [{ figures: 'Value' }, { figures: 'Block' }, 'Transaction']
  return (
    <div class="table-scroll">
      <table class="stacked">
        <TableHead
          columns={['When', 'What', ...(withCollections ? ['Collection'] : []), 'Token', 'From', 'To', ...place]}
        />
        <tbody>
          {rows.map(row => (
            <tr key={placeOf(row)} class={fresh?.has(placeOf(row)) ? 'fresh' : undefined}>
              <td data-title="When">
                <Age moment={parseMoment(row.block_timestamp)} />
              </td>
              <td data-title="What">{kindOf(row)}</td>
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
              <td data-title="From">
                <PartyLink address={row.from_address} label={row.from_address_label} chain={chain} />
              </td>
              <td data-title="To">
                <PartyLink address={row.to_address} label={row.to_address_label} chain={chain} />
              </td>
              <td data-title="Value" class="number">
                {etherText(row.value)}
              </td>
              <td data-title="Block" class="number">
                {countText(Number(row.block_number))}
              </td>
              <td data-title="Transaction">
                <ReferenceText text={row.transaction_hash} what="transaction" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function kindOf(row: ShownTransfer): string {
  const kind = row.from_address === zero ? 'mint' : row.to_address === zero ? 'burn' : 'transfer'
  return row.transaction_type === 'Batch' ? `${kind}, batch` : kind
}

/** Wei as the main unit, exact, at most six digits behind the point. */
export function etherText(wei: string): string {
  const value = BigInt(wei)
  if (value === 0n) return '0'
  const unit = 10n ** 18n
  const digits = (value % unit).toString().padStart(18, '0').replace(/0+$/, '')
  const whole = (value / unit).toLocaleString('en-US')
  if (digits === '') return whole
  const cut = digits.slice(0, 6)
  if (value < unit && /^0+$/.test(cut)) return '< 0.000001'
  return `${whole}.${cut}${digits.length > 6 ? '…' : ''}`
}
