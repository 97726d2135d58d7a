// The entity tag of a page of transfers, from what the page is written from: a fifth of the bytes that the text has. It must
// differ wherever the text does.
import { crc32 } from 'node:zlib'
import { weakTag } from './answer.ts'
import { factsText, type TransferJson } from './transfer-json.ts'

const shownColumns = ['blocks', 'transactionIndexes', 'logIndexes', 'timestamps'] as const

export function pageTag(page: TransferJson, bodyLength: number): string {
  const { stored, runs, length } = page.rows
  const numbers = new Float64Array(shownColumns.length * stored.length)
  let at = 0
  for (const column of shownColumns) {
    const values = stored[column]
    for (let row = 0; row < stored.length; row++) numbers[at++] = values[row]!
  }
  const texts = [page.contract, page.format, page.dialect, `${length}`, factsText(page), page.head, page.tail]
  if (runs !== undefined) texts.push(JSON.stringify(runs))
  if (page.labels !== undefined) {
    const { texts: labels, from, to } = page.labels
    texts.push(JSON.stringify(labels), `${crc32(bytesOf(from), crc32(bytesOf(to)))}`)
  }
  const rest = crc32(new Uint8Array(numbers.buffer), crc32(stored.blockHashes, crc32(texts.join('\n'))))
  return weakTag([crc32(stored.payloads), rest], bodyLength)
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
