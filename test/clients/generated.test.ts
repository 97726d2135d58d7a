// A client generated from our own document: it works, and it stops compiling when the document says something else.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTypescript from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seeded, seededHoldings, seededTransaction, seededTransfers } from '../seed.ts'
import { seededCoin } from '../seed-tokens.ts'
import { typedCalls } from './typed-calls.ts'
import { startWorld, type World } from './world.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const document = join(root, 'docs/openapi.json')
const generatedFile = 'web/openapi.gen.ts'
const callsFile = 'test/clients/typed-calls.ts'

async function generate(text: string): Promise<string> {
  return await openapiTypescript(JSON.parse(text))
}

/** What the compiler says about the calls when the generated types are these. */
function complaints(generated: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-generated-'))
  try {
    for (const folder of ['web', 'test/clients']) mkdirSync(join(directory, folder), { recursive: true })
    cpSync(join(root, callsFile), join(directory, callsFile))
    writeFileSync(join(directory, generatedFile), generated)
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
    const options = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { lib: ['esnext', 'dom', 'dom.iterable'], types: [] },
      files: [callsFile],
      include: [],
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(options))
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('the types', () => {
  test('are those of the document', async () => {
    const fresh = await generate(readFileSync(document, 'utf8'))
    const hint = 'Run `npm run generate -w almanac-clients`.'
    expect(readFileSync(join(root, generatedFile), 'utf8') === fresh, hint).toBe(true)
  })

  test('fit the calls', () => {
    expect(complaints(readFileSync(join(root, generatedFile), 'utf8'))).toBe('')
  })

  test('do not fit the calls when the document has other names', async () => {
    const others = {
      active_chains: 'activeChains',
      from_address: 'fromAddress',
      associatedTokenAddress: 'account',
      request_id: 'requestId',
    }
    let changed = readFileSync(document, 'utf8')
    for (const [name, other] of Object.entries(others)) changed = changed.replaceAll(`"${name}"`, `"${other}"`)
    const said = complaints(await generate(changed))
    for (const name of Object.keys(others)) expect(said).toMatch(`'${name}'`)
  })
})

describe('the client', () => {
  let world: World
  let calls: ReturnType<typeof typedCalls>
  beforeAll(async () => {
    world = await startWorld()
    calls = typedCalls(world.url, world.keys.full)
  })
  afterAll(() => world?.stop())

  test('reads every page of transfers', async () => {
    const rows: unknown[] = []
    for (let cursor = '', pages = 0; pages === 0 || cursor !== ''; pages++) {
      const page = await calls.transfers(seeded.editions, cursor === '' ? { limit: 7 } : { cursor })
      if (page.rows === undefined) throw new Error(`status ${page.status}`)
      rows.push(...page.rows)
      cursor = page.cursor
      expect(page.complete).toBe(true)
    }
    expect(rows).toEqual(
      seededTransfers(seeded.editions).map(transfer => ({
        block: 4,
        tokenId: transfer.tokenId.toString(),
        from: transfer.from,
        to: transfer.to,
        standard: 'ERC1155',
        place: transfer.transactionIndex + transfer.logIndex,
        operator: transfer.operator,
      })),
    )
  })

  test('reads names and order on v2.2', async () => {
    const rows = await calls.transfersInOrder(seeded.collection, 'ASC')
    expect(rows).toEqual(Array.from({ length: 5 }, () => ({ name: 'COLLECTION', block: 1_000 })))
  })

  test('reads the metadata of contracts', async () => {
    const { collection, editions, alice } = seeded
    const all = ['ERC721', undefined, 'ERC1155']
    expect(await calls.contracts([collection, alice, editions])).toEqual({ one: 'COLLECTION', all })
    expect((await calls.contracts([alice])).one).toBe('not_found')
  })

  test('reads the chains of a wallet', async () => {
    const { hash } = seededTransaction(seeded.chains.arbitrum, 42, 0)
    expect(await calls.chains(seeded.alice, ['arbitrum', '0x1'])).toEqual({
      status: 200,
      chains: [
        { name: 'arbitrum', id: 0xa4b1, first: hash, last: '42' },
        expect.objectContaining({ name: 'eth', id: 1, last: String(seeded.head) }),
      ],
    })
  })

  test('reads an ERC-20 token', async () => {
    expect(await calls.tokenOwners(seededCoin.address)).toEqual({
      ...{ supply: null, balances: 'unchecked' },
      owners: seededCoin.holders.toReversed().map(({ owner, amount }) => [owner, `${amount}`]),
    })
    expect(await calls.tokenOwners('0x12')).toMatchObject({ failure: { code: 'bad_request' } })
    expect(await calls.walletTokens(seeded.bob)).toEqual(['REALM', 'REALM'])
  })

  test('reads a portfolio', async () => {
    const portfolio = await calls.portfolio('mainnet', seeded.solanaOwner)
    expect(portfolio).toMatchObject({
      status: 200,
      lamports: seeded.solanaLamports,
      tokens: seededHoldings('tokens').map(({ mint, decimals }) => ({ mint, decimals: String(decimals) })),
      nfts: seededHoldings('nfts').map(nft => nft.associatedTokenAddress),
    })
  })

  test('reads errors of all three', async () => {
    const failure = { code: 'bad_request', requestId: expect.stringMatching(/./) }
    expect(await calls.transfers('0x123')).toEqual({
      status: 400,
      failure: { ...failure, message: 'address is not a valid hex address' },
    })
    expect(await calls.chains('0x123', [])).toMatchObject({ status: 400, failure })
    expect(await calls.portfolio('mainnet', '0')).toMatchObject({ status: 400, failure })
    const unknown = typedCalls(world.url, 'not-a-key')
    const refusal = { status: 401, failure: { code: 'unauthorized', message: 'Invalid key' } }
    expect(await unknown.transfers(seeded.collection)).toMatchObject(refusal)
    expect(await unknown.chains(seeded.alice, [])).toMatchObject(refusal)
    expect(await unknown.portfolio('mainnet', seeded.solanaOwner)).toMatchObject(refusal)
  })
})
