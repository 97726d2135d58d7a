// NFTs with their holders, and the collections of a wallet, to be read.
import { AddressText } from '../parts/address-text.tsx'
import { Table } from '../parts/table.tsx'
import { amountText, countText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { CollectionLink, FlagMarks, TokenLink } from './nft-links.tsx'
import { Picture, pictureOf } from './picture.tsx'

type Nft = Schemas['NftOwner']
type Collection = Omit<Schemas['WalletCollections']['result'][number], 'collection_logo' | 'collection_banner_image'>

/** Undefined while they are on their way. */
type Rows<Row> = readonly Row[] | undefined

/** What a wallet holds. */
export function NftTable({ rows, chain }: { rows: Rows<Nft>; chain: string }) {
  return (
    <Table columns={['Collection', 'Type', 'Token', { figures: 'Amount' }, { figures: 'Changed in block' }]}>
      {rows?.map(row => (
        <tr key={`${row.token_address} ${row.token_id}`}>
          <Collected row={row} chain={chain} />
          <Held row={row} chain={chain} />
        </tr>
      ))}
    </Table>
  )
}

/** Who holds tokens of one contract, or one token. */
export function OwnersTable({ rows, chain }: { rows: Rows<Nft>; chain: string }) {
  return (
    <Table columns={['Holder', 'Token', { figures: 'Amount' }, { figures: 'Changed in block' }]}>
      {rows?.map(row => (
        <tr key={`${row.owner_of} ${row.token_id}`}>
          <td data-title="Holder">
            <AddressText address={row.owner_of} chain={chain} />
          </td>
          <Held row={row} chain={chain} />
        </tr>
      ))}
    </Table>
  )
}

export function CollectionsTable({ rows, chain }: { rows: Rows<Collection>; chain: string }) {
  return (
    <Table columns={['Collection', 'Type', 'Symbol', { figures: 'Tokens held' }]}>
      {rows?.map(row => (
        <tr key={row.token_address}>
          <Collected row={row} chain={chain} />
          <td data-title="Symbol" class="second">
            {row.symbol ?? <span class="soft">–</span>}
          </td>
          <td data-title="Tokens held" class="number aside">
            {countText(Number(row.count))}
          </td>
        </tr>
      ))}
    </Table>
  )
}

function Collected({ row, chain }: { row: Nft | Collection; chain: string }) {
  return (
    <>
      <td data-title="Collection">
        <CollectionLink chain={chain} address={row.token_address} name={row.name} /> <FlagMarks of={row} />
      </td>
      <td data-title="Type" class="second">
        {row.contract_type}
      </td>
    </>
  )
}

function Held({ row, chain }: { row: Nft; chain: string }) {
  return (
    <>
      <td data-title="Token">
        {pictureOf(row) !== undefined && <Picture of={row} size="small" />}
        <TokenLink chain={chain} contract={row.token_address} id={row.token_id} />
      </td>
      <td data-title="Amount" class="number aside" title={row.amount}>
        {amountText(row.amount)}
      </td>
      <td data-title="Changed in block" data-name="since block" class="number second">
        <a href={hrefOf(['block', chain, row.block_number])}>{countText(Number(row.block_number))}</a>
      </td>
    </>
  )
}
