// ERC-20 over HTTP against what a real node and the tokens themselves say: tokens of every kind, hostile ones too, on
// each engine, through reorganisations.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  erc20Allowance,
  erc20Balances,
  erc20HolderHistory,
  erc20Holders,
  erc20Metadata,
  erc20Owners,
  erc20Stats,
  erc20Transfers,
} from '../src/api/evm/erc20/schemas.ts'
import { exactAmount } from '../src/exact-amount.ts'
import {
  alice,
  bob,
  carol,
  dave,
  erin,
  frank,
  type TokenName,
  TokenWorld,
  type TransferTruth,
  tokenDecimals,
  tokenKinds,
  tokenNames,
  tokenTitles,
  wallets,
  zero,
} from './erc20-world.ts'
import { mine } from './evm-history.ts'
import { patience } from './evm-world.ts'
import { engineAbove } from './store-engines.ts'

const slowMs = 240_000
type Owner = { owner_address: string; balance: string | null; percentage_relative_to_total_supply: number | null }

describe.each(engineAbove('postgres'))('ERC-20 on %s', { timeout: slowMs }, engine => {
  const world = new TokenWorld(engine)
  const addressOf = (name: TokenName) => world.tokens[name].address
  beforeAll(() => world.begin(), slowMs)
  afterAll(() => world.end())

  test('transfers of each token are those of the node, in both orders, in pages and whole', async () => {
    await world.indexed(...tokenNames)
    for (const name of tokenNames) {
      const truth = await world.transfersOf(addressOf(name))
      const path = `/erc20/${addressOf(name)}/transfers`
      erc20Transfers.parse(await world.ok(`${path}?limit=2`))
      const rows = await world.rowsOf<TransferTruth>(`${path}?limit=2`)
      expect(rows, name).toMatchObject(truth)
      expect(await world.rowsOf(`${path}?limit=3&order=ASC`)).toMatchObject(truth.toReversed())
      const lines = await wholeOf(world, path, 'application/x-ndjson')
      expect(
        lines
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line) as object)
          .slice(0, rows.length),
      ).toEqual(rows)
      const csv = await wholeOf(world, path, 'text/csv')
      expect(csv.split(/\r?\n/)[0]!.split(',')).toEqual(Object.keys(rows[0]!))
      expect(await world.ok(`/erc20/${addressOf(name)}/stats`)).toEqual(
        erc20Stats.parse({ transfers: { total: `${truth.length}` } }),
      )
    }
  })

  test('bounds, totals and the dialect of /api/v2', async () => {
    const path = `/erc20/${addressOf('plain')}/transfers`
    const truth = await world.transfersOf(addressOf('plain'))
    const [middle] = truth.slice(2)
    const upTo = truth.filter(row => Number(row.block_number) <= Number(middle!.block_number))
    expect(await world.rowsOf(`${path}?to_block=${middle!.block_number}`)).toMatchObject(upTo)
    expect(
      await world.rowsOf(`${path}?from_block=${middle!.block_number}&to_block=${middle!.block_number}`),
    ).toMatchObject(truth.filter(row => row.block_number === middle!.block_number))
    const body = await world.ok(`${path}?limit=1&disable_total=false`, 'v2')
    expect(erc20Transfers.parse(body)).toMatchObject({
      ...{ total: `${truth.length}`, page: '0', page_size: '1', index_complete: true, block_exists: true },
      result: [
        { possible_spam: 'false', verified_contract: 'false', block_timestamp: truth[0]!.block_timestamp.slice(0, 19) },
      ],
    })
  })

  test('transfers of a wallet: of all tokens, and complete where it names those that are indexed', async () => {
    const all = (await Promise.all(tokenNames.map(name => world.transfersOf(addressOf(name))))).flat()
    const wanted = all
      .filter(row => row.from_address === bob || row.to_address === bob)
      .sort((a, b) => Number(b.block_number) - Number(a.block_number) || b.log_index - a.log_index)
    const rows = await world.rowsOf<TransferTruth>(`/${bob}/erc20/transfers?limit=3`)
    expect(rows).toMatchObject(wanted)
    const { headers } = await world.json(`/${bob}/erc20/transfers`)
    expect(headers.get('x-index-complete')).toBe('false')
    expect(headers.get('x-index-incomplete-reason')).toContain('only tokens that were requested')
    const named = `contract_addresses[]=${addressOf('plain')}&contract_addresses[]=${addressOf('old')}`
    const few = await world.json(`/${bob}/erc20/transfers?${named}&to_block=${await world.head()}`)
    expect([few.headers.get('x-index-complete'), few.headers.get('x-index-incomplete-reason')]).toEqual(['true', null])
    expect(few.body).toMatchObject({
      result: wanted.filter(({ address }) => [addressOf('plain'), addressOf('old')].includes(address as never)),
    })
    const path = `/${bob}/erc20/transfers`
    // What tokens say of themselves may be read between two answers.
    const said = { token_name: null, token_symbol: null, token_decimals: null }
    const lines = (await wholeOf(world, path, 'application/x-ndjson')).split('\n').filter(Boolean)
    expect(lines.slice(0, rows.length).map(line => ({ ...(JSON.parse(line) as object), ...said }))).toEqual(
      rows.map(row => ({ ...row, ...said })),
    )
  })

  test('what tokens say of themselves, indexed or not, by address and by symbol', async () => {
    const addresses = [...tokenNames.map(addressOf), frank]
    await vi.waitFor(async () => {
      const found = erc20Metadata.parse(await world.ok(`/erc20/metadata?addresses=${addresses.join()}`))
      expect(found.map(({ address }) => address)).toEqual(addresses)
      for (const [at, name] of tokenNames.entries()) {
        const supply = await world.says(name, 'totalSupply')
        const places = tokenDecimals[name]
        expect(found[at], name).toMatchObject({
          ...{ name: tokenTitles[name]?.[0] ?? null, symbol: tokenTitles[name]?.[1] ?? null },
          decimals: places === undefined ? null : `${places}`,
          total_supply: supply === undefined ? null : `${supply}`,
          total_supply_formatted:
            places === undefined || supply === undefined ? null : exactAmount(`${supply}`, places),
        })
      }
      expect(found.at(-1)).toMatchObject({ address: frank, name: null, total_supply: null })
      const named = erc20Metadata.parse(
        await world.ok('/erc20/metadata/symbols?symbols[]=pln&symbols[]=OLD&symbols[]=none'),
      )
      expect(named.map(({ address }) => address).sort()).toEqual([addressOf('plain'), addressOf('old')].sort())
    }, patience)
  })

  test('allowances', async () => {
    const path = `/erc20/${addressOf('plain')}/allowance`
    const ask = async (owner: string, spender: string) =>
      erc20Allowance.parse(await world.ok(`${path}?owner_address=${owner}&spender_address=${spender}`)).allowance
    // A busy machine may need longer for what another request asked of the token that never ends.
    const allowed = await vi.waitFor(async () => [await ask(alice, bob), await ask(bob, alice)], patience)
    expect(allowed).toEqual(['77', '0'])
    for (const address of [addressOf('refuses'), addressOf('neverEnds'), frank]) {
      const { status } = await world.json(`/erc20/${address}/allowance?owner_address=${alice}&spender_address=${bob}`)
      expect([address, status]).toEqual([address, 404])
    }
    expect((await world.json(`${path}?owner_address=${alice}`)).body).toMatchObject({
      message: 'spender_address is missing',
    })
  })

  test('the tokens of a wallet are what each token says, now and after an earlier block', async () => {
    const head = await world.head()
    for (const wallet of wallets)
      for (const block of [undefined, head - 1, head - 8]) {
        const query = block === undefined ? '' : `?to_block=${block}`
        // A busy machine may need longer for the token that never ends than a request waits.
        const { headers, body } = await vi.waitFor(async () => {
          const answer = await world.json(`/${wallet}/erc20${query}`)
          expect([answer.status, answer.status === 200 ? '' : answer.body]).toEqual([200, ''])
          return answer
        }, patience)
        const rows = erc20Balances.parse(body)
        const wanted = await heldBy(world, wallet, block)
        expect([wallet, block, Object.fromEntries(rows.map(row => [row.token_address, row.balance]))]).toEqual([
          wallet,
          block,
          wanted,
        ])
        expect(headers.get('x-index-complete')).toBe('false')
        expect(headers.get('x-block-number')).toBe(`${block ?? head}`)
        for (const row of rows) {
          const name = tokenNames.find(each => addressOf(each) === row.token_address)!
          expect(row).toMatchObject({ symbol: tokenTitles[name]![1], decimals: tokenDecimals[name] ?? null })
        }
      }
    const named = [addressOf('plain'), addressOf('refuses'), frank].join()
    const { headers, body } = await world.json(`/${bob}/erc20?token_addresses=${named}`)
    expect(headers.get('x-index-complete')).toBe('true')
    expect(body).toMatchObject([{ token_address: addressOf('plain') }])
    const { status, body: refused } = await world.json(`/${bob}/erc20?to_block=${head + 50}`)
    expect([status, (refused as { code: string }).code]).toEqual([400, 'bad_request'])
  })

  test('owners: exact where the sums are what the token says, and read from it where they are not', async () => {
    for (const name of tokenNames) {
      const path = `/erc20/${addressOf(name)}/owners`
      const supply = await world.says(name, 'totalSupply')
      const { headers, body } = await world.json(`${path}?limit=2`)
      const first = erc20Owners.parse(body)
      const isExact = ['plain', 'old', 'huge'].includes(name)
      expect([name, first.balances, first.total_supply, headers.get('x-index-complete')]).toEqual([
        name,
        isExact ? 'exact' : 'read',
        supply === undefined ? null : `${supply}`,
        'true',
      ])
      const rows = await world.rowsOf<Owner>(`${path}?limit=2`)
      const truth = await sumsOf(world, name)
      expect(
        rows.map(row => row.owner_address),
        name,
      ).toEqual(truth.map(({ owner }) => owner))
      for (const row of rows) {
        const balance = await world.says(name, 'balanceOf', [row.owner_address])
        expect([name, row.balance]).toEqual([name, balance === undefined ? null : `${balance}`])
      }
      const backward = await world.rowsOf<Owner>(`${path}?limit=1&order=ASC`)
      expect(backward).toEqual(rows.toReversed())
      const lines = (await wholeOf(world, path, 'application/x-ndjson')).trim().split('\n')
      const listed = lines.slice(0, -1).map(line => JSON.parse(line) as Owner)
      const shown = rows.map(row => (isExact ? row : { owner_address: row.owner_address, balance: null }))
      expect(listed).toMatchObject(shown)
    }
  })

  test('owners after an earlier block, and after a moment', async () => {
    const head = await world.head()
    const transfers = await world.transfersOf(addressOf('plain'))
    const moment = transfers.at(-2)!.block_timestamp
    const dated = await world.rowsOf<Owner>(`/erc20/${addressOf('plain')}/owners?at_date=${moment}`)
    const block = Number(transfers.at(-2)!.block_number)
    expect(dated.map(row => row.owner_address)).toEqual((await sumsOf(world, 'plain', block)).map(({ owner }) => owner))
    for (const block of [head - 1, head - 8]) {
      const rows = await world.rowsOf<Owner>(`/erc20/${addressOf('plain')}/owners?limit=1&at_block=${block}`)
      const truth = await sumsOf(world, 'plain', block)
      expect(rows.map(row => [row.owner_address, row.balance])).toEqual(
        truth.map(({ owner, amount }) => [owner, `${amount}`]),
      )
    }
  })

  test('holders, how many came and went, and what the largest have', async () => {
    for (const name of ['plain', 'rebasing'] as const) {
      const truth = await sumsOf(world, name)
      const { totalHolders, holderChange, holderSupply, balances } = erc20Holders.parse(
        await world.ok(`/erc20/${addressOf(name)}/holders`),
      )
      expect([name, totalHolders, holderChange['30d'].change]).toEqual([name, truth.length, truth.length])
      expect(balances).toBe(name === 'plain' ? 'exact' : 'read')
      const sum = truth.reduce((all, { amount }) => all + amount, 0n)
      expect(holderSupply.top10).toEqual(
        name === 'plain'
          ? { supply: exactAmount(`${sum}`, 18), supplyPercent: 100 }
          : { supply: null, supplyPercent: null },
      )
    }
  })

  test('the history of holders', async () => {
    const transfers = await world.transfersOf(addressOf('plain'))
    const seconds = (row: TransferTruth) => Date.parse(row.block_timestamp) / 1_000
    const [from, to] = [seconds(transfers.at(-1)!) - 60, seconds(transfers[0]!) + 600]
    const path = `/erc20/${addressOf('plain')}/holders/historical?fromDate=${from}&toDate=${to}&timeFrame=1min`
    const { result } = erc20HolderHistory.parse(await world.ok(path))
    expect(result.length).toBeGreaterThan(3)
    const earlier = seconds(transfers.at(-2)!) + 30
    const past = `/erc20/${addressOf('plain')}/holders/historical?fromDate=${earlier}&toDate=${earlier}`
    expect(erc20HolderHistory.parse(await world.ok(past)).result).toMatchObject([
      { totalHolders: sumOf(transfers.filter(each => seconds(each) <= earlier)).length },
    ])
    for (const [at, row] of result.entries()) {
      const moment = Date.parse(row.timestamp) / 1_000
      const holdersAt = (when: number) => sumOf(transfers.filter(each => seconds(each) <= when)).length
      expect([row.timestamp, row.totalHolders]).toEqual([row.timestamp, holdersAt(moment)])
      expect([at, row.netHolderChange]).toEqual([at, holdersAt(moment) - holdersAt(moment - 60)])
    }
    for (const query of [
      '',
      `?fromDate=${from}`,
      `?fromDate=${to}&toDate=${from}`,
      '?fromDate=2020&toDate=2024&timeFrame=1min',
    ])
      expect([query, (await world.json(`/erc20/${addressOf('plain')}/holders/historical${query}`)).status]).toEqual([
        query,
        400,
      ])
  })

  test('an address without code has no transfers and no owners, and NFT lists know nothing of tokens', async () => {
    expect(await world.ok(`/erc20/${frank}/transfers`)).toMatchObject({ result: [] })
    expect(await world.ok(`/erc20/${frank}/owners`)).toMatchObject({ result: [], total_supply: null })
    expect(await world.ok(`/nft/${addressOf('plain')}/transfers`)).toMatchObject({ result: [] })
    expect(await world.ok(`/nft/${addressOf('plain')}/owners`)).toMatchObject({ result: [] })
    const { seven } = world.chain.history
    expect(await world.ok(`/erc20/${seven.address}/transfers`)).toMatchObject({ result: [] })
    const wallet = await world.rowsOf<{ token_address: string }>(`/${bob}/nft/transfers`)
    expect(wallet.map(row => row.token_address)).not.toContain(addressOf('plain'))
  })

  test('a cursor is for its list, and one that was altered is refused', async () => {
    const { cursor } = await world.ok<{ cursor: string }>(`/erc20/${addressOf('plain')}/owners?limit=1`)
    const others = [
      `/erc20/${addressOf('old')}/owners`,
      `/erc20/${addressOf('plain')}/transfers`,
      `/${bob}/erc20/transfers`,
    ]
    for (const path of others)
      expect([path, (await world.json(`${path}?cursor=${cursor}`)).status]).toEqual([path, 400])
    expect((await world.json(`/erc20/${addressOf('plain')}/owners?cursor=${cursor.slice(1)}`)).status).toBe(400)
  })

  test('after a reorganisation all of it is of the new branch', async () => {
    const { plain, fee, rebasing } = world.tokens
    await world.chain.reorganise([
      [
        { from: 'bob', ...plain.call('transfer', frank, 6n) },
        { from: 'alice', ...fee.call('transfer', frank, 10n) },
      ],
      [{ from: 'alice', ...rebasing.call('transfer', erin, 7n) }],
      [{ from: 'carol', ...plain.call('transfer', dave, 1n) }],
    ])
    await mine(world.chain.node)
    await vi.waitFor(async () => {
      for (const name of ['plain', 'fee', 'rebasing'] as const) {
        const truth = await world.transfersOf(addressOf(name))
        expect(await world.rowsOf(`/erc20/${addressOf(name)}/transfers`), name).toMatchObject(truth)
        const owners = await world.rowsOf<Owner>(`/erc20/${addressOf(name)}/owners?limit=2`)
        expect(owners.map(row => row.owner_address)).toEqual((await sumsOf(world, name)).map(({ owner }) => owner))
      }
      for (const wallet of [alice, dave, frank, carol]) {
        const rows = erc20Balances.parse(await world.ok(`/${wallet}/erc20`))
        expect(Object.fromEntries(rows.map(row => [row.token_address, row.balance]))).toEqual(
          await heldBy(world, wallet),
        )
      }
    }, patience)
  })
})

