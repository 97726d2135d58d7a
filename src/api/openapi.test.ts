// The document describes what is there: its examples fit their schemas, and nothing it refers to is missing.
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { ChainTable } from '../chains.ts'
import * as consoleSchemas from './console/schemas.ts'
import * as erc20Schemas from './evm/erc20/schemas.ts'
import * as webhookSchemas from './evm/webhooks/schemas.ts'
import * as keySchemas from './key-schemas.ts'
import { openApiText } from './openapi.ts'
import examples from './openapi-examples.json' with { type: 'json' }
import * as operatorSchemas from './operator-schemas.ts'
import * as schemas from './schemas.ts'

const document = JSON.parse(openApiText({ chains: new ChainTable(), pageSizeMax: 100, version: '0.0.0-test' }))
const named: Readonly<Record<string, z.ZodType>> = {
  ...schemas,
  ...erc20Schemas,
  ...keySchemas,
  ...webhookSchemas,
  ...operatorSchemas,
  ...consoleSchemas,
}

function schemaOf(name: string): z.ZodType {
  const schema = named[name.charAt(0).toLowerCase() + name.slice(1)]
  if (schema === undefined) throw new Error(`There is no schema ${name}`)
  return schema
}

const shown = Object.entries(examples).flatMap(([name, byTitle]) =>
  Object.entries<unknown>(byTitle).map(([title, example]) => [name, title, example] as const),
)

test.each(shown)('the example of %s called %s has the fields of its schema and no others', (name, _, example) => {
  expect(schemaOf(name).parse(example)).toEqual(example)
})

/** Every object of the document that has the field. */
function* objectsWith(field: string, value: unknown = document): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (field in value) yield value as Record<string, unknown>
  for (const part of Object.values(value)) yield* objectsWith(field, part)
}

test('every field of every schema says what it is', () => {
  const silent = Object.entries<object>(document.components.schemas).flatMap(([name, schema]) =>
    [...objectsWith('properties', schema)].flatMap(({ properties }) =>
      Object.entries(properties as Record<string, { description?: string; $ref?: string }>)
        .filter(([, { description, $ref }]) => description === undefined && $ref === undefined)
        .map(([field]) => `${name}: ${field}`),
    ),
  )
  expect(silent).toEqual([])
})

test('every reference leads to something', () => {
  const references = new Set([...objectsWith('$ref')].map(({ $ref }) => String($ref)))
  const missing = [...references].filter(reference => {
    const path = reference.replace('#/', '').split('/')
    return path.reduce((at, part) => at?.[part], document) === undefined
  })
  expect(references.size).toBeGreaterThan(20)
  expect(missing).toEqual([])
})

test('every example of a refusal fits the schema that is named beside it', () => {
  const refusals = Object.values<{ content: Record<string, unknown> }>(document.components.responses)
  const bodies = [...objectsWith('examples', refusals)] as { schema: { $ref: string }; examples: object }[]
  expect(bodies.length).toBe(refusals.length)
  for (const { schema, examples } of bodies)
    for (const { value } of Object.values<{ value: unknown }>(examples as never))
      expect(schemaOf(schema.$ref.split('/').at(-1)!).parse(value)).toEqual(value)
})

type Answer = { $ref?: string; content?: Record<string, { examples?: Record<string, { summary?: string }> }> }
type Documented = {
  operationId: string
  parameters?: { name: string; in: string; example: unknown }[]
  responses: Record<string, Answer>
  'x-error-codes'?: string[]
  'x-error-examples'?: Record<string, { message: string; details?: Record<string, unknown> }>
  'x-scope'?: string
}

const operations = Object.values<Record<string, Documented>>(document.paths).flatMap(methods => Object.values(methods))

/** Those whose answer does not repeat what it is about. */
const silent =
  /^(getWalletNFTCollections|getUniqueOwnersByCollection|get(NFTCollection|NFTToken|Wallet|Block)Stats|getNativeBalance|getWalletTokenBalances|getToken(Allowance|Owners|Stats|Holders)|getHistoricalTokenHolders|getPortfolio|getSolana(Balance|Tokens|Nfts)|explainContract|reSyncMetadata|rotateKey|revokeKey|testWebhook)(V22)?$/

test('the example of an answer is of what the examples of the parameters ask for', () => {
  const strange = operations.flatMap(({ operationId, parameters = [], responses }) => {
    const answer = JSON.stringify(Object.entries(responses).find(([status]) => status.startsWith('2'))).toLowerCase()
    return parameters
      .filter(({ in: place, name }) => place === 'path' && name !== 'chain' && name !== 'network')
      .filter(({ example }) => !silent.test(operationId) && !answer.includes(String(example).toLowerCase()))
      .map(({ name }) => `${operationId} ${name}`)
  })
  expect(strange).toEqual([])
})

test('an operation names the codes that it fails with, each with its meaning and an example', () => {
  const without = operations.flatMap(({ operationId, responses, 'x-error-codes': codes = [] }) => {
    const failures = Object.values(responses).flatMap(({ $ref }) =>
      $ref === undefined ? [] : [document.components.responses[$ref.split('/').at(-1)!] as Answer],
    )
    const shown = failures.flatMap(({ content }) => Object.entries(content!['application/json']!.examples!))
    return codes
      .filter(code => !shown.find(([name]) => name === code)?.[1].summary)
      .map(code => `${operationId} ${code}`)
  })
  expect(without).toEqual([])
  expect(operations.find(({ operationId }) => operationId === 'getNFTOwnersV22')!['x-error-codes']).toContain(
    'chain_not_configured',
  )
})

