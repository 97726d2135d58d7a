// One contract on one chain: what is known of it, and its newest transfers, which arrive by themselves while the first page is shown.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { askTransfers } from '../explorer/operations.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Explanation } from '../parts/explanation.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { placeOf, type ShownTransfer, TransfersTable } from '../parts/transfers-table.tsx'
import { countText } from '../quantities.ts'
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'

type Page = Schemas['NamedTransferCollection']
type Subject = { chain: string; address: string }

const pageSize = 25

export function ContractPage({ chain, address }: Subject) {
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
  const fresh = useFresh(answered?.data.result, cursor.value === undefined)
  return (
    <>
      <div class="heading">
        <h1>{titleOf(answered?.data) ?? 'Contract'}</h1>
        {answered?.data !== undefined && <Marks page={answered.data} />}
      </div>
      <p class="subject">
        <span class="soft">{chain}</span> <span class="mono whole">{address}</span>
        <CopyButton text={address} what="address" />
        <a href={hrefOf(['explore', 'transfers'], { address, chain })}>Ask in the explorer</a>
        <a href={hrefOf(['wallet', address], { chain })}>As a wallet</a>
      </p>
      {problem !== undefined && <FailureNote problem={problem} />}
      <ContractFacts chain={chain} address={address} response={answered?.response} head={head} />
      <Explanation chain={chain} contract={address} />
      {answered !== undefined && (
        <section aria-labelledby="transfers">
          <h2 id="transfers">Transfers</h2>
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

function titleOf(page: Page | undefined): string | undefined {
  const row = page?.result[0]
  if (row?.token_name == null || row.token_name === '') return undefined
  return row.token_symbol ? `${row.token_name} (${row.token_symbol})` : row.token_name
}

function Marks({ page }: { page: Page }) {
  const row = page.result[0]
  if (row === undefined) return null
  // The flags are texts in one of the two dialects.
  const isSet = (flag: boolean | string) => flag === true || flag === 'true'
  return (
    <>
      <Badge word={row.contract_type} />
      {isSet(row.verified_collection) && <Badge word="verified" tone="good" />}
      {isSet(row.possible_spam) && <Badge word="possible spam" tone="bad" />}
    </>
  )
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

type FactsProps = Subject & { response: Response | undefined; head: number | undefined }

function ContractFacts({ chain, address, response, head }: FactsProps) {
  const counted = useAnswer(JSON.stringify([chain, address, head]), signal =>
    service.GET('/api/v2/nft/{address}/transfers', {
      params: { path: { address }, query: { chain, limit: 1, disable_total: false } },
      signal,
    }),
  )
  const total = counted.value.answered?.data.total
  const complete = response?.headers.get('x-index-complete')
  const evidence = response?.headers.get('x-index-evidence')
  return (
    <dl class="facts wide">
      <div>
        <dt>Transfers</dt>
        <dd>{total == null ? '–' : countText(Number(total))}</dd>
      </div>
      <div>
        <dt>History</dt>
        <dd class={complete === 'false' ? 'warn' : undefined}>
          {complete == null ? '–' : complete === 'true' ? 'complete' : 'not complete yet'}
        </dd>
      </div>
      <div>
        <dt>Evidence</dt>
        <dd>{evidence?.replaceAll('-', ' ') ?? '–'}</dd>
      </div>
    </dl>
  )
}
