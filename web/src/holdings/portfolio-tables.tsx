// What a Solana account holds, to be read: its balance, tokens and NFTs.

import { EmptyState } from '../parts/empty-state.tsx'
import { Panel } from '../parts/panel.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { Stat } from '../parts/stat.tsx'
import { Table } from '../parts/table.tsx'
import { countText, groupedText } from '../quantities.ts'
import type { Schemas } from '../state/service.ts'

type Holding = Schemas['Holding']

/** Undefined while it is on its way. */
export function PortfolioTables({ portfolio }: { portfolio: Schemas['Portfolio'] | undefined }) {
  const { nativeBalance, tokens, nfts } = portfolio ?? {}
  return (
    <>
      <dl class="stats">
        <Stat
          label="Balance"
          value={nativeBalance && groupedText(nativeBalance.solana)}
          unit="SOL"
          note={nativeBalance && `${groupedText(nativeBalance.lamports)} lamports`}
        />
        <Stat label="Tokens" value={tokens && countText(tokens.length)} />
        <Stat label="NFTs" value={nfts && countText(nfts.length)} />
      </dl>
      <Holdings id="tokens" title="Tokens" holdings={tokens} nothing="This account holds no token" />
      <Holdings id="nfts" title="NFTs" holdings={nfts} nothing="This account holds no NFT" />
    </>
  )
}

type Props = { id: string; title: string; holdings: readonly Holding[] | undefined; nothing: string }

function Holdings({ id, title, holdings, nothing }: Props) {
  return (
    <Panel id={id} title={title} count={holdings?.length} flush>
      {holdings?.length === 0 ? (
        <EmptyState title={nothing} />
      ) : (
        <Table columns={['Name', { figures: 'Amount' }, 'Symbol', 'Mint', 'Token account']} coming={3}>
          {holdings?.map(holding => (
            <tr key={holding.associatedTokenAddress}>
              <th scope="row" data-title="Name">
                {holding.name === '' ? <span class="soft">without a name</span> : holding.name}
              </th>
              <td
                data-title="Amount"
                class="number aside"
                title={`${holding.amountRaw} with ${holding.decimals} decimals`}
              >
                {groupedText(holding.amount)}
              </td>
              <td data-title="Symbol" class={holding.symbol === '' ? 'not-narrow' : 'second'}>
                {holding.symbol}
              </td>
              <td data-title="Mint" class="second">
                <ReferenceText text={holding.mint} what="mint" />
              </td>
              <td data-title="Token account" class="second">
                <ReferenceText text={holding.associatedTokenAddress} what="token account" />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  )
}