test('links of the document lead to pages, and none to a place within another page alone', () => {
  const links = JSON.stringify(document).match(/\]\([^)]*\)/g) ?? []
  expect(links).toContain('](/docs/errors.html)')
  expect(links.filter(link => !link.startsWith('](/docs/'))).toEqual([])
})

test('an operation refuses in its own words: its parameter, its scope, and what it does not find', () => {
  const strange = operations.flatMap(operation => {
    const { operationId, parameters = [], 'x-error-codes': codes = [], 'x-error-examples': own = {} } = operation
    const schema = operation.responses[400]?.$ref?.includes('Solana') ? 'SolanaFailure' : 'Failure'
    for (const example of Object.values(own)) expect(schemaOf(schema).parse(example)).toEqual(example)
    const scope = operation['x-scope'] ?? own.forbidden?.details?.scope
    const parameter = String(own.bad_request?.details?.parameter)
    const isOfBody = JSON.stringify(operation).includes('requestBody')
    return [
      ...Object.keys(own).filter(code => !codes.includes(code)),
      ...(codes.includes('forbidden') && own.forbidden?.details?.scope !== scope ? ['forbidden'] : []),
      ...(codes.includes('bad_request') && !isOfBody && !parameters.some(({ name }) => name === parameter)
        ? ['bad_request']
        : []),
      ...(codes.includes('not_found') && own.not_found === undefined ? ['not_found'] : []),
    ].map(code => `${operationId} ${code}`)
  })
  expect(strange).toEqual([])
  const transfers = operations.find(({ operationId }) => operationId === 'getWalletNFTsV22')!['x-error-examples']!
  expect(transfers.forbidden!.details).toEqual({ scope: 'nft-holdings' })
  expect(operations.find(each => each['x-scope'] === 'any')!['x-error-codes']).not.toContain('forbidden')
})

test('the limit of each list is its own: its usual value, its highest, and the field that tells it', () => {
  const limitOf = (id: string) =>
    operations
      .find(({ operationId }) => operationId === id)!
      .parameters!.find(({ name }) => name === 'limit') as unknown as {
      schema: object
      description: string
    }
  const [owners, unique] = [limitOf('getNFTOwnersV22'), limitOf('getUniqueOwnersByCollectionV22')]
  expect(owners.schema).toMatchObject({ minimum: 1, default: 100, 'x-taken-up-to': 100 })
  expect(unique.schema).toMatchObject({ minimum: 1, default: 100, 'x-taken-up-to': 5_000 })
  expect([owners.description, unique.description].map(text => /`(.*)`/.exec(text)![1])).toEqual([
    'page_size',
    'pageSize',
  ])
})

test('every operation first says what it answers, and only then in which formats', () => {
  const described = operations as (Documented & { description?: string })[]
  expect(described.length).toBeGreaterThan(60)
  const silent = described.filter(({ description = '' }) => {
    const [first = ''] = description.split(/(?<=\.) /)
    return first.length < 20 || /\b(Accept|CSV|NDJSON|text\/csv|x-ndjson|JSON)\b/i.test(first)
  })
  expect(silent.map(({ operationId }) => operationId)).toEqual([])
})

test('every operation says which scope a key needs for it, or that none is needed', () => {
  const all = operations as (Documented & { summary: string; security?: []; 'x-scope'?: string })[]
  const without = all.filter(
    ({ summary, security, 'x-scope': scope }) =>
      scope === undefined && security === undefined && !summary.includes('scope `'),
  )
  expect(without.map(({ operationId }) => operationId)).toEqual([])
})

type FieldSchema = {
  $ref?: string
  description?: string
  properties?: Record<string, FieldSchema>
  items?: FieldSchema
  anyOf?: FieldSchema[]
}

/** The fields of an answer that nothing is said of, each by its path. */
function undescribed(given: FieldSchema, path: string): string[] {
  const { properties = {}, items, anyOf = [] } = resolvedSchema(given)
  return [
    ...[...anyOf, ...(items === undefined ? [] : [items])].flatMap(each => undescribed(each, path)),
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...((field.description ?? resolvedSchema(field).description) === undefined ? [`${path}.${name}`] : []),
      ...undescribed(field, `${path}.${name}`),
    ]),
  ]
}

function resolvedSchema(schema: FieldSchema): FieldSchema {
  return schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)!]
}

test('every field that an operation of the hosted service answers with is described', () => {
  const operations = Object.values<Record<string, Documented & { tags: string[] }>>(document.paths)
    .flatMap(methods => Object.values(methods))
    .filter(({ tags }) => !tags.includes('Operations'))
  expect(operations.length).toBe(78)
  const silent = operations.flatMap(({ operationId, responses }) => {
    const { schema } = responses[200]!.content!['application/json'] as unknown as { schema: FieldSchema }
    return undescribed(schema, operationId)
  })
  expect(silent).toEqual([])
})
