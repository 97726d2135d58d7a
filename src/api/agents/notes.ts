// What an agent has to know of all operations, in sentences: for `/llms.txt` and the documents of the operations.
import type { DocumentedOperation } from '../openapi.ts'
import type { DocumentOptions, Json } from '../openapi-parts.ts'

/** Which operations each sentence is about follows from what they say of themselves. */
export function agentNotes(operations: readonly DocumentedOperation[], { pageSizeMax }: DocumentOptions): string[] {
  const having = (has: (operation: DocumentedOperation) => boolean): string =>
    operations
      .filter(has)
      .map(({ facts }) => `\`${facts.id}\``)
      .join(', ')
  const takes = (name: string) =>
    having(({ facts }) => (facts.parameters ?? []).some(parameter => parameter.name === name))
  const [paged, ofThePast] = [takes('cursor'), takes('at_block')]
  const streamed = having(({ facts }) => 'text/csv' in contentOf(facts.answers))
  return [
    'Every operation needs a key in the header `X-API-Key`. Errors are JSON with `message`, `code`, `details` and ' +
      '`request_id`: 400 names the parameter and what it accepts, 403 the scope that the key lacks; after 429 and 503 ' +
      'wait as `Retry-After` says. Ids, amounts and balances are decimal text: they may exceed 2^53.',
    paged &&
      `Lists come in pages of at most ${pageSizeMax} rows, unless the operation says otherwise. While \`cursor\` is ` +
        'neither null nor empty, send it as `cursor` to get the next page; it carries the other parameters. ' +
        'Lists of owners, NFTs and collections stay as of the block of their first page.',
    paged &&
      'The header `X-Index-Complete` is false where the index lacks something that the answer rests on: rows may be ' +
        'missing, so ask again later, unless `X-Index-Incomplete-Reason` says why that does not help. Lists ' +
        'of transfers say the same in `index_complete`, NFTs and collections of a wallet and NFTs of a contract in ' +
        '`status` (`SYNCED`, `SYNCING`).',
    ofThePast && `\`at_block\` or \`at_date\` answers the state after an earlier block, on ${ofThePast}.`,
    streamed &&
      'A whole list in one answer, as of one block: send `Accept: text/csv` or `application/x-ndjson`, without ' +
        `\`cursor\` and \`limit\`, to ${streamed}. The last line is \`# complete rows=N block=B\` or ` +
        '`{"complete":true,"rows":N,"block":B}`; without it the list was cut.',
  ].filter(note => note !== '')
}

/** Of the successful answer, by type. */
function contentOf(answers: Json): object {
  const { content = {} } = (answers[200] ?? {}) as { content?: object }
  return content
}
