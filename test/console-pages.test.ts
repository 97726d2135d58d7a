// The pages about one thing: a chain, a contract, a token, a wallet, a block, a transaction. A real browser walks through
// them, from one to the other, on a wide screen and on a phone.
import { execFile } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { patience, walkConsole } from './console-walk.ts'
import { readTokens } from './console-world.ts'
import { seeded, seededTransfers } from './seed.ts'
import { thorough } from './thorough.ts'

walkConsole(walk => {
  const { open, newPage, freshPage, accept, acceptState } = walk
  const headOf = (page: Page) => page.locator('.chain-row', { hasText: 'sim' }).locator('.head')
  const titleOf = (page: Page) => expect.poll(() => page.title(), patience)

  thorough(
    'the map of evidence is zoomed to single blocks by buttons, keys, wheel and drag, and leads to them',
    async () => {
      const page = await open('/chain/sim')
      const map = page.getByRole('application', { name: /^sim: 100 % of the blocks 0 to \d+ are covered/ })
      await map.waitFor(patience)
      const shown = async () => {
        const [, from, to] = /Blocks ([\d,]+) to ([\d,]+) are shown/.exec((await map.getAttribute('aria-label'))!)!
        return [from, to].map(text => Number(text!.replaceAll(',', ''))) as [number, number]
      }
      const blocks = async () => (await shown())[1] - (await shown())[0] + 1
      const whole = await blocks()
      expect(whole).toBeGreaterThan(300)
      await titleOf(page).toBe('sim · chain · Almanac')
      // Kinds of evidence without a block are not listed.
      const rows = page.locator('.evidence-table tbody tr')
      expect(await rows.allTextContents()).toEqual([expect.stringContaining('receipts root')])
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await expect.poll(blocks, patience).toBeLessThan(whole * 0.6)
      const half = await blocks()
      await map.press('+')
      await expect.poll(blocks, patience).toBeLessThan(half * 0.6)
      const before = await shown()
      await map.press('ArrowLeft')
      await expect.poll(async () => (await shown())[0], patience).toBeLessThan(before[0])
      await map.press('0')
      await expect.poll(blocks, patience).toBeGreaterThanOrEqual(whole)
      const box = (await map.boundingBox())!
      const at = (share: number) => [box.x + share * box.width, box.y + box.height / 2] as const
      await page.mouse.move(...at(0.5))
      await expect
        .poll(() => page.locator('.proof-reading').textContent(), patience)
        .toMatch(/^Block \d+ · receipts root/)
      await map.focus()
      await page.mouse.wheel(0, -100)
      await expect.poll(blocks, patience).toBeLessThan(whole * 0.6)
      await map.press('Escape')
      await page.mouse.move(...at(0.25))
      await page.mouse.down()
      await page.mouse.move(...at(0.3))
      await page.mouse.move(...at(0.35))
      await page.mouse.up()
      await expect.poll(blocks, patience).toBeLessThan(whole * 0.15)
      // What is drawn stands there in words, too.
      await page.getByText(/^1 range from block/).click()
      await acceptState(page, 'proof-map')
      const [from] = await shown()
      await page.mouse.click(...at(0))
      await page.getByRole('heading', { name: `Block ${from}` }).waitFor(patience)
      expect(page.url()).toBe(`${walk.world.url}/#/block/sim/${from}`)
      await page.goBack()
      await map.waitFor(patience)
    },
  )

  test('contracts: the busiest first, sorted and searched in the address', async () => {
    const page = await open('/chain/sim')
    const counts = async () =>
      (await page.locator('td[data-title="Transfers"]').allTextContents()).map(text => Number(text.replaceAll(',', '')))
    const panel = page.locator('.panel', { has: page.locator('#contracts') })
    await panel.locator('tbody:not(.skeleton) tr').first().waitFor(patience)
    await expect.poll(async () => (await counts()).length, patience).toBeGreaterThan(5)
    expect(await counts()).toEqual((await counts()).sort((a, b) => b - a))
    expect(await panel.locator('td[data-title="Last activity"] time').count()).toBeGreaterThan(5)
    await panel.getByRole('link', { name: 'Latest activity' }).click()
    await expect.poll(() => page.url(), patience).toContain('/#/chain/sim?order=activity')
    await panel.locator('tbody:not(.skeleton) tr').first().waitFor(patience)
    await panel.getByLabel('Name, symbol or address').fill(walk.world.contract.slice(0, 12))
    await panel.getByLabel('Name, symbol or address').press('Enter')
    await expect.poll(() => panel.locator('tbody:not(.skeleton) tr').count(), patience).toBe(1)
    expect(page.url()).toContain(`search=${walk.world.contract.slice(0, 12)}`)
    await page.reload()
    await expect.poll(() => panel.locator('tbody:not(.skeleton) tr').count(), patience).toBe(1)
    await page.goBack()
    await expect.poll(() => panel.locator('tbody:not(.skeleton) tr').count(), patience).toBeGreaterThan(5)
    await panel.getByLabel('Name, symbol or address').fill('no such name')
    await panel.getByRole('button', { name: 'Search' }).click()
    await page.getByText('No contract matches “no such name”').waitFor(patience)
    await page.goto(`${walk.world.url}/#/chain/sim?search=${walk.world.contract}`)
    await panel.locator('tbody a').first().click(patience)
    await titleOf(page).toMatch(/^Sim erc721 · contract · Almanac$|^0x.* · contract · Almanac$/)
    // Back to the chain from its contract.
    await page.locator('.subject').getByRole('link', { name: 'sim' }).click()
    await page.getByRole('heading', { name: 'sim', level: 1 }).waitFor(patience)
  })

  test('on demand, the first visit of a contract does not contradict itself, and its coverage is no fault', async () => {
    const page = await open('/chain/picked')
    const panel = page.locator('.panel', { has: page.locator('#contracts') })
    await panel.getByText('4 followed on demand').waitFor(patience)
    await expect.poll(() => panel.getByText('complete', { exact: true }).count(), patience).toBe(4)
    const order: string[] = []
    page.on('response', response => {
      if (response.url().includes(`${walk.world.unasked}/transfers`)) order.push('transfers')
    })
    page.on('request', request => {
      if (request.url().includes('/explain/')) order.push('explain')
    })
    await page.goto(`${walk.world.url}/#/contract/picked/${walk.world.unasked}`)
    const count = page.locator('.facts div', { hasText: 'Transfers' }).locator('dd')
    await expect.poll(() => count.textContent(), patience).toMatch(/\d/)
    const told = await count.textContent()
    const rows = await page.locator('tbody:not(.skeleton) tr').count()
    expect(rows).toBeGreaterThan(0)
    expect(Number(told!.replaceAll(',', ''))).toBeGreaterThanOrEqual(rows)
    expect(order.slice(0, 2)).toEqual(['transfers', 'explain'])
    await page.getByRole('application', { name: /^0x[0-9a-f]{40}: 100 % of the blocks/ }).waitFor(patience)
    await acceptState(page, 'contract-on-demand')
  })

  thorough('a token is opened from the page of its chain, which then lists it with what is indexed of it', async () => {
    const page = await open('/chain/picked')
    const panel = page.locator('.panel', { has: page.locator('#tokens') })
    await panel.getByText('No token was asked for yet').waitFor(patience)
    await panel.getByRole('textbox', { name: 'Address of a token' }).fill(walk.world.coin)
    await panel.getByRole('button', { name: 'Open token' }).click()
    await page.locator('tbody:not(.skeleton) tr').first().waitFor(patience)
    await page.locator('.subject').getByRole('link', { name: 'picked' }).click()
    const row = panel.locator('tbody:not(.skeleton) tr')
    await row.getByText('complete', { exact: true }).waitFor(patience)
    await panel.getByText('1 followed on demand').waitFor(patience)
    await acceptState(page, 'chain-tokens')
    await panel.getByLabel('Name, symbol or address').fill('no such token')
    await panel.getByLabel('Name, symbol or address').press('Enter')
    await panel.getByText('No token matches “no such token”').waitFor(patience)
    await panel.getByRole('link', { name: 'all' }).click()
    await row.locator('th a').click()
    await page.getByRole('heading', { level: 1 }).waitFor(patience)
    expect(page.url()).toContain(`/#/erc20/picked/${walk.world.coin}`)
    await page.locator('.facts').getByText('complete', { exact: true }).waitFor(patience)
    expect(await page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]').textContent()).toBe(
      'Overview',
    )
    // As a contract of NFTs it has nothing, and leads back.
    await page.goto(`${walk.world.url}/#/contract/picked/${walk.world.coin}`)
    await page.locator('.subject').getByRole('link', { name: 'View as ERC-20 token' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor(patience)
    expect(page.url()).toContain(`/#/erc20/picked/${walk.world.coin}`)
  })

  thorough('a history that fills while the head stands still is asked for until it is whole', async () => {
    const page = await open('/chain/picked')
    let answers = 0
    await page.route(`**/${walk.world.unasked}/transfers*`, async route => {
      const response = await route.fetch()
      const headers = { ...response.headers(), 'x-index-complete': `${++answers > 2}` }
      await route.fulfill({ response, headers })
    })
    await page.goto(`${walk.world.url}/#/contract/picked/${walk.world.unasked}`)
    const history = page.locator('.facts div', { hasText: 'History' }).locator('dd')
    await history.getByText('not complete yet').waitFor(patience)
    await history.getByText('complete', { exact: true }).waitFor(patience)
    expect(answers).toBeGreaterThan(2)
  })

  thorough('a wallet whose address names no chain opens where it is active', async () => {
    const page = await open(`/wallet/${seeded.alice}/nfts`)
    const chains = page.getByRole('navigation', { name: 'Chains' })
    await expect.poll(() => chains.getByRole('link').first().textContent(), patience).toBe('eth')
    expect(await chains.locator('[aria-current]').textContent()).toBe('eth')
    await page.locator('tbody:not(.skeleton) tr').first().waitFor(patience)
    expect(await chains.getByRole('link').allTextContents()).toEqual(expect.arrayContaining(['polygon', 'sim']))
    // What it has stands at the top, as far as nodes and the index tell it: of eth there is no node.
    await page.getByRole('link', { name: 'Chains', exact: true }).click()
    await expect
      .poll(() => page.locator('.facts > div').allTextContents(), patience)
      .toEqual(expect.arrayContaining(['eth181 NFTs in 3 collections', expect.stringMatching(/^sim0 native/)]))
    await accept(page, 'wallet')
    await page.goto(`${walk.world.url}/#/wallet/0x12`)
    await page.getByText('This is not an address of a wallet.').waitFor(patience)
    expect(await page.getByRole('navigation', { name: 'Views of the wallet' }).count()).toBe(0)
    await page.goto(`${walk.world.url}/#/contract/eth/0x12`)
    await page.getByText('This is not an address of a contract.').waitFor(patience)
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  })

  thorough('pages of transfers stand in the address: newer, older, reload and Back', async () => {
    const page = await open(`/contract/eth/${seeded.collection}`)
    const onPage = (number: number) => page.getByText(`page ${number}`, { exact: true }).waitFor(patience)
    const go = async (name: string) => await page.getByRole('link', { name, exact: true }).click(patience)
    const blocks = () => page.locator('td[data-title="Block"]').allTextContents()
    await onPage(1)
    await go('Older')
    await onPage(2)
    const second = await blocks()
    await go('Older')
    await onPage(3)
    const third = await blocks()
    await page.reload()
    await onPage(3)
    expect(await blocks()).toEqual(third)
    await go('Newer')
    await onPage(2)
    expect(await blocks()).toEqual(second)
    await page.goBack()
    await onPage(3)
    await go('Newest')
    await onPage(1)
    // The other end, and any moment in between, are one step away.
    await go('Oldest first')
    await expect.poll(async () => (await blocks())[0], patience).toBe('1,000')
    await go('Newest first')
    await page.getByLabel('Up to a date (UTC) or block').fill('4,000')
    await page.getByRole('button', { name: 'Show' }).click()
    await expect.poll(async () => Number((await blocks())[0]?.replaceAll(',', '')), patience).toBeLessThanOrEqual(4_000)
    await go('100')
    await expect.poll(async () => (await blocks()).length, patience).toBe(100)
    expect(page.url()).toContain('until=4%2C000&limit=100')
  })

  thorough('a chain that is not configured says so everywhere', async () => {
    const page = await open(`/contract/bsc/${seeded.silent}`)
    await page.getByText('bsc is not configured here', { exact: true }).waitFor(patience)
    await page.getByText('not indexed here').waitFor(patience)
    expect(await page.getByText('Why it is marked as it is').count()).toBe(0)
    expect(await page.getByText('not complete').count()).toBe(0)
    await page.goto(`${walk.world.url}/#/chain/bsc`)
    await page.getByText('chains:\n  bsc:\n    rpc: [http://127.0.0.1:8545]').waitFor(patience)
    await acceptState(page, 'not-configured')
    await page.goto(`${walk.world.url}/#/wallet/${seeded.silent}/nfts?chain=bsc`)
    await page.getByText('bsc is not configured here', { exact: true }).waitFor(patience)
  })

  test('a wallet and a deployer are called by their labels', async () => {
    const page = await open(`/wallet/${seeded.alice}?chain=eth`)
    await page.getByRole('heading', { name: seeded.aliceLabel, level: 1 }).waitFor(patience)
    await titleOf(page).toBe(`${seeded.aliceLabel} · wallet · Almanac`)
    const row = page.getByRole('row', { name: /^eth/ })
    expect(await row.getByRole('link', { name: 'eth' }).getAttribute('href')).toBe('#/chain/eth')
    expect(await row.getByText('not configured').count()).toBe(1)
    await page.goto(`${walk.world.url}/#/contract/eth/${seeded.collection}`)
    const deployer = page.locator('.facts div', { hasText: 'Created by' }).getByRole('link')
    expect(await deployer.textContent(patience)).toBe(seeded.aliceLabel)
    await deployer.click()
    await page.getByRole('heading', { name: seeded.aliceLabel, level: 1 }).waitFor(patience)
  })

  test('transfers lead to their transaction and their block, and blocks to their neighbours', async () => {
    const page = await open(`/contract/sim/${walk.world.contract}`)
    await page.locator('td[data-title="Transaction"] a').nth(3).click(patience)
    await page.getByText('succeeded').waitFor(patience)
    await titleOf(page).toMatch(/^0x[0-9a-f]{4}…[0-9a-f]{4} · transaction · Almanac$/)
    expect(await page.locator('tbody:not(.skeleton) tr').count()).toBeGreaterThan(0)
    // The contract is called the same in the facts and in the list.
    const to = page.locator('.facts div', { hasText: /^To/ }).getByRole('link')
    expect(await page.locator('td[data-title="Collection"] a').allTextContents()).toContain(await to.textContent())
    await acceptState(page, 'transaction')
    const block = page.locator('.facts div', { hasText: 'Block' }).first().getByRole('link')
    const number = Number((await block.textContent())!.replaceAll(',', ''))
    await block.click()
    await page.getByRole('heading', { name: `Block ${number}`, level: 1 }).waitFor(patience)
    await page.locator('.facts').getByText('receipts root').waitFor(patience)
    await page.locator('tbody:not(.skeleton) tr').first().waitFor(patience)
    await titleOf(page).toBe(`sim ${number} · block · Almanac`)
    await accept(page, 'block')
    await page.getByRole('link', { name: '← Previous' }).click()
    await page.getByRole('heading', { name: `Block ${number - 1}`, level: 1 }).waitFor(patience)
    await page.getByRole('link', { name: 'Next →' }).click()
    await page.getByRole('heading', { name: `Block ${number}`, level: 1 }).waitFor(patience)
    await page.goto(`${walk.world.url}/#/block/sim/99999999`)
    await page.getByText(/Block 99,999,999 is not there yet/).waitFor(patience)
    await page.goto(`${walk.world.url}/#/transaction/sim/0x${'ab'.repeat(32)}`)
    await page.getByText('This transaction is in no block').waitFor(patience)
  })

  test('a token has a life: minted, moved, held', async () => {
    const page = await open(`/token/eth/${seeded.collection}/3`)
    const events = page.locator('.timeline li')
    await events.first().waitFor(patience)
    const told = await events.allTextContents()
    expect(told[0]).toMatch(/^Minted to .* · held /)
    expect(told.at(-1)).toMatch(/^Burned by /)
    await titleOf(page).toBe('Collection #3 · token · Almanac')
  })

  thorough('loading, failing and trying again look like what they are', async () => {
    const page = await newPage()
    let answer: (route: Route) => unknown = () => {}
    await page.route('**/api/v2.2/**', route => answer(route))
    await page.goto(`${walk.world.url}/#key=${walk.world.key}&/contract/eth/${seeded.collection}`)
    await page.locator('.panel .skeleton').first().waitFor(patience)
    answer = route => route.fulfill({ status: 503, json: { message: 'The store does not answer.', request_id: 'x1' } })
    await page.reload()
    const note = page.getByRole('alert').filter({ hasText: 'The transfers could not be loaded.' })
    await note.waitFor(patience)
    expect(await note.textContent()).toContain('The store does not answer.')
    await acceptState(page, 'contract-broken')
    answer = route => route.continue()
    await note.getByRole('button', { name: 'Try again' }).click()
    await page.locator('tbody:not(.skeleton) tr').first().waitFor(patience)
  })

  thorough('on a phone a transfer is two lines, and nothing scrolls sideways', async () => {
    const page = await open(`/contract/sim/${walk.world.contract}`, {
      ...{ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
    })
    await expect.poll(() => page.locator('.transfers tbody:not(.skeleton) tr').count(), patience).toBe(25)
    const heights = (await page.evaluate(
      "[...document.querySelectorAll('.transfers tbody:not(.skeleton) tr')].map(row => row.getBoundingClientRect().height)",
    )) as number[]
    expect(heights.reduce((sum, height) => sum + height, 0)).toBeLessThanOrEqual(2_200)
    const width = () => page.evaluate('document.documentElement.scrollWidth')
    for (const route of [
      `contract/sim/${walk.world.contract}`,
      'chain/sim?order=activity',
      'chain/picked',
      `block/sim/${walk.world.node.chain.head - 1}`,
      `account/devnet/${seeded.solanaOwner}`,
      `token/eth/${seeded.collection}/3`,
      `contract/bsc/${seeded.silent}`,
    ]) {
      await page.goto(`${walk.world.url}/#/${route}`)
      await page.locator('tbody:not(.skeleton) tr:visible, .empty, [role=alert]').first().waitFor(patience)
      expect([route, await width()]).toEqual([route, 390])
    }
    // An address that is too long for one line has two alike.
    await page.goto(`${walk.world.url}/#/wallet/${seeded.alice}?chain=eth`)
    const whole = page.locator('.subject .whole')
    await whole.waitFor(patience)
    const widths: number[] = await whole.evaluate(element => {
      const range = element.ownerDocument.createRange()
      range.selectNodeContents(element)
      return Array.from(range.getClientRects(), ({ width }) => width).filter(width => width > 0)
    })
    expect([widths.length, await whole.textContent()]).toEqual([2, seeded.alice])
    expect(widths[1]).toBeCloseTo(widths[0]!, 0)
    await acceptState(page, 'phone-not-configured')
  })

  test('a chain in full: evidence, endpoints, plots', async () => {
    const page = await open('/chain/sim')
    await page.getByRole('heading', { name: 'Coverage' }).waitFor(patience)
    await expect
      .poll(() => page.getByRole('row', { name: /^receipts root/ }).textContent(), patience)
      .toContain('100 %')
    expect(await page.getByRole('row', { name: /^127\.0\.0\.1:/ }).count()).toBe(2)
    await page
      .getByRole('img', { name: /(well|healthy) in 100 % of the last/ })
      .first()
      .waitFor(patience)
    await accept(page, 'chain')
    await page.goto(`${walk.world.url}/#/chain/picked`)
    await page
      .getByRole('img', { name: /^0x[0-9a-f]{40}: .* by one endpoint\.$/ })
      .first()
      .waitFor(patience)
    await acceptState(page, 'chain-on-demand')
    await page.goto(`${walk.world.url}/#/chain/nowhere`)
    await page.getByText('nowhere is not configured here').waitFor(patience)
    await page.getByText('id: 31337 # its chain id').waitFor(patience)
  })

  test('history is paused and resumed, and says who did it', async () => {
    const page = await open('/chain/sim')
    await page.getByText('Every block up to the head is indexed.').waitFor(patience)
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
    await page.getByText('Change the pace').click()
    await page.getByRole('button', { name: 'Pause' }).click(patience)
    const resume = page.getByRole('button', { name: 'Resume' })
    await resume.waitFor(patience)
    const paused = page.getByText('Paused by key ALMANAC_KEY')
    await paused.waitFor(patience)
    expect(await paused.textContent()).not.toContain('Every block')
    await page.getByLabel('Hours of the day (UTC)').fill('midnight')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/^throttle must be null, or an object/).waitFor(patience)
    await acceptState(page, 'chain-paused')
    await resume.click()
    await page.getByRole('button', { name: 'Pause' }).waitFor(patience)
    // Hours hold nothing where all of the history is there.
    await page
      .locator('.panel', { has: page.locator('#history') })
      .getByText('complete')
      .waitFor(patience)
    const hour = (ahead: number) => `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`
    await page.getByLabel('Hours of the day (UTC)').fill(`${hour(2)}-${hour(3)}`)
    await page.getByRole('button', { name: 'Apply' }).click()
    const pace = page.getByText(`From ${hour(2)} to ${hour(3)} UTC.`)
    await expect
      .poll(async () => (await pace.textContent())?.trim(), patience)
      .toBe(`From ${hour(2)} to ${hour(3)} UTC.`)
    await page
      .locator('.panel', { has: page.locator('#history') })
      .getByText('complete')
      .waitFor(patience)
    await page.getByRole('button', { name: 'As configured' }).click()
    await pace.waitFor({ ...patience, state: 'detached' })
  })

  test('a contract: what is known of it, and transfers that arrive while it is looked at', async () => {
    const page = await open(`/contract/eth/${seeded.collection}`)
    await page.getByRole('heading', { name: 'Collection (COLL)' }).waitFor(patience)
    await page.getByText('verified', { exact: true }).waitFor(patience)
    await page.getByText('Why it is marked as it is').click()
    await page.getByRole('application', { name: /0x[0-9a-f]{40}: 100 % of the blocks/ }).waitFor(patience)
    await page.getByText('253', { exact: true }).waitFor(patience)
    await page.getByRole('link', { name: 'Older', exact: true }).click()
    await page.getByText('page 2').waitFor(patience)
    await accept(page, 'contract')
    await page.goto(`${walk.world.url}/#/contract/sim/${walk.world.contract}`)
    await page.locator('td[data-title="Block"]').first().waitFor(patience)
    const newest = async () =>
      Number((await page.locator('td[data-title="Block"]').first().textContent())!.replaceAll(',', ''))
    const before = await newest()
    await expect
      .poll(
        async () => {
          walk.world.node.mine()
          return await newest()
        },
        { ...patience, interval: 1_000 },
      )
      .toBeGreaterThan(before)
    await page.locator('tr.fresh').first().waitFor(patience)
  })

  test('who owns what: a wallet, its collections and its tokens lead to each other', async () => {
    const page = await open(`/wallet/${seeded.alice}?chain=eth`)
    const blocks = () => page.locator('td[data-title="Changed in block"]').allTextContents()
    const views = page.getByRole('navigation', { name: 'Views of the wallet' })
    await views.getByRole('link', { name: 'NFTs', exact: true }).click(patience)
    await page.getByText('page 1', { exact: true }).waitFor(patience)
    await expect.poll(() => page.title(), patience).toBe(`${seeded.aliceLabel} · NFTs · Almanac`)
    await page.getByText('181', { exact: true }).waitFor(patience)
    const first = await blocks()
    expect(first).toHaveLength(25)
    expect(first.slice(0, 4)).toEqual(['20,000', '19,999', '19,998', '6,004'])
    await accept(page, 'wallet-nfts')
    // A page of the list is in the address, and stands still.
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByText('page 2', { exact: true }).waitFor(patience)
    expect(page.url()).toContain('cursor=')
    await page.goBack()
    await page.getByText('page 1', { exact: true }).waitFor(patience)
    expect(await blocks()).toEqual(first)

    await page.getByRole('link', { name: 'NFT transfers', exact: true }).click()
    await page.getByRole('heading', { name: 'NFT transfers' }).waitFor(patience)
    expect(await page.locator('td[data-title="Collection"] a').first().textContent(patience)).toBe('Collection')
    await page.getByRole('link', { name: 'Collections', exact: true }).click()
    const held = page.locator('td[data-title="Tokens held"]')
    await held.first().waitFor(patience)
    // In the order of the service: by address, descending.
    expect(await held.allTextContents()).toEqual(['52', '4', '125'])
    await page.locator('tbody').getByRole('link', { name: 'Collection', exact: true }).click()
    await page.getByRole('link', { name: 'Holders', exact: true }).click(patience)
    await page.getByText('page 1', { exact: true }).waitFor(patience)
    await expect.poll(() => page.locator('dl').textContent(), patience).toBe('Tokens90Holders3Transfers253')
    // Each holder once, the one with the most first.
    const quantities = page.locator('td[data-title="Quantity"]')
    await quantities.first().waitFor(patience)
    expect((await quantities.allTextContents()).map(Number)).toEqual([44, 43, 3])
    expect(await page.title()).toBe('Collection · holders · Almanac')
    await accept(page, 'holders')
    await page.getByRole('link', { name: '#52', exact: true }).click()
    await page.getByRole('heading', { name: 'Collection #52' }).waitFor(patience)
    await expect.poll(() => page.title(), patience).toBe('Collection #52 · token · Almanac')
    await page.locator('dl').getByRole('link', { name: seeded.aliceLabel }).click()
    await page.getByRole('heading', { name: 'NFTs' }).waitFor(patience)
    expect(page.url()).toBe(`${walk.world.url}/#/wallet/${seeded.alice}/nfts?chain=eth`)
  })

  test('a token: what it says of itself, its transfers, and that it has no holder', async () => {
    const page = await open(`/token/eth/${seeded.collection}/${readTokens[0]!.tokenId}`)
    await page.locator('.json', { hasText: 'Deed of the north field' }).waitFor(patience)
    const transfers = page.locator('td[data-title="Type"]')
    await transfers.first().waitFor(patience)
    expect(await transfers.allTextContents()).toEqual(['transfer', 'transfer', 'mint'])
    await accept(page, 'token')
    const show = async (path: string, text: string) => {
      await page.goto(`${walk.world.url}/#/${path}`)
      await page.getByText(text).waitFor(patience)
    }
    const { collection, editions, deeds, silent, alice } = seeded
    await show(`token/eth/${collection}/${readTokens[1]!.tokenId}`, 'none was fetched from where it points')
    await page.getByText(readTokens[1]!.uri).waitFor(patience)
    await show(`token/eth/${collection}/3`, 'This token was burned: nobody holds it.')
    await page.getByRole('heading', { name: 'Collection #3' }).waitFor(patience)
    await page.getByRole('cell', { name: 'burn' }).waitFor(patience)
    await show(`token/eth/${editions}/20`, 'Last received by')
    await page.getByRole('heading', { name: 'Holders' }).waitFor(patience)
    // What is not complete is said, and what is empty, and what was refused.
    await show(`token/polygon/${deeds}/3`, 'polygon is not configured here: what is stored')
    await show(`wallet/${alice}/nfts?chain=polygon`, 'polygon is not configured here: what is stored')
    await show(`wallet/${alice}/nfts?chain=picked`, 'picked is indexed on demand: only contracts')
    const path = `/api/v2.2/nft/${walk.world.unasked}/transfers?chain=picked&limit=1`
    let block: string | undefined
    const moved = async () => {
      const answer = await fetch(`${walk.world.url}${path}`, { headers: { 'x-api-key': walk.world.key } })
      block = ((await answer.json()) as { result?: { block_number: string }[] }).result?.[0]?.block_number
      return block
    }
    await expect.poll(moved, patience).toBeDefined()
    await show(`block/picked/${block}`, 'Not indexed as a whole. picked is indexed on demand')
    await show(`wallet/${silent}/nfts?chain=eth`, 'This wallet holds no NFT on eth')
    await show(`contract/eth/${collection}/holders?cursor=abc`, 'cursor is not valid')
    await page.getByRole('link', { name: 'Back to the first page' }).click()
    await page.getByText('page 1', { exact: true }).waitFor(patience)
  })

  thorough('a list that is not complete is asked for again with the next block, one that is stands still', async () => {
    // Both pages hear of a block at the same time.
    const overview = await open()
    const headShown = () =>
      expect.poll(() => headOf(overview).textContent(), patience).toBe(String(walk.world.node.chain.head))
    await headShown()
    await overview.locator('.chain-row', { hasText: 'sim' }).getByText('live').waitFor(patience)
    const page = await newPage()
    let asked = 0
    await page.route('**/owners?*limit=*', async route => {
      const response = await route.fetch()
      const headers = { ...response.headers(), 'x-index-complete': `${++asked > 1}` }
      await route.fulfill({ response, headers })
    })
    await page.goto(`${walk.world.url}/#key=${walk.world.key}&/contract/sim/${walk.world.contract}/holders`)
    const syncing = page.getByText('Still indexing.')
    await syncing.waitFor(patience)
    // It is named once the status is there, with the head that the next block is compared with.
    await page.locator('footer', { hasText: 'almanac.db' }).waitFor(patience)
    expect(asked).toBe(1)
    walk.world.node.mine()
    await syncing.waitFor({ ...patience, state: 'detached' })
    walk.world.node.mine()
    await headShown()
    expect(asked).toBe(2)
  })

  thorough('the holders of any moment: slid to, typed, linked to, and what the index says of it', async () => {
    const holders = `/contract/eth/${seeded.collection}/holders`
    const page = await open(holders)
    const asked: string[] = []
    page.on('request', request => {
      if (/\/owners\?.*limit=/.test(request.url())) asked.push(request.url())
    })
    const slider = page.getByRole('slider', { name: 'As of' })
    await slider.waitFor(patience)
    await page.getByText('after block 20,000').waitFor(patience)
    await expect.poll(() => slider.isEnabled(), patience).toBe(true)
    const facts = () => page.locator('dl').textContent()
    // Only where the slider comes to rest is asked for.
    asked.length = 0
    await page.evaluate(`for (let step = 0; step < 5; step++) {
      const slider = document.querySelector('[type=range]')
      slider.stepDown()
      slider.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await page.getByText('after block 7,009', { exact: true }).waitFor(patience)
    expect(asked.map(url => new URL(url).searchParams.get('at_date'))).toEqual(['2020-09-16T03:00:00Z'])
    // The left end is the first transfer.
    await slider.press('Home')
    await page.getByText('after block 1,000', { exact: true }).waitFor(patience)
    expect(page.url()).toBe(`${walk.world.url}/#${holders}?at_date=2020-09-13T15%3A46%3A40Z`)
    await expect.poll(facts, patience).toBe('Tokens10Holders1Transfers10')
    expect(await slider.getAttribute('aria-valuetext')).toBe('2020-09-13 15:46:40 UTC')
    await page.getByText('complete: every transfer up to it is indexed').waitFor(patience)
    await acceptState(page, 'holders-at')
    await page.reload()
    await page.getByText('after block 1,000', { exact: true }).waitFor(patience)

    const field = page.getByLabel('Date (UTC) or block')
    // What is neither is refused beside the field, and the answer stays.
    asked.length = 0
    await field.fill('yesterday')
    await field.press('Enter')
    await page.getByText('“yesterday” is neither a date nor a block').waitFor(patience)
    expect(await page.getByText('after block 1,000', { exact: true }).count()).toBe(1)
    expect(asked).toEqual([])
    expect(page.url()).not.toContain('yesterday')
    await field.fill('5,009')
    await field.press('Enter')
    await page.getByText('after block 5,009', { exact: true }).waitFor(patience)
    expect(page.url()).toContain('?at_block=5009')
    await expect.poll(facts, patience).toBe('Tokens90Holders2Transfers250')
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByText('page 2', { exact: true }).waitFor(patience)
    expect(page.url()).toContain('at_block=5009&cursor=')
    await field.fill('20001')
    await field.press('Enter')
    await page.getByText('Block 20,001 is not there yet: the newest is 20,000.').waitFor(patience)
    expect(await page.getByText('page 2', { exact: true }).count()).toBe(1)
    await page.getByRole('button', { name: 'Now' }).click()
    await page.getByText('after block 20,000').waitFor(patience)
    expect(page.url()).toBe(`${walk.world.url}/#${holders}`)
    await page.goto(`${walk.world.url}/#/contract/sim/${walk.world.contract}/holders`)
    await page.getByText('not final: a reorganisation can still change it').waitFor(patience)
    await page.goto(`${walk.world.url}/#/contract/polygon/${seeded.deeds}/holders?at_block=900`)
    await page.getByText('not complete: transfers up to it may be missing').waitFor(patience)
  })

  test('a Solana network opens any account, and one source is named for its slot', async () => {
    const page = await freshPage()
    await page.route('**/events', async route => {
      const headers = { 'x-api-key': walk.world.key }
      const reader = (await fetch(`${walk.world.url}/events`, { headers }))
        .body!.pipeThrough(new TextDecoderStream())
        .getReader()
      let text = ''
      while (!/event: status\ndata: .*\n\n/.test(text)) text += (await reader.read()).value ?? ''
      await reader.cancel()
      const told = JSON.parse(/event: status\ndata: (.*)\n\n/.exec(text)![1]!)
      const rpc = [{ endpoint: 'node.example', healthy: true, requests: 3, errors: 0 }]
      told.solana = { mainnet: { state: 'live', slot: 440_208_069, lag_seconds: 0, rpc } }
      await route.fulfill({
        contentType: 'text/event-stream',
        body: `event: status\ndata: ${JSON.stringify(told)}\n\n`,
      })
    })
    await page.goto(`${walk.world.url}/#key=${encodeURIComponent(walk.world.key)}&/chain/solana%20mainnet`)
    await page
      .getByRole('row', { name: /node\.example/ })
      .getByText('told by the feed')
      .waitFor(patience)
    await page.locator('.stat', { hasText: 'told by the feed' }).getByText('440,208,069').waitFor(patience)
    const field = page.getByLabel('Address of an account')
    await field.fill('0xnot-an-account')
    await field.press('Enter')
    await page.getByText(/^An account is named by its address/).waitFor(patience)
    await acceptState(page, 'solana')
    await field.fill(seeded.solanaOwner)
    await field.press('Enter')
    await page.getByRole('heading', { name: /^Account / }).waitFor(patience)
    expect(page.url()).toBe(`${walk.world.url}/#/account/mainnet/${seeded.solanaOwner}`)
  })

  test('whole lists are saved as files, and one that is not whole is not', async () => {
    const page = await freshPage({ permissions: ['clipboard-read', 'clipboard-write'] })
    // Straight to disk where the browser can: the folder of the page stands for the one that a person chooses.
    await page.addInitScript(`window.showSaveFilePicker = async ({ suggestedName }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`)
    const files = () =>
      page.evaluate(`navigator.storage.getDirectory()
        .then(folder => Array.fromAsync(folder.values(), async file => [file.name, await (await file.getFile()).text()]))`)
    await page.goto(`${walk.world.url}/#key=${walk.world.key}&/contract/eth/${seeded.collection}`)
    const csv = page.getByRole('button', { name: 'Download Transfers as CSV' })
    let answer: (route: Route) => unknown = route => route.fulfill({ contentType: 'text/csv', body: 'a,b\n1,2\n' })
    await page.route('**/transfers?chain=eth', route => answer(route))
    await csv.click(patience)
    await page.getByText('Not whole, so nothing was saved. The list was cut after 1 row:').waitFor(patience)
    const refused = { status: 503, headers: { 'retry-after': '7' }, json: { message: 'Too many whole lists' } }
    answer = route => route.fulfill(refused)
    await csv.click()
    await page.getByText('Too many whole lists').waitFor(patience)
    await page.getByText('Try again in 7 s.').waitFor(patience)
    answer = () => {}
    await csv.click()
    await page.getByRole('button', { name: 'Cancel' }).click(patience)
    await expect.poll(() => csv.isEnabled(), patience).toBe(true)
    await expect.poll(files, patience).toEqual([])
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await csv.click()
    const rows = seededTransfers(seeded.collection).length
    await page.getByText(`Saved whole: ${rows} rows as of block 20,000.`).waitFor(patience)
    const name = `transfers-eth-${seeded.collection}`
    const [[savedName, saved]] = (await files()) as [[string, string]]
    expect(savedName).toBe(`${name}.csv`)
    expect(saved.split('\n')).toHaveLength(rows + 3)
    expect(saved.endsWith(`\n# complete rows=${rows} block=20000\n`)).toBe(true)

    await page.getByRole('button', { name: 'Copy as curl' }).click()
    const curl = (await page.evaluate('navigator.clipboard.readText()')) as string
    expect(curl).not.toContain(walk.world.key)
    const env = { PATH: process.env.PATH, ALMANAC_KEY: walk.world.key }
    const { stdout } = await promisify(execFile)('sh', ['-c', curl.replace(/--output '[^']+'/, '')], { env })
    expect(stdout).toBe(saved)

    // Other browsers keep it in memory until it is whole.
    await page.evaluate('delete window.showSaveFilePicker')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download Transfers as NDJSON' }).click(),
    ])
    expect(file.suggestedFilename()).toBe(`${name}.ndjson`)
    const lines = await text(await file.createReadStream())
    expect(lines.endsWith(`\n{"complete":true,"rows":${rows},"block":20000}\n`)).toBe(true)
    await page.goto(`${walk.world.url}/#/contract/eth/${seeded.collection}/holders?at_block=5009`)
    const [holders] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download Holders by token as CSV' }).click(),
    ])
    expect(holders.suggestedFilename()).toBe(`holders-eth-${seeded.collection}-5009.csv`)
    const held = await text(await holders.createReadStream())
    expect(held).toMatch(/^token_address,token_id,owner_of,.*\n(0x.*\n){90}# complete rows=90 block=5009\n$/)
  })
})
