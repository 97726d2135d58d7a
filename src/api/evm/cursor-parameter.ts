// The parameter `cursor`, which every list of pages has: a cursor is for the list, the subject and the chain that it
// was made for. What it carries is for the list to say.
import { z } from 'zod'
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { CursorSigner, PageCursor } from '../../query/cursor.ts'
import { type Parameter, type QueryText, showGiven } from '../params.ts'
import type { ApiVersion } from '../request.ts'

export const cursorParameter = {
  name: 'cursor',
  read: (text: string) => text,
  accepts: 'the cursor of the page before, unchanged: a cursor is for the list, address and chain that it came from',
  refusal: 'cursor is not valid',
  schema: z.string(),
  description:
    'The next page. Carries the filters, order, format and limit of the first page; other parameters beside it must be valid and are ignored.',
  example: 'AgAAARS8TKDtp2R6irfC…',
} satisfies Parameter<string>

export type PageAsked = {
  query: QueryText
  cursors: CursorSigner
  version: ApiVersion
  /** As the query names it: beside a cursor it may be left out. */
  chain: Chain | undefined
  limitMax: number
}

/**
 * The page that a request asks for: what `first` says, or where there is a cursor what that carries. It is compared
 * with the path and, where one is given, the chain alone. Parameters beside it are read before all the same, so that
 * the sender learns of an invalid one.
 */
export function pageAsked(first: PageCursor, { query, cursors, version, chain, limitMax }: PageAsked): PageCursor {
  const text = query.optional(cursorParameter)
  if (text === undefined) return first
  const cursor = cursors.open(text)
  const isForThis =
    cursor !== undefined &&
    cursor.list === first.list &&
    cursor.subject === first.subject &&
    (chain === undefined || chain.id === cursor.chain)
  if (isForThis) {
    const countTotal = cursor.countTotal && version === 'v2'
    return { ...cursor, limit: Math.min(cursor.limit, limitMax), countTotal }
  }
  const { name, refusal, accepts } = cursorParameter
  throw new AlmanacError('bad_request', refusal, {
    details: { parameter: name, given: showGiven(text), accepted: accepts },
  })
}
