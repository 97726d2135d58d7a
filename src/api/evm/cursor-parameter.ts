// The parameter `cursor`, which every list of pages has: a cursor is for the list, the subject and the chain that it
// was made for. What it carries is for the list to say.
import { z } from 'zod'
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { CursorSigner, PageCursor } from '../../query/cursor.ts'
import { type Parameter, showGiven } from '../params.ts'

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

/** The rest of the question is in the cursor: it is compared with the path and, where one is given, the chain alone. */
export function openCursor(
  signer: CursorSigner,
  text: string,
  { list, subject, chain }: Pick<PageCursor, 'list' | 'subject'> & { chain: Chain | undefined },
): PageCursor {
  const cursor = signer.open(text)
  const isForThis =
    cursor !== undefined &&
    cursor.list === list &&
    cursor.subject === subject &&
    (chain === undefined || chain.id === cursor.chain)
  if (isForThis) return cursor
  const { name, refusal, accepts } = cursorParameter
  throw new AlmanacError('bad_request', refusal, {
    details: { parameter: name, given: showGiven(text), accepted: accepts },
  })
}
