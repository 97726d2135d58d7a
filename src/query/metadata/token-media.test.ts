// Which picture tokens have: what contracts really say, and what hostile ones could.
import { expect, test } from 'vitest'
import { mediaOf } from './token-media.ts'
import { metadataOf } from './token-metadata.ts'

const of = (tokenUri: string) => mediaOf({ tokenUri, metadata: metadataOf(tokenUri) })
const ofImage = (image: unknown, name = 'image') => of(`data:application/json,${JSON.stringify({ [name]: image })}`)
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><text>50% #1</text></svg>'
const base64 = Buffer.from(svg).toString('base64')

test.each([
  ['in base64', ofImage(`data:image/svg+xml;base64,${base64}`)],
  ['in escapes', ofImage(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`)],
  ['as it is', ofImage(`data:image/svg+xml;utf8,${svg}`)],
  ['as image_url', ofImage(`data:image/svg+xml;base64,${base64}`, 'image_url')],
  ['as markup', ofImage(svg, 'image_data')],
  ['as the token URI itself', of(`data:image/svg+xml;base64,${base64}`)],
])('a picture %s', (_, media) => {
  expect(media).toMatchObject({ status: 'success', type: 'image/svg+xml' })
  expect((media as { bytes: () => Buffer }).bytes().toString()).toBe(svg)
})

test('types that browsers show, and no other', () => {
  expect(ofImage('data:image/jpg;base64,AAAA')).toMatchObject({ status: 'success', type: 'image/jpeg' })
  expect(ofImage('data:video/mp4;base64,AAAA')).toMatchObject({ status: 'success', type: 'video/mp4' })
  const unsupported = ['text/html', 'image/svg+xml\n', 'application/xhtml+xml', 'model/gltf-binary', 'x'.repeat(150)]
  for (const type of unsupported.filter(type => type.trim() === type))
    expect(ofImage(`data:${type},<p>`)).toEqual({ status: 'unsupported_media', type: type.slice(0, 100) })
  expect(of('data:text/html,<p>')).toBeUndefined()
})

test('what lies elsewhere, what is no address, and nothing', () => {
  for (const url of ['ipfs://bafy/1.png', 'https://example.com/1.png', 'ar://abc', 'http://10.0.0.1/a'])
    expect(ofImage(url)).toEqual({ status: 'host_unavailable', url })
  for (const url of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'blob:x',
    '1.png',
    '<p>',
    'data:image/png',
    'https://',
  ])
    expect(ofImage(url)).toEqual({ status: 'invalid_url', url })
  for (const image of [null, 1, {}, ['data:image/png,'], '', undefined]) expect(ofImage(image)).toBeUndefined()
  expect(of('ipfs://bafy/1.json')).toBeUndefined()
  expect(of('data:application/json,{"__proto__":{"image":"ipfs://1"}}')).toBeUndefined()
})

test('more than a megabyte is not read', () => {
  const media = ofImage(`data:image/png;base64,${Buffer.alloc(700_000).toString('base64')}`)
  expect((media as { bytes: () => Buffer }).bytes()).toHaveLength(700_000)
  const direct = mediaOf({ tokenUri: `data:image/png,${'x'.repeat(2 ** 20 + 1)}`, metadata: undefined })
  expect((direct as { bytes: () => unknown }).bytes()).toBeUndefined()
})
