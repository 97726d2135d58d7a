// The documentation's site: built from the files of the repository, whole, and usable from a folder without a server.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import axe from 'axe-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser } from './browser.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-docs-'))
  await promisify(execFile)(process.execPath, [fileURLToPath(new URL('../site/build.ts', import.meta.url)), folder])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const pages = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'))
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')

test('every link leads to a page, a section or a file that is there', () => {
  expect(pages().length).toBeGreaterThan(20)
  const broken: string[] = []
  for (const page of pages())
    for (const [, address] of textOf(page).matchAll(/ (?:href|src)="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(address!)) continue
      const [path = '', anchor] = address!.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      const isThere =
        existsSync(join(folder, target)) && (anchor === undefined || textOf(target).includes(` id="${anchor}"`))
      if (!isThere) broken.push(`${page}: ${address}`)
    }
  expect(broken).toEqual([])
})

test('the menu has every page', () => {
  const menu = /<nav class="menu".*?<\/nav>/s.exec(textOf('index.html'))![0]
  const missing = pages().filter(page => page !== 'contents.html' && !menu.includes(`href="${page}"`))
  expect(missing).toEqual([])
})

test('no page tells its readers how it was written', () => {
  expect(pages().filter(page => textOf(page).includes('do not edit.'))).toEqual([])
})

describe.skipIf(browserPath === undefined)('in a browser, from the folder', () => {
  test('is searched by keyboard, and has no barriers in either theme', { timeout: 90_000 }, async () => {
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage({ colorScheme: 'dark' })
      const strays: string[] = []
      page.on('request', request => {
        if (!request.url().startsWith('file:')) strays.push(request.url())
      })
      await page.goto(pathToFileURL(join(folder, 'index.html')).href)
      expect(await page.getByRole('link', { name: 'Console', exact: true }).count()).toBe(0)
      await page.keyboard.press('Control+k')
      await page.keyboard.type('owners')
      const found = page.locator('#found [role=option]')
      await found.first().waitFor()
      expect(await found.first().locator('b').textContent()).toBe('Who owns what')
      // An excerpt is text, from the beginning of a word.
      const texts = (await page.evaluate("almanacEntries.map(({ text }) => ' ' + text)")) as string[]
      for (const excerpt of await found.locator('span').allTextContents()) {
        expect(excerpt).not.toContain('":')
        const words = excerpt.replace(/^…/, ' ').replace(/ …$/, '')
        expect(
          texts.some(text => text.includes(words)),
          excerpt,
        ).toBe(true)
      }
      await page.setViewportSize({ width: 390, height: 844 })
      const { x, width } = (await page.locator('#found').boundingBox())!
      expect([x >= 0, x + width <= 390]).toEqual([true, true])
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(url => !url.pathname.endsWith('/index.html'))
      await expect.poll(() => page.locator('main').innerText()).toContain('owners')
      await page.goto(pathToFileURL(join(folder, 'settings.html')).href)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 })
        const cut =
          "[...document.querySelectorAll('.table, .code pre')].filter(at => at.scrollWidth > at.clientWidth).length"
        expect([width, await page.evaluate(cut)]).toEqual([width, 0])
      }
      // Nor does the button stand over the end of the first line.
      await page.goto(pathToFileURL(join(folder, 'guides/first-calls.html')).href)
      const covered = `[...document.querySelectorAll('.code')].filter(block => {
        const button = block.querySelector('.copy').getBoundingClientRect()
        const range = document.createRange()
        range.selectNodeContents(block.querySelector('code'))
        return [...range.getClientRects()].some(line => line.right > button.left && line.top < button.bottom - 4)
      }).length`
      expect(await page.evaluate(covered)).toBe(0)
      for (const theme of ['dark', 'light']) {
        await page.evaluate(axe.source)
        const found = (await page.evaluate(
          `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html).join('; ')))`,
        )) as string[]
        expect(found, theme).toEqual([])
        await page.locator('#theme').click()
      }
      expect(strays).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
