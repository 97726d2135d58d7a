// The page of an operation that is not here: one of the hosted service that is not served, or none at all.
import { Fragment } from 'preact'
import { EmptyState } from '../parts/empty-state.tsx'
import { openSearchFor } from '../search/search-box.tsx'
import { nearestName } from '../search/typo.ts'
import { hrefOf } from '../state/route.ts'
import { filtered } from './filter.ts'
import { listOfAll, Method, type Operations } from './menu.tsx'

const meantMax = 2

export function NoOperation({ id, entries, notServed }: Operations & { id: string }) {
  const missing = notServed[id]
  if (missing === undefined) {
    const found = filtered(entries, id).slice(0, meantMax)
    const nearest = nearestName(id, [...entries.map(({ name }) => name), ...Object.keys(notServed)])
    const meant = found.length > 0 || nearest === undefined ? found : [{ name: nearest, title: nearest }]
    const action = (
      <>
        <button type="button" onClick={() => openSearchFor(id)}>
          Search for “{id}”
        </button>
        <a href={hrefOf(['explore'])}>All operations</a>
      </>
    )
    return (
      <EmptyState title="There is no such operation" action={action}>
        No operation has the id <code>{id}</code>.{meant.length > 0 && ' Did you mean '}
        {meant.map(({ name, title }, at) => (
          <Fragment key={name}>
            {at > 0 && ' or '}
            <a href={hrefOf(['explore', name])}>{title}</a>
            {title !== name && (
              <>
                {' '}
                (<code>{name}</code>)
              </>
            )}
          </Fragment>
        ))}
        {meant.length > 0 && '?'}
      </EmptyState>
    )
  }
  return (
    <article class="reference-operation" id={id}>
      <header>
        <h1>
          <code>{id}</code>
        </h1>
        {missing.at.map(place => {
          const [method = '', path = ''] = place.split(' ')
          return (
            <p class="path" key={place}>
              <Method name={method} /> <code>{path}</code>
            </p>
          )
        })}
      </header>
      <div class="note note-warn">
        <strong>This operation is not served.</strong>
        <p>
          Almanac does not serve <code>{id}</code>: {missing.why}
          {missing.instead !== undefined && `; ${missing.instead}`}. Every request for it answers 501{' '}
          <code>not_implemented</code> with this name, so a client can tell it from a failure. Keep sending this request
          to the service that you use today, and the others to Almanac.
        </p>
        <p>
          <a class="button" href={`${listOfAll}#${id}`}>
            What is served, and what is not
          </a>
        </p>
      </div>
    </article>
  )
}
