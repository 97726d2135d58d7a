// The fields of a key that is made or changed, and what the service refused of them, by the names that they have here.
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Problem } from '../state/service.ts'

export type Asked = { name: string; title: string; hint: string; help?: string; numeric: boolean }

export const naming: Asked = { name: 'name', title: 'Name', hint: 'shop, staging, Ada’s laptop …', numeric: false }

export const expiry: Asked = {
  name: 'expires',
  title: 'Expires',
  hint: 'never',
  help: 'Such as 90d or 2027-01-31.',
  numeric: false,
}

export const limits: readonly Asked[] = [
  {
    name: 'rate_per_second',
    title: 'Requests a second',
    hint: '50',
    help: 'Default 50; none lifts it.',
    numeric: true,
  },
  { name: 'quota_per_day', title: 'Requests a day', hint: 'no limit', help: 'Of a day in UTC.', numeric: true },
  {
    name: 'index_per_day',
    title: 'Indexed on demand a day',
    hint: '500',
    help: 'Default 500; none lifts it.',
    numeric: true,
  },
  {
    name: 'index_waiting',
    title: 'Waiting to be indexed',
    hint: '20',
    help: 'Default 20; none lifts it.',
    numeric: true,
  },
]

const titles: Readonly<Record<string, string>> = {
  scopes: 'Scopes',
  ...Object.fromEntries([naming, expiry, ...limits].map(({ name, title }) => [name, title])),
}

/** `none` is what the form calls null. */
export function refusalText(problem: Problem | undefined, name: string): string | undefined {
  const found = problem?.errors.find(({ parameter }) => parameter === name)
  return found && `${titles[name]} must be ${found.accepted.replace(/\bnull$/, 'none')}`
}

/** Whoever is refused goes on where it is wrong. */
export function useFirstRefused(form: RefObject<HTMLFormElement | null>, problem: Problem | undefined): void {
  useEffect(() => {
    const [first] = problem?.errors ?? []
    if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${first.parameter}"]`)?.focus()
  }, [problem])
}

/** What is no number goes as it is, for the service to refuse. */
export function limitOf(text: string): number | string | null {
  return text === 'none' ? null : /^\d+$/.test(text) ? Number(text) : text
}

type FieldProps = { asked: Asked; refusal: string | undefined; value?: string }

export function KeyField({ asked: { name, title, hint, help, numeric }, refusal, value }: FieldProps) {
  return (
    <div class="field">
      <label for={`key-${name}`}>{title}</label>
      <input
        id={`key-${name}`}
        name={name}
        type="text"
        inputMode={numeric ? 'numeric' : 'text'}
        placeholder={hint}
        {...(value === undefined ? {} : { defaultValue: value })}
        autocomplete="off"
        aria-invalid={refusal !== undefined}
        aria-describedby={help === undefined ? `${name}-refusal` : `${name}-refusal ${name}-help`}
      />
      <Refusal name={name} text={refusal} />
      {help !== undefined && <small id={`${name}-help`}>{help}</small>}
    </div>
  )
}

export function Refusal({ name, text }: { name: string; text: string | undefined }) {
  return (
    <strong class="refusal" id={`${name}-refusal`} role="alert">
      {text}
    </strong>
  )
}
