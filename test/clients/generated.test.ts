// A client generated from our own document: it works, and it stops compiling when the document says something else.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seeded, seededHoldings, seededTransaction, seededTransfers } from '../seed.ts'
import { typedCalls } from './typed-calls.ts'
import { startWorld, type World } from './world.ts'

const document = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))
const generatedFile = fileURLToPath(new URL('../../web/openapi.gen.ts', import.meta.url))
const callsFile = fileURLToPath(new URL('typed-calls.ts', import.meta.url))

async function generate(text: string): Promise<string> {
  const nodes = await openapiTypescript(text, { silent: true })
  return `${COMMENT_HEADER}${astToString(nodes)}`
}

/** What the compiler says about the calls when the generated types are these. */
function complaints(generated: string): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  }
  const host = ts.createCompilerHost(options)
  const readFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, version, ...rest) =>
    name === generatedFile ? ts.createSourceFile(name, generated, version) : readFile(name, version, ...rest)
  const program = ts.createProgram([callsFile], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('the types', () => {
  test('are those of the document', async () => {
    const fresh = await generate(readFileSync(document, 'utf8'))
    const hint = 'Run `npm run generate -w almanac-clients`.'
    expect(readFileSync(generatedFile, 'utf8') === fresh, hint).toBe(true)
  })

  test('fit the calls', () => {
    expect(complaints(readFileSync(generatedFile, 'utf8'))).toEqual([])
  })

  test.each([
    ['active_chains', 'activeChains'],
    ['from_address', 'fromAddress'],
    ['associatedTokenAddress', 'account'],
    ['request_id', 'requestId'],
  ])('do not fit the calls when the document has no %s', async (name, otherName) => {
    const changed = readFileSync(document, 'utf8').replaceAll(`"${name}"`, `"${otherName}"`)
    expect(complaints(await generate(changed)).join('\n')).toMatch(`'${name}'`)
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
