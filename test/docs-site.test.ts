// The documentation's site: built from the files of the repository, whole, and usable from a folder without a server.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { entriesOf } from '../web/src/reference/entries.ts'
import { filtered } from '../web/src/reference/filter.ts'
import { type DocsEntry, docsIndexOf } from '../web/src/search/docs-index.ts'
import type { ApiDocument } from '../web/src/state/document.ts'
import { browserPath, launchBrowser } from './browser.ts'
import { pagesAreBuilt } from './built-pages.ts'
import { rawRequest } from './raw-request.ts'
import { someCases } from './release-runs.ts'
import { serveApi } from './served-api.ts'
import { thorough } from './thorough.ts'

beforeAll(pagesAreBuilt)

const folder = fileURLToPath(new URL('../site/dist', import.meta.url))

/** What takes long to make is made once for all tests, when the first of them wants it. */
function once<Made>(make: () => Made): () => Made {
  let made: { value: Made } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const texts = new Map<string, string>()
function textOf(name: string): string {
  const text = texts.get(name) ?? readFileSync(join(folder, name), 'utf8')
  texts.set(name, text)
  return text
}
const htmlFiles = once(() =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html')),
)
/** Those that only lead to another one left out. */
const pages = once(() => htmlFiles().filter(name => !textOf(name).includes('http-equiv="refresh"')))
const entriesOfSearch = once(() => {
  const index = textOf('search-index.js')
  return JSON.parse(index.slice(index.indexOf('['))) as DocsEntry[]
})
const searchOfDocs = once(() => docsIndexOf(entriesOfSearch()))

/** Of a browser of its own, with a minute for each wait: on a busy machine half of one is too short. */
async function withPage(options: BrowserContextOptions, look: (page: Page) => Promise<void>): Promise<void> {
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(60_000)
    await look(await context.newPage())
  } finally {
    await browser.close()
  }
}

test('every link leads to a page, a section or a file that is there', () => {
  expect(pages().length).toBeGreaterThan(20)
  const broken: string[] = []
  for (const page of pages())
    for (const [, address] of textOf(page).matchAll(/ (?:href|src)="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(address!)) continue
      const [path = '', anchor] = address!.split('#')
      // The page for what is missing stands at any path.
      const isFromRoot = page === '404.html' && path.startsWith('/docs/')
      const target = isFromRoot ? path.slice('/docs/'.length) : path === '' ? page : join(dirname(page), path)
      const isThere =
        existsSync(join(folder, target)) && (anchor === undefined || textOf(target).includes(` id="${anchor}"`))
      if (!isThere) broken.push(`${page}: ${address}`)
    }
  expect(broken).toEqual([])
})

test('the menu has every page', () => {
  const menu = /<nav class="menu".*?<\/nav>/s.exec(textOf('index.html'))![0]
  const others = ['index.html', '404.html']
  const missing = pages().filter(page => !others.includes(page) && !menu.includes(`href="${page}"`))
  expect(missing).toEqual([])
  // What clients need stands before what operators need.
  const groups = [...menu.matchAll(/<h2>(\w+)<\/h2>/g)].map(([, title]) => title)
  expect(groups).toEqual(['Start', 'Build', 'Run', 'Reference', 'Internals'])
})

test('the first page leads to what newcomers look for, and addresses that people try lead to a page', () => {
  const cards = /<div class="cards">.*?<\/div>/s.exec(textOf('index.html'))![0]
  const pages = [
    'guides/first-calls',
    'guides/moving',
    'guides/endpoints',
    'guides/server',
    'operations',
    'how-it-works',
  ]
  for (const page of pages) expect(cards).toContain(`<strong><a href="${page}.html">`)
  const moved = {
    ...{ contents: 'index.html', guides: 'index.html', reference: 'operations.html' },
    ...{ quickstart: 'guides/first-calls.html', authentication: 'guides/authentication.html' },
  }
  for (const [from, to] of Object.entries(moved)) expect(textOf(`${from}.html`)).toContain(`url=${to}`)
  expect(textOf('overview.html')).toContain('A first call')
})

test('the pages are one after the other from the first to the last', () => {
  const nextOf = (page: string) => {
    const [, address] = /<a rel="next" href="([^"]+)"/.exec(textOf(page)) ?? []
    return address && join(dirname(page), address)
  }
  const walked = ['overview.html']
  for (let page = nextOf('overview.html'); page !== undefined; page = nextOf(page)) {
    expect(textOf(page)).toContain(' rel="prev" ')
    walked.push(page)
    expect(walked.length).toBeLessThan(100)
  }
  const others = ['index.html', '404.html']
  expect(walked.sort()).toEqual(
    pages()
      .filter(page => !others.includes(page))
      .sort(),
  )
})

test('operations come from the OpenAPI document: each is listed, found by the search, and linked where pages name it', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  const known = Object.values(paths).flatMap(methods => Object.values(methods).map(({ operationId }) => operationId))
  const operations = entriesOfSearch().filter(({ operation, why }) => operation !== undefined && why === undefined)
  expect(operations.flatMap(({ code }) => code.split(' ')).sort()).toEqual(known.sort())
  const owners = operations.find(({ text }) => text === 'GET /nft/{address}/owners')!.operation!
  const list = textOf('operations.html')
  for (const { operation } of operations) expect(list).toContain(`<tr id="${operation}">`)
  // The reference leads to the rows of what is not served.
  expect(list).toContain('<tr id="getTokenPrice">')
  const all = [...list.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  expect(all.filter((id, at) => all.indexOf(id) !== at)).toEqual([])
  const rows = [...list.matchAll(/<tr id="([^"]+)"/g)].map(([, id]) => id)
  expect(rows.length).toBe(new Set(rows).size)
  expect(textOf('guides/who-owns-what.html').replaceAll(/<wbr>| class="\w+"/g, '')).toContain(
    `<a href="../operations.html#${owners}" data-operation="${owners}"><code>GET /nft/{address}/owners</code></a>`,
  )
})

