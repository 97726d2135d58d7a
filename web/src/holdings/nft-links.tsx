// Collections and tokens as links to their pages, and what a collection is marked with.

import { Badge } from '../parts/badge.tsx'
import { ReferenceText } from '../parts/reference-text.tsx'
import { amountText, shortText } from '../quantities.ts'
import { hrefOf } from '../state/route.ts'

type CollectionProps = { chain: string; address: string; name: string | null; symbol?: string | null }

export function CollectionLink({ chain, address, name, symbol }: CollectionProps) {
  const href = hrefOf(['contract', chain, address])
  return <ReferenceText text={address} what="address" label={nameText(name, symbol)} href={href} />
}

type TokenProps = { chain: string; contract: string; id: string; amount?: string }

export function TokenLink({ chain, contract, id, amount = '1' }: TokenProps) {
  return (
    <>
      {amount !== '1' && <span title={amount}>{amountText(amount)} × </span>}
      <a class="mono" href={hrefOf(['token', chain, contract, id])} title={id}>
        #{shortText(id, 6)}
      </a>
    </>
  )
}

/** Such as `Deeds (DEED)`; undefined where it has no name. */
export function nameText(name: string | null | undefined, symbol: string | null | undefined): string | undefined {
  if (!name) return undefined
  return symbol ? `${name} (${symbol})` : name
}

type Flag = boolean | string
/** Collections of before the standards have no type. */
type Marked = { contract_type: string | null; possible_spam: Flag; verified_collection: Flag }

export function Marks({ of }: { of: Marked }) {
  return (
    <>
      {of.contract_type !== null && <Badge word={of.contract_type} />} <FlagMarks of={of} />
    </>
  )
}

/** The flags are texts in one of the two dialects. */
export function isSet(flag: Flag): boolean {
  return flag === true || flag === 'true'
}

export function FlagMarks({ of }: { of: Omit<Marked, 'contract_type'> }) {
  return (
    <>
      {isSet(of.verified_collection) && <Badge word="verified" tone="good" />}
      {isSet(of.possible_spam) && <Badge word="possible spam" tone="bad" />}
    </>
  )
}
