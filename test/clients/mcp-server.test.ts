// The hosted service's own MCP server for agents, unchanged and set up as the guide says, against the documents and the
// operations of this service.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seed, seeded, seededHoldings, seededTransfers } from '../seed.ts'
import { seededCoin, seedTokens } from '../seed-tokens.ts'
import { type ServedApi, serveApi } from '../served-api.ts'
import { expectedRecord } from './expected.ts'
import manifest from './package.json' with { type: 'json' }

const packageName = '@moralisweb3/api-mcp-server'
const main = fileURLToPath(import.meta.resolve('@moralisweb3/api-mcp-server/dist/index.js'))

/** The block of the guide that users copy. */
type Configuration = { mcpServers: { almanac: { args: string[]; env: Record<string, string> } } }
const guide = readFileSync(new URL('../../docs/guides/agents.md', import.meta.url), 'utf8')
const { args, env } = (JSON.parse(/```json\n([^`]+)```/.exec(guide)![1]!) as Configuration).mcpServers.almanac

type Tool = {
  name: string
  description: string
  inputSchema: { properties: Record<string, unknown>; required?: string[] }
}
type Called = { content: { text: string }[] }

/** Speaks the protocol over the server's standard input and output, one message a line. */
class McpClient {
  readonly #server: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #sent = 0

  constructor(environment: Record<string, string>) {
    // Nothing of this process's environment, such as a proxy, and no `.env` of the checkout.
    this.#server = spawn(process.execPath, [main], { env: environment, cwd: tmpdir() })
    let printed = ''
    this.#server.stderr.on('data', chunk => {
      printed += chunk
    })
    this.#server.once('exit', () => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`The MCP server ended. It printed:\n${printed}`))
    })
    createInterface(this.#server.stdout).on('line', line => {
      const { id, result, error } = JSON.parse(line)
      const { resolve, reject } = this.#waiting.get(id)!
      this.#waiting.delete(id)
      if (error === undefined) resolve(result)
      else reject(new Error(error.message))
    })
  }

  async ask<Result>(method: string, params: object = {}): Promise<Result> {
    const id = ++this.#sent
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#send({ id, method, params })
    return (await waiting.promise) as Result
  }

  async begin(): Promise<void> {
    const clientInfo = { name: 'test', version: '0' }
    await this.ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo })
    this.#send({ method: 'notifications/initialized' })
  }

  /** What an agent is shown. */
  async call(name: string, toolArguments: object): Promise<string> {
    const { content } = await this.ask<Called>('tools/call', { name, arguments: toolArguments })
    expect(content).toHaveLength(1)
    return content[0]!.text
  }

  async end(): Promise<void> {
    const ended = new Promise(resolve => this.#server.once('close', resolve))
    this.#server.kill()
    await ended
  }

  #send(message: object): void {
    this.#server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}

let api: ServedApi
let agent: McpClient
beforeAll(async () => {
  api = await serveApi({
    fill: async store => {
      await seed(store)
      await seedTokens(store)
    },
  })
  const here = Object.entries(env).map(([name, value]) => [name, value.replace('http://127.0.0.1:8080', api.url)])
  agent = new McpClient({ ...Object.fromEntries(here), MORALIS_API_KEY: api.key })
  await agent.begin()
}, 30_000)
afterAll(async () => {
  await agent?.end()
  await api?.close()
})

/** The body of an answer that succeeded. */
async function answerOf<Body = Record<string, unknown>>(tool: string, toolArguments: object): Promise<Body> {
  const text = await agent.call(tool, toolArguments)
  expect(text).toMatch(/^API Response \(Status: 200\):\n/)
  return JSON.parse(text.slice(text.indexOf('\n'))) as Body
}

test('the guide names the version that is tested', () => {
  expect(args.at(-1)).toBe(`${packageName}@${manifest.devDependencies[packageName]}`)
})

test('every operation is a tool by its own name, and says what it does and what it needs', async () => {
  const { tools } = await agent.ask<{ tools: Tool[] }>('tools/list')
  const documents = await Promise.all(
    ['evm', 'solana'].map(async name => {
      const { paths } = (await (await fetch(`${api.url}/openapi/${name}.json`)).json()) as { paths: object }
      const ids = Object.values(paths).flatMap(Object.values) as { operationId: string }[]
      return ids.map(({ operationId }) => `${name}_${operationId.toLowerCase()}`)
    }),
  )
  expect(tools.map(({ name }) => name)).toEqual(documents.flat())
  expect(tools.length).toBe(42)
  const owners = tools.find(({ name }) => name === 'evm_getnftowners')!
  expect(owners.description).toMatch(/^Owners of a collection\. /)
  expect(owners.inputSchema.required).toEqual(['address'])
  expect(Object.keys(owners.inputSchema.properties)).toEqual(expect.arrayContaining(['chain', 'cursor', 'at_block']))
})

test('transfers of a contract, page by page', async () => {
  const wanted = seededTransfers(seeded.editions).map(transfer =>
    expectedRecord(transfer, { dialect: 'live', version: 'v2.2' }),
  )
  const rows: unknown[] = []
  type Page = { cursor: string | null; result: unknown[]; index_complete: boolean }
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const asked = { address: seeded.editions, limit: 33, ...(cursor === undefined ? {} : { cursor }) }
    const page = await answerOf<Page>('evm_getnftcontracttransfers', asked)
    expect(page.index_complete).toBe(true)
    rows.push(...page.result)
    cursor = page.cursor
  }
  expect(rows).toEqual(wanted)
})

test('who owns a token, now and at an earlier block', async () => {
  const [newest] = seededTransfers(seeded.collection)
  const { block, tokenId, from, to } = newest!
  const token = { address: seeded.collection, token_id: tokenId.toString() }
  const now = await answerOf('evm_getnfttokenidowners', token)
  expect(now.result).toEqual([expect.objectContaining({ owner_of: to, block_number: `${block}` })])
  const before = await answerOf('evm_getnfttokenidowners', { ...token, at_block: block - 1 })
  expect(before.result).toEqual([expect.objectContaining({ owner_of: from })])
})

test('NFTs of a wallet, of some contracts alone', async () => {
  const asked = { address: seeded.bob, token_addresses: [seeded.range, seeded.silent], order: 'DESC' }
  const { status, result } = await answerOf<{ status: string; result: object[] }>('evm_getwalletnfts', asked)
  expect(status).toBe('SYNCED')
  const received = seededTransfers(seeded.range).filter(({ to }) => to === seeded.bob)
  expect(result).toEqual(
    received.map(({ tokenId }) => expect.objectContaining({ token_id: `${tokenId}`, token_address: seeded.range })),
  )
})

test('several NFTs by a body', async () => {
  const [{ tokenId, to }] = seededTransfers(seeded.collection) as [ReturnType<typeof seededTransfers>[number]]
  const tokens = [tokenId.toString(), '987654321'].map(id => ({ token_address: seeded.collection, token_id: id }))
  const found = await answerOf<unknown[]>('evm_getmultiplenfts', { requestBody: { tokens } })
  expect(found).toEqual([expect.objectContaining({ token_id: `${tokenId}`, owner_of: to }), null])
})

test('chains of a wallet', async () => {
  const { active_chains: chains } = await answerOf('evm_getwalletactivechains', {
    ...{ address: seeded.alice, chains: ['arbitrum', '0x1'] },
  })
  expect(chains).toEqual([expect.objectContaining({ chain: 'arbitrum' }), expect.objectContaining({ chain: 'eth' })])
})

test('an ERC-20 token: its transfers, its owners and its metadata', async () => {
  const { address, name, symbol, holders, transfers } = seededCoin
  const moved = await answerOf<{ result: { value: string }[] }>('evm_gettokentransfers', { address })
  expect(moved.result.map(({ value }) => value)).toEqual(transfers.map(({ amount }) => `${amount}`))
  const owners = await answerOf<{ balances: string; result: object[] }>('evm_gettokenowners', { address, limit: 2 })
  expect(owners.balances).toBe('unchecked')
  expect(owners.result).toEqual(
    holders.slice(0, 2).map(({ owner, amount }) => {
      return expect.objectContaining({ owner_address: owner, balance: `${amount}` })
    }),
  )
  const metadata = await answerOf<unknown[]>('evm_gettokenmetadata', { addresses: [address] })
  expect(metadata).toEqual([expect.objectContaining({ address, name, symbol, decimals: '18' })])
  const found = await answerOf<unknown[]>('evm_gettokenmetadatabysymbol', { symbols: [symbol] })
  expect(found).toEqual([expect.objectContaining({ address })])
})

test('the portfolio of a Solana account', async () => {
  const portfolio = await answerOf('solana_getportfolio', { network: 'mainnet', address: seeded.solanaOwner })
  expect(portfolio).toMatchObject({
    ...{ nativeBalance: { lamports: `${seeded.solanaLamports}` } },
    ...{ nfts: seededHoldings('nfts'), tokens: seededHoldings('tokens') },
  })
})

test('an agent learns what it got wrong', async () => {
  expect(await agent.call('evm_getnftowners', { address: '0x12' })).toMatch(/^Invalid arguments .*address/)
  const refused = await agent.call('evm_getnftowners', { address: seeded.collection, chain: 'nowhere' })
  expect(refused).toMatch(/Status 400 .*"message":"chain must be a valid enum value"/)
  const none = await agent.call('evm_getnftmetadata', { address: seeded.collection, token_id: '987654321' })
  expect(none).toMatch(/Status 404 .*"message":"No NFT of 0x.* with the id 987654321 has an owner"/)
})