/** As the menu of the reference has them. */
const entries = entriesOf(
  JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as ApiDocument,
)

test.each([
  ['owners', 'getNFTOwnersV22'],
  ['GET /nft/{address}/owners', 'getNFTOwnersV22'],
  ['/nft/{address}/owners', 'getNFTOwnersV22'],
  ['/api/v2.1/nft/{address}/owners', 'getNFTOwnersV22'],
  ['getNFTOwners', 'getNFTOwnersV22'],
  ['historical owners', 'getNFTOwnersV22'],
  ['unique', 'getUniqueOwnersByCollectionV22'],
  ['transfers', 'getNFTContractTransfersV22'],
  ['nft transfers of a wallet', 'getWalletNFTTransfersV22'],
  ['wallet nfts', 'getWalletNFTsV22'],
  ['native balance', 'getNativeBalanceV22'],
  ['block by date', 'getDateToBlockV22'],
  ['portfolio', 'getPortfolio'],
  ['nft metadata', 'getNFTMetadataV22'],
  ['rotate', 'rotateKey'],
  ['GET /keys', 'listKeys'],
  ['DELETE /keys/{id}', 'revokeKey'],
])('the filter of the reference: %s finds %s first', (text, id) => {
  expect(filtered(entries, text)[0]?.id).toBe(id)
})

test('the filter of the reference asks for every word, in more than the fields of an operation', () => {
  expect(filtered(entries, 'owners').length).toBeLessThan(8)
  expect(filtered(entries, 'token gating').map(({ id }) => id)).toEqual(['getWalletNFTsV22', 'getNFTOwnersV22'])
  for (const text of ['token zyzzyva', 'ens', '429']) expect([text, filtered(entries, text)]).toEqual([text, []])
})

test('the search answers what people ask', () => {
  const search = searchOfDocs()
  const first = (asked: string) => search(asked)[0]?.href
  for (const asked of ['migrate from moralis', 'migrate', 'migration', 'how do I migrate to it from Moralis'])
    expect([asked, first(asked)]).toEqual([asked, 'guides/moving.html'])
  for (const asked of ['how do I paginate', 'pagination', 'cursor'])
    expect([asked, first(asked)]).toEqual([asked, 'guides/pages.html'])
  for (const asked of ['ratelimit', 'rate limit']) {
    const [one, other] = search(asked)
    expect([one?.href, other?.href], asked).toContain('guides/keys-and-limits.html#limits-of-a-key')
  }
  expect(first('auth')).toBe('guides/authentication.html')
  expect(first('docker compose')).toBe('guides/docker.html')
  expect(first('getWalletNFTs')).toBe('operations.html#getWalletNFTs')
  expect(first('Does it serve ERC-20?')).toBe('faq.html#does-it-serve-erc-20')
  // A call of the SDK as it is pasted, what people call things elsewhere, and a typo in it.
  for (const asked of ['Moralis.EvmApi.nft.getNFTOwners', 'await Moralis.EvmApi.nft.getNFTOwners({ address, chain })'])
    expect([asked, first(asked)]).toEqual([asked, 'operations.html#getNFTOwners'])
  expect(first('completeness')).toBe('guides/complete-answers.html')
  expect(first('paginaton')).toBe('guides/pages.html')
  expect(first('streams')).toBe('guides/react-to-transfers.html')
  expect(first('token price')).toBe('faq.html#does-it-have-prices')
  expect(first('quickstart')).toBe('guides/first-calls.html')
  const answers = {
    'reset admin key': 'guides/keys-and-limits.html#the-first-key',
    'lost my key': 'guides/keys-and-limits.html#the-first-key',
    'forgot api key': 'guides/keys-and-limits.html#the-first-key',
    'back up database': 'backup.html',
    'database backup': 'backup.html',
    'sort order oldest first': 'operations.html#getNFTContractTransfers',
    'oldest first': 'operations.html#getNFTContractTransfers',
    'test data': 'guides/first-calls.html',
    websocket: 'faq.html#does-it-send-webhooks',
    'historical owner': 'operations.html#getNFTOwners',
    portfolio: 'operations.html#getPortfolio',
    'native balance': 'operations.html#getNativeBalance',
    'balance at block': 'operations.html#getNativeBalance',
    'owners of a collection': 'operations.html#getNFTOwners',
    'list all nfts of a wallet': 'operations.html#getWalletNFTs',
    'how much does it cost': 'faq.html#what-does-it-cost-against-the-hosted-service',
    'error handling': 'guides/errors-and-retries.html',
    'supported chains': 'faq.html#which-chains-does-it-serve',
    confirmations: 'how-it-works.html#reorgs',
    'wallet history': 'guides/moving.html#which-operations-are-served',
    claude: 'guides/agents.html',
    graphql: 'faq.html#can-i-use-sql',
    subgraph: 'faq.html#can-i-use-sql',
    requirements: 'faq.html#what-machine-do-i-need',
    offset: 'guides/pages.html',
    postman: 'faq.html#which-languages-can-i-use',
    infura: 'guides/endpoints.html',
    EADDRINUSE: 'troubleshooting.html#starting',
    // What other services call it.
    getNFTsForOwner: 'operations.html#getWalletNFTs',
    getOwnersForContract: 'operations.html#getNFTOwners',
    alchemy_getAssetTransfers: 'operations.html#getWalletNFTTransfers',
  }
  for (const [asked, href] of Object.entries(answers)) expect([asked, first(asked)]).toEqual([asked, href])
  // Where enough has the word itself, nothing that begins or looks like it: no `store_corrupt`, core or correctness.
  const pages = search('cors').map(({ page }) => page)
  expect(pages[0]).toBe('Authentication')
  expect(pages).toContain('Settings')
  for (const { href, terms } of search('cors')) expect([href, terms]).toEqual([href, ['cors']])
  // What has most of the words, where nothing has all.
  const [close] = search('restore a backup of zyzzyvas')
  expect([close?.page, close?.isClose]).toEqual(['Backup and restore', true])
})