async function wholeOf(world: TokenWorld, path: string, accept: string): Promise<string> {
  const response = await fetch(`${world.chain.url}/api/v2.2${path}`, {
    headers: { 'x-api-key': 'the-operator-key', accept },
  })
  expect(response.status).toBe(200)
  return await response.text()
}

/** What tokens say that a wallet has, of those that it touched. */
async function heldBy(world: TokenWorld, wallet: string, block?: number): Promise<Record<string, string>> {
  const held: Record<string, string> = {}
  for (const name of tokenKinds) {
    const { address } = world.tokens[name]
    const touched = (await world.transfersOf(address)).some(
      row =>
        (row.from_address === wallet || row.to_address === wallet) &&
        Number(row.block_number) <= (block ?? Number.MAX_SAFE_INTEGER),
    )
    const balance = touched ? await world.says(name, 'balanceOf', [wallet], block) : 0n
    if (balance !== undefined && balance > 0n) held[address] = `${balance}`
  }
  return held
}

type Sum = { owner: string; amount: bigint }

/** Who received more than was given, the largest first. */
function sumOf(transfers: readonly TransferTruth[]): Sum[] {
  const sums = new Map<string, bigint>()
  for (const { from_address: from, to_address: to, value } of transfers) {
    sums.set(from, (sums.get(from) ?? 0n) - BigInt(value))
    sums.set(to, (sums.get(to) ?? 0n) + BigInt(value))
  }
  return [...sums]
    .filter(([owner, amount]) => owner !== zero && amount > 0n)
    .map(([owner, amount]) => ({ owner, amount }))
    .sort((a, b) => (a.amount === b.amount ? (a.owner < b.owner ? -1 : 1) : a.amount > b.amount ? -1 : 1))
}

async function sumsOf(world: TokenWorld, name: TokenName, block = Number.MAX_SAFE_INTEGER): Promise<Sum[]> {
  const transfers = await world.transfersOf(world.tokens[name].address)
  return sumOf(transfers.filter(row => Number(row.block_number) <= block))
}
