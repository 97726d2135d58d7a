// What lies off chain, as an operator permits it: fetched when it is asked for, checked where its address has a hash, kept
// within bounds; and hosts and metadata that mean harm.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { solanaNftMetadata } from '../src/api/schemas.ts'
import { readConsole } from '../src/cli/service/built-pages.ts'
import { issueKey } from '../src/keys/keys.ts'
import { webAddressOf } from '../src/query/metadata/web-address.ts'
import type { Store } from '../src/store/store.ts'
import { browserPath, browserRequired, launchBrowser } from './browser.ts'
import { pagesAreBuilt } from './built-pages.ts'
import { apes, chain, fillFinal, plainRow } from './plain-rows.ts'
import { serveApi } from './served-api.ts'
import {
  fileContent,
  folderContent,
  type Gateway,
  gatewayOf,
  rawContent,
  startServer,
  startWebWorld,
  type WebWorld,
} from './web-world.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
type Json = any

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const uris = new Map<bigint, string>()
let nextId = 1n
/** A token that says this; its id. */
function tokenOf(uri: string): bigint {
  uris.set(nextId, uri)
  return nextId++
}

async function fill(store: Store): Promise<void> {
  await fillFinal(
    store,
    Array.from({ length: 200 }, (_, at) => plainRow(apes, at % 20, { tokenId: BigInt(at + 1) }, at)),
  )
  const read = [...uris].map(([tokenId, uri]) => ({ contract: apes, tokenId, uri, readAtMs: Date.now() }))
  await store.annotate({ tokenUris: { chain, uris: read } })
}

// Content by its hash.
const picture = rawContent(png)
const art = fileContent(Buffer.alloc(0), [rawContent(png.subarray(0, 40)), rawContent(png.subarray(40))])
const one = fileContent(
  json({ name: 'One', image: `ipfs://${picture.id}`, attributes: [{ trait_type: 'a', value: 1 }] }),
)
const two = rawContent(json({ name: 'Two', image: 'art.png' }))
const folder = folderContent({ '1.json': one, two, 'art.png': art })
const forged = rawContent(json({ name: 'Real' }))
const unchecked = `b${'a'.repeat(58)}`

const byFolder = tokenOf(`ipfs://${folder.id}/1.json`)
const byPath = tokenOf(`https://elsewhere.example/ipfs/${folder.id}/two?x=1`)
const byRaw = tokenOf(`ipfs://ipfs/${two.id}`)
const byBare = tokenOf(one.id)
const ofForged = tokenOf(`ipfs://${forged.id}`)
const byGateway = tokenOf(`ipfs://${unchecked}/3.json`)
const absent = tokenOf(`ipfs://${rawContent(Buffer.from('nowhere')).id}`)
const foreign = tokenOf('https://foreign.example/1.json')
const broken = tokenOf('ipfs:///')

let gateway: Gateway
let world: WebWorld
beforeAll(async () => {
  await pagesAreBuilt()
  const parts = [rawContent(png.subarray(0, 40)), rawContent(png.subarray(40))]
  gateway = await startServer(
    gatewayOf([picture, art, one, two, folder, ...parts], {
      [`/ipfs/${unchecked}/3.json`]: json({ name: 'Three', image: '../4.png', image_url: null }),
      [`/ipfs/${forged.id}`]: json({ name: 'Forged' }),
    }),
  )
  world = await startWebWorld({ settings: { ipfs: [`${gateway.url}/ipfs/`] }, fill })
})
afterAll(async () => {
  await world?.close()
  await gateway?.close()
})

async function nft(id: bigint, of = world, key = of.api.key): Promise<Json> {
  const path = `/api/v2.2/nft/${apes}/${id}?media_items=true&normalizeMetadata=true`
  const answer = await of.api.get(path, { 'x-api-key': key })
  expect(answer.status).toBe(200)
  return await answer.json()
}

/** Asked until the picture is known to be there or not. */
async function settled(id: bigint, of = world): Promise<Json> {
  await expect.poll(async () => (await nft(id, of)).media?.status, { timeout: 10_000 }).not.toBe('processing')
  return await nft(id, of)
}