/** Words of people who come from elsewhere or see something go wrong. The page has to be the first one. */
const firstPages = {
  'move from moralis': 'guides/moving.html',
  'ethereum cost': 'faq.html#what-does-that-cost-at-a-provider',
  'index one contract': 'guides/one-contract.html',
  'roll api key': 'guides/keys-and-limits.html#rotate-a-key',
  'rotate an api key': 'guides/keys-and-limits.html#rotate-a-key',
  'compute units': 'faq.html#what-does-it-cost-against-the-hosted-service',
  'token gating': 'guides/who-owns-what.html#let-holders-in-token-gating',
  allowlist: 'guides/snapshot-of-holders.html',
  pageKey: 'guides/pages.html',
  continuation: 'guides/pages.html',
  atblock: 'guides/who-owns-what.html#as-of-a-block',
  totalSupply: 'operations.html#getNFTCollectionStats',
  uninstall: 'guides/forgetting.html#uninstall',
  'solana nfts': 'operations.html#getSolanaNfts',
  'mint events': 'faq.html#how-do-i-see-mints-and-burns',
  'go client': 'faq.html#which-languages-can-i-use',
  ECONNREFUSED: 'troubleshooting.html#no-answer-at-all',
  'what does SYNCING mean': 'guides/complete-answers.html',
  'handle 429': 'guides/errors-and-retries.html#retry-with-retry-after',
  'spam nfts': 'annotations.html',
  'spam nft': 'annotations.html',
  'historical balance': 'guides/balances.html',
  'block number by date': 'operations.html#getDateToBlock',
  'nft transfers since date': 'guides/follow-transfers.html',
  opensea: 'faq.html#does-it-have-prices',
  'how do i start': 'guides/first-calls.html',
  'cursor expired': 'guides/pages.html',
  'what does backfilling mean': 'glossary.html#backfill',
  'what is a reorg': 'glossary.html#reorg',
  'polygon amoy': 'faq.html#which-chains-does-it-serve',
  'base sepolia': 'faq.html#which-chains-does-it-serve',
  testnet: 'faq.html#which-chains-does-it-serve',
  alchemy: 'guides/endpoints.html',
  ens: 'faq.html#what-is-missing',
  'floor price': 'faq.html#does-it-have-prices',
  'spam filter': 'annotations.html',
  'rate limit': 'guides/keys-and-limits.html#limits-of-a-key',
  anvil: 'guides/development-chain.html',
  hardhat: 'guides/development-chain.html',
  logs: 'settings.html#browsers-and-logs',
  memory: 'faq.html#what-machine-do-i-need',
  'multiple api keys': 'guides/keys-and-limits.html',
  mysql: 'guides/postgres-and-citus.html',
}

test('what somebody pasted means its operation, served or not, and few that are not served stand beside the docs', () => {
  const search = searchOfDocs()
  const address = '0x6b175474e89094c44da98b954eedeac495271d0f'
  const found = (asked: string) =>
    search(asked).map(({ title, why }) => (why === undefined ? title : `not served: ${title}`))
  for (const asked of [
    `/erc20/${address}/price`,
    `curl -H 'X-API-Key: ${'k'.repeat(120)}' 'https://deep-index.moralis.io/api/v2.2/erc20/${address}/price?chain=eth'`,
  ])
    expect([asked, found(asked)]).toEqual([asked, ['not served: getTokenPrice']])
  expect(found(`curl 'https://deep-index.moralis.io/api/v2.2/nft/${address}/owners?chain=eth'`)).toEqual([
    'Owners of a collection',
  ])
  expect(found('/nft/:address/owners')).toEqual(['Owners of a collection'])
  expect(found('getTokenPrice')[0]).toBe('not served: getTokenPrice')
  expect(found('ens')).toEqual(expect.arrayContaining(['What is missing?', 'not served: resolveDomain']))
  expect(found('floor price')).toEqual(
    expect.arrayContaining(['Does it have prices?', 'not served: getNFTFloorPriceByContract']),
  )
  expect(found('backup').filter(title => title.startsWith('not served'))).toEqual([])
})

