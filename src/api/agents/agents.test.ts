// What agents read of the service: documents of the operations alone, and `/llms.txt`.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest } from '../../../test/raw-request.ts'
import { type ServedApi, serveApi } from '../../../test/served-api.ts'
import { ChainTable } from '../../chains.ts'
import { hostedOperations, isServed } from '../hosted/operations.ts'
import { jsonSuccess, type OperationFacts } from '../openapi-parts.ts'
import { routes } from '../routes.ts'
import { agentNotes } from './notes.ts'

let api: ServedApi
beforeAll(async () => {
  api = await serveApi()
})
afterAll(() => api.close())

const withoutKey = { 'x-api-key': undefined }

type Parameter = { name: string; in: string; required: boolean; example: string | readonly string[] }
type Operation = { operationId: string; summary: string; description?: string; parameters?: Parameter[] }
type Document = {
  servers: { url: string }[]
  security: unknown
  paths: Record<string, Record<string, Operation>>
  components: { schemas: object; securitySchemes: unknown }
}

async function documentAt(path: string): Promise<Document> {
  return (await (await api.get(path, withoutKey)).json()) as Document
}

function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  )
}

const served = hostedOperations.filter(operation => isServed(operation, routes))

test('every operation of clients is one of the hosted service, so that the documents miss none', () => {
  // The hosted service has no changes to ask for.
  const ofClients = routes.filter(({ crossOrigin, path }) => crossOrigin === true && path !== '/changes')
  expect(served.length).toBe(ofClients.length)
})

describe.each([
  ['/openapi/evm.json', '/api/v2.2', false],
  ['/openapi/solana.json', '/', true],
] as const)('%s', (documentPath, base, isSolana) => {
  test('is open, and may be kept as long as the whole document', async () => {
    const [whole, part] = [await api.get('/openapi.json', withoutKey), await api.get(documentPath, withoutKey)]
    expect(part.status).toBe(200)
    for (const name of ['content-type', 'cache-control', 'content-security-policy', 'etag'])
      expect(part.headers.get(name), name).toBe(whole.headers.get(name))
    expect(part.headers.get('cache-control')).toBe('public, max-age=300')
  })

  test('has the operations that are served, by the ids and the relative paths of the hosted service, and no other', async () => {
    const document = await documentAt(documentPath)
    const listed = operationsOf(document).map(({ operationId: id, method, path }) => ({ id, method, path }))
    const wanted = served.filter(operation => operation.isSolana === isSolana)
    expect(listed).toEqual(wanted.map(({ id, method, path }) => ({ id, method, path })))
    expect(document.servers).toEqual([{ url: base }])
    expect(document.security).toEqual([{ ApiKeyAuth: [] }])
    expect(document.components.securitySchemes).toMatchObject({ ApiKeyAuth: { in: 'header', name: 'X-API-Key' } })
  })

  test('leads to an operation below its base', async () => {
    for (const { method, path, parameters = [] } of operationsOf(await documentAt(documentPath))) {
      const example = (name: string) => encodeURIComponent(`${parameters.find(each => each.name === name)!.example}`)
      const target = base.replace(/\/$/, '') + path.replace(/{(\w+)}/g, (_, name) => example(name))
      const response = await api.get(target, {}, method)
      const { code, message = '' } = (await response.json()) as { code?: string; message?: string }
      expect([501, 405], target).not.toContain(response.status)
      expect(message, target).not.toContain('There is nothing at')
      expect(code, target).not.toBe('internal')
    }
  })

  test('says first what an operation is, because agents are shown the description alone', async () => {
    for (const { summary, description = summary } of operationsOf(await documentAt(documentPath)))
      expect(description.startsWith(summary), description).toBe(true)
  })

  test('has the schemas that it refers to, and no other', async () => {
    const document = await documentAt(documentPath)
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!)
    expect(Object.keys(document.components.schemas).sort()).toEqual([...new Set(referred)].sort())
  })
})

