// One NFT: who holds it, what it says of itself, and every transfer of it.
import { useMemo } from 'preact/hooks'
import { TokenLife } from '../chain/token-life.tsx'
import type { WholeList } from '../downloads/use-downloads.tsx'
import { askNft, askTokenOwners, askTokenStats, askTokenTransfers } from '../holdings/ask.ts'
import { ListSection } from '../holdings/list-section.tsx'
import { CollectionLink, Marks } from '../holdings/nft-links.tsx'
import { OwnersTable } from '../holdings/nft-tables.tsx'
import { Picture } from '../holdings/picture.tsx'
import { descriptionOf, traitsOf } from '../holdings/traits.ts'
import { TransfersTable } from '../holdings/transfers-table.tsx'
import { isComplete, useHoldings } from '../holdings/use-holdings.ts'
import { AddressText, zeroAddress } from '../parts/address-text.tsx'
import { Age } from '../parts/age.tsx'
import { ChainLink } from '../parts/chain-link.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { WholeText } from '../parts/whole-text.tsx'
import { amountText, countText, shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { useTitle } from '../state/title.ts'

type Token = { chain: string; contract: string; tokenId: string }
type Nft = Schemas['Nft']

/** Each list of the page has a cursor of its own. */
type Cursors = { cursor: string | undefined; holders: string | undefined }

export function TokenPage({ cursors, ...token }: Token & { cursors: Cursors }) {
  const { chain, contract, tokenId } = token
  // The node is asked for the URI when the token is first shown.
  const state = useHoldings(token, askNft, answer => isComplete(answer) && answer.data.last_token_uri_sync !== null)
  const { answered, problem, again } = state.value
  const isUnheld = problem?.status === 404 && problem.unconfigured === undefined
  const nft = answered?.data
  const metadata = nft?.metadata ?? undefined
  const held: unknown = useMemo(() => (metadata === undefined ? undefined : JSON.parse(metadata)), [metadata])
  const transfers = useHoldings({ ...token, cursor: cursors.cursor }, askTokenTransfers).value
  // A token without a holder is known by its transfers alone.
  const row = transfers.answered?.data.result[0]
  // The newest transfer stands first.
  const isBurned = cursors.cursor === undefined && row !== undefined && row.to_address === zeroAddress
  const isUnknown =
    nft === undefined &&
    cursors.cursor === undefined &&
    transfers.answered?.data.result.length === 0 &&
    isComplete(transfers.answered)
  const isListed = transfers.answered !== undefined || transfers.problem !== undefined
  const marked = nft ?? row
  const name = nft?.name ?? row?.token_name ?? null
  useTitle(name ? `${name} #${shortText(tokenId, 6)}` : undefined, 'token')
  return (
    <>
      <div class="heading">
        <h1>
          {name || 'Token'} #{shortText(tokenId, 6)}
        </h1>
        {marked !== undefined && <Marks of={marked} />}
      </div>
      <p class="subject">
        <ChainLink name={chain} /> <CollectionLink chain={chain} address={contract} name={name} />
        <span class="soft">token</span> <WholeText text={tokenId} what="token id" />
        <a href={hrefOf(['contract', chain, contract, 'holders'])}>Holders of the collection</a>
      </p>
      {isUnknown ? (
        <section class="panel" aria-label="What is known">
          <EmptyState
            title={`No token ${shortText(tokenId, 6)} of this collection was ever transferred`}
            action={
              <a class="button" href={hrefOf(['contract', chain, contract, 'holders'])}>
                Holders of the collection
              </a>
            }
          >
            The index is complete: no block was left out.
          </EmptyState>
        </section>
      ) : (
        <>
          {isUnheld && (
            <p class="note">
              {problem?.mayCome
                ? 'No holder of this token is known yet.'
                : isBurned
                  ? 'This token was burned: nobody holds it.'
                  : 'This token has no holder: it was burned, or it never moved.'}
            </p>
          )}
          {/* Where the transfers failed too, their panel says so. */}
          {problem !== undefined && !isUnheld && transfers.problem === undefined && (
            <FailureNote problem={problem} what="The holder could not be loaded." onRetry={again} />
          )}
          <div class="pictured">
            <Picture
              of={nft ?? { token_id: tokenId, possible_spam: false }}
              size="large"
              alt={`Picture of ${name || 'token'} #${shortText(tokenId, 6)}`}
            />
            <div>
              {answered === undefined && problem === undefined && (
                <Skeleton facts={['Held by', 'Changed in block', 'Minted in block', 'Transfers']} />
              )}
              {nft !== undefined && <TokenFacts nft={nft} token={token} />}
              {held !== undefined && <Traits of={held} />}
            </div>
          </div>
          <div class="columns aside">
            <div class="stack">
              <ListSection
                id="transfers"
                title="Transfers"
                state={transfers}
                firstPage={0}
                nothing="This token was never transferred"
                rests={{ on: 'contract', chain }}
                whole={wholeOf(token, 'transfers')}
                hrefTo={cursor => hrefOf(['token', chain, contract, tokenId], { ...cursors, cursor })}
              >
                {rows => <TransfersTable rows={rows} chain={chain} coming={3} />}
              </ListSection>
              {/* Below a list that has its length: what comes later would push these about. */}
              {isListed && nft?.contract_type === 'ERC1155' && <TokenHolders token={token} cursors={cursors} />}
              {isListed && nft !== undefined && <TokenWords nft={nft} held={held} />}
            </div>
            <div class="stack">
              <TokenLife {...token} isSingle={(nft ?? row)?.contract_type !== 'ERC1155'} />
            </div>
          </div>
        </>
      )}
    </>
  )
}

function wholeOf({ chain, contract, tokenId }: Token, list: 'transfers' | 'owners'): WholeList {
  return {
    path: ['nft', contract, tokenId, list],
    query: { chain },
    name: `${list}-${chain}-${contract}-${tokenId}`,
  }
}

function TokenFacts({ nft, token }: { nft: Nft; token: Token }) {
  const { answered, problem } = useHoldings(token, askTokenStats).value
  const stats = answered?.data
  const { owner_of, amount, minter_address: minter, block_number_minted: minted } = nft
  const isSingle = nft.contract_type !== 'ERC1155'
  return (
    <dl class="facts wide">
      <Fact title={isSingle ? 'Held by' : 'Last received by'}>
        <AddressText address={owner_of} chain={token.chain} />
      </Fact>
      {!isSingle && <Fact title="Holds">{amountText(amount)}</Fact>}
      <Fact title="Changed in block">
        <BlockLink chain={token.chain} block={nft.block_number} />
      </Fact>
      {minted !== null && (
        <Fact title="Minted in block">
          <BlockLink chain={token.chain} block={minted} />
        </Fact>
      )}
      {/* ERC-1155 has a sentence here instead of an address. */}
      {minter?.startsWith('0x') && (
        <Fact title="Minted by">
          <AddressText address={minter} chain={token.chain} />
        </Fact>
      )}
      {stats !== undefined && !isSingle && <Fact title="Holders">{countText(Number(stats.owners.current))}</Fact>}
      {problem === undefined && <Fact title="Transfers">{stats && countText(Number(stats.transfers.total))}</Fact>}
    </dl>
  )
}

function BlockLink({ chain, block }: { chain: string; block: string }) {
  return <a href={hrefOf(['block', chain, block])}>{countText(Number(block))}</a>
}

function TokenHolders({ token, cursors }: { token: Token; cursors: Cursors }) {
  const { chain, contract, tokenId } = token
  const state = useHoldings({ ...token, cursor: cursors.holders }, askTokenOwners)
  return (
    <ListSection
      id="holders"
      title="Holders"
      state={state.value}
      firstPage={1}
      nothing="This token has no holder"
      rests={{ on: 'contract', chain }}
      whole={wholeOf(token, 'owners')}
      hrefTo={holders => hrefOf(['token', chain, contract, tokenId], { ...cursors, holders })}
    >
      {rows => <OwnersTable rows={rows} chain={chain} />}
    </ListSection>
  )
}

/** What the token says of itself, of which its JSON has the rest. */
function Traits({ of: held }: { of: unknown }) {
  const [description, traits] = [descriptionOf(held), traitsOf(held)]
  return (
    <>
      {description !== undefined && <p class="soft token-words">{description}</p>}
      {traits.length > 0 && (
        <dl class="traits" aria-label="Traits">
          {traits.map(({ name, value }, at) => (
            <div key={at}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

/** Of a URI that holds what it names there is nothing to read. */
const shownCharacters = { data: 60, other: 300 }

/** What the contract says of the token. It is text of strangers: nothing of it is linked to or loaded. */
function TokenWords({ nft: { token_uri: uri, last_token_uri_sync: readAt }, held }: { nft: Nft; held: unknown }) {
  const isData = uri?.startsWith('data:') === true
  const shown = isData ? shownCharacters.data : shownCharacters.other
  return (
    <Panel
      id="metadata"
      title="Metadata"
      note={
        readAt === null ? undefined : (
          <>
            read <Age moment={Date.parse(readAt)} />
          </>
        )
      }
    >
      {uri === null ? (
        <p class="soft">
          {readAt === null
            ? 'Not read yet: a node of the chain is asked once the token is shown.'
            : 'The contract gives no token URI.'}
        </p>
      ) : (
        <>
          <p>
            <code class="whole">{uri.length > shown ? `${uri.slice(0, shown)}…` : uri}</code>
            {isData && <span class="soft"> {countText(uri.length)} characters </span>}
            <CopyButton text={uri} what="token URI" />
          </p>
          {held === undefined ? (
            <p class="soft">The URI itself holds none that can be read, and none was fetched from where it points.</p>
          ) : (
            <details open>
              <summary>{isData ? 'What the URI holds' : 'What lies where it points'}</summary>
              <JsonView value={held} what="the metadata" />
            </details>
          )}
        </>
      )}
    </Panel>
  )
}
