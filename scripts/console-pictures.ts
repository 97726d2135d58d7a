// Takes pictures of every page of the console: `npm run pictures [folder] [-- --only overview,keys --states data]`.
// Light and dark, wide and narrow, with data, empty, loading and broken, from one service over a seeded store. For
// people to look at; it judges nothing.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { browserPath, launchBrowser } from '../test/browser.ts'
import { type ConsoleWorld, startConsoleWorld } from '../test/console-world.ts'
import { seeded } from '../test/seed.ts'

const themes = ['light', 'dark'] as const
const widths = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const
const sizes = Object.keys(widths) as (keyof typeof widths)[]
const atOnce = 3
const states = ['data', 'empty', 'loading', 'broken'] as const

type State = (typeof states)[number]

/** What a page settles into before its picture is taken. */
const settleMs = { data: 900, empty: 900, loading: 500, broken: 900 }

/** Pages that are seen before signing in. */
const openPages = ['sign-in']

function placesOf(world: ConsoleWorld, keyId: string): Record<string, Partial<Record<State, string>>> {
  const nobody = '0x00000000000000000000000000000000000000aa'
  return {
    overview: { data: '#/' },
    chain: { data: '#/chain/sim', empty: '#/chain/nowhere' },
    'chain-on-demand': { data: '#/chain/picked' },
    'chain-stalled': { data: '#/chain/gone' },
    'contract-live': { data: `#/contract/sim/${world.contract}`, empty: `#/contract/bsc/${seeded.silent}` },
    contract: { data: `#/contract/eth/${seeded.collection}`, empty: `#/contract/eth/${seeded.silent}` },
    holders: { data: `#/contract/eth/${seeded.collection}/holders`, empty: `#/contract/eth/${seeded.silent}/holders` },
    token: { data: `#/token/eth/${seeded.collection}/12`, empty: `#/token/eth/${seeded.collection}/999999` },
    wallet: { data: `#/wallet/${seeded.alice}`, empty: `#/wallet/${nobody}` },
    'wallet-nfts': { data: `#/wallet/${seeded.alice}/nfts`, empty: `#/wallet/${nobody}/nfts` },
    account: { data: `#/account/mainnet/${seeded.solanaOwner}` },
    block: { data: `#/block/sim/${world.node.chain.head - 2}`, empty: '#/block/sim/99999999' },
    transaction: {
      data: `#/transaction/sim/${world.node.chain.block(world.node.chain.head - 2).transactions[0]!.hash}`,
      empty: `#/transaction/sim/0x${'ab'.repeat(32)}`,
    },
    explorer: {
      data: `#/explore/transfers?address=${seeded.collection}&limit=25`,
      empty: '#/explore/transfers',
    },
    keys: { data: '#/keys' },
    key: { data: `#/keys/${keyId}`, empty: '#/keys/no-such-key' },
    'sign-in': { data: '#/' },
    search: { data: '#/search?q=a', empty: '#/search?q=nothing-has-this-name' },
    reference: { data: '/reference' },
    'not-found': { data: '#/nowhere' },
  }
}

type Wanted = { only: string[] | undefined; states: string[] | undefined }
type Shot = { name: string; state: State; place: string; theme: (typeof themes)[number]; size: keyof typeof widths }

function shotsOf(world: ConsoleWorld, keyId: string, wanted: Wanted): Shot[] {
  return Object.entries(placesOf(world, keyId))
    .filter(([name]) => wanted.only?.includes(name) ?? true)
    .flatMap(([name, places]) =>
      states
        .filter(state => wanted.states?.includes(state) ?? true)
        .flatMap(state => {
          const place = state === 'empty' ? places.empty : places.data
          if (place === undefined) return []
          return themes.flatMap(theme => sizes.map(size => ({ name, state, place, theme, size })))
        }),
    )
}

/** Some traffic, so that figures have something to show. Gives the id of a key that was used. */
async function useApi({ url, key }: ConsoleWorld): Promise<string> {
  const made = await fetch(`${url}/keys`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ name: 'storefront', scopes: ['nft-transfers'], quota_per_day: 120 }),
  })
  const { id, secret } = (await made.json()) as { id: string; secret: string }
  const ask = (by: string, path: string) => fetch(`${url}/api/v2.2/nft/${path}`, { headers: { 'x-api-key': by } })
  for (let round = 0; round < 110; round++) {
    const answers = await Promise.all([
      ask(secret, `${seeded.collection}/transfers?chain=eth&limit=25`),
      ask(key, `${seeded.editions}/transfers?chain=eth&limit=${1 + (round % 50)}`),
      ...(round % 9 === 0 ? [ask(key, '0x12/transfers')] : []),
    ])
    await Promise.all(answers.map(answer => answer.arrayBuffer()))
  }
  return id
}

async function take(browser: Browser, world: ConsoleWorld, folder: string, shot: Shot): Promise<void> {
  const { name, state, place, theme, size } = shot
  const context = await browser.newContext({
    viewport: widths[size],
    colorScheme: theme,
    reducedMotion: 'reduce',
    isMobile: size === 'narrow',
    hasTouch: size === 'narrow',
  })
  try {
    const page = await context.newPage()
    if (!openPages.includes(name))
      await page.addInitScript(`sessionStorage.setItem('almanac.key', ${JSON.stringify(world.key)})`)
    await hold(page, state)
    await page.goto(`${world.url}/${place.replace(/^\//, '')}`)
    await page.locator('main').waitFor({ timeout: 20_000 })
    await page.waitForTimeout(settleMs[state])
    const path = join(folder, `${name}-${state}-${theme}-${widths[size].width}.png`)
    await page.screenshot({ path, fullPage: name !== 'reference' })
  } finally {
    await context.close()
  }
}

/** An answer that never comes, or one that fails: of the service's operations alone, the page itself is there. */
async function hold(page: Page, state: State): Promise<void> {
  if (state !== 'loading' && state !== 'broken') return
  await page.route(
    url => !/^\/(assets\/|reference|geist|$)/.test(url.pathname),
    async route => {
      if (state === 'loading') return
      const body = { message: 'The store does not answer.', request_id: '01K0EXAMPLE' }
      await route.fulfill({ status: 503, json: body })
    },
  )
}

const { values, positionals } = parseArgs({
  options: { only: { type: 'string' }, states: { type: 'string' } },
  allowPositionals: true,
})
if (browserPath === undefined) {
  process.stderr.write('No browser was found. Install Debian’s chromium, or set ALMANAC_BROWSER.\n')
  process.exit(1)
}
const folder = resolve(positionals[0] ?? fileURLToPath(new URL('../node_modules/.cache/pictures', import.meta.url)))
mkdirSync(folder, { recursive: true })
const world = await startConsoleWorld()
const browser = await launchBrowser()
try {
  const keyId = await useApi(world)
  const shots = shotsOf(world, keyId, { only: values.only?.split(','), states: values.states?.split(',') })
  const count = shots.length
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let shot = shots.shift(); shot !== undefined; shot = shots.shift()) await take(browser, world, folder, shot)
    }),
  )
  process.stdout.write(`${count} pictures in ${folder}\n`)
} finally {
  await browser.close()
  await world.stop()
}
