// An answer as coloured JSON whose parts fold. What is large begins folded, and long lists are shown a part at a time, so
// that an answer of megabytes opens as fast as a small one.
import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'

/** Lines that are unfolded at first. */
const linesMax = 400
/** Entries of one list that are shown at once; a button shows as many more. */
const entriesPerPart = 100

export function JsonView({ value, what }: { value: unknown; what: string }) {
  // The value is another one for each answer.
  const open: Open = useMemo(() => signal(openAtFirst(value)), [value])
  return (
    <div class="code-view">
      <CopyButton text={() => JSON.stringify(value, null, 2)} what={what} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="json" tabIndex={0}>
        <Value value={value} depth={0} open={open} />
      </pre>
    </div>
  )
}

/** Breadth first, so that every row of a list shows its beginning before one of them shows all. */
export function openAtFirst(value: unknown): Set<unknown> {
  const open = new Set<unknown>()
  let lines = 1
  const waiting: unknown[] = [value]
  for (let at = 0; at < waiting.length && at < linesMax; at++) {
    const each = waiting[at]
    if (!isBranch(each)) continue
    const children = Object.values(each)
    const shown = Math.min(children.length, entriesPerPart)
    if (at > 0 && lines + shown > linesMax) break
    lines += shown
    open.add(each)
    waiting.push(...children.slice(0, shown))
  }
  return open
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

type Open = Signal<ReadonlySet<unknown>>
type NodeProps = { name?: string; value: unknown; depth: number; open: Open; end?: string }

function Value({ name, value, depth, open, end = '' }: NodeProps) {
  const indent = '  '.repeat(depth)
  const key = name === undefined ? null : <Key name={name} />
  if (!isBranch(value)) {
    return (
      <>
        {indent}
        {key}
        <Leaf value={value} />
        {end}
        {'\n'}
      </>
    )
  }
  const [opening, closing] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const isOpen = open.value.has(value)
  const count = Object.keys(value).length
  const toggle = () => {
    const next = new Set(open.value)
    if (isOpen) next.delete(value)
    else next.add(value)
    open.value = next
  }
  const label = `${isOpen ? 'Fold' : 'Unfold'} ${name ?? (depth === 0 ? 'the answer' : 'this entry')}`
  return (
    <>
      {indent}
      <button type="button" class="fold" aria-expanded={isOpen} aria-label={label} onClick={toggle} />
      {key}
      <span class="token-mark">{opening}</span>
      {isOpen ? (
        <>
          {'\n'}
          <Entries value={value} depth={depth + 1} open={open} />
          {indent}
        </>
      ) : (
        <span class="folded">{Array.isArray(value) ? ` ${count} … ` : ' … '}</span>
      )}
      <span class="token-mark">{closing}</span>
      {end}
      {'\n'}
    </>
  )
}

function Entries({ value, depth, open }: { value: object; depth: number; open: Open }): ComponentChildren {
  const shown = useSignal(entriesPerPart)
  const entries = Object.entries(value)
  const rest = entries.length - shown.value
  const isList = Array.isArray(value)
  return (
    <>
      {entries.slice(0, shown.value).map(([name, each], at) => (
        <Value
          key={name}
          {...(isList ? {} : { name })}
          value={each}
          depth={depth}
          open={open}
          end={at < entries.length - 1 ? ',' : ''}
        />
      ))}
      {rest > 0 && (
        <>
          {'  '.repeat(depth)}
          <button
            type="button"
            class="small"
            onClick={() => {
              shown.value += entriesPerPart
            }}
          >
            Show {Math.min(rest, entriesPerPart)} of {rest.toLocaleString('en-US')} more
          </button>
          {'\n'}
        </>
      )}
    </>
  )
}

function Key({ name }: { name: string }) {
  return (
    <>
      <span class="token-key">{JSON.stringify(name)}</span>
      {': '}
    </>
  )
}

/** A text that is longer, such as a picture within a URI, begins cut. */
const charactersMax = 300
const charactersAtFirst = 100

function Leaf({ value }: { value: unknown }) {
  const isWhole = useSignal(false)
  const kind = typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'word'
  const text = JSON.stringify(value)
  if (isWhole.value || text.length <= charactersMax) return <span class={`token-${kind}`}>{text}</span>
  return (
    <>
      <span class={`token-${kind}`}>{text.slice(0, charactersAtFirst)}…</span>{' '}
      <button
        type="button"
        class="small"
        onClick={() => {
          isWhole.value = true
        }}
      >
        Show {(text.length - charactersAtFirst).toLocaleString('en-US')} more characters
      </button>
    </>
  )
}
