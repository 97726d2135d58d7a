// How a list of transfers is asked for, as it stands in the address, and the fields that change it: from which moment on,
// in which order, how many to a page.
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { asOfText, refusalOfMoment } from '../holdings/as-of.ts'
import { Choices } from '../parts/choices.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { goTo } from '../state/route.ts'
import './list-tools.css'

const sizes = ['25', '100']

export function readListQuery(query: URLSearchParams) {
  const [cursor, until] = [query.get('cursor') ?? undefined, query.get('until') ?? undefined]
  const isOldestFirst = query.get('order') === 'asc'
  const limit = sizes.find(size => size === query.get('limit')) ?? sizes[0]!
  const { at_block: to_block, at_date: to_date } = asOfText(until ?? '')
  return {
    ...{ cursor, isOldestFirst, until, limit },
    /** Of the first page, to which new rows come. */
    isNewest: cursor === undefined && until === undefined && !isOldestFirst,
    /** Nothing is left out of the list. */
    isWhole: cursor === undefined && until === undefined,
    /** As the address has it, without the page. */
    shown: { until, order: isOldestFirst ? 'asc' : undefined, limit: limit === sizes[0] ? undefined : limit },
    /** As the service is asked. */
    values: Object.fromEntries(
      Object.entries({ cursor, limit, to_block, to_date, order: isOldestFirst ? 'ASC' : undefined }).flatMap(
        ([name, value]) => (value === undefined ? [] : [[name, value]]),
      ),
    ) as Record<string, string>,
  }
}

type Props = {
  asked: ReturnType<typeof readListQuery>
  hrefTo: (next: Record<string, string | undefined>) => string
}

export function ListTools({ asked: { until, isOldestFirst, limit }, hrefTo }: Props) {
  const id = useId()
  const refusal = useSignal<string | undefined>(undefined)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('until') ?? '').trim()
    refusal.value = refusalOfMoment(text)
    if (refusal.value === undefined) goTo(hrefTo({ until: text || undefined, cursor: undefined }))
  }
  return (
    <div class="list-tools">
      <form onSubmit={submit} key={until ?? ''}>
        <input
          name="until"
          type="text"
          aria-label="Up to a date (UTC) or block"
          placeholder="until a date (UTC) or block"
          autocomplete="off"
          defaultValue={until ?? ''}
          aria-invalid={refusal.value !== undefined}
          aria-describedby={id}
          onInput={() => {
            refusal.value = undefined
          }}
        />
        <button type="submit" class="small">
          Show
        </button>
        {until !== undefined && <a href={hrefTo({ until: undefined, cursor: undefined })}>up to now</a>}
        <Refusal id={id} text={refusal.value} />
      </form>
      <Choices
        label="Order of transfers"
        choices={[
          { title: 'Newest first', href: hrefTo({ order: undefined, cursor: undefined }), isHere: !isOldestFirst },
          { title: 'Oldest first', href: hrefTo({ order: 'asc', cursor: undefined }), isHere: isOldestFirst },
        ]}
      />
      <Choices
        label="Rows to a page"
        choices={sizes.map(size => ({
          title: size,
          href: hrefTo({ limit: size === sizes[0] ? undefined : size, cursor: undefined }),
          isHere: size === limit,
        }))}
      />
    </div>
  )
}
