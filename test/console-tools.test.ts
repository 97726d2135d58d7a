// The console's tools in a real browser: search, forms, JSON, code that is pasted as it stands, the reference, keys and signing in.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { patience, walkConsole } from './console-walk.ts'
import { truthByContract } from './evm-harness.ts'
import { pythonPath } from './python.ts'
import { someCases } from './release-runs.ts'
import { seeded } from './seed.ts'
import { seededCoin } from './seed-tokens.ts'
import { thorough } from './thorough.ts'

const run = promisify(execFile)
/** Nothing that would help a paste: neither a key nor settings. */
const bare = { env: { PATH: process.env.PATH, HOME: '/nonexistent' } }

walkConsole(walk => {
  const { open, newPage, accept, acceptState } = walk

  async function issue(order: object): Promise<{ id: string; secret: string }> {
    const headers = { 'x-api-key': walk.world.key }
    const answer = await fetch(`${walk.world.url}/keys`, { method: 'POST', headers, body: JSON.stringify(order) })
    return (await answer.json()) as { id: string; secret: string }
  }

  const search = (page: Page) => page.getByRole('combobox', { name: /^Search for an address/ })

  async function find(page: Page, text: string): Promise<string[]> {
    await page.keyboard.press('Control+k')
    await search(page).fill(text, patience)
    await page.getByText(/^\d+ found$|^Nothing here has/).waitFor(patience)
    const found = await page.getByRole('option').allTextContents()
    await page.keyboard.press('Escape')
    await search(page).waitFor({ ...patience, state: 'detached' })
    return found
  }

  test('search takes any name, address, hash, number, chain, key or page', async () => {
    const { id } = await issue({ name: 'searched for', scopes: ['portfolio'] })
    const page = await open('/keys')
    await page.locator('.news-live').waitFor(patience)
    expect((await find(page, 'COLL'))[0]).toMatch(/^contractCollection.*COLL · eth/)
    expect(await find(page, seeded.collection)).toEqual([
      expect.stringMatching(/^contractCollection/),
      expect.stringMatching(/^wallet0x/),
    ])
    const coin = /^tokenCoin of the realmERC-20 · REALM · eth/
    expect((await find(page, 'realm'))[0]).toMatch(coin)
    expect(await find(page, seededCoin.address)).toEqual([
      expect.stringMatching(coin),
      expect.stringMatching(/^wallet0x/),
    ])
    expect(await find(page, 'alice')).toEqual([expect.stringContaining(seeded.aliceLabel)])
    // Blocks are found once they are indexed.
    const blocks = ['blockBlock 300sim', 'blockBlock 300picked'].map(text => expect.stringContaining(text))
    await expect.poll(() => find(page, '300'), patience).toEqual(expect.arrayContaining(blocks))
    // Two chains say that they do not have it, and the node of the third is gone. A search waits a moment only: on a busy
    // machine it may end before the two have answered, so it is made again until they have.
    await expect
      .poll(() => find(page, `0x${'cd'.repeat(32)}`), patience)
      .toEqual(['transaction0xcdcdcdcdcd…cdcdcdcdcdlook it up on gone'])
    const [, [moved]] = [...truthByContract(walk.world.node.chain, { from: 0, to: 299 })][0]!
    const { transactionHash } = moved!
    await expect
      .poll(() => find(page, transactionHash), patience)
      .toEqual([expect.stringMatching(/^transaction0x.*sim · block \d+$/)])
    await page.goto(`${walk.world.url}/#/search?q=${transactionHash}`)
    await expect.poll(() => page.url(), patience).toContain(`#/transaction/sim/${transactionHash}`)
    expect(await page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]').textContent()).toBe(
      'Overview',
    )
    expect(await find(page, 'picked')).toContain('chainpicked')
    expect(await find(page, 'searched f')).toEqual([`keysearched for${id} · active`])
    expect(await find(page, 'revoke')).toContain('pageKeys')
    const onwards = ['pageWhat is served, and what is not', 'pageDocsall pages, by subject']
    expect(await find(page, 'no such thing at all')).toEqual(onwards)
  })

  thorough('search works by keyboard alone, goes to the right page and remembers it in this browser', async () => {
    const page = await open('/')
    await page.locator('.news-live').waitFor(patience)
    await page.keyboard.press('/')
    await search(page).waitFor(patience)
    await expect.poll(() => page.getByRole('group', { name: 'Chains' }).getByRole('option').count()).toBe(3)
    await acceptState(page, 'search-empty')
    await page.keyboard.type('coll')
    // Operations are found by that word too, before the store answers.
    await page
      .getByRole('option', { name: /^contract ?Collection/ })
      .first()
      .waitFor(patience)
    expect(await search(page).getAttribute('aria-activedescendant')).toBe('offer-0')
    await page.keyboard.press('ArrowDown')
    expect(await page.getByRole('option', { selected: true }).getAttribute('id')).toBe('offer-1')
    await accept(page, 'search-found')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain(`#/contract/eth/${seeded.collection}`)
    expect(await search(page).count()).toBe(0)
    // In a field a slash is a slash.
    await page.goto(`${walk.world.url}/#/explore/wallet`)
    await page.getByRole('textbox', { name: 'address' }).press('/')
    expect(await search(page).count()).toBe(0)
    await page.reload()
    await page.getByRole('button', { name: /^Search/ }).click(patience)
    await page
      .getByRole('group', { name: 'Recent' })
      .getByRole('option', { name: /Collection/ })
      .click(patience)
    await expect.poll(() => page.url()).toContain(`#/contract/eth/${seeded.collection}`)
    // The keyboard goes on in the page that was chosen.
    await expect.poll(() => page.evaluate('document.activeElement.id'), patience).toBe('main')
    await page.keyboard.press('Control+k')
    await page.getByRole('button', { name: 'Clear recent' }).click(patience)
    expect(await page.getByRole('group', { name: 'Recent' }).count()).toBe(0)
  })

  thorough('operations are found by words of their name, path and summary', async () => {
    const page = await open('/')
    await page.locator('.news-live').waitFor(patience)
    await page.keyboard.press('Control+k')
    await search(page).fill('owners', patience)
    const found = page.getByRole('group', { name: 'Operations' }).getByRole('option')
    await found.first().waitFor(patience)
    const titles = await found.allTextContents()
    expect(titles).toContain('operationOwners of an NFTGET /api/v2.2/nft/{address}/{token_id}/owners')
    await search(page).fill('token owners')
    await expect.poll(() => found.count(), patience).toBeLessThan(titles.length)
    await search(page).fill('datetoblock')
    await expect.poll(() => found.count(), patience).toBe(1)
    await page.getByText('1 found').waitFor(patience)
    await page.keyboard.press('Enter')
    await page.locator('#getDateToBlockV22').waitFor(patience)
    // A pasted command means its operation, however long it is.
    const all = page.locator('#offers [role=option]')
    await page.keyboard.press('Control+k')
    for (const [path, row] of [
      ['erc20/0x6b175474e89094c44da98b954eedeac495271d0f/price', /^not served ?getTokenPrice ?it needs prices/],
      ['nft/0x6b175474e89094c44da98b954eedeac495271d0f/owners', /^operation ?Owners of a collection/],
    ] as const) {
      await search(page).fill(
        `curl -X GET -H 'accept: application/json' -H 'X-API-Key: ${'k'.repeat(60)}' 'https://deep-index.moralis.io/api/v2.2/${path}?chain=eth'`,
      )
      await expect.poll(() => all.allTextContents(), patience).toEqual([expect.stringMatching(row)])
    }
    // With its values, a chain by its name.
    await search(page).fill(`curl 'https://deep-index.moralis.io/api/v2.2/nft/${seeded.deeds}?chain=0x89&limit=7'`)
    await expect.poll(() => all.allTextContents(), patience).toEqual([expect.stringMatching(/NFTs of a collection/)])
    await page.keyboard.press('Enter')
    const field = (name: string) => page.locator(`#getContractNFTsV22 [name="${name}"]`)
    await expect.poll(() => field('address').inputValue(patience), patience).toBe(seeded.deeds)
    expect([await field('chain').inputValue(), await field('limit').inputValue()]).toEqual(['polygon', '7'])
    // With its body, which is sent only when somebody says so.
    const body = `{"tokens":[{"token_address":"${seeded.deeds}","token_id":"3"}]}`
    await page.keyboard.press('Control+k')
    await search(page).fill(`curl -d '${body}' 'https://deep-index.moralis.io/api/v2.2/nft/getMultipleNFTs?chain=0x89'`)
    await expect.poll(() => all.allTextContents(), patience).toEqual([expect.stringMatching(/Multiple NFTs/)])
    await page.keyboard.press('Enter')
    const pasted = page.locator('#getMultipleNFTsV22 [name="body"]')
    await expect.poll(async () => JSON.parse(await pasted.inputValue(patience)), patience).toEqual(JSON.parse(body))
    expect(await page.locator('[aria-live] > .panel').count()).toBe(0)
    await page.keyboard.press('Control+k')
    // A word within names of contracts comes after what begins with it.
    for (const [text, missing] of [
      ['ens', 'resolveDomain'],
      ['floor price', 'getNFTFloorPriceByContract'],
    ]) {
      await search(page).fill(text!)
      const group = page.getByRole('group', { name: 'Not served' }).getByRole('option')
      await expect.poll(() => group.allTextContents(), patience).toContainEqual(expect.stringContaining(missing!))
      await page.getByRole('group', { name: 'Docs' }).waitFor(patience)
    }
    await page.keyboard.press('Escape')
    await page.goto(`${walk.world.url}/#/search?q=owners`)
    await page.getByRole('link', { name: /^Owners of an NFT/ }).waitFor(patience)
  })

  thorough('pages of the documentation are found too, and both searches are opened by the same keys', async () => {
    const page = await open('/')
    await page.locator('.news-live').waitFor(patience)
    const shown = await page
      .getByRole('button', { name: /^Search/ })
      .locator('kbd')
      .textContent()
    for (const [word, title] of [
      ['reorganisation', 'Reorganisations'],
      ['owners', 'Who owns what'],
      ['backup', 'Backup and restore'],
    ]) {
      await page.keyboard.press('Control+k')
      await search(page).fill(word!, patience)
      const found = page.getByRole('group', { name: 'Docs' }).getByRole('option')
      await expect.poll(() => found.allTextContents(), patience).toContainEqual(expect.stringContaining(title!))
      if (word !== 'backup') await page.keyboard.press('Escape')
      else await found.first().click()
    }
    await page.waitForURL(`${walk.world.url}/docs/backup.html`)
    const field = page.getByRole('combobox', { name: 'Search the docs' })
    expect(await page.locator('.search-button kbd').textContent()).toBe(shown)
    for (const key of ['Control+k', '/']) {
      await page.keyboard.press(key)
      await expect.poll(() => page.evaluate('document.activeElement.id'), patience).toBe('search-text')
      await page.keyboard.press('Escape')
      await field.waitFor({ ...patience, state: 'hidden' })
    }
    // Examples ask the service that serves the page.
    await page.goto(`${walk.world.url}/docs/guides/first-calls.html`)
    await expect
      .poll(() => page.locator('.example .code').first().textContent(), patience)
      .toContain(`${walk.world.url}/api/v2.2/nft/`)
    expect(await page.locator('main').textContent()).not.toContain('http://127.0.0.1:8080')
  })

  thorough('what is typed before the search is there is in its field once it is', async () => {
    const page = await newPage()
    let release = (): void => undefined
    const typed = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/assets/search-dialog-*.js', async route => {
      await typed
      await route.continue()
    })
    await page.goto(`${walk.world.url}/#key=${encodeURIComponent(walk.world.key)}&/`)
    await page.locator('.news-live').waitFor(patience)
    await page.keyboard.press('/')
    await page.keyboard.type('a colx')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    expect(await search(page).count()).toBe(0)
    release()
    await search(page).waitFor(patience)
    expect(await search(page).inputValue()).toBe('a col')
    await page.locator('input:focus').waitFor(patience)
    await page.keyboard.press('Escape')
    await search(page).waitFor({ ...patience, state: 'detached' })
    // The next search begins anew.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('coll')
    await search(page).waitFor(patience)
    await expect.poll(() => search(page).inputValue(), patience).toBe('coll')
  })

  thorough('what a search found is a page that can be linked to', async () => {
    const page = await open('/search?q=coll')
    const contracts = page.locator('.panel', { has: page.getByRole('heading', { name: 'Contracts' }) })
    await contracts.getByRole('link', { name: /^Collection/ }).waitFor(patience)
    expect(await page.title()).toBe('coll · search · Almanac')
    await acceptState(page, 'search-page')
    await page.getByRole('searchbox').fill('nothing is called this')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('Nothing here has “nothing is called this”').waitFor(patience)
  })

  thorough('JSON has colours and folds, and a large answer begins folded', async () => {
    const page = await open(`/explore/transfers?address=${seeded.collection}&chain=eth&limit=100`)
    const answer = page.getByRole('region', { name: 'Answer', exact: true })
    await answer.getByRole('tab', { name: 'JSON' }).click(patience)
    const json = answer.locator('pre.json')
    const rows = json.getByRole('button', { name: 'Unfold this entry' })
    expect(await rows.count()).toBeGreaterThan(50)
    expect(await json.locator('.token-key').count()).toBeLessThan(600)
    await rows.first().click()
    await json.getByRole('button', { name: 'Fold result' }).click()
    expect(await json.textContent()).toContain('"result": [ 100 … ]')
    await acceptState(page, 'json-folded')
    await page.evaluate('navigator.clipboard.writeText = async text => { window.copied = text }')
    await page.getByRole('button', { name: 'Copy the answer' }).click()
    const copied = (await page.evaluate('window.copied')) as string
    expect((JSON.parse(copied) as { result: unknown[] }).result).toHaveLength(100)
  })

  thorough('what stands there to be pasted answers as it is: curl, TypeScript and Python', async () => {
    const page = await open(`/explore/transfers?address=${seeded.deeds}&chain=polygon&limit=2`)
    const panel = page.getByRole('region', { name: 'Code' })
    const code = async (name: string) => {
      await panel.getByRole('tab', { name }).click(patience)
      return (await panel.locator('[role=tabpanel] pre').textContent())!
    }
    // Without the switch nothing that is copied has the key in it.
    for (const name of ['curl', 'TypeScript', 'Python', 'SDK']) expect(await code(name)).not.toContain(walk.world.key)
    await page.getByRole('switch', { name: 'With my key' }).check()
    const isAnswer = (text: string) => expect((JSON.parse(text) as { result: unknown[] }).result).toHaveLength(2)
    isAnswer((await run('sh', ['-c', await code('curl')], bare)).stdout)
    const typescript = ['--input-type=module-typescript', '-e', await code('TypeScript')]
    isAnswer((await run(process.execPath, typescript, bare)).stdout)
    if (pythonPath !== undefined) isAnswer((await run(pythonPath, ['-c', await code('Python')], bare)).stdout)
    else console.warn('python3 was not found, so the Python code was not run.')
    expect(await code('SDK')).toContain(`apiKey: '${walk.world.key}'`)
    await acceptState(page, 'code')
  })

  thorough('forms offer what is configured: each chain once, the others apart, and say so of an answer', async () => {
    const page = await open('/explore/transfers')
    const chain = page.getByLabel('chain', { exact: true })
    await chain.locator('optgroup[label="Configured"]').waitFor({ ...patience, state: 'attached' })
    const names = await chain.locator('option').allTextContents()
    expect(new Set(names).size).toBe(names.length)
    expect(await chain.locator('optgroup').first().locator('option').allTextContents()).toEqual([
      'sim',
      'picked',
      'gone',
    ])
    expect(await chain.locator('optgroup[label="Not configured here"] option').allTextContents()).toContain('eth')
    expect(await chain.inputValue()).toBe('sim')
    await chain.selectOption('bsc')
    await page.getByRole('textbox', { name: 'address' }).fill(seeded.collection)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.badge', { hasText: 'bsc is not configured here' }).waitFor(patience)
    await acceptState(page, 'not-configured')

    await page.goto(`${walk.world.url}/#/explore/wallet`)
    const pills = page.getByRole('group', { name: 'chains' })
    await pills.getByLabel('sim').waitFor(patience)
    expect(await pills.getByRole('checkbox').count()).toBe(3)
    await page.getByText('12 chains that are not configured here').click()
    await page.getByLabel('avalanche').check()

    await page.goto(`${walk.world.url}/#/explore/portfolio`)
    expect(await page.getByLabel('network').inputValue()).toBe('mainnet')
  })

  thorough('the request stands beside its code, whole, with its answer below, and all of it fits a phone', async () => {
    const address = `/explore/transfers?address=${seeded.collection}&chain=eth&limit=5`
    const wide = await open(address, { viewport: { width: 1440, height: 900 } })
    const boxOf = async (page: Page, name: string) => {
      const region = page.getByRole('region', { name, exact: true })
      await region.waitFor(patience)
      return (await region.boundingBox())!
    }
    const answer = await boxOf(wide, 'Answer')
    const [left, right] = [await boxOf(wide, 'Request'), await boxOf(wide, 'Code')]
    expect(right.x).toBeGreaterThan(left.x + left.width)
    expect(answer.y).toBeGreaterThanOrEqual(left.y + left.height)
    expect(answer.width).toBeGreaterThan(left.width + right.width)
    const narrow = await open(address, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true })
    await boxOf(narrow, 'Answer')
    // No part of a command is out of sight, or below the button that copies it.
    for (const page of [wide, narrow]) {
      const code = page.getByRole('region', { name: 'Code' })
      const hidden = `(pre => pre.scrollWidth - pre.clientWidth)(document.querySelector('[aria-labelledby$="-code"] pre'))`
      expect(await page.evaluate(hidden)).toBe(0)
      const [text, button] = [
        (await code.locator('pre').boundingBox())!,
        (await code.getByRole('button', { name: /^Copy/ }).boundingBox())!,
      ]
      expect(text.x + text.width).toBeLessThanOrEqual(button.x)
    }
    expect(await narrow.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  })

  thorough(
    'the explorer and the reference are one page: every operation is asked and read in both places',
    async () => {
      const page = await open('/explore')
      const menu = page.getByRole('navigation', { name: 'Operations' })
      await menu.getByRole('link', { name: 'NFT transfers of a contract' }).waitFor(patience)
      const here = await menu.getByRole('link').allTextContents()
      expect(here.length).toBeGreaterThan(30)
      await menu.getByRole('link', { name: 'GET Owners of a collection' }).click()
      await page.getByRole('heading', { name: 'Owners of a collection', level: 1 }).waitFor(patience)
      await page.getByLabel('chain', { exact: true }).selectOption('eth', patience)
      await page.getByRole('textbox', { name: 'address' }).fill(seeded.collection)
      await page.getByLabel('limit').fill('3')
      await page.getByRole('button', { name: 'Send' }).click()
      // Pages of any list, which stand in the address.
      const first = page.getByRole('link', { name: 'First page' })
      await page.getByRole('link', { name: 'Next page' }).click(patience)
      await first.waitFor(patience)
      expect(page.url()).toContain('/#/explore/getNFTOwners?')
      const asked = new URL(page.url()).hash.replace('#/explore/', '#/')
      expect(asked).toContain('cursor=')
      await page.goto(`${walk.world.url}/reference${asked}`)
      await first.waitFor(patience)
      expect(await menu.getByRole('link').allTextContents()).toEqual(here)
      // A cursor is of the request that it came with.
      await page.getByLabel('limit').fill('4')
      await page.getByRole('button', { name: 'Send' }).click()
      await first.waitFor({ ...patience, state: 'detached' })
      expect(page.url()).toMatch(/\/reference#\/getNFTOwners\?.*limit=4/)
      expect(page.url()).not.toContain('cursor=')
      // A link sends nothing that changes something.
      const orders: string[] = []
      page.on('request', request => {
        if (request.method() !== 'GET') orders.push(request.url())
      })
      await page.goto(`${walk.world.url}/#/explore/createKey?name=stranger`)
      await page.getByRole('button', { name: 'Send' }).waitFor(patience)
      await page.locator('.news-live').waitFor(patience)
      expect(orders).toEqual([])
    },
  )

  thorough('all wrong fields of a new key are told at once, by the names that they have', async () => {
    const page = await open('/keys')
    await page.getByRole('button', { name: 'New key' }).click(patience)
    await page.locator('summary', { hasText: 'Limits' }).click()
    await page.getByLabel('Requests a second').fill('0', patience)
    await page.getByLabel('Requests a day').fill('many')
    await page.getByLabel('Expires').fill('soon')
    const scopes = page.getByRole('group', { name: 'Scopes', exact: true })
    for (const box of await scopes.getByRole('checkbox').all()) await box.uncheck()
    // What is refused is seen, also where it was folded away.
    await page.locator('summary', { hasText: 'Limits' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText(/^Name must be/).waitFor(patience)
    const refusals = (await page.locator('.refusal').allTextContents()).filter(Boolean)
    expect(refusals.map(text => text.split(' must be')[0])).toEqual([
      'Name',
      'Expires',
      'Scopes',
      'Requests a second',
      'Requests a day',
    ])
    expect(await page.getByLabel('Name').evaluate(element => element.ownerDocument.activeElement === element)).toBe(
      true,
    )
    await acceptState(page, 'key-refused')
  })

  test('a key has a page with its use, and is rotated there', async () => {
    const { id, secret } = await issue({ name: 'to be rotated', scopes: ['nft-transfers'], quota_per_day: 10 })
    const ask = (key: string) =>
      fetch(`${walk.world.url}/api/v2.2/nft/${seeded.collection}/transfers?limit=1`, { headers: { 'x-api-key': key } })
    for (let count = 0; count < 9; count++) expect((await ask(secret)).status).toBe(200)
    const page = await open('/keys')
    await page.getByRole('link', { name: 'to be rotated' }).click(patience)
    await page.getByRole('heading', { name: 'to be rotated', level: 1 }).waitFor(patience)
    expect(await page.title()).toBe('to be rotated · key · Almanac')
    await expect
      .poll(async () => {
        await page.reload()
        return await page.getByText('1 left today').count()
      }, patience)
      .toBe(1)
    await page.getByRole('meter', { name: '90 % of the quota' }).waitFor(patience)
    // The sample with these requests may not have been taken yet.
    await page.getByRole('img', { name: /^Requests, per second\. to be rotated: now/ }).waitFor(patience)
    // What was refused is told, by what and for which operation.
    expect(
      (await fetch(`${walk.world.url}/api/v2.2/${seeded.alice}/balance`, { headers: { 'x-api-key': secret } })).status,
    ).toBe(403)
    const refused = page.getByRole('region', { name: 'Last refusals' })
    await refused.getByText('forbidden').waitFor(patience)
    expect(await refused.getByRole('row').last().textContent()).toMatch(
      /^\d{4}-.*403forbidden\/api\/v2\.2\/:address\/balance$/,
    )
    const answers = page.getByRole('region', { name: 'Answers' })
    expect(await answers.getByText('Forbidden (403)').locator('..').textContent()).toBe('Forbidden (403)1')
    expect(await answers.getByText('Answered', { exact: true }).locator('..').textContent()).toBe('Answered9')
    await accept(page, 'key')
    // Its limits are changed, and a refusal speaks as the form does.
    await page.getByRole('button', { name: 'Edit limits' }).click()
    expect(await page.getByLabel('Requests a day').inputValue()).toBe('10')
    await page.getByLabel('Requests a day').fill('lots')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Requests a day must be a whole number from 1 on, or none').waitFor(patience)
    await acceptState(page, 'key-limits')
    await page.getByLabel('Requests a day').fill('none')
    await page.getByLabel('Requests a second').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('any number a day').waitFor(patience)
    await page.locator('.stat .figure', { hasText: /^7\/s$/ }).waitFor(patience)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByText(`Key ${id}, last used: today, 9 requests today.`).waitFor(patience)
    await acceptState(page, 'rotate')
    await page.getByLabel('How long the old key works on').selectOption('1h')
    await page.getByRole('button', { name: 'Rotate it' }).click()
    const successor = (await page.locator('.secret code').textContent(patience))!
    expect((await ask(successor)).status).toBe(200)
    await page.getByRole('button', { name: 'Send it from here' }).click()
    await page.getByText(/^The key works: 200 /).waitFor(patience)
    expect((await ask(secret)).status).toBe(200)
    // Two keys of one name are told apart: which one replaces the other, and until when that works.
    await page.getByText(/^Replaced by [0-9a-f]{12}, expires in 59 min 5\d s/).waitFor(patience)
    expect(await page.getByRole('button', { name: 'Rotate' }).count()).toBe(0)
    // Whoever leaves without the secret is asked, until it was copied.
    await page.getByRole('link', { name: 'Open the new key' }).click()
    await page.getByText('was not copied, and is not shown again').waitFor(patience)
    await acceptState(page, 'key-leaving')
    await page.getByRole('button', { name: 'Stay' }).click()
    expect(page.url()).toContain(id)
    await page.locator('.secret code').dispatchEvent('copy')
    await page.getByRole('link', { name: 'Open the new key' }).click()
    await expect.poll(() => page.url()).not.toContain(id)
    await page.getByText('Replaces', { exact: true }).waitFor(patience)
    const next = page.url().split('/').at(-1)!
    await page.goto(`${walk.world.url}/#/keys`)
    const old = page.getByRole('row', { name: new RegExp(`to be rotated ?${id}`) })
    expect(await old.textContent(patience)).toContain(`to be rotated${id}replacedby ${next}`)
    expect(await old.locator('[data-name=expires]').textContent()).toMatch(/^in 59 min/)
    await expect
      .poll(async () => {
        await page.reload()
        return await old.locator('[data-name="last used"]').textContent(patience)
      }, patience)
      .toBe('today')
    expect(await page.getByRole('row', { name: new RegExp(`to be rotated ?${next}`) }).textContent()).toContain(
      'active',
    )
    await acceptState(page, 'keys-rotated')
    await page.goto(`${walk.world.url}/#/keys/nothing`)
    await page.getByText('There is no such key').waitFor(patience)
  })

  thorough('revoking the key that one is signed in with, or the last one with ops, is warned about', async () => {
    const scopes = ['ops', 'keys']
    const { secret } = await issue({ name: 'my own', scopes, rate_per_second: null })
    const page = await open('/keys', {}, secret)
    await page.getByRole('button', { name: 'Revoke my own' }).click(patience)
    await page.getByText('You are signed in with this key: you will be signed out.').waitFor(patience)
    await accept(page, 'revoke-own')
    expect(await page.getByText(/the last key with the scope ops/).count()).toBe(0)
    await page.getByRole('button', { name: 'Keep it' }).click()
    // The operator's own key has neither, and says why.
    const operators = page.getByRole('row', { name: /^ALMANAC_KEY/ })
    await operators.getByText('Set by the environment').waitFor(patience)
    expect(await operators.getByRole('button').count()).toBe(0)
    await page.getByRole('button', { name: 'Revoke my own' }).click()
    await page.getByRole('button', { name: 'Revoke it' }).click()
    await page.getByText('You revoked the key that you were signed in with.').waitFor(patience)
    expect(await page.getByRole('alert').textContent()).not.toContain('not accept')

    const last = await newPage()
    // As on a service that was started without a key in its environment.
    await last.route('**/keys', async route => {
      const response = await route.fetch()
      const { keys, ...rest } = (await response.json()) as { keys: object[] }
      await route.fulfill({ response, json: { ...rest, keys: keys.map(key => ({ ...key, from_environment: false })) } })
    })
    await last.goto(`${walk.world.url}/#key=${encodeURIComponent(walk.world.key)}&/keys`)
    await last.getByRole('button', { name: 'Revoke ALMANAC_KEY' }).click(patience)
    await last.getByText(/It is the last key with the scope ops/).waitFor(patience)
  })

  thorough('a key that never existed is said to be unknown, and opens nothing', async () => {
    const page = await newPage()
    await page.goto(walk.world.url)
    await page.getByLabel('Key', { exact: true }).fill('alm_nobody-made-this', patience)
    await accept(page, 'sign-in')
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByText('This service does not accept this key.').waitFor(patience)
    expect(await page.getByText('any more').count()).toBe(0)
    expect(await page.evaluate('sessionStorage.length + localStorage.length * 0')).toBe(0)
    await acceptState(page, 'sign-in-refused')
    await page.getByLabel('Key', { exact: true }).fill(walk.world.key)
    await page.getByLabel('Key', { exact: true }).press('Enter')
    await page.locator('.news-live').waitFor(patience)
  })

  thorough('what cannot be a key is said to be none, typed or in a link, and so are several', async () => {
    const page = await newPage()
    await page.goto(walk.world.url)
    await page.getByLabel('Key', { exact: true }).fill('ключ', patience)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByText('This is not a key').waitFor(patience)
    await page.goto(`${walk.world.url}/?again#key=${encodeURIComponent('ключ')}&/keys`)
    await page.getByText('This is not a key').waitFor(patience)
    await page.goto(`${walk.world.url}/#key=one&key=${encodeURIComponent(walk.world.key)}`)
    await page.getByText('The link carries several keys.').waitFor(patience)
    expect(page.url()).toBe(`${walk.world.url}/#/`)
    await page.goto(`${walk.world.url}/reference#/listKeys`)
    await page.getByLabel('X-API-Key').fill('ключ', patience)
    await page.getByRole('button', { name: 'Send' }).click(patience)
    await page.getByText('This is not a key').waitFor(patience)
  })

  test('a link with a key asks before it replaces the one in use, and never forgets the one that is remembered', async () => {
    const { id, secret } = await issue({ name: 'of a stranger', scopes: ['ops', 'keys'] })
    const page = await newPage()
    await page.goto(walk.world.url)
    await page.getByLabel('Key', { exact: true }).fill(walk.world.key, patience)
    await page.getByLabel('Remember').check()
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.locator('.news-live').waitFor(patience)
    const stored = () => page.evaluate("[sessionStorage.getItem('almanac.key'), localStorage.getItem('almanac.key')]")
    const own = page.getByRole('row', { name: /ALMANAC_KEY.*yours/ })
    const question = page.getByRole('dialog', { name: 'Use the key of this link?' })
    const follow = async (from: Page, key: string) => {
      await from.goto(`${walk.world.url}/#key=${encodeURIComponent(key)}&/keys`)
      await question.waitFor(patience)
      expect(from.url()).toBe(`${walk.world.url}/#/keys`)
    }
    // In the tab that is open, which loads nothing anew.
    await follow(page, secret)
    expect(await stored()).toEqual([null, walk.world.key])
    await acceptState(page, 'offered-key')
    await page.keyboard.press('Escape')
    await own.waitFor(patience)
    expect(await stored()).toEqual([null, walk.world.key])
    // As a page that is loaded.
    await page.goto('about:blank')
    await follow(page, secret)
    await question.getByRole('button', { name: 'Keep my key' }).click()
    await own.waitFor(patience)
    await page.goto('about:blank')
    await follow(page, secret)
    await question.getByRole('button', { name: 'Use the link’s key' }).click()
    await page.getByRole('row', { name: /of a stranger.*yours/ }).waitFor(patience)
    expect(await stored()).toEqual([secret, walk.world.key])
    // Once it is refused, it is forgotten alone.
    const headers = { 'x-api-key': walk.world.key }
    await fetch(`${walk.world.url}/keys/${id}`, { method: 'DELETE', headers })
    await page.getByText('This key does not work any more').waitFor(patience)
    expect(await stored()).toEqual([null, walk.world.key])
    await page.reload()
    await own.waitFor(patience)
    // Its own key is nothing to ask about.
    await page.goto(`${walk.world.url}/#key=${encodeURIComponent(walk.world.key)}&/`)
    await page.locator('.chain-row', { hasText: 'sim' }).waitFor(patience)
    expect(await question.count()).toBe(0)
  })

  test('the reference lists each operation once, by title and subject, and finds it by a word', async () => {
    const page = await newPage()
    await page.goto(`${walk.world.url}/reference`)
    const menu = page.getByRole('navigation', { name: 'Operations' })
    await menu.getByRole('link', { name: 'NFT transfers of a contract' }).waitFor(patience)
    const document = await (await fetch(`${walk.world.url}/openapi.json`)).text()
    expect(document).not.toMatch(/moment library|moment reads/)
    const { paths } = JSON.parse(document) as { paths: Record<string, object> }
    const places = new Set(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map(method => `${method} ${path.replace(/^\/api\/v2(\.\d)?\//, '/')}`),
      ),
    )
    expect(await menu.getByRole('link').count()).toBe(places.size + 1)
    await accept(page, 'reference')
    await menu.getByRole('searchbox').fill('solana balance')
    expect(await menu.getByRole('link').allTextContents()).toEqual([
      'Introduction',
      'GETBalance of a Solana account',
      'GETBalance, tokens and NFTs of a Solana account',
    ])
    // By a parameter, and with a typing error.
    await menu.getByRole('searchbox').fill('totalranges')
    expect(await menu.getByRole('link').allTextContents()).toEqual(['Introduction', 'GETNFTs of a collection'])
    await menu.getByRole('searchbox').fill('portfloio')
    expect(await menu.getByRole('link').count()).toBe(2)
    // What is not served says why, and Enter opens its page.
    await menu.getByRole('searchbox').fill('getWalletApprovals')
    const missing = menu.getByRole('region', { name: 'Not served' }).getByRole('link').first()
    expect(await missing.textContent(patience)).toBe(
      'getWalletApprovalsit needs approvals of ERC-20, which are not indexed',
    )
    expect(await missing.getAttribute('href')).toBe('#/getWalletApprovals')
    await menu
      .getByRole('searchbox')
      .fill('https://deep-index.moralis.io/api/v2.2/erc20/0x6b175474e89094c44da98b954eedeac495271d0f/pairs?chain=eth')
    expect(await missing.textContent(patience)).toBe('getTokenPairsit needs prices and markets')
    await menu.getByRole('searchbox').press('Enter')
    await page.getByRole('heading', { name: 'getTokenPairs', level: 1 }).waitFor(patience)
    await page.getByText('GET /erc20/{address}/pairs').waitFor(patience)
    expect(await menu.locator('[aria-current]').count()).toBe(0)
    await acceptState(page, 'reference-not-served')
    // A product of the hosted service, beside the operations that take its place.
    await menu.getByRole('searchbox').fill('webhook')
    expect(await missing.textContent(patience)).toMatch(/^Streamswebhooks of Almanac/)
    expect(await missing.getAttribute('href')).toBe('/docs/guides/react-to-transfers.html')
    expect(await menu.getByRole('link', { name: /webhook/i }).count()).toBeGreaterThan(3)
    await menu.getByRole('searchbox').fill('zyzzyva')
    await menu.getByText('No operation here has “zyzzyva”.').waitFor(patience)
    const served = menu.getByRole('link', { name: 'What is served, and what is not' })
    expect(await served.getAttribute('href')).toBe('/docs/operations.html')
    // The whole ring of the focus is seen.
    const isRingWhole = `(() => {
      const list = document.querySelector('.reference-menu').getBoundingClientRect()
      const field = document.activeElement
      const { left, right, top } = field.getBoundingClientRect()
      const { outlineWidth, outlineOffset } = getComputedStyle(field)
      const ring = parseFloat(outlineWidth) + parseFloat(outlineOffset)
      return ring > 0 && left - ring >= list.left && right + ring <= list.right && top - ring >= list.top
    })()`
    await menu.getByRole('searchbox').focus()
    expect(await page.evaluate(isRingWhole)).toBe(true)
    await menu.getByRole('searchbox').fill('')
    // Enter opens the first.
    await menu.getByRole('searchbox').fill('nfts of a wallet')
    await menu.getByRole('searchbox').press('Enter')
    await page.getByRole('heading', { name: 'NFTs of a wallet', level: 1 }).waitFor(patience)
    expect(await page.locator('.operation-id').textContent()).toBe('getWalletNFTs')
    await page.getByRole('button', { name: 'Copy the id of the operation' }).waitFor(patience)
    expect(await page.title()).toBe('NFTs of a wallet · reference · Almanac')
    await page.getByText('Needs the scope nft-holdings.').waitFor(patience)
    const guides = page.locator('.operation-needs').getByRole('link')
    expect(await guides.allTextContents()).toEqual([
      ...['Who owns what', 'Pagination', 'Whole lists', 'counts and flags as text'],
    ])
    const versions = page.locator('.operation-needs', { hasText: 'Also under v2.1, and under v2 with' })
    expect(await versions.locator('code[title="/api/v2/{address}/nft"]').textContent(patience)).toBe('v2')
    // The shape and an example stand there without a click.
    const shape = page.getByRole('region', { name: 'Response fields' })
    await shape.getByText('result', { exact: true }).waitFor(patience)
    await page.getByText('"status": "SYNCED"').waitFor(patience)
    await acceptState(page, 'reference-operation')
    // What an address leads to is in the list, whatever was looked for before; the list is one stop of the Tab key.
    await menu.getByRole('searchbox').fill('portfolio')
    await page.goto(`${walk.world.url}/reference#/getNFTOwnersV22`)
    await menu.locator('[aria-current]', { hasText: 'Owners of a collection' }).waitFor(patience)
    expect(await menu.getByRole('searchbox').inputValue()).toBe('')
    await menu.getByRole('searchbox').focus()
    await page.keyboard.press('Tab')
    const focused = () => page.evaluate('document.activeElement.textContent')
    expect(await focused()).toBe('GETOwners of a collection')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('GETUnique owners of a collection')
    await page.keyboard.press('Tab')
    expect(await page.evaluate("document.activeElement.closest('.reference-menu') === null")).toBe(true)
    await page.goto(`${walk.world.url}/reference#/getTokenPrice`)
    await page.getByText('Almanac does not serve getTokenPrice: it needs prices and markets.').waitFor(patience)
    const listed = page
      .getByRole('main')
      .getByRole('article')
      .getByRole('link', { name: /^What is served/ })
    expect(await listed.getAttribute('href')).toBe('/docs/operations.html#getTokenPrice')
    await expect.poll(() => page.title(), patience).toBe('getTokenPrice · reference · Almanac')
    // What is no operation at all marks nothing, and can be searched for.
    await page.goto(`${walk.world.url}/reference#/nftowner`)
    await page.getByText('No operation has the id nftowner.').waitFor(patience)
    await expect.poll(() => page.title(), patience).toBe('nftowner · reference · Almanac')
    expect(await menu.locator('[aria-current]').count()).toBe(0)
    await page.getByRole('main').getByRole('link', { name: 'Owners of a collection' }).first().waitFor(patience)
    await page.goto(`${walk.world.url}/reference#/getTokenPrise`)
    await page.getByRole('main').getByRole('link', { name: 'getTokenPrice' }).waitFor(patience)
    await page.goto(`${walk.world.url}/reference#/nftowner`)
    await page.getByRole('button', { name: 'Search for “nftowner”' }).click()
    expect(await search(page).inputValue(patience)).toBe('nftowner')
    await page.keyboard.press('Escape')
    await page.goto(`${walk.world.url}/reference#getWalletNFTs`)
    await page.getByRole('heading', { name: 'NFTs of a wallet', level: 1 }).waitFor(patience)
    // The address of the console names the same page, and the search needs no key.
    await page.goto(`${walk.world.url}/reference#/explore/getNFTOwnersV22`)
    const failure = page.locator('.failure:has(> summary > code:text-is("chain_not_configured"))')
    await failure.locator('summary').click(patience)
    await failure.getByText('"configured"').waitFor(patience)
    expect(await failure.getByRole('link').getAttribute('href')).toBe('/docs/errors.html#chain_not_configured')
    await page.keyboard.press('Control+k')
    await search(page).fill('portfolio', patience)
    await page.getByRole('option', { name: /^operation ?Balance, tokens/ }).click(patience)
    await page.getByRole('heading', { name: 'Balance, tokens and NFTs of a Solana account' }).waitFor(patience)
    expect(page.url()).toBe(`${walk.world.url}/reference#/getPortfolio`)
  })

  thorough(
    'the reference asks with the key of the console, with examples that answer here, and leads back',
    async () => {
      const page = await open('/keys')
      await page.locator('.news-live').waitFor(patience)
      await page.getByRole('link', { name: 'Reference', exact: true }).click()
      await page.getByText('Requests from these pages carry the key that you signed in with.').waitFor(patience)
      const ask = async (id: string): Promise<string> => {
        await page.goto(`${walk.world.url}/reference#/${id}`)
        await page.locator(`#${id}`).getByRole('button', { name: 'Send' }).click(patience)
        const answer = page.locator('[aria-live] > .panel')
        await answer.waitFor(patience)
        return (await answer.textContent())!
      }
      for (const id of ['getNFTContractTransfersV22', 'getNFTMetadataV22', 'getWalletActiveChainsV22', 'getBlockFacts'])
        expect(await ask(id), id).toMatch(/^Answer200/)
      expect(await ask('getNFTContractTransfersV22')).not.toContain('"result": []')
      // Another key is tried without signing out, and forgotten once its field is folded.
      const panel = page.locator('#getNFTContractTransfersV22')
      await panel.getByText('With another key').click(patience)
      await page.getByLabel('X-API-Key').fill('alm_of_nothing')
      await panel.getByRole('button', { name: 'Send' }).click()
      await panel.locator('.panel-heading .refusal').waitFor(patience)
      // The title, the key and the refusal: three rows at most.
      expect((await panel.locator('.panel-heading').first().boundingBox())!.height).toBeLessThan(120)
      await page.goto(`${walk.world.url}/reference#/getBlockFacts`)
      expect(await page.locator('#getBlockFacts').getByLabel('X-API-Key').inputValue(patience)).toBe('alm_of_nothing')
      await page.locator('#getBlockFacts').getByText('With another key').click()
      expect(await ask('getBlockFacts')).toMatch(/^Answer200/)
      // A refusal goes with the text that it is about, and the code names what is missing.
      await page.goto(`${walk.world.url}/reference#/getWalletNFTsV22`)
      const wallet = page.locator('#getWalletNFTsV22')
      const address = wallet.getByRole('textbox', { name: /^address/ })
      await address.fill('0x12', patience)
      await wallet.getByRole('button', { name: 'Send' }).click(patience)
      await wallet.locator('.refusal').waitFor(patience)
      await address.fill('')
      await wallet.locator('.refusal').waitFor({ ...patience, state: 'detached' })
      const code = wallet.locator('[role=tabpanel] pre')
      await expect.poll(() => code.first().textContent(), patience).toContain('/api/v2.2/{address}/nft')
      // Bodies name tokens and contracts of this service too.
      for (const id of ['getMultipleNFTsV22', 'getNFTBulkContractMetadataV22']) {
        const answer = await ask(id)
        expect(answer, id).toMatch(/^Answer200/)
        expect(answer, id).toContain('token_address')
      }
      expect(await ask('listKeys')).toMatch(/^Answer200/)
      expect(await ask('getEvents')).toContain('event: history')
      await page.getByRole('switch', { name: 'With my key' }).check()
      await page.goto(`${walk.world.url}/reference#/createKey`)
      const command = (await page.locator('#createKey [role=tabpanel] pre').textContent(patience))!
      expect((await run('sh', ['-c', command], bare)).stdout).toContain('"secret":"alm_')
      await page.getByRole('link', { name: 'Overview', exact: true }).click()
      await page.locator('.news-live').waitFor(patience)
    },
  )

  thorough(
    'the reference and the docs answer a question alike, in the same box, and share the language of examples',
    async () => {
      const page = await newPage()
      const rows = page.locator('[role=option]')
      const found = async (asked: string) => {
        await page.keyboard.press('Control+k')
        await page.keyboard.type(asked)
        await page.getByText(/^\d+ found|This is close to it/).waitFor(patience)
        const titles = await rows.locator('.offer-title').allTextContents()
        const groups = await page.locator('.offers-title').allTextContents()
        await page.keyboard.press('Escape')
        return { titles, groups }
      }
      for (const asked of someCases(['how do I rotate a key', 'next page', 'what does SYNCING mean'], 3)) {
        await page.goto(`${walk.world.url}/docs/index.html`)
        const inDocs = await found(asked)
        expect(inDocs.titles.length, asked).toBeGreaterThan(2)
        await page.goto(`${walk.world.url}/reference`)
        await page.getByRole('heading', { name: 'Your first request' }).waitFor(patience)
        await expect.poll(() => found(asked), patience).toEqual(inDocs)
      }
      await page.keyboard.press('Control+k')
      await page.keyboard.type('rotate an api key')
      await rows.filter({ hasText: 'Keys and limits' }).first().click(patience)
      await page.waitForURL(`${walk.world.url}/docs/guides/keys-and-limits.html#rotate-a-key`)

      await page.goto(`${walk.world.url}/docs/guides/first-calls.html`)
      await page.getByRole('tab', { name: 'Python' }).first().click(patience)
      await page.goto(`${walk.world.url}/reference`)
      expect(await page.getByRole('tab', { selected: true }).textContent(patience)).toBe('Python')
      await page.getByRole('tab', { name: 'SDK' }).click(patience)
      await page.goto(`${walk.world.url}/docs/guides/first-calls.html`)
      expect(await page.getByRole('tab', { selected: true }).first().textContent(patience)).toBe('SDK')
    },
  )

  thorough(
    'a body that is not JSON is marked at its field with the place, and the code keeps what was JSON',
    async () => {
      const page = await open('/explore/getMultipleNFTsV22', { viewport: { width: 1440, height: 900 } })
      const body = page.getByRole('textbox', { name: 'body' })
      await body.waitFor(patience)
      const tokens = (JSON.parse(await body.inputValue()) as { tokens: unknown[] }).tokens
      expect(tokens.length).toBe(2)
      const fields = page.getByRole('region', { name: 'Body fields' })
      const required = fields.locator('.required').locator('xpath=..').locator('.schema-name')
      await expect.poll(() => required.allTextContents(), patience).toEqual(['tokens', 'token_address', 'token_id'])
      // What was answered before is not current once the body is no JSON; the example stays.
      await page.getByRole('button', { name: 'Send' }).click()
      const answer = page.locator('[aria-live] > .panel')
      await answer.getByText('200', { exact: true }).waitFor(patience)
      await body.fill(JSON.stringify({ tokens: tokens.slice(1) }))
      await answer.getByText('to the request before your changes').waitFor(patience)
      await body.fill('{"tokens": [\n  {"token_id": 1,}\n]}')
      await page.getByText('with your last body that was JSON').waitFor(patience)
      await page.getByRole('button', { name: 'Send' }).click()
      expect(await answer.count()).toBe(0)
      expect(await page.getByRole('region', { name: 'Example answer' }).count()).toBe(1)
      await page.getByText('Not JSON at line 2, column 18').waitFor(patience)
      expect(await body.getAttribute('aria-invalid')).toBe('true')
      expect(await body.evaluate('document.activeElement.selectionStart')).toBe(30)
      for (const name of ['Python', 'SDK']) {
        await page.getByRole('tab', { name }).click()
        expect(await page.getByRole('region', { name: 'Code' }).locator('pre').textContent()).toContain('tokens')
      }
      await body.fill('{"tokens": [{"token_address": "0x12", "token_id": "1"}]}')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('tokens[0].token_address must be 0x and 40 hex digits').first().waitFor(patience)
      await answer.getByText('400', { exact: true }).waitFor(patience)
      await body.fill('{"tokens": [{"token_address": "0x0000000000000000000000000000000000000001"}]}')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('tokens[0].token_id is missing').first().waitFor(patience)
      expect(await body.getAttribute('aria-invalid')).toBe('true')
      // Code that takes a body can be pasted as it stands, and its address breaks between its parts alone.
      await page.goto(`${walk.world.url}/reference#/getMultipleNFTsV22`)
      await page.reload()
      await page.getByText('of this service').waitFor(patience)
      await page.getByRole('switch', { name: 'With my key' }).check(patience)
      await page.getByRole('tab', { name: 'Python' }).click()
      const python = (await page.getByRole('region', { name: 'Code' }).locator('pre').textContent())!
      expect(python).toContain('data=json.dumps({')
      if (pythonPath !== undefined) {
        const { stdout } = await run(pythonPath, ['-c', python], bare)
        expect((JSON.parse(stdout) as unknown[]).length).toBe(2)
      }
      // What is never asked only to be looked at is of no chain.
      await page.goto(`${walk.world.url}/reference#/createKey`)
      await page.getByText('201 application/json · from the docs').waitFor(patience)
      await page.goto(`${walk.world.url}/reference#/getNFTOwnersV22`)
      await page.getByRole('tab', { name: 'curl' }).click(patience)
      const broken = `[...document.querySelectorAll('[aria-labelledby$="-code"] pre .token-text')].flatMap(token => {
      const texts = document.createTreeWalker(token, NodeFilter.SHOW_TEXT)
      const found = []
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
        for (const { index, 0: word } of text.data.matchAll(/[A-Za-z0-9]+/g)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          if (range.getClientRects().length > 1) found.push(word)
        }
      return found
    })`
      expect(await page.evaluate(broken)).toEqual([])
    },
  )

  test('without signing in the reference takes a key that it keeps nowhere; the sandbox’s is written out', async () => {
    const page = await newPage()
    await page.goto(`${walk.world.url}/reference#/listKeys`)
    await page.getByRole('button', { name: 'Send' }).click(patience)
    const refused = page.locator('[aria-live] > .panel')
    await refused.getByText('401', { exact: true }).waitFor(patience)
    expect(await page.getByLabel('X-API-Key').getAttribute('aria-invalid')).toBe('true')
    // What is wrong with the key moves nothing.
    const heading = page.locator('.panel-heading', { has: page.getByLabel('X-API-Key') })
    await heading.locator('.refusal').waitFor(patience)
    expect((await heading.boundingBox())!.height).toBeLessThan(56)
    const command = page.locator('#listKeys [role=tabpanel] pre')
    await page.getByLabel('X-API-Key').fill('sandbox')
    expect(await page.getByLabel('X-API-Key').getAttribute('aria-invalid')).toBe('false')
    expect(await command.textContent()).toContain("'X-API-Key: sandbox'")
    await page.getByLabel('X-API-Key').fill(walk.world.key)
    expect(await command.textContent()).not.toContain(walk.world.key)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[aria-live]').getByText('"asked_by"').waitFor(patience)
    expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain(walk.world.key)
  })

  thorough('in a sandbox the reference answers without signing in, with examples of its own', async () => {
    const page = await newPage()
    await page.route('**/openapi.json', async route => {
      const document = await (await route.fetch()).json()
      document.info['x-sandbox-key'] = walk.world.key
      await route.fulfill({ json: document })
    })
    await page.goto(`${walk.world.url}/reference#/getNFTContractTransfersV22`)
    await page.getByRole('banner').getByText('Sandbox').waitFor(patience)
    // The example is of what the form holds, and stays beside the answer.
    const example = page.getByRole('region', { name: 'Example answer' })
    const address = await page.getByRole('textbox', { name: 'address' }).inputValue(patience)
    await example.getByText(`"${address}"`).waitFor(patience)
    await page.locator('#getNFTContractTransfersV22').getByRole('button', { name: 'Send' }).click(patience)
    const answer = page.locator('[aria-live] > .panel')
    await answer.waitFor(patience)
    expect(await answer.textContent()).toMatch(/^Answer200/)
    expect(await answer.textContent()).not.toContain('"result": []')
    expect(await example.count()).toBe(1)
    expect(page.url()).toContain('chain=sim')
    expect((await answer.boundingBox())!.y).toBeLessThan(page.viewportSize()!.height / 2)
    // Its link is answered at once, too.
    await page.reload()
    await answer.getByText('200', { exact: true }).waitFor(patience)
    // What it leads to is asked here too: its page would ask to sign in.
    const links = answer.locator('td a')
    expect(await links.count()).toBeGreaterThan(0)
    for (const href of await links.evaluateAll(all => all.map(each => each.getAttribute('href'))))
      expect(href).toMatch(/^#\/get\w+\?/)
    await links.first().click()
    await answer.getByText('200', { exact: true }).waitFor(patience)
  })

  thorough('an operation on tokens offers the chains that can answer it', async () => {
    const page = await newPage()
    await page.route('**/openapi.json', async route => {
      const document = await (await route.fetch()).json()
      document.info['x-sandbox-key'] = walk.world.key
      await route.fulfill({ json: document })
    })
    await page.route('**/status', async route => {
      const told = await (await route.fetch()).json()
      // As archives, of which the second keeps every token.
      Object.assign(told.chains.sim, { rpc: [], erc20: undefined })
      Object.assign(told.chains.picked, { rpc: [], views: ['transfers', 'erc20'] })
      await route.fulfill({ json: told })
    })
    const chain = page.getByLabel('chain', { exact: true })
    const offered = async (operation: string): Promise<string[]> => {
      await page.goto(`${walk.world.url}/reference#/${operation}`)
      await page.locator(`#${operation}`).waitFor(patience)
      const options = chain.locator('optgroup[label="Configured"] option')
      await options.first().waitFor({ ...patience, state: 'attached' })
      return await options.allTextContents()
    }
    expect(await offered('getNFTContractTransfersV22')).toEqual(['sim', 'picked', 'gone'])
    expect(await offered('getTokenTransfersV22')).toEqual(['picked', 'gone'])
    expect(await chain.inputValue()).toBe('picked')
    // One that a link names stays what it is.
    await page.goto(`${walk.world.url}/reference#/getTokenTransfersV22?chain=sim&address=${seededCoin.address}`)
    await expect.poll(() => chain.inputValue(), patience).toBe('sim')
  })

  test('the form of the reference offers what there is, and says beside a field that it is missing', async () => {
    const page = await newPage()
    await page.route('**/openapi.json', async route => {
      const document = await (await route.fetch()).json()
      document.info['x-sandbox-key'] = walk.world.key
      await route.fulfill({ json: document })
    })
    await page.goto(`${walk.world.url}/reference#/getWalletNFTsV22`)
    // Chains that are configured, then the others; yes or no is chosen.
    const chain = page.getByLabel('chain', { exact: true })
    await chain
      .locator('optgroup[label="Configured"] option')
      .first()
      .waitFor({ ...patience, state: 'attached' })
    expect(await chain.locator('optgroup').count()).toBe(2)
    await page.getByText('integer 1–100 · default 100').waitFor(patience)
    expect(await page.getByLabel('exclude_spam').locator('option').allTextContents()).toEqual(
      expect.arrayContaining(['true', 'false']),
    )
    // A refusal goes with the field that it was about, and says beside it what is missing.
    const address = page.getByRole('textbox', { name: /^address/ })
    await page.getByRole('button', { name: 'Send' }).click()
    const answer = page.locator('[aria-live] > .panel')
    await answer.getByText('200', { exact: true }).waitFor(patience)
    await address.fill('0x12')
    await answer.getByText('to the request before your changes').waitFor(patience)
    await page.getByRole('button', { name: 'Send' }).click()
    await answer.getByText('400').first().waitFor(patience)
    // The field is in view with its refusal, below the heading that stays.
    const [box, fixed] = [(await address.boundingBox())!, page.locator('.panel-heading', { hasText: 'Request' })]
    expect(box.y).toBeGreaterThan((await fixed.boundingBox())!.y + 40)
    expect(box.y + box.height).toBeLessThan(page.viewportSize()!.height)
    const solve = answer.getByRole('link', { name: 'How to solve it' })
    expect(await solve.getAttribute('href')).toBe('/docs/errors.html#bad_request')
    await address.fill('')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('address is required').waitFor(patience)
    expect(await answer.count()).toBe(0)
    expect(await address.evaluate(field => field.matches(':focus'))).toBe(true)
    // The SDK has this one, and not the owners without their tokens.
    const tabs = page.getByRole('tablist', { name: 'Languages' }).getByRole('tab')
    expect(await tabs.allTextContents()).toEqual(['curl', 'TypeScript', 'Python', 'SDK'])
    await tabs.last().click()
    await page.getByText('Moralis.EvmApi.nft.getWalletNFTs').waitFor(patience)
    await page.goto(`${walk.world.url}/reference#/getUniqueOwnersByCollectionV22`)
    await page.getByRole('heading', { name: 'Unique owners of a collection', level: 1 }).waitFor(patience)
    expect(await tabs.allTextContents()).toEqual(['curl', 'TypeScript', 'Python'])
  })

  test('on a phone the menu of the reference is folded, and nothing is wider than the screen', async () => {
    const page = await newPage({
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
      colorScheme: 'dark',
    })
    await page.goto(`${walk.world.url}/reference#/getNFTContractTransfersV22`)
    const menu = page.getByRole('navigation', { name: 'Operations' })
    const toggle = menu.getByRole('button', { name: /NFT transfers of a contract/ })
    await toggle.waitFor(patience)
    expect(await menu.getByRole('link').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await acceptState(page, 'phone-reference')
    await toggle.click()
    await menu.getByRole('link', { name: 'NFT metadata' }).click()
    await page.getByRole('heading', { name: 'NFT metadata', level: 1 }).waitFor(patience)
    expect(await menu.getByRole('link').count()).toBe(0)
  })
})
