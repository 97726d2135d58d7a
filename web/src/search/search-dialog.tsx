// The field of the search and what it offers, moved through with the arrow keys while the field keeps the focus.
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Badge } from '../parts/badge.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { status } from '../state/live.ts'
import { loadDocument } from '../state/load-document.ts'
import { isReference, placeOf, route } from '../state/route.ts'
import { type Schemas, service } from '../state/service.ts'
import { key } from '../state/session.ts'
import { useAnswer } from '../state/use-answer.ts'
import { closeText } from './docs-index.ts'
import { docsAnswer, docsFound, loadDocsIndex } from './docs-pages.ts'
import { wordsWith } from './excerpt.ts'
import {
  askedLengthMax,
  askSearch,
  forgetOffers,
  type Group,
  groupsOfResults,
  isOperationMeant,
  keepOffer,
  notServedKnown,
  type Offer,
  offersElsewhere,
  offersHere,
  offersToBegin,
  operationsKnown,
  recentOffers,
} from './found.ts'
import { nothingFound } from './nothing.ts'
import { isLike } from './typo.ts'
import './search.css'

/** Typing on makes an answer void, so none is asked for until it pauses. */
const pauseMs = 120

type Props = { text: Signal<string>; lengthMax: number; onClose: () => void }

export function SearchDialog({ text, lengthMax, onClose }: Props) {
  const settled = useSignal('')
  const at = useSignal(0)
  const turn = useSignal(0)
  const keys = useKeys()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  useEffect(loadDocument, [])
  useEffect(loadDocsIndex, [])
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = text.value.trim()
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [text.value])
  // Without a key the operations and the docs are searched, which are here.
  const isOpen = key.value === undefined
  // The store has no commands and paths, which may carry a key.
  const isAskable = (asked: string) => !isOpen && asked.length <= askedLengthMax && !isOperationMeant(asked)
  const asked = settled.value === '' || !isAskable(settled.value) ? undefined : settled.value
  const state = useAnswer(asked, signal => askSearch(settled.value, signal))
  const typed = text.value.trim()
  const { answered, loading, problem } = state.value
  const isCurrent = answered?.data.query === typed
  const isAsked = isAskable(typed)
  const isAnswered = !isAsked || (isCurrent && !loading)
  // Who reads about operations asks how to do something; beside contracts and wallets words of a text would be noise.
  const docs = isOpen || route.value.parts[0] === 'explore' ? docsAnswer(typed) : undefined
  const groups =
    typed === ''
      ? beginning(turn)
      : offered({ typed, keys: keys.value, found: isCurrent ? answered : undefined, isAnswered, docs })
  const offers = groups.flatMap(group => group.offers)
  const active = Math.min(at.value, offers.length - 1)
  const choose = (offer: Offer | undefined) => {
    if (offer === undefined) return
    keepOffer(offer)
    onClose()
    go(offer.href)
  }
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }
    const step = steps[event.key]
    if (step === undefined || offers.length === 0) return
    event.preventDefault()
    const next = active + step
    at.value =
      Math.abs(step) > 1 ? Math.max(0, Math.min(offers.length - 1, next)) : (next + offers.length) % offers.length
    document.getElementById(`offer-${at.value}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <form
      class="search"
      onSubmit={event => {
        event.preventDefault()
        choose(offers[active] ?? (isAsked ? allResults(typed) : undefined))
      }}
    >
      <div class="search-field">
        <SearchIcon />
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label="Search for an address, hash, block, name, label, chain, key or page"
          aria-expanded={offers.length > 0}
          aria-controls="offers"
          aria-autocomplete="list"
          {...(offers.length > 0 ? { 'aria-activedescendant': `offer-${active}` } : {})}
          placeholder={isOpen ? 'Operation, page of the docs …' : 'Address, hash, block, name, label …'}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={lengthMax}
          value={text.value}
          onInput={event => {
            text.value = event.currentTarget.value
            at.value = 0
          }}
          onKeyDown={move}
        />
        <kbd>Esc</kbd>
      </div>
      <Offers groups={groups} active={active} onChoose={choose} />
      <p class="search-state soft" role="status">
        {stateText({
          typed,
          count: groups[0] === goingOn ? 0 : offers.length,
          isLooking: isAsked && (loading || !isCurrent),
          failure: problem?.message,
          isOpen,
          isClose: docs?.isClose === true && docs.groups.length === groups.length,
          names: answered?.data.names ?? null,
        })}
      </p>
      <div class="search-foot soft">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>↵</kbd> open
        </span>
        {answered?.data.names === 'beginnings' && typed !== '' && <span>Names by their beginning</span>}
        {typed === '' && recentOffers().length > 0 && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              forgetOffers()
              turn.value++
            }}
          >
            Clear recent
          </button>
        )}
      </div>
    </form>
  )
}

type OffersProps = { groups: readonly Group[]; active: number; onChoose: (offer: Offer) => void }

function Offers({ groups, active, onChoose }: OffersProps) {
  let at = 0
  return (
    <div class="offers" role="listbox" id="offers" aria-label="Found">
      {groups.map(({ title, offers }) => (
        // biome-ignore lint/a11y/useSemanticElements: options of a list box are grouped by role
        <div key={title} role="group" aria-label={title}>
          <div class="offers-title" aria-hidden="true">
            {title}
          </div>
          {offers.map(offer => {
            const number = at++
            return (
              <OfferRow key={offer.href} id={`offer-${number}`} {...{ offer, onChoose }} isActive={number === active} />
            )
          })}
        </div>
      ))}
    </div>
  )
}

type RowProps = { id: string; offer: Offer; isActive: boolean; onChoose: (offer: Offer) => void }

function OfferRow({ id, offer, isActive, onChoose }: RowProps) {
  const isOperation = offer.type === 'operation'
  const below = isOperation ? offer.note : offer.excerpt
  const isMono = isOperation || offer.type === 'not served'
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
    // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus and names the active option
    <div id={id} role="option" aria-selected={isActive} class="offer" onClick={() => onChoose(offer)}>
      <span class="offer-type">{offer.type}</span>
      <span class={offer.isMono ? 'offer-title mono' : 'offer-title'}>
        <Marked text={offer.title} terms={offer.terms} />
      </span>
      {offer.mark !== undefined && <Badge word={offer.mark.word} tone={offer.mark.tone} />}
      {offer.note !== undefined && !isOperation && <span class="offer-note soft">{offer.note}</span>}
      {below !== undefined && (
        <span class={isMono ? 'offer-excerpt soft mono' : 'offer-excerpt soft'}>
          <Marked text={below} terms={offer.terms} />
        </span>
      )}
    </div>
  )
}

/** The words that begin with what was found stand out. */
function Marked({ text, terms = [] }: { text: string; terms?: readonly string[] | undefined }) {
  if (terms.length === 0) return text
  return text.split(wordsWith(terms)).map((part, at) => (at % 2 === 0 ? part : <mark key={at}>{part}</mark>))
}

/** Names of keys are offered to those who may see them. */
function useKeys(): Signal<readonly Schemas['Key'][]> {
  const keys = useSignal<readonly Schemas['Key'][]>([])
  useEffect(() => {
    if (key.value === undefined) return
    const stop = new AbortController()
    service.GET('/keys', { signal: stop.signal }).then(
      ({ data }) => {
        keys.value = data?.keys ?? []
      },
      () => undefined,
    )
    return () => stop.abort()
  }, [keys])
  return keys
}

/** Read again when `turn` changes. */
function beginning(turn: Signal<number>): Group[] {
  void turn.value
  return offersToBegin()
}

const goingOn: Group = { title: 'Go on', offers: offersElsewhere }

type Found = { data: Schemas['SearchAnswer'] } | undefined

type Wanted = {
  typed: string
  keys: readonly Schemas['Key'][]
  found: Found
  isAnswered: boolean
  /** What the search of the docs found, where it is asked. */
  docs: ReturnType<typeof docsAnswer>
}

/** Where nothing has what was typed, what is like it is offered. */
function offered({ typed, keys, found, isAnswered, docs }: Wanted): Group[] {
  const chains = Object.keys(status.value?.chains ?? {})
  const networks = Object.keys(status.value?.solana ?? {})
  const results = groupsOfResults(found?.data.results ?? [])
  // The search of the docs finds operations itself.
  const known = {
    ...{ chains, networks, keys },
    ...(docs === undefined
      ? { operations: operationsKnown(), notServed: notServedKnown() }
      : { operations: [], notServed: {} }),
  }
  const here = offersHere(typed, known)
  if (docs === undefined && isOperationMeant(typed)) return here
  const count = found?.data.results.length ?? 0
  const all = count > 5 ? [{ title: 'All', offers: [allResults(typed)] }] : []
  // What only has it within a word comes last: `ens` is in OpenSea. Where the docs have only like words, names do.
  const isNamed = ({ title }: Group) => title === 'Contracts' || title === 'Wallets and accounts'
  const isWithin = (group: Group) => isNamed(group) && !group.offers.some(hasWordOf(typed))
  const isUnsaid = docs !== undefined && !docs.groups.some(({ offers }) => offers.some(hasWordOf(typed)))
  const within = /\d/.test(typed) || isUnsaid ? [] : results.filter(isWithin)
  const groups = [
    ...here.filter(({ title }) => title === 'Chains'),
    ...results.filter(group => !within.includes(group)),
    ...here.filter(({ title }) => title !== 'Chains'),
    ...(docs?.groups ?? docsFound(typed)),
    ...within,
    ...all,
  ]
  if (groups.length > 0 || !isAnswered) return groups
  const like = offersHere(typed, known, isLike)
  if (like.length > 0) return like
  const told = docsAnswer(typed)
  return told === undefined || told.isClose || told.groups.length === 0 ? [goingOn] : told.groups
}

function hasWordOf(typed: string): (offer: Offer) => boolean {
  const word = wordsWith([typed])
  return ({ title, note = '', excerpt = '' }) => new RegExp(word.source, 'iu').test(`${title} ${note} ${excerpt}`)
}

function allResults(typed: string): Offer {
  return { type: 'search', title: `All results for “${typed}”`, href: placeOf(['search'], { q: typed }) }
}

function go(href: string): void {
  // Within the console only the part behind `#` changes.
  if (!isReference && href.startsWith('/#')) location.hash = href.slice(1)
  else location.href = href
}

type Told = {
  typed: string
  count: number
  isLooking: boolean
  failure: string | undefined
  isOpen: boolean
  isClose: boolean
  names: string | null
}

function stateText({ typed, count, isLooking, failure, isOpen, isClose, names }: Told): string {
  if (typed === '') return ''
  if (failure !== undefined) return `The store could not be searched: ${failure}`
  if (isLooking) return count === 0 ? 'Searching …' : ''
  if (isClose) return closeText(typed)
  if (isOpen)
    return `${count === 0 ? 'Nothing' : count} found among operations and docs. Sign in to search contracts, wallets and blocks.`
  if (count > 0) return `${count} found`
  const { title, advice } = nothingFound({ text: typed, chains: Object.keys(status.value?.chains ?? {}), names })
  return `${title}. ${advice}`
}
