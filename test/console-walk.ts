// Walks through the console with a real browser while the service indexes: opens pages with a key, checks them with axe, sees to it that no
// request leaves the machine, and takes screenshots where ALMANAC_SCREENSHOTS is 1.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, browserRequired, launchBrowser } from './browser.ts'
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts'
import { isRelease } from './release-runs.ts'

export const patience = { timeout: 60_000 }

/** Less than half as much to send and to read as `axe.source`. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Of rows and entries, which are all alike, the first ones: axe takes half of its time for the others. */
const looked = isRelease ? 'document' : "{ exclude: ['tbody tr:nth-child(n+4)', 'li:nth-child(n+6)'] }"

/** For people to look at: the reference alone is some fifty screens high. */
const withScreenshots = process.env.ALMANAC_SCREENSHOTS === '1'
const screenshots = fileURLToPath(new URL('screenshots', import.meta.url))

export type Walk = {
  /** There once the tests run. */
  readonly world: ConsoleWorld
  /** An empty page, which may have files of the console in its cache. */
  newPage(options?: BrowserContextOptions): Promise<Page>
  /** One in a profile of its own: for a first load, and for scripts and rights that a page keeps. */
  freshPage(options?: BrowserContextOptions): Promise<Page>
  /** Opens a page of the console with the key, as the link that the service prints does. */
  open(route?: string, options?: BrowserContextOptions, key?: string): Promise<Page>
  /** Finds nothing to complain about with axe, and takes a screenshot where they are wanted. */
  accept(page: Page, name: string): Promise<void>
  /** Accepts a page of which axe sees another state in every run: before a release, since each look takes most of a second. */
  acceptState(page: Page, name: string): Promise<void>
}

/** Without a browser nothing is walked through, which is a failure where one is required. */
export function walkConsole(walk: (tools: Walk) => void): void {
  if (browserPath !== undefined) {
    describe('the console in a browser', { timeout: 180_000 }, () => walk(prepareWalk()))
    return
  }
  const message =
    'No browser was found, so the console was not looked at. Install Debian’s chromium, or set ALMANAC_BROWSER.'
  if (browserRequired) {
    test('a browser is there', () => expect.unreachable(message))
  } else {
    console.warn(message)
    test.skip(`the console in a browser. ${message}`)
  }
}

/** `like`: the options that it was made with, where another test may take it over. */
type WalkedPage = { page: Page; like: string | undefined }

function prepareWalk(): Walk {
  let world: ConsoleWorld
  let browser: Browser
  /** A profile costs more than what most tests do in it, so the next test takes over its page where it wants the same. */
  const free: WalkedPage[] = []
  const taken: WalkedPage[] = []
  /** What pages asked for elsewhere, and what they complained about. Must stay empty. */
  const strays: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    if (withScreenshots) mkdirSync(screenshots, { recursive: true })
    world = await startConsoleWorld()
    browser = await launchBrowser()
  }, 180_000)
  afterEach(async () => {
    for (const each of taken.splice(0)) {
      if (each.like !== undefined && (await isEmptied(each.page))) free.push(each)
      else await each.page.context().close()
    }
    expect(strays).toEqual([])
    expect(complaints.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await world?.stop()
  })

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const like = JSON.stringify(options)
    const at = free.findIndex(each => each.like === like)
    const [found = { page: await makePage(options), like }] = at < 0 ? [] : free.splice(at, 1)
    taken.push(found)
    return found.page
  }

  async function freshPage(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await makePage(options)
    taken.push({ page, like: undefined })
    return page
  }

  async function makePage(options: BrowserContextOptions): Promise<Page> {
    // What moves without end would be drawn sixty times a second on every page. A walk may ask for it.
    const still = { reducedMotion: 'reduce', viewport: { width: 1280, height: 900 } } as const
    const context = await browser.newContext({ ...still, ...options })
    context.setDefaultTimeout(patience.timeout)
    context.on('request', request => {
      if (!request.url().startsWith(world.url) && !request.url().startsWith('data:')) strays.push(request.url())
    })
    const page = await context.newPage()
    page.on('pageerror', error => complaints.push(error.message))
    page.on('console', message => {
      // A refused request is part of some walks; the browser reports each of them.
      if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
        complaints.push(message.text())
    })
    return page
  }

  async function open(route = '/', options?: BrowserContextOptions, key = world.key): Promise<Page> {
    const page = await newPage(options)
    await page.goto(`${world.url}/#key=${encodeURIComponent(key)}&${route}`)
    return page
  }

  /** Leaves nothing of a test in its page, which is at a file without a script afterwards. */
  async function isEmptied(page: Page): Promise<boolean> {
    try {
      for (const event of ['request', 'response']) page.removeAllListeners(event)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.mouse.move(0, 0)
      await page.goto(`${world.url}/geist-OFL.txt`)
      await page.evaluate('localStorage.clear(), sessionStorage.clear()')
      return true
    } catch {
      return false
    }
  }

  async function keepPicture(page: Page, name: string): Promise<void> {
    if (withScreenshots) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
  }

  async function accept(page: Page, name: string): Promise<void> {
    await keepPicture(page, name)
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
    const found = (await page.evaluate(
      `axe.run(${looked}, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({
        checks: passes.length,
        violations: violations.map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html + ' ' + node.failureSummary).join('; ')),
      }))`,
    )) as { checks: number; violations: string[] }
    expect(found.violations, name).toEqual([])
    expect(found.checks).toBeGreaterThan(5)
  }

  const acceptState = isRelease ? accept : keepPicture

  return {
    get world() {
      return world
    },
    newPage,
    freshPage,
    open,
    accept,
    acceptState,
  }
}
