// ERC-20 tokens to be read: those of a wallet, who holds one, and their transfers. On a phone a row is two lines.
import { AddressText } from '../parts/address-text.tsx'
import { Age } from '../parts/age.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Table } from '../parts/table.tsx'
import { countText, parseMoment } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { FlagMarks, nameText } from './nft-links.tsx'
import { TokenAmount } from './token-amount.tsx'

type Balance = Omit<Schemas['Erc20Balances'][number], 'logo' | 'thumbnail'>
type Owner = Omit<Schemas['Erc20Owners']['result'][number], 'entity' | 'entity_logo' | 'is_contract' | 'usd_value'>
/** Without what is never known. */
type Transfer = Omit<
  Schemas['Erc20Transfers']['result'][number],
  'token_logo' | 'from_address_entity' | 'from_address_entity_logo' | 'to_address_entity' | 'to_address_entity_logo'
>

/** Undefined while they are on their way. */
type Rows<Row> = readonly Row[] | undefined

const zero = '0x0000000000000000000000000000000000000000'

export function TokensTable({ rows, chain }: { rows: Rows<Balance>; chain: string }) {
  const hasMarks = rows?.some(isMarked) === true
  return (
    <Table columns={['Token', ...(hasMarks ? ['Marks'] : []), { figures: 'Balance' }, 'Symbol']}>
      {rows?.map(row => (
        <tr key={row.token_address}>
          <td data-title="Token">
            <Erc20Link chain={chain} address={row.token_address} name={row.name} />
          </td>
          {hasMarks && <MarksCell of={row} />}
          <td data-title="Balance" class="number aside">
            <TokenAmount amount={row.balance} decimals={row.decimals} />
          </td>
          <td data-title="Symbol" class={row.symbol === null ? 'not-narrow' : 'second'}>
            <span class="clipped" title={row.symbol ?? undefined}>
              {row.symbol}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  )
}

export function Erc20OwnersTable({ rows, chain }: { rows: Rows<Owner>; chain: string }) {
  return (
    <Table columns={['Holder', { figures: 'Balance' }, { figures: 'Share' }]}>
      {rows?.map(row => (
        <tr key={row.owner_address}>
          <td data-title="Holder">
            <AddressText address={row.owner_address} label={row.owner_address_label} chain={chain} list="tokens" />
          </td>
          <td data-title="Balance" class="number aside">
            {row.balance_formatted === null ? (
              <TokenAmount amount={row.balance} decimals={null} />
            ) : (
              <TokenAmount amount={row.balance_formatted} decimals={0} />
            )}
          </td>
          <td data-title="Share" data-name="share" class="number second">
            {shareText(row)}
          </td>
        </tr>
      ))}
    </Table>
  )
}

type TransfersProps = {
  rows: Rows<Transfer>
  chain: string
  /** For rows of several tokens. */
  withTokens?: boolean
}

export function Erc20TransfersTable({ rows, chain, withTokens = false }: TransfersProps) {
  const hasMarks = withTokens && rows?.some(isMarked) === true
  const columns = [
    ...['Age', 'Type', { figures: 'Amount' }, ...(withTokens ? ['Token'] : []), ...(hasMarks ? ['Marks'] : [])],
    ...['From', 'To', { figures: 'Block' }, 'Transaction'],
  ]
  return (
    <Table name="transfers" columns={columns}>
      {rows?.map(row => (
        <tr key={`${row.block_hash} ${row.log_index}`}>
          <td data-title="Age" class="aside">
            <a href={hrefOf(['transaction', chain, row.transaction_hash])}>
              <Age moment={parseMoment(row.block_timestamp)} />
            </a>
          </td>
          <td data-title="Type" class={kindOf(row) === 'transfer' ? 'not-narrow' : 'second'}>
            {kindOf(row)}
          </td>
          <td data-title="Amount" class="number">
            <TokenAmount
              amount={row.value}
              decimals={row.token_decimals === null ? null : Number(row.token_decimals)}
            />
          </td>
          {withTokens && (
            <td data-title="Token">
              <Erc20Link chain={chain} address={row.address} name={row.token_name} symbol={row.token_symbol} />
            </td>
          )}
          {hasMarks && <MarksCell of={row} />}
          <td data-title="From" class="second">
            <AddressText address={row.from_address} label={row.from_address_label} chain={chain} list="tokens" />
          </td>
          <td data-title="To" class="second to">
            <AddressText address={row.to_address} label={row.to_address_label} chain={chain} list="tokens" />
          </td>
          <td data-title="Block" class="number not-narrow">
            <a href={hrefOf(['block', chain, row.block_number])}>{countText(Number(row.block_number))}</a>
          </td>
          <td data-title="Transaction" class="not-narrow">
            <ReferenceText
              text={row.transaction_hash}
              what="transaction"
              href={hrefOf(['transaction', chain, row.transaction_hash])}
            />
          </td>
        </tr>
      ))}
    </Table>
  )
}

type Marked = Pick<Balance, 'possible_spam' | 'verified_contract'>

function flagsOf({ possible_spam, verified_contract }: Marked) {
  return { possible_spam, verified_collection: verified_contract }
}

function isMarked(of: Marked): boolean {
  // The flags are texts in one of the two dialects.
  return [of.possible_spam, of.verified_contract].some(flag => String(flag) === 'true')
}

function MarksCell({ of }: { of: Marked }) {
  return (
    <td data-title="Marks" class={isMarked(of) ? 'marks' : 'marks not-narrow'}>
      <FlagMarks of={flagsOf(of)} />
    </td>
  )
}

type LinkProps = { chain: string; address: string; name: string | null; symbol?: string | null }

function Erc20Link({ chain, address, name, symbol }: LinkProps) {
  const href = hrefOf(['erc20', chain, address])
  return <ReferenceText text={address} what="address" label={nameText(name, symbol) ?? symbol} href={href} />
}

function kindOf({ from_address, to_address }: Transfer): string {
  return from_address === zero ? 'mint' : to_address === zero ? 'burn' : 'transfer'
}

function shareText({ balance, percentage_relative_to_total_supply: percent }: Owner): string {
  if (percent === null) return '–'
  return percent < 0.01 && balance !== '0' ? '< 0.01 %' : `${percent.toFixed(2)} %`
}
