// Pictures that token URIs hold, from answers to the links in them, and hostile ones in a real browser: nothing runs, and
// nothing is fetched elsewhere.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MediaLinks } from '../src/api/media/media-links.ts'
import { nft } from '../src/api/schemas.ts'
import { readConsole } from '../src/cli/service/built-pages.ts'
import { browserPath, browserRequired, launchBrowser } from './browser.ts'
import { pagesAreBuilt } from './built-pages.ts'
import { alice, apes, chain, fillFinal, plainRow } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const svgOf = (within: string, attributes = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" ${attributes}>${within}</svg>`
const data = (type: string, text: string) => `data:${type};base64,${Buffer.from(text).toString('base64')}`
const withImage = (image: unknown) => data('application/json', JSON.stringify({ name: 'One', image }))
const plain = svgOf('<style>rect{fill:teal}</style><rect width="60" height="40"/>')

/** Everything that a picture could do, each with a request by which it would be noticed. */
function attack(elsewhere: string): string {
  return svgOf(
    `<style>@import url(${elsewhere}/import.css); rect { fill: url(${elsewhere}/fill.svg#a) }
    @font-face { font-family: f; src: url(${elsewhere}/font.woff) } text { font-family: f }</style>
    <script>fetch('${elsewhere}/script'); document.title = 'ran'</script><script href="${elsewhere}/script.js"/>
    <image href="${elsewhere}/image.png" width="9" height="9"/><use href="${elsewhere}/use.svg#a"/>
    <a href="${elsewhere}/link"><rect width="60" height="40"/></a><text>a</text>
    <set attributeName="fill" to="url(${elsewhere}/set.svg#a)" begin="0s"/>
    <foreignObject width="60" height="40"><body xmlns="http://www.w3.org/1999/xhtml">
      <img src="${elsewhere}/foreign.png"/><iframe src="${elsewhere}/frame"></iframe>
      <script>fetch('${elsewhere}/foreign')</script><object data="${elsewhere}/object"></object>
      <meta http-equiv="refresh" content="0.3;url=${elsewhere}/refresh"/></body></foreignObject>`,
    `onload="fetch('${elsewhere}/onload')"`,
  )
}

let api: ServedApi
/** A host elsewhere, which notes what is asked of it. */
const asked: string[] = []
/** What it serves itself, each under an address of its own: browsers keep pictures. */
let copy: { path: string; headers: Record<string, string>; body: Buffer } | undefined
const elsewhere = createServer((request, response) => {
  if (copy !== undefined && request.url === copy.path) {
    response.writeHead(200, copy.headers).end(copy.body)
    return
  }
  if (request.url !== '/') asked.push(request.url!)
  response.setHeader('Content-Type', 'text/html').end('<title>page</title>')
})
let elsewhereUrl: string

beforeAll(async () => {
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  const uris = [
    ...[withImage(data('image/svg+xml', plain)), withImage(data('image/svg+xml', attack(elsewhereUrl)))],
    ...[
      withImage(`data:image/png;base64,${png}`),
      withImage(data('image/png', `<script>document.title='ran'</script>`)),
    ],
    ...[withImage(data('text/html', '<p>')), withImage('ipfs://bafy/7.png'), withImage('javascript:alert(1)')],
    ...[withImage({ deep: [] }), 'ipfs://bafy/9.json', data('image/svg+xml', plain), undefined],
  ]
  // The last one was not read.
  const ids = Array.from({ length: uris.length + 1 }, (_, at) => BigInt(at + 1))
  const token = (tokenId: bigint) => plainRow(apes, Number(tokenId), { tokenId })
  await pagesAreBuilt()
  api = await serveApi({
    parts: { console: readConsole() },
    fill: async store => {
      await fillFinal(store, ids.map(token))
      const read = uris.map((uri, at) => ({ contract: apes, tokenId: ids[at]!, uri, readAtMs: 1_790_000_000_000 }))
      await store.annotate({ tokenUris: { chain, uris: read } })
    },
  })
})
afterAll(async () => {
  await api?.close()
  elsewhere.closeAllConnections()
  elsewhere.close()
})

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
type Json = any

async function mediaOf(id: number): Promise<Json> {
  const answer = await api.get(`/api/v2.2/nft/${apes}/${id}?media_items=true`)
  expect(answer.status).toBe(200)
  const body: Json = await answer.json()
  expect(nft.safeParse(body).error).toBeUndefined()
  return body.media
}

const linkOf = async (id: number): Promise<string> => (await mediaOf(id)).original_media_url

test('each list that has NFTs says which picture each has, where it is asked for', async () => {
  const updatedAt = '2026-09-21T14:13:20.000Z'
  const link = expect.stringContaining(`${api.url}/media/${chain}/${apes}/`)
  const success = { category: 'image', status: 'success', original_media_url: link, updatedAt }
  const media = [
    ...[
      { mimetype: 'image/svg+xml', ...success },
      { mimetype: 'image/svg+xml', ...success },
    ],
    ...[
      { mimetype: 'image/png', ...success },
      { mimetype: 'image/png', ...success },
    ],
    { mimetype: 'text/html', status: 'unsupported_media', updatedAt },
    { status: 'host_unavailable', original_media_url: 'ipfs://bafy/7.png', updatedAt },
    { status: 'invalid_url', original_media_url: 'javascript:alert(1)', updatedAt },
    ...[null, null, { mimetype: 'image/svg+xml', ...success }, null, { status: 'processing' }],
  ]
  const known = new Map(media.map((each, at) => [`${at + 1}`, each]))
  for (const path of [`/nft/${apes}`, `/nft/${apes}/owners`, `/nft/${apes}/1/owners`, `/${alice}/nft`]) {
    const { result }: Json = await (await api.get(`/api/v2.2${path}?media_items=true`)).json()
    expect(result.length).toBe(path.endsWith('/1/owners') ? 1 : media.length)
    for (const row of result) expect(row.media).toEqual(known.get(row.token_id))
    const { result: without }: Json = await (await api.get(`/api/v2.2${path}`)).json()
    for (const row of without) expect(row).not.toHaveProperty('media')
    const first: Json = await (await api.get(`/api/v2.2${path}?media_items=true&limit=1`)).json()
    if (first.cursor === null) continue
    const { result: next }: Json = await (await api.get(`/api/v2.2${path}?cursor=${first.cursor}`)).json()
    expect(next[0].media).toEqual(known.get(next[0].token_id))
  }
  for (const name of ['media_items', 'mediaItems']) {
    const body = JSON.stringify({ tokens: [{ token_address: apes, token_id: '3' }], [name]: true })
    const headers = { 'x-api-key': api.key, 'content-type': 'application/json' }
    const answer = await fetch(`${api.url}/api/v2.2/nft/getMultipleNFTs`, { method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject([{ token_id: '3', media: media[2] }])
  }
})

test('an answer with links names the address that it was asked at, also where it was asked before', async () => {
  for (const protocol of ['https', 'http', 'https', 'http']) {
    const answer = await api.get(`/api/v2.2/nft/${apes}/1?media_items=true`, { 'x-forwarded-proto': protocol })
    expect(((await answer.json()) as Json).media.original_media_url).toMatch(`${protocol}://127.0.0.1:`)
  }
})

test('a link is answered without a key, with the bytes and nothing that a browser would run', async () => {
  const answer = await fetch(await linkOf(1))
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe(plain)
  expect(answer.headers.get('content-type')).toBe('image/svg+xml')
  expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment/)
  expect(answer.headers.get('cache-control')).toBe('private, max-age=3600')
  const again = await fetch(await linkOf(1), { headers: { 'if-none-match': answer.headers.get('etag')! } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const picture = await fetch(await linkOf(3))
  expect(Buffer.from(await picture.arrayBuffer()).toString('base64')).toBe(png)
  expect(picture.headers.get('content-disposition')).toBeNull()
})

test('links that were changed are refused, and what is no picture is not sent', async () => {
  const link = await linkOf(1)
  for (const changed of [link.replace('/1?', '/2?'), `${link}A`, link.replace(/&.*/, ''), `${link}&a=1`]) {
    const refused = await fetch(changed)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'forbidden' })
  }
  // Signed, as a link is whose token changed since.
  const signed = new MediaLinks(api.store.secret)
  for (const tokenId of [5n, 6n, 7n, 8n, 9n, 11n, 12n, 13n]) {
    const none = await fetch(api.url + signed.linkTo({ chain, contract: apes, tokenId }))
    expect(none.status).toBe(404)
    expect(none.headers.get('content-type')).toBe('application/json')
  }
})

const inBrowser = test.runIf(browserPath !== undefined || browserRequired)

inBrowser('in a browser hostile pictures run nothing and fetch nothing', { timeout: 60_000 }, async () => {
  const browser: Browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const shown = await showImages(page, await Promise.all([1, 2, 3, 4].map(linkOf)))
    // Page four is a script that calls itself a picture.
    expect(shown).toEqual([60, 60, 1, 0])
    expect(asked).toEqual([])
    // Opened itself, with the header that makes a browser keep it as a file taken away: the policy alone holds.
    await open(page, await linkOf(2), headers => ({ ...Object.fromEntries(headers), 'content-disposition': 'inline' }))
    expect(asked).toEqual([])
    expect(await page.title()).toBe('')
    await open(page, await linkOf(4), headers => Object.fromEntries(headers))
    expect(await page.title()).not.toBe('ran')
    await framed(page, await linkOf(2))
    expect(asked).toEqual([])
    // Without the policy it does what it was made for: the test would notice.
    await open(page, await linkOf(2), () => ({ 'content-type': 'image/svg+xml' }))
    const noticed = ['/script', '/image.png', '/foreign.png', '/refresh']
    await expect.poll(() => asked, { timeout: 10_000 }).toEqual(expect.arrayContaining(noticed))
  } finally {
    await browser.close()
  }
})

inBrowser('the console shows pictures, and quiet boxes where there are none', { timeout: 60_000 }, async () => {
  const before = [...asked]
  const browser: Browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    // As browsers measure it: what moved while nobody touched anything.
    await page.addInitScript(`window.shifted = 0; window.moved = []; new PerformanceObserver(list => {
      for (const each of list.getEntries()) if (!each.hadRecentInput) {
        window.shifted += each.value
        window.moved.push(...each.sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? node?.textContent?.slice(0, 80)))
      }
    }).observe({ type: 'layout-shift', buffered: true })`)
    const shifted = async (): Promise<void> => {
      const moved = await page.evaluate<string>('JSON.stringify(window.moved)')
      expect(await page.evaluate<number>('window.shifted'), moved).toBeLessThanOrEqual(0.02)
    }
    const to = async (path: string) => {
      await page.goto('about:blank')
      await page.goto(`${api.url}/#key=${api.key}&${path}`, { waitUntil: 'commit' })
    }
    await to(`/wallet/${alice}/nfts?chain=eth`)
    await page.locator('.gallery img').first().waitFor()
    const boxes = page.locator('.gallery .picture')
    expect(await boxes.count()).toBe(12)
    // Of five one is a script that calls itself a picture.
    await expect.poll(() => page.locator('.gallery img').count()).toBe(4)
    const sizes =
      "Array.from(document.querySelectorAll('.gallery .picture'), box => box.clientWidth + ' ' + box.clientHeight)"
    expect(new Set(await page.evaluate<string[]>(sizes)).size).toBe(1)
    await shifted()
    await page.getByRole('tab', { name: 'Table' }).click()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(12)
    await to(`/token/eth/${apes}/1`)
    await expect.poll(() => page.evaluate('document.querySelector(".picture.large img")?.naturalWidth')).toBe(60)
    await shifted()
    await to(`/token/eth/${apes}/7`)
    await page.getByRole('heading', { name: '#7' }).waitFor()
    expect(await page.locator('.picture.large').textContent()).toBe('#7')
    expect(asked).toEqual(before)
  } finally {
    await browser.close()
  }
})

/** Their widths, in a page of another origin. */
async function showImages(page: Page, links: readonly string[]): Promise<number[]> {
  await page.goto(elsewhereUrl)
  await page.setContent(links.map(link => `<img src="${link}">`).join(''))
  return await page.evaluate('Array.from(document.images, image => image.naturalWidth)')
}

/** Opens a picture itself, with its headers changed. */
async function open(page: Page, link: string, changed: (headers: Headers) => Record<string, string>): Promise<void> {
  const answer = await fetch(link)
  copy = {
    path: `/copy-${crypto.randomUUID()}`,
    headers: changed(answer.headers),
    body: Buffer.from(await answer.arrayBuffer()),
  }
  await page.goto(elsewhereUrl + copy.path)
  await page.waitForTimeout(600)
}

async function framed(page: Page, link: string): Promise<void> {
  await page.goto(elsewhereUrl)
  await page.setContent(`<iframe src="${link}"></iframe><object data="${link}"></object><embed src="${link}">`)
  await page.waitForTimeout(600)
}
