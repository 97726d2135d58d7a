// NFT transfers to be read: what moved, from whom to whom, when and where.

import { countText, parseMoment, shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { Age } from './age.tsx'
import { ReferenceText } from './reference-text.tsx'
import { TableHead } from './table-head.tsx'

export type ShownTransfer = Schemas['Transfer'] | Schemas['NamedTransfer']

const zero = '0x0000000000000000000000000000000000000000'

export function placeOf(row: ShownTransfer): string {
  return `${row.block_hash} ${row.transaction_index} ${row.log_index} ${row.token_id}`
}

type Props = { rows: readonly ShownTransfer[]; chain: string; fresh?: ReadonlySet<string> }

export function TransfersTable({ rows, chain, fresh }: Props) {
  return (
    <div class="table-scroll">
      <table class="stacked">
        <TableHead
          columns={['When', 'What', 'Token', 'From', 'To', { figures: 'Value' }, { figures: 'Block' }, 'Transaction']}
        />
        <tbody>
          {rows.map(row => (
            <tr key={placeOf(row)} class={fresh?.has(placeOf(row)) ? 'fresh' : undefined}>
              <td data-title="When">
                <Age moment={parseMoment(row.block_timestamp)} />
              </td>
              <td data-title="What">{kindOf(row)}</td>
              <td data-title="Token">
                <TokenText row={row} />
              </td>
              <td data-title="From">
                <Party address={row.from_address} label={row.from_address_label} chain={chain} />
              </td>
              <td data-title="To">
                <Party address={row.to_address} label={row.to_address_label} chain={chain} />
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

function TokenText({ row }: { row: ShownTransfer }) {
  return (
    <span class="mono" title={row.token_id}>
      {row.amount === '1' ? '' : `${row.amount.length > 12 ? shortText(row.amount) : countText(Number(row.amount))} × `}
      #{shortText(row.token_id, 6)}
    </span>
  )
}

function Party({ address, label, chain }: { address: string; label: string | null; chain: string }) {
  if (address === zero) return <span class="soft">nobody</span>
  return <ReferenceText text={address} what="address" label={label} href={hrefOf(['wallet', address], { chain })} />
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
