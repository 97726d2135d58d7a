// One ERC-20 token on one chain: its transfers, or who holds it.

import { HistoryFacts } from '../chain/contract-facts.tsx'
import { askErc20Holders, askErc20Metadata, askErc20Owners, askErc20Stats, askErc20Transfers } from '../holdings/ask.ts'
import { Erc20OwnersTable, Erc20TransfersTable } from '../holdings/erc20-tables.tsx'
import { ListSection } from '../holdings/list-section.tsx'
import { FlagMarks, nameText } from '../holdings/nft-links.tsx'
import { TokenAmount } from '../holdings/token-amount.tsx'
import { useHoldings } from '../holdings/use-holdings.ts'
import { Badge } from '../parts/badge.tsx'
import { ChainLink, UnconfiguredNote } from '../parts/chain-link.tsx'
import { Choices } from '../parts/choices.tsx'
import { Fact } from '../parts/fact.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { countText, shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { useTitle } from '../state/title.ts'

type Props = { chain: string; address: string; view: string; cursor: string | undefined }

export function Erc20Page({ chain, address, view, cursor }: Props) {
  const token = { chain, contract: address }
  const told = useHoldings(token, askErc20Metadata, () => true).value.answered?.data[0]
  const isOfHolders = view === 'holders'
  return (
    <>
      <Heading {...{ chain, address, token: told, view }} />
      <UnconfiguredNote chain={chain} />
      {isOfHolders ? (
        <Holders {...{ chain, address, cursor, token: told }} />
      ) : (
        <Transfers {...{ chain, address, cursor, token: told }} />
      )}
    </>
  )
}

type Metadata = Schemas['Erc20Metadata'][number]
type Token =
  | Pick<
      Metadata,
      'name' | 'symbol' | 'decimals' | 'total_supply' | 'total_supply_formatted' | 'possible_spam' | 'verified_contract'
    >
  | undefined

function Heading({ chain, address, token, view }: Omit<Props, 'cursor'> & { token: Token }) {
  const name = nameText(token?.name, token?.symbol) ?? token?.symbol ?? undefined
  useTitle(name, view === 'holders' ? 'holders' : 'token')
  return (
    <header class="about">
      <div class="heading">
        <h1>{name ?? `Token ${shortText(address)}`}</h1>
        <span class="marks">
          <Badge word="ERC20" />{' '}
          {token !== undefined && <FlagMarks of={{ ...token, verified_collection: token.verified_contract }} />}
        </span>
      </div>
      <p class="subject">
        <ChainLink name={chain} />
        <WholeText text={address} what="address" />
        <a href={hrefOf(['wallet', address], { chain })}>View as wallet</a>
        <a href={hrefOf(['explore', 'getTokenTransfersV22'], { address, chain })}>Ask the API</a>
      </p>
      <Choices
        label="Views of the token"
        choices={[
          { title: 'Transfers', href: hrefOf(['erc20', chain, address]), isHere: view !== 'holders' },
          { title: 'Holders', href: hrefOf(['erc20', chain, address, 'holders']), isHere: view === 'holders' },
        ]}
      />
    </header>
  )
}

type ViewProps = Omit<Props, 'view'> & { token: Token }

function Transfers({ chain, address, cursor, token }: ViewProps) {
  const contract = { chain, contract: address }
  const state = useHoldings({ ...contract, cursor }, askErc20Transfers)
  const { answered, problem } = useHoldings(contract, askErc20Stats).value
  return (
    <>
      {problem === undefined && (
        <dl class="facts wide">
          <Fact title="Transfers">{answered && countText(Number(answered.data.transfers.total))}</Fact>
          <Fact title="Supply">{token && <Supply of={token} />}</Fact>
          <Fact title="Decimals">{token && (token.decimals ?? '–')}</Fact>
          <HistoryFacts chain={chain} response={state.value.answered?.response} />
        </dl>
      )}
      <ListSection
        id="transfers"
        title="Transfers"
        state={state.value}
        firstPage={0}
        nothing="This token never moved"
        rests={{ on: 'contract', chain }}
        whole={{ path: ['erc20', address, 'transfers'], query: { chain }, name: `transfers-${chain}-${address}` }}
        hrefTo={next => hrefOf(['erc20', chain, address], { cursor: next })}
      >
        {rows => <Erc20TransfersTable rows={rows} chain={chain} />}
      </ListSection>
    </>
  )
}

function Holders({ chain, address, cursor, token }: ViewProps) {
  const contract = { chain, contract: address }
  const state = useHoldings({ ...contract, cursor }, askErc20Owners)
  const { answered, problem } = useHoldings(contract, askErc20Holders).value
  const holders = answered?.data
  return (
    <>
      {problem === undefined && (
        <dl class="facts wide">
          <Fact title="Holders">{holders && countText(holders.totalHolders)}</Fact>
          <Fact title="In 24 hours">{holders && changeText(holders.holderChange['24h'].change)}</Fact>
          <Fact title="Ten largest">{holders && shareText(holders.holderSupply.top10.supplyPercent)}</Fact>
          <Fact title="Supply">{token && <Supply of={token} />}</Fact>
        </dl>
      )}
      {answered !== undefined && answered.data.totalHolders > 0 && <BalancesNote of={answered.data.balances} />}
      <ListSection
        id="holders"
        title="Holders"
        state={state.value}
        firstPage={1}
        nothing="Nobody holds this token"
        rests={{ on: 'contract', chain }}
        whole={{ path: ['erc20', address, 'owners'], query: { chain }, name: `holders-${chain}-${address}` }}
        hrefTo={next => hrefOf(['erc20', chain, address, 'holders'], { cursor: next })}
      >
        {rows => <Erc20OwnersTable rows={rows} chain={chain} />}
      </ListSection>
    </>
  )
}

const balancesTexts = {
  exact: undefined,
  read: 'The transfers of this token do not add up to its balances, so these were read from it. The order is that of its transfers.',
  unchecked: 'No node told what the token says: balances are sums of its transfers.',
} as const

function BalancesNote({ of }: { of: keyof typeof balancesTexts }) {
  const text = balancesTexts[of]
  return text === undefined ? null : <p class="note note-warn">{text}</p>
}

function Supply({ of: { total_supply, total_supply_formatted: formatted, symbol } }: { of: NonNullable<Token> }) {
  if (formatted === null) return <TokenAmount amount={total_supply} decimals={null} symbol={symbol} />
  return <TokenAmount amount={formatted} decimals={0} symbol={symbol} />
}

function changeText(change: number | null): string {
  return change === null ? '–' : change > 0 ? `+${countText(change)}` : countText(change)
}

function shareText(percent: number | null): string {
  return percent === null ? '–' : `${percent.toFixed(1)} %`
}