test('a word written without its hyphen finds the same, and what lacks a rare word or is only like it is left out', () => {
  const search = searchOfDocs()
  const hrefs = (asked: string) => search(asked).map(({ href }) => href)
  expect(hrefs('ERC1155')[0]).toBe(hrefs('erc-1155')[0])
  expect(search('opensea').flatMap(({ terms }) => terms)).not.toContain('openssl')
  expect(hrefs('move from moralis')).toEqual(['guides/moving.html', 'overview.html'])
  const own = ['guides/who-owns-what.html#let-holders-in-token-gating', 'operations.html#getWalletNFTs']
  expect(hrefs('token gating').toSorted()).toEqual([...own, 'operations.html#getNFTOwners'].toSorted())
  // Its heading is the name of the product, which says nothing in a list.
  expect(search('almanac').find(({ href }) => href === 'overview.html')?.title).toBe('Overview and quick start')
  expect(textOf('glossary.html')).toContain('<tr id="backfill">')
})

test.each(Object.entries(firstPages))('%s leads to %s', (asked, page) => {
  const search = searchOfDocs()
  expect(search(asked).map(({ href }) => href)[0]).toBe(page)
})

test('a question as people type it has its page among the first three, and few others where nothing has all its words', () => {
  const search = searchOfDocs()
  const pages = {
    'rotate an api key': 'guides/keys-and-limits.html#rotate-a-key',
    'how do I rotate a key': 'guides/keys-and-limits.html#rotate-a-key',
    'how do I get an api key': 'guides/keys-and-limits.html',
    'revoke key': 'guides/keys-and-limits.html',
    'next page': 'guides/pages.html',
    'what does SYNCING mean': 'guides/complete-answers.html',
    'handle 429': 'guides/errors-and-retries.html#retry-with-retry-after',
    'native balance multiple wallets': 'operations.html#getNativeBalancesForAddresses',
    'historical owners': 'guides/who-owns-what.html#as-of-a-block',
    'who owned this nft at block': 'guides/who-owns-what.html#as-of-a-block',
    'how long to sync': 'faq.html#how-long-does-all-of-ethereum-take',
    'does it support arbitrum': 'faq.html#which-chains-does-it-serve',
    'is it free': 'faq.html#what-does-it-cost-against-the-hosted-service',
    getTokenBalances: 'faq.html#does-it-serve-erc-20',
    'nft metadata': 'operations.html#getNFTMetadata',
    batch: 'operations.html#getMultipleNFTs',
    swagger: 'faq.html#which-languages-can-i-use',
    'number of owners': 'guides/who-owns-what.html#operations',
    'http 501': 'errors.html#not_implemented',
    BigInt: 'guides/balances.html',
    'large numbers': 'guides/moving.html#json-types-dialects',
    'how many requests per second': 'guides/keys-and-limits.html#limits-of-a-key',
    'how much disk does it need': 'faq.html#how-much-disk-does-it-need',
    'postgres or sqlite': 'faq.html#sqlite-or-postgresql',
    'spam filter': 'annotations.html',
    'what is evidence': 'guides/complete-answers.html#evidence',
    'please tell me how to rotate the key of my zyzzyva': 'guides/keys-and-limits.html#rotate-a-key',
    'owner of token at block 100': 'operations.html#getNFTTokenIdOwners',
    'owner of token 5 at block 100': 'guides/who-owns-what.html#as-of-a-block',
    'who owned token at block': 'operations.html#getNFTTokenIdOwners',
    'who owned 0x8464135c8f25da09e49bc8782676a84730c318bc at block 17000000': 'guides/who-owns-what.html#as-of-a-block',
    'ownership history': 'operations.html#getNFTTransfers',
    'history of an nft': 'operations.html#getNFTTransfers',
    'poll for new transfers': 'guides/follow-transfers.html',
    'poll for new transfers every 5 seconds': 'guides/follow-transfers.html',
    'watch a collection': 'guides/follow-transfers.html',
    'get notified of new transfers': 'guides/follow-transfers.html',
    webhooks: 'guides/react-to-transfers.html',
    etag: 'guides/follow-transfers.html#ask-whether-something-changed',
    'is my data stale': 'guides/complete-answers.html',
    stale: 'guides/complete-answers.html#how-fresh-it-is',
    'how fresh is the data': 'guides/complete-answers.html#how-fresh-it-is',
    'X-Head-Age': 'guides/complete-answers.html#how-fresh-it-is',
    'too many requests': 'errors.html#rate_limited',
    'how far back does history go': 'faq.html#how-far-back-does-history-go',
    'how far back does it go': 'faq.html#how-far-back-does-history-go',
    'call from the browser': 'guides/authentication.html#from-a-browser-or-from-a-server',
    'can I call it from my frontend': 'guides/authentication.html#from-a-browser-or-from-a-server',
    cors: 'guides/authentication.html#from-a-browser-or-from-a-server',
    authentication: 'guides/authentication.html',
    'api key': 'guides/authentication.html',
    '401': 'guides/authentication.html#if-a-key-is-refused',
    'invalid key': 'guides/authentication.html#if-a-key-is-refused',
    'RateLimit-Remaining': 'guides/authentication.html#how-much-a-key-may-ask',
    'block by date': 'operations.html#getDateToBlock',
  }
  const unanswered = Object.entries(pages).flatMap(([asked, page]) => {
    const found = search(asked).map(({ href }) => href)
    return found.slice(0, 3).includes(page) ? [] : [[asked, page, ...found.slice(0, 3)]]
  })
  expect(unanswered).toEqual([])
  expect(search('rotate quickly zyzzyva keys').length).toBeLessThanOrEqual(5)
  // These have a word of everything.
  for (const asked of [...Object.keys(pages), 'keys', 'cursor', 'webhook']) {
    const isLast = search(asked).flatMap(({ href, operation }) =>
      operation ? [] : [/^(changelog|bench|contributing)\b/.test(href)],
    )
    expect([asked, isLast]).toEqual([asked, isLast.toSorted()])
  }
  // What can be called is offered, whatever else there is.
  for (const asked of [
    'owner of token at block 100',
    'who owned token at block',
    'transfers of a collection since block 5',
  ])
    expect([asked, search(asked).some(({ operation }) => operation !== undefined)]).toEqual([asked, true])
})

