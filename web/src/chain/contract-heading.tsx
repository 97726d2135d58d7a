// How a page about a contract begins: its name and marks, its chain and address, and the views of it.
import { Marks, nameText } from '../holdings/nft-links.tsx'
import { ChainLink } from '../parts/chain-link.tsx'
import { Choices } from '../parts/choices.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { useTitle } from '../state/title.ts'

type Named = {
  contract_type: string | null
  possible_spam: boolean | string
  verified_collection: boolean | string
  name?: string | null
  symbol?: string | null
  token_name?: string | null
  token_symbol?: string | null
}

type Props = {
  chain: string
  address: string
  here: 'transfers' | 'holders'
  /** Any row of the contract, which has its marks. */
  row: Named | undefined
  explained?: Schemas['Explanation'] | undefined
  /** What the tab says of the page. */
  titled: string
}

export function ContractHeading({ chain, address, here, row, explained, titled }: Props) {
  const name = explained?.name ?? row?.name ?? row?.token_name ?? explained?.erc20?.name ?? undefined
  const symbol = explained?.symbol ?? row?.symbol ?? row?.token_symbol ?? explained?.erc20?.symbol
  const label = explained?.labels.find(({ shown }) => shown)?.label
  useTitle(name ?? label, titled)
  return (
    <header class="about">
      <div class="heading">
        <h1>{nameText(name, symbol) ?? label ?? shortText(address)}</h1>
        <span class="marks">
          {row !== undefined ? <Marks of={row} /> : explained !== undefined && <Marks of={marksOf(explained)} />}
        </span>
      </div>
      <p class="subject">
        <ChainLink name={chain} />
        <WholeText text={address} what="address" />
        <a href={hrefOf(['wallet', address], { chain })}>View as wallet</a>
        {isToken(explained) && <a href={hrefOf(['erc20', chain, address])}>View as ERC-20 token</a>}
        <a href={hrefOf(['explore', 'transfers'], { address, chain })}>Ask the API</a>
      </p>
      <ContractViews chain={chain} address={address} here={here} />
    </header>
  )
}

/** On a chain that keeps every token all contracts have an answer as one; those with NFT transfers alone are none. */
function isToken(explained: Props['explained']): boolean {
  return explained?.erc20 !== undefined && (explained.erc20.transfers > 0 || explained.index.transfers === 0)
}

function marksOf({ interfaces, possible_spam, verified_collection }: Schemas['Explanation']) {
  const type = interfaces?.includes('erc1155') ? 'ERC1155' : interfaces?.includes('erc721') ? 'ERC721' : null
  return { contract_type: type, possible_spam: possible_spam.value, verified_collection: verified_collection.value }
}

function ContractViews({ chain, address, here }: Pick<Props, 'chain' | 'address' | 'here'>) {
  const transfers = { title: 'Transfers', href: hrefOf(['contract', chain, address]), isHere: here === 'transfers' }
  const holders = {
    title: 'Holders',
    href: hrefOf(['contract', chain, address, 'holders']),
    isHere: here === 'holders',
  }
  return <Choices label="Views of the contract" choices={[transfers, holders]} />
}
