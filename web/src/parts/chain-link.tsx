// The name of a chain as a link to its page, marked where this service does not index it.
import { status } from '../state/live.ts'
import { hrefOf } from '../state/route.ts'
import { Badge } from './badge.tsx'

/** Undefined while it is not known which are configured. */
export function isConfigured(name: string): boolean | undefined {
  const told = status.value
  if (told === undefined) return undefined
  return told.chains[name] !== undefined || told.solana[name.replace(/^solana /, '')] !== undefined
}

export function ChainLink({ name }: { name: string }) {
  return (
    <span class="chain-link">
      <a href={hrefOf(['chain', name])}>{name}</a>
      {isConfigured(name) === false && (
        <>
          {' '}
          <Badge word="not configured" tone="warn" />
        </>
      )}
    </span>
  )
}

/** Said once on a page about something on a chain that is not indexed: nothing new will come. */
export function UnconfiguredNote({ chain }: { chain: string }) {
  if (isConfigured(chain) !== false) return null
  return (
    <p class="note note-warn">
      <strong>{chain} is not configured here.</strong> What the store holds of it is shown, and nothing new is indexed.
      Add <code>chains.{chain}</code> to the configuration to index it.
    </p>
  )
}
