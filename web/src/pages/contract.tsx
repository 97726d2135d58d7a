// One contract on one chain: what is known of it, and its newest transfers, which arrive by themselves while the first page is shown.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ListHeading } from '../downloads/list-heading.tsx'
import { askTransfers } from '../explorer/operations.ts'
import { Choices } from '../parts/choices.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { CoverageBar, EvidenceLegend } from '../parts/coverage-bar.tsx'
import { Explanation } from '../parts/explanation.tsx'
import { Fact } from '../parts/fact.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Marks, nameText, PartyLink } from '../parts/nft-links.tsx'
import { placeOf, type ShownTransfer, TransfersTable } from '../parts/transfers-table.tsx'
import { countText } from '../quantities.ts'
import { type Coverage, status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

type Explained = Schemas['Explanation']

const pageSize = 25

export function ContractPage({ chain, address }: { chain: string; address: string }) {
  // A new head asks again; between two heads nothing can be new.
  const head = status.value?.chains[chain]?.head
  const cursor = useSignal<string | undefined>(undefined)
  const asked = {
    address,
    chain,
    limit: `${pageSize}`,
    ...(cursor.value === undefined ? {} : { cursor: cursor.value }),
  }
  const question = JSON.stringify([asked, cursor.value === undefined ? head : undefined])
  const state = useAnswer(question, signal => askTransfers(asked, signal))
  const { answered, problem } = state.value
  const told = useAnswer(JSON.stringify([chain, address, head]), signal =>
    service.GET('/explain/{chain}/{contract}', { params: { path: { chain, contract: address } }, signal }),
  )
  const explained = told.value.answered?.data
  const row = answered?.data.result[0]
  const fresh = useFresh(answered?.data.result, cursor.value === undefined)
  return (
    <>
      <div class="heading">
        <h1>{nameText(explained?.name, explained?.symbol) ?? 'Contract'}</h1>
        {row !== undefined && <Marks of={row} />}
        <ContractViews chain={chain} address={address} here="transfers" />
      </div>
      <p class="subject">
        <span class="soft">{chain}</span> <span class="mono whole">{address}</span>
        <CopyButton text={address} what="address" />
        <a href={hrefOf(['explore', 'transfers'], { address, chain })}>Ask in the explorer</a>
        <a href={hrefOf(['wallet', address], { chain })}>As a wallet</a>
      </p>
      {problem !== undefined && <FailureNote problem={problem} />}
      {explained !== undefined && (
        <>
          <ContractFacts explained={explained} response={answered?.response} />
          <Explanation explained={explained} />
          <ContractCoverage explained={explained} />
        </>
      )}
      {answered !== undefined && (
        <section aria-labelledby="transfers">
          <ListHeading
            id="transfers"
            title="Transfers"
            list={{ path: ['nft', address, 'transfers'], query: { chain }, name: `transfers-${chain}-${address}` }}
          />
          {answered.data.result.length === 0 ? (
            <p class="note">
              {answered.data.index_complete
                ? 'No NFT was ever transferred with this contract.'
                : 'Nothing was found yet, and its history is not complete.'}
            </p>
          ) : (
            <TransfersTable rows={answered.data.result} chain={chain} fresh={fresh} />
          )}
          <nav class="paging" aria-label="Pages of transfers">
            {cursor.value !== undefined && (
              <button
                type="button"
                onClick={() => {
                  cursor.value = undefined
                }}
              >
                Newest
              </button>
            )}
            <span class="soft">page {Number(answered.data.page) + 1}</span>
            {answered.data.cursor && (
              <button
                type="button"
                class="next"
                onClick={() => {
                  cursor.value = answered.data.cursor ?? undefined
                }}
              >
                Older
              </button>
            )}
          </nav>
        </section>
      )}
    </>
  )
}

type ViewsProps = { chain: string; address: string; here: 'transfers' | 'holders' }

export function ContractViews({ chain, address, here }: ViewsProps) {
  const transfers = { title: 'Transfers', href: hrefOf(['contract', chain, address]), isHere: here === 'transfers' }
  const holders = {
    title: 'Holders',
    href: hrefOf(['contract', chain, address, 'holders']),
    isHere: here === 'holders',
  }
  return <Choices label="Views of the contract" choices={[transfers, holders]} />
}

/** The places of rows that were not there when the page was first seen. */
function useFresh(rows: readonly ShownTransfer[] | undefined, isFirstPage: boolean): ReadonlySet<string> {
  const seen = useRef<Set<string> | undefined>(undefined)
  const fresh = useSignal<ReadonlySet<string>>(new Set())
  useEffect(() => {
    if (rows === undefined || !isFirstPage) return
    const places = rows.map(placeOf)
    const known = seen.current
    if (known !== undefined) fresh.value = new Set(places.filter(place => !known.has(place)))
    seen.current = new Set([...(known ?? []), ...places])
  }, [rows, isFirstPage, fresh])
  return fresh.value
}

type FactsProps = { explained: Explained; response: Response | undefined }

function ContractFacts({ explained, response }: FactsProps) {
  const { index, created_block: created, deployer, chain } = explained
  const complete = response?.headers.get('x-index-complete')
  const evidence = response?.headers.get('x-index-evidence')
  return (
    <dl class="facts wide">
      <Fact title="Transfers">{countText(index.transfers)}</Fact>
      <Fact title="History">
        {complete == null ? '–' : complete === 'true' ? 'complete' : <span class="warn">not complete yet</span>}
      </Fact>
      <Fact title="Evidence">{evidence?.replaceAll('-', ' ') ?? '–'}</Fact>
      {created !== null && <Fact title="Made in block">{countText(created)}</Fact>}
      {deployer !== null && (
        <Fact title="Made by">
          <PartyLink address={deployer} chain={chain} />
        </Fact>
      )}
    </dl>
  )
}

function ContractCoverage({ explained: { index, created_block, contract } }: { explained: Explained }) {
  const covered = index.covered as Coverage['intervals']
  if (index.head === null) return null
  const blocks: Coverage['blocks'] = {}
  for (const { from, to, evidence } of covered) blocks[evidence] = (blocks[evidence] ?? 0) + to - from + 1
  return (
    <section aria-labelledby="coverage">
      <div class="section-heading">
        <h2 id="coverage">Covered</h2>
        <EvidenceLegend />
      </div>
      <CoverageBar
        coverage={{ intervals: covered, intervals_total: covered.length, blocks }}
        from={Math.min(created_block ?? 0, covered[0]?.from ?? 0)}
        head={index.head}
        subject={contract}
      />
    </section>
  )
}
