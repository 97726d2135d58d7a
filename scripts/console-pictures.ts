// Takes pictures of every page of the console: `npm run pictures [folder] [-- --only overview,keys --states data]`.
// Light and dark, wide and narrow, with data, empty, loading and broken, from one service over a seeded store. For
// people to look at; it judges nothing.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { browserPath, launchBrowser } from '../test/browser.ts'
import { holdAnswers, placesOf, type State, states } from '../test/console-places.ts'
import { type ConsoleWorld, startConsoleWorld } from '../test/console-world.ts'
import { seeded } from '../test/seed.ts'

const themes = ['light', 'dark'] as const
const widths = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const
const sizes = Object.keys(widths) as (keyof typeof widths)[]
const atOnce = 3

/** What a page settles into before its picture is taken. */
const settleMs = { data: 900, empty: 900, loading: 500, broken: 900 }

/** Pages that are seen before signing in. */
const openPages = ['sign-in', 'sign-in-refused']

/** What is seen only once something was done on a page. */
const acts: Record<string, { place: string; act: (page: Page) => Promise<void> }> = {
  'sign-in-refused': {
    place: '#/',
    act: async page => {
      await page.getByLabel('Key', { exact: true }).fill('alm_nobody-made-this')
      await page.keyboard.press('Enter')
    },
  },
  'key-new': { place: '#/keys', act: page => page.getByRole('button', { name: 'New key' }).click() },
  'key-issued': {
    place: '#/keys',
    act: async page => {
      await page.getByRole('button', { name: 'New key' }).click()
      await page.keyboard.type('for a visitor')
      await page.keyboard.press('Enter')
    },
  },
  'search-dialog': {
    place: '#/',
    act: async page => {
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('a')
    },
  },
}

type Wanted = { only: string[] | undefined; states: string[] | undefined }
type Shot = { name: string; state: State; place: string; theme: (typeof themes)[number]; size: keyof typeof widths }

function shotsOf(world: ConsoleWorld, keyId: string, wanted: Wanted): Shot[] {
  const acted: ReturnType<typeof placesOf> = Object.fromEntries(
    Object.entries(acts).map(([name, { place }]) => [name, { data: place }]),
  )
  return Object.entries({ ...placesOf(world, keyId), ...acted })
    .filter(([name]) => wanted.only?.includes(name) ?? true)
    .flatMap(([name, places]) =>
      states
        .filter(state => (wanted.states?.includes(state) ?? true) && (state === 'data' || !(name in acts)))
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
    await holdAnswers(page, state)
    await page.goto(`${world.url}/${place.replace(/^\//, '')}`)
    await page.locator('main').waitFor({ timeout: 20_000 })
    await acts[name]?.act(page)
    await page.waitForTimeout(settleMs[state])
    const path = join(folder, `${name}-${state}-${theme}-${widths[size].width}.png`)
    await page.screenshot({ path, fullPage: !name.startsWith('reference') })
  } finally {
    await context.close()
  }
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
