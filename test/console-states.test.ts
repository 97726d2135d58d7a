// Every page of the console in every state that it can be in, as a phone shows it and by keyboard: nothing is stuck,
// nothing is a dead end, nothing needs a pointer.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { holdAnswers, placesOf } from './console-places.ts'
import { patience, walkConsole } from './console-walk.ts'
import { isRelease, someCases } from './release-runs.ts'
import { seeded } from './seed.ts'
import { seededCoin } from './seed-tokens.ts'

/** Asks the service for nothing, so it is neither late nor broken. */
const asksNothing = ['not-found']
/** About one thing, which fails as a whole. */
const wholes = ['account', 'block', 'key', 'transaction', 'webhook']
/** Late and broken they are as the page of the same kind. */
const variants = ['chain-on-demand', 'chain-stalled', 'contract-live', 'reference-operation']
/** One of each kind: in every run what is late, broken or walked by keyboard is looked at on these alone. */
const kinds = /^(overview|chain|contract|wallet|block|keys|explorer|reference)$/
/** At these axe looks in every run. */
const lookedAt = /^(overview|contract|keys?)-/

walkConsole(walk => {
  const { newPage, freshPage, open, accept, acceptState } = walk
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const

  async function placesHere() {
    const answer = await fetch(`${walk.world.url}/keys`, { headers: { 'x-api-key': walk.world.key } })
    const { keys } = (await answer.json()) as { keys: { id: string }[] }
    return Object.entries(placesOf(walk.world, keys[0]!.id)).filter(([name]) => name !== 'sign-in')
  }

  async function someHere() {
    return (await placesHere()).filter(([name]) => (isRelease || kinds.test(name)) && !variants.includes(name))
  }

  /** Without loading the console again, but for the reference, which has an address of its own. */
  async function show(page: Page, place: string): Promise<void> {
    await page.goto(`${walk.world.url}/${place.replace(/^\//, '')}`)
  }

  async function fits(page: Page, name: string): Promise<void> {
    expect([name, await page.locator('h1').count()]).toEqual([name, 1])
    expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 390])
    await (lookedAt.test(name) ? accept : acceptState)(page, name)
  }

  test('with data no page is wider than a phone or a narrow window', async () => {
    for (const narrow of someCases([phone, { viewport: phone.viewport }], 2)) {
      const page = await open('/', narrow)
      await page.locator('.news-live').waitFor(patience)
      for (const [name, { data }] of someCases(await placesHere(), 2)) {
        await show(page, data!)
        await page.locator('h1').waitFor({ ...patience, state: 'attached' })
        await page
          .locator('.skeleton')
          .first()
          .waitFor({ ...patience, state: 'detached' })
        expect([name, await page.evaluate('document.scrollingElement.scrollWidth')]).toEqual([name, 390])
      }
    }
  })

  test('a chain that nothing was asked of fits a phone, and offers what to ask for', async () => {
    const page = await newPage(phone)
    const headers = { 'x-api-key': walk.world.key }
    await page.route('**/events', async route => {
      const told = await firstStatus(`${walk.world.url}/events`, headers)
      told.chains.picked!.contracts = { total: 0, shown: [] }
      await route.fulfill({
        contentType: 'text/event-stream',
        body: `event: status\ndata: ${JSON.stringify(told)}\n\n`,
      })
    })
    const suggested = Array.from({ length: 3 }, (_, at) => ({
      address: `0x${`${at}`.repeat(40)}`,
      label: `A verified collection with a long name ${at}`,
    }))
    await page.route('**/chains/picked/contracts*', route =>
      route.fulfill({ json: { chain: 'picked', contracts: [], suggested, after: null, order: 'transfers' } }),
    )
    await page.goto(`${walk.world.url}/#key=${encodeURIComponent(walk.world.key)}&/chain/picked`)
    await page.getByText('No contract was asked for yet').waitFor(patience)
    const history = page.locator('.panel', { has: page.locator('#history') })
    await history.getByText('nothing asked for yet').waitFor(patience)
    expect(await history.getByText(/complete|Pause/).count()).toBe(0)
    expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(390)
    await page.getByRole('textbox', { name: 'Address of a contract' }).fill('0x12')
    await page.getByRole('button', { name: 'Open contract' }).click()
    await page.getByText('An address is 0x and 40 hex digits.').waitFor(patience)
    expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(390)
  })

  test('a token that says long words and no decimals fits a phone, and says that its amounts are units', async () => {
    const page = await newPage(phone)
    const supply = `${2n ** 255n}`
    await page.route('**/erc20/metadata*', async route => {
      const [token] = (await (await route.fetch()).json()) as object[]
      const said = { name: null, symbol: 'A'.repeat(90), decimals: null, total_supply: supply }
      await route.fulfill({ json: [{ ...token, ...said, total_supply_formatted: null }] })
    })
    await page.route('**/owners*', async route => {
      const answer = (await (await route.fetch()).json()) as { result: object[] }
      const result = answer.result.map(row => ({ ...row, balance: supply, balance_formatted: null }))
      await route.fulfill({ json: { ...answer, result } })
    })
    const { address } = seededCoin
    await page.goto(`${walk.world.url}/#key=${encodeURIComponent(walk.world.key)}&/erc20/eth/${address}/holders`)
    const fact = page.locator('.facts div', { hasText: 'Supply' })
    await fact.getByText(`5.789e76 units ${'A'.repeat(12)}…`).waitFor(patience)
    const row = page.locator('tbody:not(.skeleton) tr').first()
    await row.getByText('5.789e76 units').waitFor(patience)
    expect(await row.locator('[title]', { hasText: 'units' }).first().getAttribute('title')).toContain(supply)
    expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(390)
  })

  test('dates of keys stay in one line, and the bar of a quota stands apart from the scopes', async () => {
    const scopes = ['nft-transfers', 'nft-holdings', 'wallet-chains', 'portfolio', 'ops']
    const order = {
      name: 'a key with many scopes and a long name',
      scopes,
      quota_per_day: 1_000_000,
      expires: '2099-12-31',
    }
    const headers = { 'x-api-key': walk.world.key }
    const made = await fetch(`${walk.world.url}/keys`, { method: 'POST', headers, body: JSON.stringify(order) })
    expect(made.status, await made.clone().text()).toBe(201)
    const wide = await open('/keys', { viewport: { width: 1440, height: 900 } })
    const row = wide.getByRole('row', { name: /many scopes/ })
    await row.waitFor(patience)
    const heights = (await wide.evaluate(`[...document.querySelectorAll('.keys tbody td:not(.scopes)')]
      .filter(cell => !cell.matches('.row-actions') && cell.textContent !== '')
      .map(cell => { const range = document.createRange(); range.selectNodeContents(cell); return range.getBoundingClientRect().height })`)) as number[]
    expect(Math.max(...heights)).toBeLessThan(34)
    expect(await wide.evaluate('document.scrollingElement.scrollWidth')).toBe(1440)
    const fits = `[...document.querySelectorAll('.table-scroll')].every(each => each.scrollWidth <= each.clientWidth)`
    expect(await wide.evaluate(fits)).toBe(true)
    const narrow = await open('/keys', phone)
    const small = narrow.getByRole('row', { name: /many scopes/ })
    await small.waitFor(patience)
    const bar = (await small.locator('meter').boundingBox())!
    const chip = (await small.locator('.chips').boundingBox())!
    expect(chip.y - (bar.y + bar.height)).toBeGreaterThanOrEqual(6)
    // What has a column there has a word here.
    for (const name of ['rate/s', 'last used', 'created', 'expires'])
      expect(await small.locator(`[data-name="${name}"]`).isVisible(), name).toBe(true)
    for (const verb of ['Rotate', 'Revoke'])
      expect(await small.getByRole('button', { name: `${verb} a key with many` }).isVisible(), verb).toBe(true)
  })

  test('what is empty says why, and what can be done next', async () => {
    const page = await open('/', phone)
    await page.locator('.news-live').waitFor(patience)
    for (const [name, { empty }] of await placesHere()) {
      if (empty === undefined || name === 'explorer') continue
      await show(page, empty)
      await page.locator('.empty').first().waitFor(patience)
      await page
        .locator('.skeleton')
        .first()
        .waitFor({ ...patience, state: 'detached' })
      await fits(page, `${name}-empty`)
      // What is not there is said once, and can be neither taken nor filtered.
      expect([name, await page.locator('.empty').count()]).toEqual([name, 1])
      expect([name, await page.locator('.downloads, .list-tools, .moment').count()]).toEqual([name, 0])
    }
  })

  test('what is on its way has its shape and its heading', async () => {
    const page = await freshPage({ ...phone, colorScheme: 'dark' })
    await page.addInitScript(`sessionStorage.setItem('almanac.key', ${JSON.stringify(walk.world.key)})`)
    await holdAnswers(page, 'loading')
    for (const [name, { data }] of await someHere()) {
      await show(page, data!)
      await page.locator('h1').waitFor({ ...patience, state: 'attached' })
      if (!asksNothing.includes(name)) await page.locator('.skeleton i:visible').first().waitFor(patience)
      expect([name, await page.evaluate(undrawn)]).toEqual([name, 0])
      await fits(page, `${name}-loading`)
    }
    // What is known before the answer is said: the names of figures, panels and columns.
    await show(page, '#/')
    for (const name of ['Latency p99', 'Blocks covered', 'Newest blocks', 'Use by key'])
      await page.getByText(name, { exact: true }).waitFor(patience)
    await expect.poll(() => page.locator('.plot').count(), patience).toBe(6)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.locator('thead').getByText('Rows/s', { exact: true }).waitFor(patience)
    await show(page, `#/contract/eth/${seeded.collection}/holders`)
    await expect
      .poll(() => page.locator('thead').allTextContents(), patience)
      .toEqual(['HolderQuantityShare', 'HolderTokenAmountChanged in block'])
    expect(await page.getByRole('slider', { name: 'As of' }).isDisabled()).toBe(true)
  })

  test('what failed says so, can be tried again, and is there by itself once the service answers', async () => {
    const page = await freshPage({ ...phone, colorScheme: 'dark' })
    await page.addInitScript(`sessionStorage.setItem('almanac.key', ${JSON.stringify(walk.world.key)})`)
    await holdAnswers(page, 'broken')
    for (const [name, { data }] of await someHere()) {
      await show(page, data!)
      await page.locator('h1').waitFor({ ...patience, state: 'attached' })
      const isStuck = page.locator('.skeleton').first()
      await isStuck.waitFor({ ...patience, state: 'detached' })
      if (!asksNothing.includes(name)) await page.getByRole('button', { name: 'Try again' }).first().waitFor(patience)
      // The bar says why, once; each panel keeps its title and says that it comes by itself.
      await page.locator('.stale', { hasText: 'The store does not answer.' }).waitFor(patience)
      await expect.poll(async () => [name, await page.getByRole('alert').count()], patience).toEqual([name, 0])
      expect([name, await page.getByRole('button', { name: /^Download/ }).count()]).toEqual([name, 0])
      if (wholes.includes(name)) await page.getByRole('heading', { name, level: 2, exact: false }).waitFor(patience)
      await fits(page, `${name}-broken`)
    }
    await show(page, '#/')
    await page
      .getByText('The service runs, but its status could not be read. Loading resumes by itself.')
      .waitFor(patience)
    await page
      .locator('.panel', { hasText: '503 · request 01K0EXAMPLE' })
      .getByText('Status', { exact: true })
      .waitFor(patience)
    await show(page, '#/keys')
    await page.getByText('no status', { exact: true }).waitFor({ ...patience, state: 'attached' })
    expect(await page.getByRole('button', { name: 'New key' }).isDisabled()).toBe(true)
    await show(page, `#/contract/eth/${seeded.collection}/holders`)
    await page.getByText('Holders by token could not be loaded. Loading resumes by itself.').waitFor(patience)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('link', { name: '#52', exact: true }).waitFor(patience)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('all that a pointer does is done by keyboard, and the focus is seen', async () => {
    const page = await open('/')
    await page.locator('.news-live').waitFor(patience)
    for (const [name, { data }] of await someHere()) {
      await show(page, data!)
      await page.locator('h1').waitFor({ ...patience, state: 'attached' })
      await page
        .locator('.skeleton')
        .first()
        .waitFor({ ...patience, state: 'detached' })
      expect([name, await page.evaluate(pointerOnly)]).toEqual([name, []])
      if (!walked.includes(name)) continue
      await page.evaluate(watchFocus)
      const wanted = Math.min(tabsMax, ((await page.evaluate(`(${focusable})().length`)) as number) - 1)
      for (let presses = 0; presses < wanted; presses++) await page.keyboard.press('Tab')
      const reached = (await page.evaluate('reached')) as { element: string; isSeen: boolean }[]
      expect([name, reached.filter(({ isSeen }) => !isSeen)]).toEqual([name, []])
      expect([name, reached.length]).toEqual([name, wanted])
    }
  })

  test('a page begins at its top, for the keyboard too; Back and Forward go through pages of a list', async () => {
    const page = await open('/chain/sim', { viewport: { width: 1280, height: 500 } })
    const at = () => page.evaluate('[scrollY, document.activeElement.id]')
    const row = page.locator('.panel', { has: page.locator('#contracts') }).locator('tbody a')
    await row.nth(10).click(patience)
    await page.locator('#transfers').waitFor(patience)
    expect(await at()).toEqual([0, 'main'])
    const onPage = (number: number) => page.getByText(`page ${number}`, { exact: true }).waitFor(patience)
    await page.goto(`${walk.world.url}/#/contract/eth/${seeded.collection}`)
    await onPage(1)
    await page.getByRole('link', { name: 'Older', exact: true }).click()
    await onPage(2)
    // The list is read from its top again.
    await expect.poll(() => page.evaluate(`(${isInView})(document.getElementById('transfers'))`), patience).toBe(true)
    await page.goBack()
    await onPage(1)
    await page.goForward()
    await onPage(2)
    expect(page.url()).toContain('cursor=')
  })
})

