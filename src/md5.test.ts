import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { putMd5 } from './md5.ts'

test('digests are those of MD5, for messages of every length that tokens have', () => {
  const message = new DataView(new ArrayBuffer(192))
  const digest = new DataView(new ArrayBuffer(20))
  for (let length = 0; length <= 120; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 37 + length) & 255))
    new Uint8Array(message.buffer).set(bytes)
    putMd5(digest, 4, message, length)
    expect(Buffer.from(digest.buffer).toString('hex', 4)).toBe(hash('md5', bytes, 'hex'))
  }
})
