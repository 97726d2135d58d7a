// All that a search found, on a page that can be linked to.
import { useEffect } from 'preact/hooks'
import { Badge } from '../parts/badge.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { Panel } from '../parts/panel.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { docsFound, loadDocsIndex } from '../search/docs-pages.ts'
import {
  askedLengthMax,
  askSearch,
  type Group,
  groupsOfResults,
  keepOffer,
  notServedKnown,
  type Offer,
  offerOf,
  offersHere,
  offersToBegin,
  operationsKnown,
} from '../search/found.ts'
import { nothingFound } from '../search/nothing.ts'
import { openSearch } from '../search/search-box.tsx'
import { isLike } from '../search/typo.ts'
import { isLive, status } from '../state/live.ts'
import { loadDocument } from '../state/load-document.ts'
import { goTo, hrefOf } from '../state/route.ts'
import type { Schemas } from '../state/service.ts'
import { useAnswer } from '../state/use-answer.ts'
import '../search/search.css'

export function SearchPage({ text }: { text: string }) {
  const state = useAnswer(text.trim() === '' ? undefined : text, signal => askSearch(text, signal))
  const { answered, problem, again } = state.value
  const only = answered?.data.query === text.trim() ? onlyPlace(answered.data) : undefined
  // Whoever pressed Enter before the dialog knew is shown the block or the transaction itself.
  useEffect(() => {
    if (only !== undefined) goTo(only.slice(1), { replace: true })
  }, [only])
  useEffect(loadDocument, [isLive.value])
  useEffect(loadDocsIndex, [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const typed = String(new FormData(event.currentTarget as HTMLFormElement).get('q') ?? '').trim()
    goTo(hrefOf(['search'], { q: typed }))
  }
  return (
    <div class="search-page">
      <div class="heading">
        <h1>Search</h1>
      </div>
      <search>
        <form class="search-page-form" onSubmit={submit}>
          <input
            key={text}
            name="q"
            type="search"
            aria-label="Address, hash, block, name or label"
            placeholder="Address, hash, block, name or label"
            defaultValue={text}
            autocomplete="off"
            spellcheck={false}
            maxLength={askedLengthMax}
          />
          <button type="submit" class="primary">
            Search
          </button>
        </form>
      </search>
      {problem !== undefined && (
        <FailureNote problem={problem} what="The store could not be searched." onRetry={again} />
      )}
      {text.trim() === '' && <Groups groups={offersToBegin().filter(({ title }) => title !== 'Go to')} />}
      {text.trim() !== '' && answered === undefined && problem === undefined && <Skeleton rows={6} />}
      {answered !== undefined && (
        <Found text={text} groups={groupsFound(text, answered.data.results)} names={answered.data.names} />
      )}
    </div>
  )
}

/** The place of a hash that one chain has. */
function onlyPlace({ query, results: [first, ...others] }: Schemas['SearchAnswer']): string | undefined {
  const isIt = first !== undefined && 'hash' in first && first.hash === query.toLowerCase()
  return isIt && others.length === 0 ? offerOf(first).href : undefined
}

function groupsFound(text: string, results: Schemas['SearchAnswer']['results']): Group[] {
  const chains = Object.keys(status.value?.chains ?? {})
  const known = { chains, networks: [], keys: [], operations: operationsKnown(), notServed: notServedKnown() }
  const named = offersHere(text, known).filter(({ title }) => title !== 'Pages')
  const groups = [...named, ...groupsOfResults(results), ...docsFound(text)]
  return groups.length === 0 ? offersHere(text, known, isLike) : groups
}

function Found({ text, groups, names }: { text: string; groups: readonly Group[]; names: string | null }) {
  if (groups.length === 0) {
    const { title, advice } = nothingFound({ text, chains: Object.keys(status.value?.chains ?? {}), names })
    return (
      <section class="panel" aria-label="Found">
        <EmptyState
          title={title}
          icon={<SearchIcon />}
          action={
            <button type="button" onClick={openSearch}>
              Search again
            </button>
          }
        >
          {advice}
        </EmptyState>
      </section>
    )
  }
  return <Groups groups={groups} />
}

function Groups({ groups }: { groups: readonly Group[] }) {
  return groups.map(({ title, offers }) => (
    <Panel key={title} id={`found-${title}`} title={title} count={offers.length} flush>
      {offers.map(offer => (
        <OfferLink key={offer.href} offer={offer} />
      ))}
    </Panel>
  ))
}

function OfferLink({ offer }: { offer: Offer }) {
  return (
    <a class="offer" href={offer.href} onClick={() => keepOffer(offer)}>
      <span class={offer.isMono ? 'offer-title mono' : 'offer-title'}>{offer.title}</span>
      {offer.mark !== undefined && <Badge word={offer.mark.word} tone={offer.mark.tone} />}
      {offer.note !== undefined && <span class="offer-note soft">{offer.note}</span>}
    </a>
  )
}
