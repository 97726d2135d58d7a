// Links to pictures: which ones open, and for how long.
import { expect, test } from 'vitest'
import type { Address, ChainId } from '../../model.ts'
import { MediaLinks } from './media-links.ts'

const links = new MediaLinks(Buffer.alloc(32, 1))
const token = { chain: 1 as ChainId, contract: `0x${'ab'.repeat(20)}` as Address, tokenId: 2n ** 256n - 1n }
const hourMs = 3_600_000
const nowMs = 1_790_000_000_000

test('a link opens for its token, stays the same for hours and works for at least twelve', () => {
  const link = links.linkTo(token, nowMs)
  expect(links.open(link, nowMs)).toEqual(token)
  expect(links.open(link, nowMs + 12 * hourMs)).toEqual(token)
  expect(links.open(link, nowMs + 24 * hourMs + 1_000)).toBeUndefined()
  const all = Array.from({ length: 24 }, (_, hour) => links.linkTo(token, nowMs + hour * hourMs))
  expect(new Set(all).size).toBe(3)
})

test('nothing else opens', () => {
  const link = links.linkTo(token, nowMs)
  const other = new MediaLinks(Buffer.alloc(32, 2)).linkTo(token, nowMs)
  const later = link.replace(/until=(\d+)/, (_, until) => `until=${Number(until) + 1}`)
  const changed = [
    link.replace('/1/', '/2/'),
    link.replace('0xab', '0xac'),
    link.slice(0, -1),
    `${link}x`,
    `${link}&a=1`,
  ]
  for (const each of [other, later, ...changed, link.replace('&signature', '&a=1&signature'), link.split('&')[0]!, ''])
    expect(links.open(each, nowMs)).toBeUndefined()
})
