// The code that the reference shows for a request with the real SDK: each names a call that it has, with parameters that
// its types know, and what runs gets the same answer.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sdkText, type Values } from '../../web/src/explorer/request-text.ts'
import { type DocumentedOperation, operationsOf, type Parameter } from '../../web/src/state/document.ts'
import { seeded } from '../seed.ts'
import { startWorld, type World } from './world.ts'

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
const operations = operationsOf(document).filter(({ path }) => !path.startsWith('/api/v2/'))
const hexIdOf = (chain: string) => ({ polygon: '0x89', eth: '0x1' })[chain] ?? chain

let world: World
let folder: string
beforeAll(async () => {
  world = await startWorld()
  // Beside the SDK, so that it is found.
  folder = await mkdtemp(fileURLToPath(new URL('.code-', import.meta.url)))
})
afterAll(async () => {
  await world?.stop()
  await rm(folder, { recursive: true, force: true })
})

function codeOf({ 'x-sdk-call': call = '', parameters = [] }: DocumentedOperation, values: Values, body?: object) {
  const text = sdkText({ call, parameters, values, hexIdOf, origin: world.url, body: body && JSON.stringify(body) })
  return text.replace("'moralis'", "'moralis-2.27'")
}

/** Any value that has the type. */
function anyOf({ name, schema }: Parameter): string {
  if (/(^|_)date$/.test(name)) return '2024-01-01'
  if (name === 'chain') return 'eth'
  if (name === 'chains') return 'eth,polygon'
  if (schema.enum !== undefined) return schema.enum[0]!
  return { integer: '1', boolean: 'true' }[schema.type ?? ''] ?? seeded.collection
}

test('every call of the reference and the guides exists in the SDK, with parameters that its types know, and it lacks those that are left out', async () => {
  const shown = operations.filter(operation => operation['x-sdk-call'] !== undefined)
  expect(shown.length).toBe(36)
  const files = shown.map(async (operation, at) => {
    const { 'x-sdk-call': call, parameters = [], requestBody } = operation
    const body = Object.values(requestBody?.content['application/json'].examples ?? {})[0]?.value
    const values = Object.fromEntries(parameters.map(parameter => [parameter.name, anyOf(parameter)]))
    const code = codeOf(operation, values, body as object)
    const [, lacking = ''] = /does not send (.*)\.$/m.exec(code) ?? []
    const refused = lacking.split(', ').map(name => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
    const file = join(folder, `${at}.mts`)
    const checks =
      lacking === '' ? [] : refused.map(name => `// @ts-expect-error\n;({} as Parameters<typeof ${call}>[0]).${name}\n`)
    await writeFile(file, code + checks.join(''))
    return file
  })
  const guides = ['first-calls', 'who-owns-what', 'balances', 'solana'].flatMap(name => [
    ...readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8').matchAll(
      /^```ts sdk\n(.*?)^```$/gms,
    ),
  ])
  expect(guides.length).toBe(10)
  for (const [at, [, text]] of guides.entries()) {
    const file = join(folder, `guide-${at}.mts`)
    await writeFile(file, text!.replace("'moralis'", "'moralis-2.27'"))
    files.push(Promise.resolve(file))
  }
  // The SDK itself is not checked.
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --types node --target esnext --module nodenext'
  const { stdout } = await promisify(execFile)('npx', ['tsc', ...options.split(' '), ...(await Promise.all(files))], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  }).catch(failed => failed)
  expect(stdout).toBe('')
}, 60_000)

test.each<[id: string, Values, string, body?: object]>([
  [
    'getNFTContractTransfersV22',
    { address: seeded.deeds, chain: 'polygon', limit: '3', from_date: '2020-09-13', order: 'ASC', from_block: '700' },
    `/api/v2.2/nft/${seeded.deeds}/transfers?chain=polygon&limit=3&from_date=2020-09-13&order=ASC&from_block=700`,
  ],
  [
    'getWalletActiveChainsV22',
    { address: seeded.alice, chains: 'polygon,eth' },
    `/api/v2.2/wallets/${seeded.alice}/chains?chains=polygon,eth`,
  ],
  [
    'getPortfolio',
    { network: 'mainnet', address: seeded.solanaOwner },
    `/account/mainnet/${seeded.solanaOwner}/portfolio`,
  ],
  [
    'getMultipleNFTsV22',
    { chain: 'eth' },
    '/api/v2.2/nft/getMultipleNFTs?chain=eth',
    { tokens: [{ token_address: seeded.collection, token_id: '1' }] },
  ],
])('%s', async (id, values, target, body) => {
  const operation = operations.find(({ operationId }) => operationId === id)!
  const file = join(folder, `${id}.mjs`)
  const printed = 'console.log(JSON.stringify(answer.raw))'
  await writeFile(file, codeOf(operation, values, body).replace('console.log(answer.raw)', printed))
  const env = { PATH: process.env.PATH, ALMANAC_KEY: world.keys.full }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  const answer = await fetch(world.url + target, {
    method: operation.method,
    headers: { 'x-api-key': world.keys.full, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { cursor: _, ...expected } = (await answer.json()) as { cursor?: unknown }
  expect(Object.keys(expected).length).toBeGreaterThan(0)
  expect(JSON.parse(stdout)).toMatchObject(Array.isArray(JSON.parse(stdout)) ? Object.values(expected) : expected)
})