type Told = { chains: Record<string, { contracts: object }> }

/** As the service tells it. */
async function firstStatus(url: string, headers: Record<string, string>): Promise<Told> {
  const reader = (await fetch(url, { headers })).body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    text += (await reader.read()).value ?? ''
    const found = /event: status\ndata: (.*)\n\n/.exec(text)
    if (found === null) continue
    await reader.cancel()
    return JSON.parse(found[1]!) as Told
  }
}

/** With parts that take keys themselves: plots, the map, forms, code. The others have links and buttons alone. */
const walked = ['overview', 'chain', 'contract', 'explorer', 'keys', 'reference']
/** Of a page with hundreds of links the first ones will do. */
const tabsMax = 30

const isInView = `element => {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}`

/** Shapes without anything to see in them. */
const undrawn = `[...document.querySelectorAll('.skeleton i')]
  .filter(each => [undefined, '::before'].every(part => getComputedStyle(each, part).backgroundColor === 'rgba(0, 0, 0, 0)')).length`

/** What the keyboard should come to, in the order of the page. */
const focusable = `() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(each => !each.disabled && each.tabIndex >= 0 && each.checkVisibility({ visibilityProperty: true }))`

/** What invites a click and has nothing that the keyboard comes to. */
const pointerOnly = `[...document.querySelectorAll('main *')]
  .filter(each => getComputedStyle(each).cursor === 'pointer' && each.checkVisibility())
  .filter(each => !each.closest('a[href], button, label, summary, select, input, [tabindex="0"]'))
  .map(each => each.outerHTML.slice(0, 100))`

/** Begins at the first of them, and notes where the focus goes from there and whether it can be seen. */
const watchFocus = `(() => {
  document.querySelector('.skip').focus()
  window.reached = []
  window.noteFocus ??= addEventListener('focusin', ({ target }) => {
    const { outlineStyle, boxShadow } = getComputedStyle(target)
    reached.push({ element: target.outerHTML.slice(0, 100), isSeen: outlineStyle !== 'none' || boxShadow !== 'none' })
  }) ?? true
})()`
