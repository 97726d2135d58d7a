// The entity tag of a page of transfers, from what the page is written from: a fifth of the bytes that the text has. It must
// differ wherever the text does.
import { crc32 } from 'node:zlib'
import { weakTag } from './answer.ts'
import { factsText, type TransferJson } from './transfer-json.ts'

const shownColumns = ['blocks', 'transactionIndexes', 'logIndexes', 'timestamps'] as const

/** Used from one page to the next: new memory beside the heap costs more than filling it. */
let numbers = new Float64Array(1_024)

export function pageTag(page: TransferJson, bodyLength: number): string {
  const { stored, runs, length } = page.rows
  const count = (shownColumns.length + 2) * stored.length
  if (numbers.length < count) numbers = new Float64Array(count)
  let at = 0
  for (const column of shownColumns) {
    const values = stored[column]
    for (let row = 0; row < stored.length; row++) numbers[at++] = values[row]!
  }
  if (page.labels !== undefined) for (const label of page.labels.shown) numbers[at++] = page.labels.checksumOf(label)
  const texts = [page.contract, page.format, page.dialect, `${length}`, factsText(page), page.head, page.tail]
  if (runs !== undefined) texts.push(JSON.stringify(runs))
  const rest = crc32(
    new Uint8Array(numbers.buffer, 0, at * numbers.BYTES_PER_ELEMENT),
    crc32(stored.blockHashes, crc32(texts.join('\n'))),
  )
  return weakTag([crc32(stored.payloads), rest], bodyLength)
}
