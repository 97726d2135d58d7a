// The holders of a contract, each once: how much each holds, and which share that is.
import { useSignal } from '@preact/signals'
import { AddressText } from '../parts/address-text.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { amountText, countText, percentText } from '../quantities.ts'
import type { AsOf } from './as-of.ts'
import { askHolders } from './ask.ts'
import type { HoldersCounted } from './holders-count.ts'
import { useHoldings } from './use-holdings.ts'

/** Each page of the list counts as a request of the key, so more are read only when they are asked for. */
const [rowsAtFirst, rowsMax] = [1_000, 100_000]
const shownAtFirst = 25
const shownMore = 100

/** Of a contract without holders there is no panel. */
export function HoldersPanel({ asOf, ...contract }: { chain: string; contract: string; asOf: AsOf }) {
  const rows = useSignal(rowsAtFirst)
  const shown = useSignal(shownAtFirst)
  const asked = { ...contract, ...asOf, rowsMax: rows.value }
  const { answered, problem, loading, again } = useHoldings(asked, askHolders).value
  const counted = answered?.data
  if (counted?.rows === 0) return null
  const left = (counted?.holders.length ?? 0) - shown.value
  return (
    <Panel id="holders" title="Holders" flush busy={loading}>
      {problem !== undefined ? (
        <FailureNote problem={problem} what="Holders could not be loaded." onRetry={again} />
      ) : (
        <HoldersTable counted={counted} shown={shown.value} chain={contract.chain} />
      )}
      {counted !== undefined && (left > 0 || !counted.isWhole) && (
        <div class="panel-foot subject">
          {left > 0 && (
            <button
              type="button"
              class="small"
              onClick={() => {
                shown.value += shownMore
              }}
            >
              Show {countText(Math.min(left, shownMore))} more of {countText(counted.holders.length)}
            </button>
          )}
          {!counted.isWhole && (
            <span>
              Counted from the first {countText(counted.rows)} rows of the list below: there are more, so quantities and
              shares are of these alone.
            </span>
          )}
          {!counted.isWhole && rows.value < rowsMax && (
            <button
              type="button"
              class="small"
              disabled={loading}
              onClick={() => {
                rows.value = rowsMax
              }}
            >
              {loading ? 'Counting…' : 'Count all'}
            </button>
          )}
        </div>
      )}
    </Panel>
  )
}

type TableProps = { counted: HoldersCounted | undefined; shown: number; chain: string }

function HoldersTable({ counted, shown, chain }: TableProps) {
  // Of most collections a token is one of its kind: how many tokens is then how many at all.
  const hasKinds = counted?.holders.some(({ tokens, quantity }) => BigInt(tokens) !== quantity)
  return (
    <Table
      columns={['Holder', { figures: 'Quantity' }, ...(hasKinds ? [{ figures: 'Tokens' }] : []), { figures: 'Share' }]}
    >
      {counted?.holders.slice(0, shown).map(({ address, tokens, quantity }) => (
        <tr key={address}>
          <td data-title="Holder">
            <AddressText address={address} chain={chain} />
          </td>
          <td data-title="Quantity" class="number aside" title={`${quantity}`}>
            {amountText(`${quantity}`)}
          </td>
          {hasKinds && (
            <td data-title="Tokens" data-name="tokens" class="number second">
              {countText(tokens)}
            </td>
          )}
          <td data-title="Share" data-name="share" class="number second">
            {shareText(Number(quantity), Number(counted.quantity))}
          </td>
        </tr>
      ))}
    </Table>
  )
}

function shareText(part: number, whole: number): string {
  return part > 0 && part < whole / 1_000 ? '< 0.1 %' : percentText(part, whole)
}