test('an excerpt is a sentence or a row of a table with its cells apart, and never of two of them', () => {
  const entries = entriesOfSearch()
  const search = docsIndexOf(entries)
  const excerpt = (asked: string) => search(asked).find(({ operation }) => operation === undefined)!.excerpt
  expect(excerpt('back up database')).toBe(
    'a file · almanac store backup FILE, while the service runs · almanac store restore FILE',
  )
  expect(excerpt('cors')).toMatch(/^CORS: pages of any origin .*\.$/)
  // A sentence has Polygon much earlier, too.
  expect(excerpt('polygon amoy')).toContain('polygon amoy')
  const all = ['neither', 'see backup', 'any other client', 'host alone', 'restore', 'proxy'].flatMap(asked =>
    search(asked),
  )
  const sections = all.filter(({ operation }) => operation === undefined)
  expect(sections.filter(({ excerpt: shown }) => shown.length < 20 || shown.endsWith(':'))).toEqual([])
  const lines = new Map(entries.map(({ href, text }) => [href, text.split('\n')]))
  for (const asked of [
    'key',
    'historical owners',
    'limit',
    'websocket',
    'restore',
    'how do I paginate',
    'owner of token',
  ])
    for (const { href, excerpt: shown, operation } of search(asked)) {
      const whole = shown.replace(/^…/, '').replace(/ …$/, '')
      // The beginning of the page stands for a fragment.
      const own = [...lines.get(href)!, ...lines.get(href.split('#')[0]!)!]
      const isOfOne = operation !== undefined || own.some(line => line.includes(whole))
      expect([asked, href, shown, isOfOne]).toEqual([asked, href, shown, true])
    }
})

test('every error is found by its code, listed on its page, and not broken', () => {
  const search = searchOfDocs()
  const page = textOf('errors.html')
  const here = /<aside class="here".*?<\/aside>/s.exec(page)![0].replaceAll('<wbr>', '')
  const codes = [...page.matchAll(/<a id="(\w+)">/g)].map(([, code]) => code!)
  expect(codes).toContain('chain_not_configured')
  // Those of requests first, then those of the operator.
  const places = [
    'errors-of-requests',
    'bad_request',
    'rate_limited',
    'errors-of-the-operator',
    'store_full',
    'internal',
  ]
  const found = places.map(id => page.indexOf(` id="${id}"`))
  expect(found).toEqual(found.toSorted((one, other) => one - other))
  for (const code of codes) {
    expect([code, search(code)[0]?.href]).toEqual([code, `errors.html#${code}`])
    expect(here).toContain(`<a href="#${code}">${code}</a>`)
    expect(page).toContain(`<code class="word">${code}</code>`)
  }
})

