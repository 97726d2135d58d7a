// The life of a token from its mint on, as a line of events: who held it, and for how long.
import { askTokenLife } from '../holdings/ask.ts'
import { kindOf, placeOf, type ShownTransfer } from '../holdings/transfers-table.tsx'
import { useHoldings } from '../holdings/use-holdings.ts'
import { AddressText } from '../parts/address-text.tsx'
import { Age } from '../parts/age.tsx'
import { isConfigured } from '../parts/chain-link.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { amountText, countText, parseMoment, spanText } from '../quantities.ts'
import { now } from '../state/clock.ts'
import { hrefOf } from '../state/route.ts'
import './list-tools.css'

type Props = { chain: string; contract: string; tokenId: string; isSingle: boolean }

/** A long life is told by how it began and how it stands. */
const [shownFirst, shownLast] = [4, 8]

export function TokenLife({ isSingle, ...token }: Props) {
  const { answered, problem, again } = useHoldings(token, askTokenLife).value
  const rows = answered?.data.result ?? []
  const isCut = answered?.data.cursor != null
  const left = rows.length > shownFirst + shownLast ? rows.slice(0, shownFirst) : rows
  const right = left === rows ? [] : rows.slice(-shownLast)
  return (
    <Panel id="life" title="Life" note="from its mint on">
      {answered === undefined && problem === undefined && <Skeleton rows={4} />}
      {problem !== undefined && (
        <FailureNote problem={problem} what="The life of the token could not be loaded." onRetry={again} />
      )}
      {answered !== undefined && rows.length === 0 && <p class="soft">No transfer of it is known.</p>}
      {rows.length > 0 && (
        <ol class="timeline">
          {left.map((row, at) => (
            <Event key={placeOf(row)} row={row} next={rows[at + 1]} chain={token.chain} isSingle={isSingle} />
          ))}
          {right.length > 0 && (
            <li>
              <span class="soft">{countText(rows.length - left.length - right.length)} more moves</span>
            </li>
          )}
          {right.map((row, at) => (
            <Event key={placeOf(row)} row={row} next={right[at + 1]} chain={token.chain} isSingle={isSingle} />
          ))}
          {isCut && (
            <li>
              <span class="soft">and later ones, in the list of transfers</span>
            </li>
          )}
        </ol>
      )}
    </Panel>
  )
}

type EventProps = { row: ShownTransfer; next: ShownTransfer | undefined; chain: string; isSingle: boolean }

function Event({ row, next, chain, isSingle }: EventProps) {
  const kind = kindOf(row).split(',')[0]!
  const moment = parseMoment(row.block_timestamp)
  const from = <AddressText address={row.from_address} label={row.from_address_label} chain={chain} />
  const to = <AddressText address={row.to_address} label={row.to_address_label} chain={chain} />
  const until = next === undefined ? now.value : parseMoment(next.block_timestamp)
  // A chain that is no longer indexed does not say what became of it.
  const isUnknown = next === undefined && isConfigured(chain) === false
  return (
    <li class={next === undefined && kind !== 'burn' ? 'now' : kind}>
      {kind === 'mint' ? <>Minted to {to}</> : kind === 'burn' ? <>Burned by {from}</> : <>Moved to {to}</>}
      {!isSingle && row.amount !== '1' && ` (${amountText(row.amount)})`}
      <small>
        <Age moment={moment} /> ·{' '}
        <a href={hrefOf(['block', chain, row.block_number])}>block {countText(Number(row.block_number))}</a>
        {isSingle && kind !== 'burn' && !isUnknown && ` · held ${spanText((until - moment) / 1_000)}`}
      </small>
    </li>
  )
}
