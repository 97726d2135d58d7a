// What a Solana account holds, to be read: its balance, tokens and NFTs.

import type { Schemas } from '../state/service.ts'
import { ReferenceText } from './reference-text.tsx'
import { TableHead } from './table-head.tsx'

type Holding = Schemas['Holding']

export function PortfolioTables({ portfolio }: { portfolio: Schemas['Portfolio'] }) {
  const { nativeBalance, tokens, nfts } = portfolio
  return (
    <>
      <p class="figure">
        <b>{nativeBalance.solana}</b> SOL <small class="soft">{nativeBalance.lamports} lamports</small>
      </p>
      <Holdings title="Tokens" holdings={tokens} />
      <Holdings title="NFTs" holdings={nfts} />
    </>
  )
}

function Holdings({ title, holdings }: { title: string; holdings: readonly Holding[] }) {
  return (
    <section class="sub">
      <h2>
        {title} <small class="soft">{holdings.length}</small>
      </h2>
      {holdings.length === 0 ? (
        <p class="soft">None.</p>
      ) : (
        <div class="table-scroll">
          <table class="stacked">
            <TableHead columns={['Name', { figures: 'Amount' }, 'Symbol', 'Mint', 'Token account']} />
            <tbody>
              {holdings.map(holding => (
                <tr key={holding.associatedTokenAddress}>
                  <th scope="row" data-title="Name">
                    {holding.name === '' ? <span class="soft">without a name</span> : holding.name}
                  </th>
                  <td
                    data-title="Amount"
                    class="number"
                    title={`${holding.amountRaw} with ${holding.decimals} decimals`}
                  >
                    {holding.amount}
                  </td>
                  <td data-title="Symbol">{holding.symbol}</td>
                  <td data-title="Mint">
                    <ReferenceText text={holding.mint} what="mint" />
                  </td>
                  <td data-title="Token account">
                    <ReferenceText text={holding.associatedTokenAddress} what="token account" />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
