// The search over one list of a page: what was typed stands in the address.
import { goTo } from '../state/route.ts'

type Props = {
  label: string
  text: string
  hrefTo: (text: string | undefined) => string
}

export function ListSearch({ label, text, hrefTo }: Props) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const typed = String(new FormData(event.currentTarget as HTMLFormElement).get('search') ?? '').trim()
    goTo(hrefTo(typed || undefined))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: not every browser knows the element for searches
    <form role="search" aria-label={label} onSubmit={submit} key={text}>
      <input
        name="search"
        type="search"
        aria-label="Name, symbol or address"
        placeholder="name, symbol or address"
        autocomplete="off"
        defaultValue={text}
      />
      <button type="submit" class="small">
        Search
      </button>
      {text !== '' && <a href={hrefTo(undefined)}>all</a>}
    </form>
  )
}
