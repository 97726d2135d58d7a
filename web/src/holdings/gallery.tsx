// NFTs as pictures, with their table as the other view. Without a picture there is the table alone.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { AddressText } from '../parts/address-text.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { amountText, shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import type { Answered } from '../state/use-answer.ts'
import { Picture, pictureOf } from './picture.tsx'
import { isComplete } from './use-holdings.ts'

type Nft = Schemas['NftOwner']
type Props = {
  rows: readonly Nft[] | undefined
  chain: string
  table: ComponentChildren
  /** Where the list is of several holders. */
  withHolders?: boolean
}

/** Of all lists: who chose the table stays with it. */
const view = signal('pictures')

export function NftViews({ rows, chain, table, withHolders = false }: Props) {
  if (rows?.some(row => pictureOf(row) !== undefined) !== true) return <>{table}</>
  return (
    <Tabs
      label="Views of the NFTs"
      chosen={view}
      tabs={[
        { name: 'pictures', title: 'Pictures', content: () => <Gallery {...{ rows, chain, withHolders }} /> },
        { name: 'table', title: 'Table', content: () => table },
      ]}
    />
  )
}

type GalleryProps = { rows: readonly Nft[]; chain: string; withHolders: boolean }

function Gallery({ rows, chain, withHolders }: GalleryProps) {
  return (
    <ul class="gallery">
      {rows.map(row => (
        <li key={`${row.token_address} ${row.token_id} ${row.owner_of}`}>
          <a href={hrefOf(['token', chain, row.token_address, row.token_id])} title={row.token_id}>
            <Picture of={row} size="card" />
            <span class="gallery-name">{row.name ?? shortText(row.token_address)}</span>
            <span class="gallery-token">
              <span class="mono">#{shortText(row.token_id, 6)}</span>
              {row.amount !== '1' && <span title={row.amount}>{amountText(row.amount)} ×</span>}
            </span>
          </a>
          {withHolders && (
            <span class="gallery-holder">
              <AddressText address={row.owner_of} chain={chain} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Contracts are asked for their URIs when tokens are first shown, so a picture may come with the next block. */
export function isDrawn(answered: Answered<{ result: readonly Nft[] }>): boolean {
  return isComplete(answered) && !answered.data.result.some(({ media }) => media?.status === 'processing')
}
