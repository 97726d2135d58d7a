import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { AnswerCache, chooseEncoding, deliver, entityTag, matchesTag, type ReadyAnswer, readyAnswer } from './answer.ts'
import type { ApiRequest } from './request.ts'

const body = (text: string) => Buffer.from(text) as Buffer<ArrayBuffer>
const ready = (text: string) => readyAnswer({ headers: {}, body: body(text) })
const asking = (headers: Record<string, string>) => ({ header: (name: string) => headers[name] }) as ApiRequest

function keep(cache: AnswerCache, key: string, revision: number, answer: ReadyAnswer): void {
  cache.offer(key, revision, answer)
  cache.offer(key, revision, answer)
}

describe('kept answers', () => {
  test('are those that are made a second time', () => {
    const cache = new AnswerCache(1_000_000)
    const answer = ready('{}')
    cache.offer('a', 1, answer)
    expect(cache.get('a', 1)).toBeUndefined()
    cache.offer('a', 1, answer)
    expect(cache.get('a', 1)).toBe(answer)
    const newer = ready('[]')
    cache.offer('a', 2, newer)
    expect(cache.get('a', 2)).toBe(newer)
    for (let index = 0; index < 20_000; index++) cache.offer(`once ${index}`, 1, answer)
    expect(cache.get('a', 2)).toBe(newer)
    cache.offer('once 0', 1, answer)
    expect(cache.get('once 0', 1)).toBeUndefined()
  })

  test('hold while the revision stays', () => {
    const cache = new AnswerCache(1_000_000)
    const answer = ready('{}')
    keep(cache, 'a', 7, answer)
    expect(cache.get('a', 7)).toBe(answer)
    expect(cache.get('a', 8)).toBeUndefined()
    expect(cache.get('b', 7)).toBeUndefined()
  })

  test('give way when there is no room', () => {
    const cache = new AnswerCache(100_000)
    for (let index = 0; index < 100; index++) keep(cache, `${index}`, 1, ready('x'.repeat(10_000)))
    const kept = Array.from({ length: 100 }, (_, index) => cache.get(`${index}`, 1)).filter(
      found => found !== undefined,
    )
    expect(kept.length).toBeGreaterThan(2)
    expect(kept.length).toBeLessThan(10)
    expect(cache.get('99', 1)).toBeDefined()
  })

  test('with room for nothing keep nothing and fail in nothing', () => {
    const cache = new AnswerCache(0)
    keep(cache, 'a', 1, ready('{}'))
    expect(cache.get('a', 1)).toBeUndefined()
  })
})

describe('a lent body', () => {
  const lent = (text: string) => {
    const release = vi.fn()
    return { answer: readyAnswer({ headers: {}, body: body(text), release }), release }
  }

  test('goes out as it is and is given back by its sender, unless it is kept', () => {
    const cache = new AnswerCache(1_000_000)
    const { answer, release } = lent('{}')
    expect(cache.offer('a', 1, answer)).toBe(answer)
    expect(deliver(answer, asking({}))).toMatchObject({ release })
    expect(release).not.toHaveBeenCalled()
    const kept = cache.offer('a', 1, answer)
    expect(release).toHaveBeenCalledOnce()
    expect(kept.plain).toEqual({ status: 200, headers: answer.plain.headers, body: body('{}') })
    ;(answer.plain.body as Buffer)[0] = 0
    expect(cache.get('a', 1)).toBe(kept)
    expect((kept.plain.body as Buffer).toString()).toBe('{}')
  })

  test('is given back once another form of it is sent', async () => {
    const { answer, release } = lent('x'.repeat(2_000))
    await deliver(answer, asking({ 'accept-encoding': 'gzip' }))
    expect(release).toHaveBeenCalledOnce()
    const other = lent('{}')
    deliver(other.answer, asking({ 'if-none-match': other.answer.tag }))
    expect(other.release).toHaveBeenCalledOnce()
  })
})

describe('delivering', () => {
  const text = JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ index })))

  test('compresses once for each encoding, and not what is small', async () => {
    const answer = ready(text)
    const gzipped = await deliver(answer, asking({ 'accept-encoding': 'gzip' }))
    expect(gunzipSync(gzipped.body as Buffer).toString()).toBe(text)
    expect(gzipped.headers).toMatchObject({ 'Content-Encoding': 'gzip', 'Content-Length': `${gzipped.body!.length}` })
    expect(deliver(answer, asking({ 'accept-encoding': 'gzip' }))).toBe(gzipped)
    const brotli = await deliver(answer, asking({ 'accept-encoding': 'gzip, deflate, br' }))
    expect(brotliDecompressSync(brotli.body as Buffer).toString()).toBe(text)
    expect(deliver(answer, asking({}))).toBe(answer.plain)
    const small = ready('{}')
    expect(deliver(small, asking({ 'accept-encoding': 'br' }))).toBe(small.plain)
  })

  test('sends no body to a client that has it', () => {
    const answer = ready(text)
    const { tag } = answer
    for (const header of [tag, tag.slice(2), `"x", ${tag}`, '*'])
      expect(deliver(answer, asking({ 'if-none-match': header }))).toMatchObject({ status: 304, body: null })
    expect(deliver(answer, asking({ 'if-none-match': '"x"' }))).toBe(answer.plain)
  })
})

test.each([
  ['gzip', 'gzip'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'br'],
  ['gzip, compress, deflate, br', 'br'],
  ['*', 'br'],
  ['br;q=0, gzip;q=0', undefined],
  ['identity', undefined],
  ['', undefined],
  ['GZIP ; Q=1', 'gzip'],
  ['gzip;q=nonsense', undefined],
])('Accept-Encoding: %s chooses %s', (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding)
})

test('tags tell bodies apart', () => {
  const tags = new Set(['', '{}', '[]', 'ab', 'ba', 'aab', 'baa'].map(text => entityTag(body(text))))
  expect(tags.size).toBe(7)
  expect(matchesTag('W/"a"', 'W/"b"')).toBe(false)
})