test('the guide to moving links every operation that it says is served', () => {
  const [served] = /<table>.*?<\/table>/s.exec(textOf('guides/moving.html'))!
  // Those of Solana are abbreviated.
  const rows = served.split('<tr').filter(row => row.includes('<td>yes') && !row.includes('Solana'))
  expect(rows.length).toBeGreaterThan(3)
  const unlinked = rows.flatMap(row => row.match(/(?<!">)<code[^>]*>[^<]*\//g) ?? [])
  expect(unlinked).toEqual([])
})

test('a call in several languages is one example, which shows all of them without a script', () => {
  const [example] = /<div class="example">.*?<\/div>\n<\/div>/s.exec(textOf('guides/first-calls.html'))!
  expect(example.match(/(?<=<p class="language">)\w+/g)).toEqual(['curl', 'TypeScript', 'Python', 'SDK'])
  expect(example).not.toContain('hidden')
})

test('a page that another names is linked', () => {
  const plain = pages().flatMap(page => {
    const [, text] = /<main.*?>(.*)<\/main>/s.exec(textOf(page)) ?? ['', '']
    const read = text!.replaceAll(/<(a|code|pre)\b.*?<\/\1>/gs, '')
    return (read.match(/\bdocs\/[\w/-]+\.md/g) ?? []).map(name => `${page}: ${name}`)
  })
  expect(plain).toEqual([])
})

test('every page is there as Markdown too, with links that lead on, and llms.txt lists each', async () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const texts = files.filter(name => name.endsWith('.md') && !name.startsWith('files/'))
  const others = ['404.html']
  expect(texts.map(name => name.replace(/md$/, 'html')).sort()).toEqual(
    pages()
      .filter(page => !others.includes(page))
      .sort(),
  )
  const broken = texts.flatMap(name =>
    [
      ...textOf(name)
        .replaceAll(/^```.*?^```/gms, '')
        .matchAll(/\]\(([^)\s]+)\)/g),
    ]
      .map(([, address]) => address!.split('#')[0]!)
      .filter(path => path !== '' && !/^[a-z]+:/.test(path) && !existsSync(join(folder, dirname(name), path)))
      .map(path => `${name}: ${path}`),
  )
  expect(broken).toEqual([])
  expect(textOf('guides/moving.md')).toMatch(/^# Migrate from Moralis\n/)
  expect(textOf('guides/moving.md')).not.toContain('<!--')
  expect(textOf('guides/moving.html')).toContain(
    '<link rel="alternate" type="text/markdown" href="../guides/moving.md" />',
  )
  const listed = [...textOf('llms.txt').matchAll(/^- \[.+\]\(\/docs\/(.+?)\): \S/gm)].map(([, path]) => path!)
  expect(listed.sort()).toEqual(texts.filter(name => name !== 'index.md').sort())
})

test('an agent reads each page of the docs where the service serves them, and a browser is shown a page for what is missing', async () => {
  const names = ['index.html', '404.html', 'faq.html', 'faq.md', 'guides/pages.md', 'guides/pages.html', 'llms.txt']
  const docs = new Map(
    names.map(name => {
      const plain = readFileSync(join(folder, name))
      const type = name.endsWith('html') ? 'text/html; charset=utf-8' : 'text/markdown; charset=utf-8'
      return [`/docs/${name}`, async () => ({ type, tag: `"${name}"`, immutable: false, plain })] as const
    }),
  )
  const api = await serveApi({ parts: { docs } })
  try {
    const open = { 'x-api-key': undefined }
    const page = await api.get('/docs/faq.md', open)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(await page.text()).toMatch(/^# FAQ\n/)
    const [, ...sections] = (await (await api.get('/llms.txt', open)).text()).split(/^## .+$/m)
    for (const line of sections.flatMap(section => section.trim().split('\n')))
      expect(line).toMatch(/^- \[.+\]\(\/.+\): .+$/)
    expect(sections.join('')).toContain('](/docs/guides/moving.md): ')
    // Its samples ask the address that the reader asked; the tag tells pages of two addresses apart.
    const tags = new Set<string | undefined>()
    for (const host of ['data.example', 'other.example:81'])
      for (const name of ['guides/pages.md', 'guides/pages.html']) {
        const lines = [`GET /docs/${name} HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', '']
        const { headers, body } = await rawRequest(api.url, lines.join('\r\n'))
        tags.add(headers.get('etag'))
        const text = body.replaceAll('<wbr>', '')
        expect(text).toContain(`http://${host}/api/v2.2/`)
        expect(text).not.toContain('127.0.0.1:8080/')
      }
    expect(tags.size).toBe(4)
    const missing = await api.get('/docs/unknown', { ...open, accept: 'text/html,*/*;q=0.8' })
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await missing.text()).toContain('href="#search-text"')
    const told = (await (await api.get('/docs/unknown', open)).json()) as { message: string }
    expect(told.message).toBe('There is nothing at /docs/unknown; see /docs')
  } finally {
    await api.close()
  }
})

test('no page tells its readers how it was written', () => {
  expect(pages().filter(page => textOf(page).includes('do not edit.'))).toEqual([])
})

describe.skipIf(browserPath === undefined)('in a browser, from the folder', () => {
  test('is searched by keyboard, and has no barriers in either theme', { timeout: 180_000 }, async () => {
    await withPage({ colorScheme: 'dark' }, async page => {
      const strays: string[] = []
      page.on('request', request => {
        if (!request.url().startsWith('file:')) strays.push(request.url())
      })
      await page.goto(pathToFileURL(join(folder, 'index.html')).href)
      expect(await page.getByRole('link', { name: 'Overview', exact: true }).count()).toBe(0)
      await page.keyboard.press('Control+k')
      await page.keyboard.type('owners')
      const found = page.locator('#found [role=option]')
      await found.first().waitFor()
      expect(await found.first().locator('.offer-title').textContent()).toBe('Who owns what')
      expect(await found.first().locator('.offer-title mark').allTextContents()).toEqual(['owns'])
      for (const word of await found.locator('mark').allTextContents()) expect(word).toMatch(/^own/i)
      const operation = `[...document.querySelectorAll('#found a')]
        .find(link => link.querySelector('.offer-excerpt').textContent === 'GET /nft/{address}/owners').getAttribute('href')`
      expect(await page.evaluate(operation)).toMatch(/^operations\.html#getNFTOwners/)
      for (const path of await found.locator('.mono').allTextContents()) expect(path).toMatch(/^(GET|POST) \//)
      // An excerpt is text, from the beginning of a word.
      const texts = (await page.evaluate(
        "almanacEntries.map(({ text }) => ' ' + text.replaceAll('\\n', ' '))",
      )) as string[]
      for (const excerpt of await found.locator('.offer-excerpt:not(.mono)').allTextContents()) {
        expect(excerpt).not.toContain('":')
        const words = excerpt.replace(/^…/, ' ').replace(/ …$/, '')
        expect(
          texts.some(text => text.includes(words)),
          excerpt,
        ).toBe(true)
      }
      await page.setViewportSize({ width: 390, height: 844 })
      const { x, width } = (await page.locator('.search-dialog').boundingBox())!
      expect([x >= 0, x + width <= 390]).toEqual([true, true])
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(url => !url.pathname.endsWith('/index.html'))
      await expect.poll(() => page.locator('main').innerText()).toContain('owners')
      // Two letters that changed places.
      await page.keyboard.press('Control+k')
      await page.keyboard.type('ownres')
      await page.getByText('This is close to it').waitFor()
      expect(await found.locator('.offer-title').allTextContents()).toContain('Who owns what')
      // Where nothing is found, all pages are a step away.
      await page.locator('#search-text').fill('qqqqzzzz')
      await page.getByText('Nothing is found for “qqqqzzzz”.').waitFor()
      expect(await found.evaluateAll(links => links.map(link => link.getAttribute('href')))).toEqual([
        ...['../index.html', '../faq.html'],
      ])
      await page.goto(pathToFileURL(join(folder, 'operations.html')).href)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 })
        const cut = "[...document.querySelectorAll('.table')].filter(at => at.scrollWidth > at.clientWidth).length"
        expect([width, await page.evaluate(cut)]).toEqual([width, 0])
      }
      // Names break between their parts, never within a word.
      for (const name of ['settings', 'operations', 'errors']) {
        await page.goto(pathToFileURL(join(folder, `${name}.html`)).href)
        await page.setViewportSize({ width: 1440, height: 900 })
        const broken = `[...document.querySelectorAll('.table code')].flatMap(code => {
          const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
          const found = []
          for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
            for (const { index, 0: word } of text.data.matchAll(/-*[A-Za-z0-9]+/g)) {
              const range = document.createRange()
              range.setStart(text, index)
              range.setEnd(text, index + word.length)
              if (range.getClientRects().length > 1) found.push(code.textContent)
            }
          return found
        })`
        expect([name, await page.evaluate(broken)]).toEqual([name, []])
      }
      // Nor does the button stand over the end of the first line, once that is moved into view.
      await page.goto(pathToFileURL(join(folder, 'guides/first-calls.html')).href)
      const covered = `[...document.querySelectorAll('.code:not(.output)')].filter(block => {
        const pre = block.querySelector('pre')
        pre.scrollLeft = pre.scrollWidth
        const button = block.querySelector('.copy').getBoundingClientRect()
        const range = document.createRange()
        range.selectNodeContents(block.querySelector('code'))
        return [...range.getClientRects()].some(line => line.right > button.left && line.top < button.bottom - 4)
      }).length`
      expect(await page.evaluate(covered)).toBe(0)
      // What a terminal shows is not copied, and a name in a command is no word of a shell.
      expect(await page.locator('.code.output .copy').count()).toBe(0)
      expect(await page.locator('.hljs-built_in', { hasText: 'limit' }).count()).toBe(0)
      for (const theme of someCases(['dark', 'light'], 2)) {
        await page.keyboard.press('Control+k')
        await page.locator('#search-text').fill('owners')
        await found.first().waitFor()
        await page.evaluate(axe.source)
        const barriers = (await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html).join('; ')))`,
        )) as string[]
        expect(barriers, theme).toEqual([])
        await page.keyboard.press('Escape')
        await page.locator('#theme').click()
      }
      expect(strays).toEqual([])
    })
  })

  test('shows one language at a time, which it keeps, and marks the section that is read', {
    timeout: 180_000,
  }, async () => {
    await withPage({ viewport: { width: 1_440, height: 900 } }, async page => {
      const go = (name: string) => page.goto(pathToFileURL(join(folder, name)).href)
      await go('guides/first-calls.html')
      const shown = page.locator('.example .code:visible')
      const examples = await page.locator('.example').count()
      expect(examples).toBeGreaterThan(3)
      expect(await shown.count()).toBe(examples)
      expect(await shown.first().textContent()).toContain('curl ')
      await page.getByRole('tab', { name: 'TypeScript' }).nth(2).click()
      expect(await shown.first().textContent()).toContain('await fetch(')
      await page.keyboard.press('ArrowRight')
      expect(await shown.first().textContent()).toContain('urlopen(')
      await go('guides/who-owns-what.html')
      expect(await shown.first().textContent()).toContain('urlopen(')
      expect(await page.getByRole('button', { name: 'Copy' }).first().isVisible()).toBe(true)

      const current = page.locator('.here [aria-current]')
      expect(await current.textContent()).toBe('Try it')
      await page.evaluate("document.querySelector('#what-counts-as-holding').scrollIntoView()")
      await expect.poll(() => current.allTextContents()).toEqual(['What counts as holding'])

      // What a link leads to is marked in both lists, where rows are short and at the end of the page.
      for (const code of ['overloaded', 'store_failed', 'interrupted']) {
        await go('errors.html')
        await page.evaluate(`location.hash = '${code}'`)
        await expect.poll(() => current.allTextContents()).toEqual([code])
        const colours = await page.evaluate(`[0, -1].map(step => {
          const row = document.getElementById('${code}').closest('tr')
          return getComputedStyle(step === 0 ? row : row.previousElementSibling).backgroundColor
        })`)
        const [lit, other] = colours as [string, string]
        expect(lit).not.toBe(other)
      }

      // Nothing is wider than a phone, and the field of the search has room for what is typed.
      await page.setViewportSize({ width: 390, height: 844 })
      for (const name of ['index', 'errors', 'operations', 'guides/moving', 'guides/solana', 'guides/who-owns-what']) {
        await go(`${name}.html`)
        const wide = `[...document.querySelectorAll('main .table')].filter(at => at.scrollWidth > at.clientWidth).length`
        expect([name, await page.evaluate('document.documentElement.scrollWidth'), await page.evaluate(wide)]).toEqual([
          name,
          390,
          0,
        ])
      }
      // What is on the page folds as the list of all pages does.
      const fold = page.locator('.here summary')
      const below = page.locator('.here').getByRole('link', { name: 'Operations' })
      expect([await fold.textContent(), await below.isVisible()]).toEqual(['On this page', false])
      await fold.click()
      await below.click()
      expect(page.url()).toMatch(/#operations$/)
      const top = async (name: string) => (await page.locator(name).boundingBox())!.y
      expect(await top('.here summary')).toBeGreaterThan(await top('.menu summary'))
      expect(await top('.here summary')).toBeLessThan(await top('main'))
      expect(await page.locator('.search-button kbd').isVisible()).toBe(false)
      await page.locator('.search-button').click()
      expect((await page.locator('#search-text').boundingBox())!.width).toBeGreaterThan(150)
    })
  })

  thorough(
    'a page that is missing offers what its address says, and the beginning where it says nothing',
    {
      timeout: 180_000,
    },
    async () => {
      await withPage({}, async page => {
        await page.route('http://docs.test/docs/**', route => {
          const path = join(folder, new URL(route.request().url()).pathname.slice('/docs/'.length))
          return route.fulfill({ path: existsSync(path) ? path : join(folder, '404.html') })
        })
        const offered = async (name: string) => {
          await page.goto(`http://docs.test/docs/${name}`)
          await page.keyboard.press('Control+k')
          // A search that is asked later is answered later.
          await page.locator('#search-text').fill('owners')
          await page.locator('#found [role=option]').first().waitFor()
          await page.keyboard.press('Escape')
          return page.locator('#meant :is(b, .offer-title)').allTextContents()
        }
        for (const name of ['nothing-here', 'nope'])
          expect([name, await offered(name)]).toEqual([name, ['Documentation', 'First calls', 'Search']])
        await page.locator('#meant').getByText('Search').click()
        expect(await page.locator('#search-text').evaluate(field => field.matches(':focus'))).toBe(true)
        expect((await offered('getting-started'))[0]).toBe('First calls')
        expect(await offered('guides/frist-calls')).toContain('First calls')

        // Beside the console: its pages, its reference, its colours, and who is signed in.
        await page.route('http://docs.test/openapi/solana.json', route =>
          route.fulfill({ json: { info: { 'x-sandbox-key': 'sandbox' } } }),
        )
        await page.goto('http://docs.test/docs/index.html')
        await page.locator('.bar .badge', { hasText: 'Sandbox' }).waitFor()
        await page.getByRole('link', { name: 'Sign in' }).waitFor()
        await page.evaluate("sessionStorage.setItem('almanac.key', 'sandbox')")
        await page.reload()
        await page.getByRole('link', { name: 'Sign out' }).waitFor()
        const bar = page.locator('.bar nav a')
        expect(await bar.allTextContents()).toEqual(['Overview', 'Keys', 'Reference', 'Docs'])
        const card = page.locator('.cards').getByRole('link', { name: 'API reference' })
        expect(await card.getAttribute('href')).toBe('/reference')
        const inMenu = page.locator('.menu').getByRole('link', { name: 'API reference' })
        expect(await inMenu.getAttribute('href')).toBe('/reference')
        // What is pasted can be looked up there.
        const pasted = '0x8464135c8f25da09e49bc8782676a84730c318bc'
        await page.keyboard.press('Control+k')
        await page.locator('#search-text').fill(pasted)
        await page.getByText('almanac explain <chain> <address>').waitFor()
        expect(await page.locator('#found [role=option]').first().getAttribute('href')).toBe(`/#/search?q=${pasted}`)
        await page.keyboard.press('Escape')
        await page.locator('#theme').click()
        expect(
          await page.evaluate("[localStorage.getItem('almanac.theme'), document.documentElement.dataset.theme]"),
        ).toEqual(['light', 'light'])
      })
    },
  )

  test('the words of a drawing stay within their boxes', { timeout: 180_000 }, async () => {
    await withPage({}, async page => {
      await page.goto(new URL('../docs/pictures/way-of-a-block.svg', import.meta.url).href)
      // Each text within every box in which it begins.
      const outside = `[...document.querySelectorAll('text')].filter(text => {
        const { left, right, top } = text.getBoundingClientRect()
        const boxes = [...document.querySelectorAll('.card, .chip')].map(box => box.getBoundingClientRect())
        const around = boxes.filter(box => box.left < left && left < box.right && box.top < top && top < box.bottom)
        return around.some(box => right > box.right - 4)
      }).map(text => text.textContent)`
      expect(await page.evaluate(outside)).toEqual([])
    })
  })

  test('without scripts has the menu and every language', { timeout: 180_000 }, async () => {
    await withPage({ javaScriptEnabled: false, viewport: { width: 1_440, height: 900 } }, async page => {
      await page.goto(pathToFileURL(join(folder, 'guides/first-calls.html')).href)
      expect(await page.getByRole('link', { name: 'Who owns what' }).first().isVisible()).toBe(true)
      expect(await page.locator('.example').first().locator('.code:visible').count()).toBe(4)
    })
  })
})