test('content by its hash is checked block by block, in a folder, alone and in parts', async () => {
  const first = await settled(byFolder)
  expect(first).toMatchObject({
    ...{ token_uri: `ipfs://${folder.id}/1.json`, metadata_evidence: 'hash' },
    normalized_metadata: { name: 'One', image: `ipfs://${picture.id}`, attributes: [{ trait_type: 'a', value: 1 }] },
    media: { status: 'success', mimetype: 'image/png', category: 'image', bytes: png.length, evidence: 'hash' },
  })
  expect(JSON.parse(first.metadata).name).toBe('One')
  expect(new Date(first.last_metadata_sync).getTime()).toBeGreaterThan(Date.now() - 60_000)
  expect(first.media.original_media_url).toBe(`ipfs://${picture.id}`)
  const { url, width, height } = first.media.media_collection.high
  expect([width, height]).toEqual([1, 1])
  const shown = await fetch(url)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(png)
  // A picture beside its metadata, in two blocks.
  const second = await settled(byPath)
  expect(second).toMatchObject({ metadata_evidence: 'hash', media: { status: 'success', evidence: 'hash' } })
  expect(Buffer.from(await (await fetch(second.media.media_collection.low.url)).arrayBuffer())).toEqual(png)
  for (const id of [byRaw, byBare]) expect((await settled(id)).metadata_evidence).toBe('hash')
  expect(gateway.asked.every(path => path.startsWith('/ipfs/'))).toBe(true)
})

test('nothing is asked twice: what was checked is kept', async () => {
  const before = gateway.asked.length
  await nft(byFolder)
  await (await world.api.get(`/api/v2.2/nft/${apes}?limit=5&media_items=true`)).json()
  const checked = [byFolder, byPath, byRaw, byBare].map(id => webAddressOf(uris.get(id)!)!)
  const facts = await world.web.stored(checked, 0)
  for (const fact of facts) expect(world.web.isOld(fact!, Date.now() + 10 ** 12)).toBe(false)
  const known = gateway.asked.slice(before).filter(path => path.includes(folder.id) || path.includes(picture.id))
  expect(known).toEqual([])
})

test('content that has another hash than its address is not shown, and what cannot be checked is the word of the gateway', async () => {
  expect(await settled(ofForged)).toMatchObject({ metadata: null, media: { status: 'host_unavailable' } })
  const third = await settled(byGateway)
  expect(third).toMatchObject({ metadata_evidence: 'gateway', normalized_metadata: { name: 'Three' } })
  expect(third.media).toMatchObject({ status: 'invalid_url', original_media_url: '../4.png' })
  const [fact] = await world.web.stored([webAddressOf(uris.get(byGateway)!)!], 0)
  expect(world.web.isOld(fact!, Date.now() + 6 * 86_400_000)).toBe(false)
  expect(world.web.isOld(fact!, Date.now() + 8 * 86_400_000)).toBe(true)
})

test('what is not there, not permitted or no address is said, and nothing else is asked', async () => {
  expect(await settled(absent)).toMatchObject({ metadata: null, media: { status: 'host_unavailable' } })
  expect(await nft(foreign)).toMatchObject({ metadata: null, media: null })
  expect(await nft(broken)).toMatchObject({ metadata: null, media: null })
})