describe('/llms.txt', () => {
  test('is open text that names every operation that is served, with its path', async () => {
    const response = await api.get('/llms.txt', withoutKey)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const text = await response.text()
    expect(text).toMatch(/^# Almanac\n\n> /)
    const links = [...text.matchAll(/^- \[(.+)\]\((.+?)\): ./gm)].map(([, name, path]) => `${name} ${path}`)
    for (const { id, path, isSolana } of served) expect(links).toContain(`${id} ${isSolana ? '' : '/api/v2.2'}${path}`)
    expect(links.length).toBe(served.length + 3)
    for (const { id, path } of hostedOperations)
      if (!served.some(operation => operation.path === path)) expect(text).not.toContain(`[${id}](/api/v2.2${path})`)
  })

  test('has nothing but links in its sections, and leads to documents that are there', async () => {
    const [, ...sections] = (await (await api.get('/llms.txt')).text()).split(/^## .+$/m)
    expect(sections.length).toBe(8)
    for (const line of sections.flatMap(section => section.trim().split('\n')))
      expect(line).toMatch(/^- \[.+\]\(\/.+\): .+$/)
    for (const [, path] of sections[0]!.matchAll(/\((.+?)\)/g))
      expect((await api.get(path!, withoutKey)).status, path).toBe(200)
  })

  test('names the address that was asked, and leads to each operation as Markdown', async () => {
    const asked = (path: string, ...headers: string[]) =>
      rawRequest(api.url, `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`)
    const { body: text } = await asked('/llms.txt', 'Host: data.example', 'X-Forwarded-Proto: https')
    expect(text).toContain('Base URL: https://data.example\n')
    const { body: strange } = await asked('/llms.txt', 'Host: a"<b>')
    expect(strange).not.toContain('<b>')
    const pages = [...text.matchAll(/\]\((\/reference\/\S+?\.md)\)/g)].map(([, path]) => path!)
    expect(pages.length).toBe(served.length)
    for (const path of pages) {
      const { status, headers, body } = await asked(path, 'Host: data.example')
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8'])
      expect(body).toContain('http://data.example/')
      expect(body).toMatch(/^## Answer$/m)
      expect(body).toMatch(/^\| 401 \| `unauthorized` \|/m)
      expect(body, path).not.toMatch(/undefined|\[object|dialect/)
    }
    const owners = await (await api.get('/reference/getNFTOwners.md', withoutKey)).text()
    expect(owners).toMatch(/^\| `at_block` \|/m)
    expect(owners).toMatch(/^ {2}- `owner_of` \(string\): \S/m)
    expect(owners).toMatch(/^ {2}- `possible_spam` \(boolean\): \S/m)
    expect(owners).toMatch(/^\| `RateLimit-Remaining` \|/m)
  })

  test('says which operations answer the past, and which answer whole lists', async () => {
    const text = await (await api.get('/llms.txt')).text()
    expect(text).toMatch(/^- `at_block` or `at_date` .*`getNFTOwners`/m)
    expect(text).not.toMatch(/^- `at_block` or `at_date` .*`getContractNFTs`/m)
    const options = { chains: new ChainTable(), pageSizeMax: 100, version: '0' }
    const answer = jsonSuccess('NftOwners', '') as { content: object }
    const facts: OperationFacts = { id: 'getNFTOwners', summary: '', description: '', answers: { 200: answer } }
    const notesOf = (content: object) => {
      const answers = { 200: { ...answer, content } }
      const documented = { method: 'GET', path: '/', facts: { ...facts, answers }, failureSchema: 'Failure' as const }
      return agentNotes([documented], options).join('\n')
    }
    expect(notesOf(answer.content)).not.toContain('text/csv')
    expect(notesOf({ ...answer.content, 'text/csv': {} })).toMatch(/text\/csv.*`getNFTOwners`/)
  })
})