test('a list shows the same, and so do several at once', async () => {
  await settled(byFolder)
  const list: Json = await (await world.api.get(`/api/v2.2/nft/${apes}/${byFolder}/owners?media_items=true`)).json()
  expect(list.result[0].media).toMatchObject({ status: 'success', mimetype: 'image/png' })
  const body = JSON.stringify({ tokens: [{ token_address: apes, token_id: `${byFolder}` }], normalizeMetadata: true })
  const headers = { 'x-api-key': world.api.key, 'content-type': 'application/json' }
  const answer = await fetch(`${world.api.url}/api/v2.2/nft/getMultipleNFTs`, { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject([{ normalized_metadata: { name: 'One' }, metadata_evidence: 'hash' }])
})

test.runIf(browserPath !== undefined || browserRequired)(
  'the console shows a picture that is fetched when it is looked at',
  { timeout: 60_000 },
  async () => {
    const late = rawContent(json({ name: 'Late', image: `ipfs://${art.id}` }))
    const id = tokenOf(`ipfs://${late.id}`)
    const other = await startServer(
      gatewayOf([late, art, rawContent(png.subarray(0, 40)), rawContent(png.subarray(40))]),
    )
    const its = await startWebWorld({ settings: { ipfs: [other.url] }, fill, parts: { console: readConsole() } })
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      const foreign: string[] = []
      page.on('request', request => {
        if (!request.url().startsWith(its.api.url) && /^https?:/.test(request.url())) foreign.push(request.url())
      })
      await page.goto(`${its.api.url}/#key=${its.api.key}&/token/eth/${apes}/${id}`, { waitUntil: 'commit' })
      await expect.poll(() => page.evaluate('document.querySelector(".picture.large img")?.naturalWidth')).toBe(1)
      expect(foreign).toEqual([])
    } finally {
      await browser.close()
      await its.close()
      await other.close()
    }
  },
)

test('the metadata file of a mint of Solana, where a gateway has it', async () => {
  const metaplex = {
    ...{ uri: `ipfs://${one.id}\0\0`, masterEdition: true, isMutable: false, primarySaleHappened: true },
    ...{ sellerFeeBasisPoints: 500, updateAuthority: '11111111111111111111111111111111' },
  }
  const facts = {
    ...{ decimals: 0, supply: '1', displayedSupply: '1', name: 'One', symbol: 'O', tokenStandard: 0 },
    ...{ mintAuthority: null, metaplex },
  }
  const freshen = { mint: async () => ({ slot: 1, readAtMs: Date.now(), facts }) }
  const its = await startWebWorld({ settings: { ipfs: [gateway.url] }, fill, parts: { freshen } })
  const plain = await serveApi({ store: its.store, parts: { freshen } })
  try {
    const path = '/nft/mainnet/9PN8gNqJy5mVnr8PJSaiKULG2inbTZxm4Xwgc2LM6x5Z/metadata'
    const shown: Json = await (await its.api.get(path)).json()
    expect(shown).toMatchObject({ name: 'One', image: `ipfs://${picture.id}`, metadataEvidence: 'hash' })
    expect(shown.attributes).toEqual([{ traitType: 'a', value: 1 }])
    expect(solanaNftMetadata.safeParse(shown).error).toBeUndefined()
    const before = gateway.asked.length
    expect(await (await plain.get(path)).json()).not.toHaveProperty('attributes')
    expect(gateway.asked.length).toBe(before)
  } finally {
    await plain.close()
    await its.close()
  }
})

test('a key pays with its share: none may be fetched, a quarter of a day, all', async () => {
  const spare = Array.from({ length: 8 }, (_, at) =>
    rawContent(Buffer.concat([json({ at }), Buffer.alloc(20_000, 0x20)])),
  )
  const other = await startServer(gatewayOf(spare))
  const before = uris.size
  const ids = spare.map(({ id }) => tokenOf(`ipfs://${id}`))
  expect(uris.size).toBe(before + 8)
  const small = await startWebWorld({ settings: { ipfs: [other.url] }, fill, bytesPerDay: 200_000 })
  try {
    const keyOf = async (indexPerDay: number) =>
      (await issueKey(small.store, { name: `k${indexPerDay}`, scopes: ['nft-holdings'], indexPerDay })).secret
    const [without, limited] = [await keyOf(0), await keyOf(5)]
    for (const id of ids) await nft(id, small, without)
    expect(other.asked).toEqual([])
    for (const id of ids) await nft(id, small, limited)
    const ofShare = other.asked.length
    expect(ofShare).toBeGreaterThan(1)
    expect(ofShare).toBeLessThan(6)
    for (const id of ids) await nft(id, small)
    expect(other.asked.length).toBe(8)
  } finally {
    await small.close()
    await other.close()
  }
})

test('reading again asks again: the hosts said something else meanwhile', async () => {
  let name = 'before'
  const changing = await startServer((_, response) => void response.end(json({ name })))
  const id = tokenOf(`ar://${'a'.repeat(43)}`)
  const its = await startWebWorld({ settings: { ar: [changing.url] }, fill })
  try {
    const resync = (query: string) => its.api.get(`/api/v2.2/nft/${apes}/${id}/metadata/resync?${query}`)
    expect((await nft(id, its)).normalized_metadata.name).toBe('before')
    name = 'after'
    expect((await nft(id, its)).normalized_metadata.name).toBe('before')
    const done = await resync('flag=metadata&mode=sync')
    expect([done.status, await done.json()]).toEqual([200, { status: 'completed' }])
    expect((await nft(id, its)).normalized_metadata.name).toBe('after')
    name = 'later'
    const begun = await resync('')
    expect([begun.status, await begun.json()]).toEqual([202, { status: 'pending' }])
    await expect.poll(async () => (await nft(id, its)).normalized_metadata.name).toBe('later')
    expect((await its.api.get(`/api/v2.2/nft/${apes}/5000/metadata/resync`)).status).toBe(404)
    expect((await resync('mode=never')).status).toBe(400)
    const nowhere = await its.api.get(`/api/v2.2/nft/${apes}/${foreign}/metadata/resync?mode=sync`)
    expect([nowhere.status, ((await nowhere.json()) as Json).code]).toEqual([404, 'not_found'])
  } finally {
    await its.close()
    await changing.close()
  }
})

test('hostile hosts and hostile metadata: bounded, said as what they are, and nothing else is asked', async () => {
  const inner = await startServer((_, response) => void response.end(json({ name: 'secret' })))
  const deep = `{"name":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  const answers: Record<string, (response: Parameters<Parameters<typeof startServer>[0]>[1]) => void> = {
    bomb: response => response.end(Buffer.alloc(3 * 2 ** 20, '{')),
    endless: response => {
      const more = (): void => {
        if (response.destroyed) return
        response.write(Buffer.alloc(65_536))
        setImmediate(more)
      }
      more()
    },
    never: () => {},
    name: response => response.end(JSON.stringify({ name: 'x'.repeat(900_000), image: 'ar://'.padEnd(48, 'b') })),
    proto: response =>
      response.end('{"__proto__":{"name":"x","polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    deep: response => response.end(deep),
    list: response => response.end('[1,2,3]'),
    page: response => response.writeHead(200, { 'content-type': 'application/json' }).end('<html><script>1</script>'),
    types: response => response.end(json({ name: 1, image: { a: 1 }, attributes: 'none' })),
    inward: response => response.writeHead(302, { location: `${inner.url}/` }).end(),
    file: response => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    loop: response => response.writeHead(302, { location: '/loop' }).end(),
    error: response => response.writeHead(503).end('busy'),
    missing: response => response.writeHead(404).end(),
    picture: response => response.end(json({ image: `ar://${'p'.repeat(43)}` })),
    html: response => response.end(json({ image: `ar://${'h'.repeat(43)}` })),
    script: response => response.end(json({ image: `ar://${'s'.repeat(43)}` })),
    private: response => response.end(json({ image: 'http://127.0.0.1:1/x.png' })),
    ['p'.repeat(43)]: response => response.writeHead(200, { 'content-type': 'text/html' }).end(png),
    ['h'.repeat(43)]: response =>
      response.writeHead(200, { 'content-type': 'image/png' }).end('<!DOCTYPE html><script>1</script>'),
    ['s'.repeat(43)]: response =>
      response.end('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  }
  const hostile = await startServer((request, response) => {
    const name = request.url!.split('/').at(-1)!
    ;(answers[name] ?? (() => response.writeHead(404).end()))(response)
  })
  const names = Object.keys(answers).filter(name => name.length < 20)
  const ids = new Map(names.map(name => [name, tokenOf(`ar://${'a'.repeat(43)}/${name}`)]))
  const its = await startWebWorld({ settings: { ar: [hostile.url], timeoutMs: 5_000 }, fill })
  try {
    const before = process.memoryUsage().rss
    const told: Record<string, Json> = {}
    await Promise.all(names.map(async name => (told[name] = await settled(ids.get(name)!, its))))
    const statusOf = (name: string) => told[name].media?.status
    // Refused for its size, or given up for its time where the machine is slow.
    expect(['unsupported_media', 'temporarily_unavailable']).toContain(statusOf('endless'))
    for (const name of ['bomb', 'list', 'page']) expect([name, statusOf(name)]).toEqual([name, 'unsupported_media'])
    for (const name of ['never', 'error']) expect([name, statusOf(name)]).toEqual([name, 'temporarily_unavailable'])
    for (const name of ['inward', 'file', 'loop', 'missing'])
      expect([name, statusOf(name)]).toEqual([name, 'host_unavailable'])
    expect(told.name.normalized_metadata.name).toHaveLength(900_000)
    expect(told.proto.normalized_metadata).toMatchObject({ name: null, attributes: [] })
    expect(({} as Json).polluted).toBeUndefined()
    expect(told.deep.normalized_metadata).toMatchObject({ name: null })
    expect(told.types).toMatchObject({ media: null, normalized_metadata: { name: 1, image: null, attributes: [] } })
    expect(told.picture.media).toMatchObject({ status: 'success', mimetype: 'image/png', evidence: 'gateway' })
    expect(told.html.media.status).toBe('unsupported_media')
    expect(told.script.media).toMatchObject({ status: 'success', mimetype: 'image/svg+xml' })
    expect(told.private.media).toMatchObject({
      status: 'host_unavailable',
      original_media_url: 'http://127.0.0.1:1/x.png',
    })
    const opened = await fetch(told.script.media.media_collection.high.url)
    expect(opened.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
    expect(opened.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(inner.asked).toEqual([])
    expect(hostile.openMax()).toBeLessThanOrEqual(8)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20)
  } finally {
    await its.close()
    await hostile.close()
    await inner.close()
  }
})
