// `almanac init` against simulated nodes: what it finds out about endpoints, what it writes, and what it never shows or overwrites.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineChain } from '../src/chains.ts'
import { endpointLines } from '../src/cli/init/check.ts'
import { loadConfig } from '../src/config/load.ts'
import { checkEndpoint } from '../src/evm/audit/check-endpoint.ts'
import { CommandPlace } from './command-run.ts'
import type { Fault } from './sim/faults.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { startProgramNode } from './solana-program-node.ts'
import { thorough } from './thorough.ts'

const chainId = 31_337
const head = 1_500
/** Every endpoint is asked for the logs of all its blocks. */
const fewLogs = { transactionsPerBlock: 1, contracts: 4, erc20Contracts: 1 }
const secret = 'S3cr3tS3cr3tS3cr3t'
const cleanups: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function simulate(...endpoints: readonly (readonly Fault[])[]): Promise<SimNode> {
  const node = await startSimNode({
    chain: { chainId, height: head, hashes: 'cheap', ...fewLogs },
    endpoints: (endpoints.length === 0 ? [[]] : endpoints).map(faults => ({ faults })),
  })
  cleanups.push(() => node.close())
  return node
}

describe('what an endpoint can do', () => {
  const chain = defineChain({ name: 'sim', id: chainId })
  const able = {
    head,
    finalizedTag: true,
    blocksFrom: 0,
    stateFrom: 0,
    logRange: { blocks: head + 1, isLimit: false },
    batchCalls: 50,
  }

  const cases: [string, Fault[], object, string][] = [
    ['everything', [], able, 'history: every block from 0'],
    [
      'a range that its refusal names',
      [{ kind: 'range-limit', blocks: 777, provider: 'alchemy' }],
      { ...able, logRange: { blocks: 777, isLimit: true } },
      'logs: at most 777 blocks at once',
    ],
    [
      'a range that its refusal does not name',
      [{ kind: 'range-limit', blocks: 700, provider: 'ankr' }],
      { ...able, logRange: { blocks: 500, isLimit: true } },
      'logs: at most 500 blocks at once',
    ],
    [
      'no old state',
      [{ kind: 'pruned-state', below: 1_400 }],
      { ...able, stateFrom: 1_400 },
      'old state: only the last 101 blocks',
    ],
    [
      'no old blocks, in the words of a client',
      [{ kind: 'pruned', below: 1_234, answer: 'geth' }],
      { ...able, blocksFrom: 1_234, logRange: { blocks: 267, isLimit: false } },
      'history: from block 1,234 (the last 267)',
    ],
    [
      'no receipts by block',
      [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }],
      { ...able, receipts: 'missing' },
      'receipts by block: no',
    ],
    [
      'no batches',
      [{ kind: 'batch-limit', calls: 1, provider: 'unsupported' }],
      { ...able, batchCalls: 1 },
      'batches: refused',
    ],
    [
      'no finalized tag',
      [{ kind: 'no-finalized', provider: 'geth' }],
      { ...able, finalizedTag: false },
      'finality: no finalized tag',
    ],
  ]
  test.each(cases)('%s', async (_, faults, expected, words) => {
    const node = await simulate(faults)
    const findings = await checkEndpoint(chain, node.url, AbortSignal.timeout(25_000))
    expect(findings).toMatchObject(expected)
    expect(endpointLines(findings, findings.headTimestamp).join('\n')).toContain(words)
  })
})

describe('init', () => {
  let place: CommandPlace
  const file = (): string => join(place.directory, 'almanac.yaml')
  beforeEach(() => {
    place = new CommandPlace()
    cleanups.push(() => place.dispose())
  })

  test('by flags: checks, writes what the service can read, estimates, and shows no secret', async () => {
    const node = await simulate([], [{ kind: 'range-limit', blocks: 100, provider: 'alchemy' }])
    const solana = await startProgramNode()
    cleanups.push(() => solana.stop())
    const urls = node.endpoints.map(({ url }) => `${url}/${secret}`)
    const contract = `0x${'AB'.repeat(20)}`
    const { code, stdout, stderr } = await place.run([
      ...['init', '--yes', '--chain', `sim=${urls.join(',')}`, '--contract', `sim=${contract}`],
      ...['--ws', `sim=${node.endpoints[0]!.webSocketUrl}/${secret}`, '--solana', `devnet=${solana.rpcUrl}/${secret}`],
      ...['--solana-ws', `devnet=${solana.wsUrl}/${secret}`],
    ])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Wrote almanac.yaml')])
    expect(stdout + stderr).not.toContain(secret)
    expect(stderr).toContain('logs: at most 100 blocks at once')
    expect(stderr).toContain('subscribes to new heads')
    expect(stderr).toContain('a private ledger, not that of Solana devnet')
    // Nothing is deployed there.
    expect(stderr).toContain(`Warning: sim has no code at ${contract.toLowerCase()}: not a contract.`)
    // Samples cost calls that nobody asked for.
    expect(stdout).toBe('')
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('almanac plan estimates what indexing costs')
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const { config } = loadConfig({ file: file() })
    expect(config.chains.sim).toMatchObject({
      ...{ id: chainId, rpc: urls, index: 'on-demand', contracts: [contract.toLowerCase()] },
      ws: `${node.endpoints[0]!.webSocketUrl}/${secret}`,
    })
    expect(config.solana.devnet).toMatchObject({ rpc: [`${solana.rpcUrl}/${secret}`], ws: `${solana.wsUrl}/${secret}` })
    // Comments say what was found; no line of theirs holds an endpoint's key.
    const comments = readFileSync(file(), 'utf8')
      .split('\n')
      .filter(line => line.trim().startsWith('#'))
    expect(comments.join('\n')).toContain('history: every block from 0')
    expect(comments.join('\n')).not.toContain(secret)
    expect(readFileSync(file(), 'utf8')).toMatch(/[^\n]\n$/)
  })

  test('a chain may be called by its full name, here and in its other flags', async () => {
    // Of this chain hashes are computed again, so they must be right.
    const node = await startSimNode({ chain: { chainId: 1, height: 200, hashes: 'real' } })
    cleanups.push(() => node.close())
    const contract = `0x${'ab'.repeat(20)}`
    const flags = ['--chain', `Ethereum=${node.url}`, '--contract', `ethereum-mainnet=${contract}`]
    const { code, stderr } = await place.runHere(['init', '--yes', ...flags])
    expect(stderr).not.toContain('.gitignore')
    expect([code, stderr]).toEqual([0, expect.stringContaining('Wrote almanac.yaml')])
    const { config } = loadConfig({ file: file() })
    expect(config.chains).toMatchObject({ eth: { contracts: [contract] } })
  })

  test('files that may hold keys are named where git would take them, and not where it ignores them', async () => {
    spawnSync('git', ['init', '--quiet'], { cwd: place.directory })
    const flags = ['init', '--yes', '--no-check', '--chain', 'eth=http://127.0.0.1:1']
    const told = async (ignored: string, ...more: string[]) => {
      writeFileSync(join(place.directory, '.gitignore'), ignored)
      return /^Add .*$/m.exec((await place.runHere([...flags, ...more])).stderr)?.[0]
    }
    expect(await told('')).toBe('Add almanac.yaml and almanac.db* to .gitignore: they may hold keys.')
    // The log of the store has another name.
    expect(await told('almanac.yaml\n*.db\n')).toBe('Add almanac.db* to .gitignore: it may hold keys.')
    expect(await told('almanac.*\n')).toBeUndefined()
    expect(await told('almanac.*\n', '--store', 'data/a.db')).toBe('Add data/a.db* to .gitignore: it may hold keys.')
    expect(await told('', '--store', 'postgres://u@127.0.0.1:1/a')).toBe(
      'Add almanac.yaml to .gitignore: it may hold keys.',
    )
  })

  test('--listen goes into the file, and a port that is none is refused', async () => {
    const flags = ['init', '--yes', '--no-check', '--chain', 'eth=http://127.0.0.1:1', '--listen']
    expect(await place.runHere([...flags, 'localhost:99999'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a port up to 65535'),
    })
    expect((await place.runHere([...flags, '127.0.0.1:8433'])).code).toBe(0)
    expect(loadConfig({ file: file() }).config.listen).toBe('127.0.0.1:8433')
    expect((await place.runHere([...flags, '8434'])).code).toBe(0)
    expect(loadConfig({ file: file() }).config.listen).toBe('127.0.0.1:8434')
    expect((await place.runHere([...flags, '99999'])).code).toBe(1)
  })

  test('a database that does not answer is told, and nothing is written', async () => {
    const node = await simulate()
    const store = `postgres://me:${secret}@127.0.0.1:1/almanac`
    const flags = ['init', '--yes', '--chain', `sim=${node.url}`, '--store', store]
    const { code, stderr } = await place.runHere(flags)
    expect([code, stderr]).toEqual([75, expect.stringMatching(/Error: The database \S+ cannot be reached\. .*\nTry: /)])
    expect(stderr).not.toContain(secret)
    expect(existsSync(file())).toBe(false)
  })

  test('on a terminal a port that is taken and a database that is away are asked about', async () => {
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(8080, '127.0.0.1', resolve).once('error', () => resolve()))
    cleanups.push(() => new Promise(resolve => taken.close(() => resolve())))
    const node = await simulate()
    const store = 'postgres://me@127.0.0.1:1/almanac'
    const run = place.beginOnTerminal(['init', '--chain', `sim=${node.url}`, '--index', 'full', '--store', store])
    let seen = 0
    for (const [question, text] of [
      ['cannot be reached.', undefined],
      ['Keep it anyway, or paste another store? [no]', '?'],
      ['or paste', undefined],
      ['Keep it anyway, or paste another store? [no]', ''],
      ['Where to keep the data', store],
      ['Keep it anyway, or paste another store? [no]', './other.db'],
      ['127.0.0.1:8080 is in use. Address to listen on [127.0.0.1:', 'nowhere'],
      ['"nowhere" is not an address to listen on.', undefined],
      ['Address to listen on', '127.0.0.1:0'],
      ['Next: ', undefined],
    ] as const) {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      if (text !== undefined) run.child.stdin.write(`${text}\n`)
    }
    expect((await run.ended()).code).toBe(0)
    expect(run.stdout.slice(seen)).not.toContain('--listen')
    expect(loadConfig({ file: file() }).config).toMatchObject({ listen: '127.0.0.1:0', store: 'file:./other.db' })
  })

  test('an endpoint of another chain is refused with its name, and nothing is written', async () => {
    const node = await simulate([{ kind: 'wrong-chain-id', chainId: 137 }])
    const { code, stderr } = await place.runHere(['init', '--yes', '--chain', `eth=${node.url}/${secret}`])
    expect(code).toBe(1)
    expect(stderr).toContain('serves polygon (137), not eth (1).')
    expect(stderr).toContain('Try:   check the URL, or name the chain as it is: --chain polygon=URL\n')
    expect(stderr).not.toContain(secret)
    expect(existsSync(file())).toBe(false)
  })

  test('a node of base does not become optimism, nor a chain of another name', async () => {
    const node = await simulate([{ kind: 'wrong-chain-id', chainId: 8453 }])
    const optimism = await place.runHere(['init', '--yes', '--chain', `optimism=${node.url}`])
    expect(optimism.code).toBe(1)
    expect(optimism.stderr).toContain('serves base (8453), not optimism (10).')
    const other = await place.runHere(['init', '--yes', '--chain', `mychain=${node.url}`])
    expect(other.stderr).toContain('serves base.\nTry:   call the chain base.')
    expect(existsSync(file())).toBe(false)
  })

  test.each(['8453', '0x2105', 'Base'])('a chain may be given by its id: %s', async name => {
    const { code } = await place.runHere(['init', '--yes', '--no-check', '--chain', `${name}=http://127.0.0.1:8545`])
    expect(code).toBe(0)
    expect(Object.keys(loadConfig({ file: file() }).config.chains)).toEqual(['base'])
  })

  test('an id that no known chain has is checked against the node, and its name', async () => {
    const node = await simulate()
    const wrong = await place.runHere(['init', '--yes', '--chain', `777=${node.url}`])
    expect(wrong.stderr).toContain(`serves chain ${chainId}, not 777.`)
    expect(wrong.stderr).toContain(`name the chain as it is: --chain ${chainId}=URL\n`)
    const { code, stderr } = await place.runHere(['init', '--yes', '--chain', `0x${chainId.toString(16)}=${node.url}`])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Wrote almanac.yaml')])
    const { config, chains } = loadConfig({ file: file() })
    expect(Object.keys(config.chains)).toEqual([`${chainId}`])
    expect(chains.parse(`${chainId}`)?.id).toBe(chainId)
  })

  test('an error names no file that the user never saw', async () => {
    const { stderr } = await place.runHere(['init', '--yes', '--no-check', '--chain', 'nowhere=http://127.0.0.1:1'])
    expect(stderr).toMatch(/^Error: Nothing was written: nowhere is not a known chain\./)
    expect(stderr).not.toContain('almanac.yaml.new')
  })

  test('a node of an EVM chain is not taken for one of Solana', async () => {
    const node = await simulate([{ kind: 'wrong-chain-id', chainId: 137 }])
    const { code, stderr } = await place.runHere(['init', '--yes', '--solana', `mainnet=${node.url}/${secret}`])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /Error: The endpoint \S+ is a node of an EVM chain, polygon, and not of Solana\.\nTry: {3}.*--chain polygon=/,
      ),
    ])
    expect(stderr).not.toContain(secret)
  })

  test('a mistyped endpoint is shown without its secret', async () => {
    const { stderr } = await place.runHere(['init', '--chain', `eth=rpc.example/v3/${secret}`])
    expect(stderr).toContain('--chain has an endpoint that is not a URL: rpc.example/….')
  })

  test('a name that looks mistyped is doubted before its node is asked', async () => {
    const { stderr } = await place.runHere(['init', '--yes', '--chain', 'etth=http://127.0.0.1:1'])
    expect(stderr).toMatch(/^\s*Checking etth … It is not a known chain\. Did you mean eth\?\n/)
  })

  test('an endpoint that is not there is worth another try later: 75', async () => {
    const { code, stderr } = await place.runHere(['init', '--yes', '--chain', `eth=http://127.0.0.1:1/${secret}`])
    expect(code).toBe(75)
    expect(stderr).toContain('Try:   check that the node runs and can be reached.')
    expect(stderr).not.toContain(secret)
  })

  test('of an endpoint whose name has no address, the name is doubted, not the node', async () => {
    const { code, stderr } = await place.runHere(['init', '--yes', '--chain', `eth=http://node.invalid/${secret}`])
    expect([code, stderr]).toEqual([75, expect.stringContaining('Try:   check the spelling of the host, or the net')])
  })

  test('of a node without TLS, https is doubted in words, not in those of OpenSSL', async () => {
    const server = createServer((_, outgoing) => outgoing.end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { stderr } = await place.runHere(['init', '--yes', '--chain', `eth=https://127.0.0.1:${port}/${secret}`])
    server.close()
    expect(stderr).toContain(
      'did not answer eth_chainId. (no TLS at this port)\nTry:   use http:// instead of https://',
    )
    expect(stderr).not.toMatch(/SSL routines/)
  })

  test.each([
    [405, '', 'HTTP status 405'],
    [404, 'no such page', 'HTTP status 404'],
    [200, '<!doctype html><html></html>', 'an HTML page'],
    [200, '', 'an empty body'],
  ])('a web service that answers %i %j is not called a node', async (status, body, said) => {
    const server = createServer((_, outgoing) => outgoing.writeHead(status).end(body))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const endpoint = `http://127.0.0.1:${port}`
    const evm = await place.runHere(['init', '--yes', '--chain', `eth=${endpoint}`])
    const solana = await place.runHere(['init', '--yes', '--solana', `mainnet=${endpoint}`])
    server.close()
    for (const [{ code, stderr }, method] of [
      [evm, 'eth_chainId'],
      [solana, 'getGenesisHash'],
    ] as const) {
      // Not 75: trying it again later changes nothing.
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(
          `${endpoint} is not a JSON-RPC node: it answered ${method} with ${said}.\nTry:   check`,
        ),
      ])
    }
  })

  test('a file that is there is left alone, or kept beside the new one when told', async () => {
    writeFileSync(file(), '# mine\n')
    const parameters = ['init', '--no-check', '--chain', 'eth=http://127.0.0.1:8545', '--index', 'full']
    const refused = await place.runHere(parameters)
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('almanac.yaml exists and was not changed'),
    })
    expect(readFileSync(file(), 'utf8')).toBe('# mine\n')
    const replaced = await place.runHere([...parameters, '--yes'])
    expect(replaced).toMatchObject({ code: 0, stderr: expect.stringContaining('The old almanac.yaml is now') })
    const kept = readdirSync(place.directory).find(name => name.startsWith('almanac.yaml.'))!
    expect(readFileSync(join(place.directory, kept), 'utf8')).toBe('# mine\n')
    expect(loadConfig({ file: file() }).config.chains.eth).toMatchObject({ index: 'full' })
  })

  test.each([
    ['--chain', 'nowhere=http://127.0.0.1:8545', 'nowhere is not a known chain'],
    ['--store', 'mysql://nobody', 'mysql://nobody is not a store.'],
  ])('what the service could not read never takes the place of a file: %s %s', async (flag, value, message) => {
    writeFileSync(file(), '# mine\n')
    const parameters = ['init', '--yes', '--no-check', '--chain', 'eth=http://127.0.0.1:8545', flag, value]
    const { code, stderr } = await place.runHere(parameters)
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    expect(readdirSync(place.directory).filter(name => name.startsWith('almanac'))).toEqual(['almanac.yaml'])
    expect(readFileSync(file(), 'utf8')).toBe('# mine\n')
  })

  test.each([
    ['.', 'exists and is not a regular file'],
    ['none/almanac.yaml', 'Cannot write none/almanac.yaml'],
  ])('where nothing can be written, %s, nothing is moved', async (output, message) => {
    const { code, stderr } = await place.runHere([
      ...['init', '--yes', '--no-check', '--chain', 'eth=http://127.0.0.1:8545', '--output', output],
    ])
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    expect(stderr).toContain('Try:')
    expect(existsSync(place.directory)).toBe(true)
  })

  test.each([
    [['init'], 'No chain given, and stdin is not a terminal.'],
    [['init', '--chain', 'eth'], '--chain needs a name and a value'],
    [['init', '--chain', `eth=ftp://${secret}.example`], 'not a URL'],
    [
      ['init', '--chain', 'eth=http://127.0.0.1:1', '--contract', 'polygon=0x00'],
      'polygon has a WebSocket endpoint or contracts',
    ],
    [['init', '--solana', 'testnet=http://127.0.0.1:1'], 'is not a Solana network'],
  ])('%j is refused with 1', async (parameters, message) => {
    const { code, stderr } = await place.runHere(parameters)
    expect(code).toBe(1)
    expect(stderr).toContain(message)
    expect(stderr).toContain('Try:')
  })

  test('--yes over a file refuses what the file has and the flags do not say', async () => {
    const before = [
      'listen: 127.0.0.1:9999',
      'chains:',
      '  eth: { rpc: [http://127.0.0.1:8545], index: full, daily_budget: 1000 }',
      '  base: { rpc: [http://127.0.0.1:8546] }',
    ].join('\n')
    writeFileSync(file(), before)
    const init = (...more: string[]) =>
      place.runHere(['init', '--yes', '--no-check', '--chain', 'eth=http://127.0.0.1:8545', ...more])
    const refused = await init()
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(
      'almanac.yaml has settings that the new file would lose: listen, chains.eth.daily_budget, chains.eth.index, chains.base.',
    )
    expect(refused.stderr).toMatch(/Try: {3}edit almanac\.yaml, move it away, or .*--output/)
    expect(readFileSync(file(), 'utf8')).toBe(before)
    // What it says already is no loss, nor are other endpoints, which flags name.
    writeFileSync(file(), 'chains: { eth: { rpc: [http://127.0.0.1:8600], index: full } }\n')
    expect((await init('--index', 'full')).code).toBe(0)
    expect(loadConfig({ file: file() }).config.chains.eth).toMatchObject({
      index: 'full',
      rpc: ['http://127.0.0.1:8545'],
    })
    // Nor is the mode, where a flag names another.
    expect((await init('--index', 'on-demand')).code).toBe(0)
    expect(loadConfig({ file: file() }).config.chains.eth).toMatchObject({ index: 'on-demand' })
  })

  test('on a terminal endpoints are checked as they are typed, and a refused one costs no other answer', async () => {
    const node = await simulate()
    const other = await simulate([{ kind: 'wrong-chain-id', chainId: 8453 }])
    const run = place.beginOnTerminal(['init', '--listen', '127.0.0.1:8080'])
    let seen = 0
    const answer = async (question: string, text: string): Promise<void> => {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      run.child.stdin.write(`${text}\n`)
    }
    await answer('EVM chains', 'sim,eth')
    await answer('sim is not a known chain', 'yes')
    // Its id is not known without an endpoint.
    await answer('sim: JSON-RPC endpoints', 'http://127.0.0.1:1')
    await answer('sim: JSON-RPC endpoints', node.url)
    // It is asked before the next question.
    await answer('every block from 0', '')
    await answer('sim: index everything', 'full')
    await answer('eth: JSON-RPC endpoints', other.url)
    await answer('serves base (8453), not eth (1).', '')
    await answer('eth: JSON-RPC endpoints', 'http://127.0.0.1:1')
    await answer('Keep it anyway, or paste another endpoint? [no]', 'yes')
    await answer('eth: WebSocket endpoint', 'n')
    await answer('eth: index everything', '')
    await answer('eth: contracts to index', 'no')
    await answer('Solana portfolios', '')
    await answer('Where to keep the data', '')
    await answer('Write almanac.yaml? [yes]', '')
    await run.until(() => run.stdout.includes('Next: '), 'the end')
    expect((await run.ended()).code).toBe(0)
    // The flag is none of the dialogue.
    expect(run.stdout).toContain('Call it base, or paste another endpoint? [no]')
    expect(run.stdout).not.toContain('--chain')
    const { chains } = loadConfig({ file: file() }).config
    expect(chains.sim).toMatchObject({ id: chainId, index: 'full', rpc: [node.url] })
    expect(chains.eth).toMatchObject({ index: 'on-demand', rpc: ['http://127.0.0.1:1'], contracts: [] })
    expect(chains.eth!.ws).toBeUndefined()
  })

  thorough('on a terminal a chain whose node is away can be left out, and the other answers stay', async () => {
    const node = await simulate()
    const run = place.beginOnTerminal(['init', '--index', 'full', '--listen', '127.0.0.1:8080'])
    const away = 'http://127.0.0.1:1'
    let seen = 0
    for (const [question, text] of [
      ['EVM chains', 'eth'],
      ['eth: JSON-RPC endpoints, preferred first, separated by commas; - leaves this chain out', away],
      ['Keep it anyway, or paste another endpoint? [no]', ''],
      ['- leaves this chain out', '-'],
      // The only chain: another list is asked for.
      ['No chain is left.', undefined],
      ['EVM chains', 'sim,polygon'],
      ['sim is not a known chain', 'yes'],
      ['sim: JSON-RPC endpoints', node.url],
      ['sim: WebSocket endpoint', ''],
      ['polygon: JSON-RPC endpoints', away],
      ['Keep it anyway, or paste another endpoint? [no]', ''],
      ['polygon: JSON-RPC endpoints', '-'],
      ['Solana portfolios', 'yes'],
      ['Solana network', ''],
      ['Solana endpoints; - leaves Solana out', away],
      ['Keep it anyway, or paste another endpoint? [no]', ''],
      ['Solana endpoints', '-'],
      ['Where to keep the data', ''],
      ['Write almanac.yaml? [yes]', ''],
      ['Next: ', undefined],
    ] as const) {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      if (text !== undefined) run.child.stdin.write(`${text}\n`)
    }
    expect((await run.ended()).code).toBe(0)
    const { chains, solana } = loadConfig({ file: file() }).config
    expect(chains).toEqual({ sim: expect.objectContaining({ id: chainId, index: 'full', rpc: [node.url] }) })
    expect(solana).toEqual({})
  })

  test('on a terminal one bad endpoint of two is replaced alone, and Solana may be named among the chains', async () => {
    const node = await simulate([], [])
    const [good, better] = node.endpoints.map(({ url }) => url)
    const away = `http://127.0.0.1:1/${secret}`
    const run = place.beginOnTerminal(['init', '--index', 'full', '--listen', '127.0.0.1:8080'])
    const again = 'Keep it anyway, or paste another endpoint? The others stay; - leaves this one out. [no]'
    let seen = 0
    for (const [question, text] of [
      ['EVM chains', 'sim solana polygon'],
      ['sim is not a known chain', 'yes'],
      ['sim: JSON-RPC endpoints', `${good},${away}`],
      [again, 'perhaps'],
      ['"perhaps" is neither yes, no nor an endpoint.', undefined],
      [again, better],
      ['sim: WebSocket endpoint', `https://user:${secret}@sim.example/${secret}`],
      ['sim has https://…@sim.example/…, which is not a WebSocket URL.', undefined],
      ['sim: WebSocket endpoint', '-'],
      ['polygon: JSON-RPC endpoints', `${away},http://127.0.0.1:2`],
      [again, '-'],
      ['Keep it anyway, or paste another endpoint? [no]', '-'],
      ['polygon has no other endpoint.', undefined],
      ['Keep it anyway, or paste another endpoint? [no]', ''],
      ['polygon: JSON-RPC endpoints', '-'],
      // It was named: nothing asks whether.
      ['Solana network', 'devnet'],
      ['Solana endpoints; - leaves Solana out [http://127.0.0.1:8899]', '-'],
      ['Where to keep the data', ''],
      ['Write almanac.yaml? [yes]', ''],
      ['Next: ', undefined],
    ] as const) {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      if (text !== undefined) run.child.stdin.write(`${text}\n`)
    }
    expect((await run.ended()).code).toBe(0)
    expect(run.stdout).not.toContain('Solana portfolios')
    const { chains } = loadConfig({ file: file() }).config
    expect(chains).toEqual({ sim: expect.objectContaining({ id: chainId, rpc: [good, better] }) })
  })

  test('on a terminal nothing is written without a chain, which is for the user to change', async () => {
    const run = place.beginOnTerminal(['init'])
    let seen = 0
    for (const [question, text] of [
      ['EVM chains', '-'],
      ['Solana portfolios', 'no'],
      ['No chain was named, so nothing was written.', undefined],
    ] as const) {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      if (text !== undefined) run.child.stdin.write(`${text}\n`)
    }
    expect((await run.ended()).code).toBe(1)
    expect(existsSync(file())).toBe(false)
  })

  test('on a terminal it asks, asks again after a slip, and goes on', async () => {
    const node = await simulate()
    const run = place.beginOnTerminal(['init', '--listen', '127.0.0.1:8080'])
    const answer = async (question: string, text: string): Promise<void> => {
      await run.until(() => run.stdout.includes(question), question)
      run.child.stdin.write(`${text}\n`)
    }
    await run.until(() => run.stdout.includes('EVM chains'), 'the first question')
    expect(run.stdout).toMatch(/base, optimism,\s+linea/)
    expect(run.stdout).not.toMatch(/goerli|mumbai|holesky|zora/)
    expect(run.stdout.replaceAll(/\s+/g, ' ')).toMatch(/linea … \? lists all \d\d\./)
    await answer('EVM chains', '?')
    await run.until(() => /opbnb[^?]*EVM chains/s.test(run.stdout), 'all of them, and the question again')
    await answer('EVM chains', 'sim')
    await answer('sim is not a known chain', 'yes')
    await answer('JSON-RPC endpoints', 'nonsense')
    await run.until(() => run.stdout.includes('is not a URL'), 'the slip is told')
    run.child.stdin.write(`${node.url}\n`)
    await answer('WebSocket endpoint', '')
    await answer('index everything', 'everything')
    await answer('Solana portfolios', 'no')
    await answer('Where to keep the data', 'mysql://x')
    await run.until(() => run.stdout.includes('mysql://x is not a store.'), 'the store is refused')
    run.child.stdin.write('./other.db\n')
    await run.until(() => run.stdout.includes('Write almanac.yaml? [yes]'), 'the summary')
    expect(existsSync(file())).toBe(false)
    run.child.stdin.write('\n')
    await run.until(() => run.stdout.includes('Next: '), 'the end')
    expect((await run.ended()).code).toBe(0)
    // What the modes cost is said before one is chosen, of this chain, and sampled once.
    expect(run.stdout).toMatch(
      / {2}full +About \d.*, [\d.]+ [kM]B of disk and [\d,]+ calls, estimated from \d+ calls\.\s/,
    )
    expect(run.stdout.indexOf('estimated from')).toBeLessThan(run.stdout.indexOf('index everything'))
    expect(run.stdout).not.toContain('What indexing will cost')
    const [summary] = /This goes into almanac\.yaml:[^?]*/.exec(run.stdout)!
    expect(summary).toContain(
      `\r\n  sim     full, ${node.url}\r\n  store   file:./other.db\r\n  listen  127.0.0.1:8080\r\n`,
    )
    const { chains, store } = loadConfig({ file: file() }).config
    expect(chains.sim).toMatchObject({ id: chainId, index: 'full', rpc: [node.url] })
    expect(store).toBe('file:./other.db')
  })

  test('on a terminal contracts without code are asked for again', async () => {
    const node = await simulate()
    const wallet = `0x${'1'.repeat(40)}`
    const [first, second] = node.chain.contracts.all.map(({ address }) => address)
    const run = place.beginOnTerminal(['init', '--index', 'on-demand', '--listen', '127.0.0.1:8080'])
    const isCodeless = `Warning: sim has no code at ${wallet}: not a contract.`
    let seen = 0
    for (const [question, text] of [
      ['EVM chains', 'sim'],
      ['sim is not a known chain', 'yes'],
      ['JSON-RPC endpoints', node.url],
      ['WebSocket endpoint', ''],
      ['contracts to index', wallet],
      [isCodeless, undefined],
      ['Keep it anyway, or paste another contract? [no]', ''],
      ['contracts to index', `${wallet},${first}`],
      [isCodeless, undefined],
      ['or paste another contract? The others stay; - leaves it out. [no]', wallet],
      [isCodeless, undefined],
      ['or paste another contract? The others stay; - leaves it out. [no]', second!],
      ['Solana portfolios', 'no'],
      ['Where to keep the data', ''],
      ['Write almanac.yaml? [yes]', ''],
      ['Next: ', undefined],
    ] as const) {
      await run.until(() => run.stdout.replaceAll(/\r\n/g, ' ').indexOf(question, seen) !== -1, question)
      seen = run.stdout.replaceAll(/\r\n/g, ' ').indexOf(question, seen) + question.length
      if (text !== undefined) run.child.stdin.write(`${text}\n`)
    }
    await run.ended()
    expect(loadConfig({ file: file() }).config.chains.sim).toMatchObject({ contracts: [first, second] })
  })

  thorough('on a terminal a node is called what it serves, and what is pasted is taken as an endpoint', async () => {
    const node = await simulate([{ kind: 'wrong-chain-id', chainId: 8453 }])
    const other = await simulate()
    const run = place.beginOnTerminal(['init', '--index', 'full'])
    let seen = 0
    for (const [question, text] of [
      ['EVM chains', node.url],
      ['is an endpoint, not the name of a chain.', 'warehouse 137'],
      ['warehouse 137 is not a known chain. Is it a chain of your own? [no]', 'no'],
      ['EVM chains', 'warehouse,polygon,local'],
      ['warehouse is not a known chain. Is it a chain of your own? [no]', 'yes'],
      ['local is not a known chain. Is it a chain of your own? [no]', 'yes'],
      ['warehouse: JSON-RPC endpoints', node.url],
      ['The endpoint of "warehouse" serves base.', ''],
      ['Checking base …', ''],
      ['base: WebSocket endpoint', ''],
      // The first chain has not the usual endpoint.
      ['polygon: JSON-RPC endpoints, preferred first, separated by commas; - leaves this chain out', ''],
      ['[http://127.0.0.1:8545]', other.url],
      ['serves chain 31337, not polygon (137).', ''],
      // It is no answer to keep it: nothing would be indexed.
      ['Call it 31337, or paste another endpoint? [no]', 'http://127.0.0.1:1'],
      ['Keep it anyway, or paste another endpoint? [no]', other.url],
      ['Call it 31337, or paste another endpoint? [no]', 'y'],
      ['31337: WebSocket endpoint', ''],
      ['local: JSON-RPC endpoints', other.url],
      ['local: JSON-RPC endpoints', ''],
    ] as const) {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      if (text !== '' || question.includes('WebSocket') || question.includes('serves base'))
        run.child.stdin.write(`${text}\n`)
    }
    await run.kill()
  })

  test('on a terminal ? explains every question, and asks it again', async () => {
    const run = place.beginOnTerminal(['init', '--no-check', '--listen', '127.0.0.1:8080'])
    let seen = 0
    const answer = async (question: string, text: string): Promise<void> => {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      run.child.stdin.write(`${text}\n`)
    }
    for (const [question, help, text] of [
      ['EVM chains', 'opbnb', 'warehouse,ethh'],
      ['warehouse is not a known chain', 'its node tells the id', 'yes'],
      ['ethh is not a known chain', 'No known chain is called ethh', 'no'],
      ['ethh is not a known chain. Is it a chain of your own?', 'its node tells the id', 'yes'],
      ['warehouse: JSON-RPC endpoints', 'your own node or of a provider', ''],
      ['warehouse: WebSocket endpoint', 'Without one Almanac asks', ''],
      ['warehouse: index everything', 'enough for known collections', ''],
      ['warehouse: contracts to index', '40 hex digits', ''],
      ['ethh: JSON-RPC endpoints', 'your own node or of a provider', 'http://127.0.0.1:1'],
      ['ethh: WebSocket endpoint', 'Without one Almanac asks', ''],
      ['ethh: index everything', 'enough for known collections', 'full'],
      ['Solana portfolios', 'a Solana node of yours. Answer yes or no.', 'yes'],
      ['Solana network', 'the one for tests', ''],
      ['Solana endpoints', 'your own node or of a provider', ''],
      ['Solana WebSocket endpoint', 'Without one Almanac asks', ''],
      ['Where to keep the data', 'share the data', ''],
      ['Write almanac.yaml?', 'With no, nothing is written. Answer yes or no.', 'no'],
    ] as const) {
      await answer(question, '?')
      const told = () => run.stdout.slice(seen).replaceAll(/\s+/g, ' ').includes(help)
      await run.until(told, `help: ${help}`)
      await answer(question, text)
    }
    await run.ended()
    expect(run.stdout).not.toMatch(/Error|neither yes/)
  })

  test('a store that is none is refused before any node is asked', async () => {
    const node = await simulate()
    const parameters = ['init', '--yes', '--chain', `sim=${node.url}`, '--store', 'mysql://x']
    const { code, stderr } = await place.runHere(parameters)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Error: mysql:\/\/x is not a store\.\nTry: {3}pass file:/),
    ])
    expect([...node.endpoints[0]!.calls.keys()]).toEqual([])
  })

  test('on a terminal Ctrl-C ends it on a line of its own, and says that nothing was written', async () => {
    const run = place.beginOnTerminal(['init'])
    await run.until(() => run.stdout.includes('EVM chains'), 'the first question')
    run.child.stdin.write('\u0003')
    expect((await run.ended()).code).toBe(130)
    expect(run.stdout).toMatch(/\nStopped; nothing was written\.\r?\n$/)
    expect(existsSync(file())).toBe(false)
  })

  test('on a terminal --yes without a chain is told to leave it out', async () => {
    const { code, stdout } = await place.beginOnTerminal(['init', '--yes']).ended()
    expect([code, stdout]).toEqual([1, expect.stringContaining('or leave out --yes.')])
  })

  test.each([
    ['127.0.0.1:38587,localhost:8545/key', ['http://127.0.0.1:38587', 'http://localhost:8545/key']],
    ['10.0.0.7:8545', ['http://10.0.0.7:8545']],
  ])('a host and port of a private network need no http://: %s', async (typed, rpc) => {
    const { code, stderr } = await place.runHere(['init', '--yes', '--no-check', '--chain', `eth=${typed}`])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Wrote')])
    expect(loadConfig({ file: file() }).config.chains.eth).toMatchObject({ rpc })
    const abroad = await place.runHere(['init', '--yes', '--no-check', '--chain', 'eth=rpc.example.com:8545'])
    expect(abroad.stderr).toContain('not a URL')
  })

  test('on a terminal a name that looks mistyped is asked about', async () => {
    const run = place.beginOnTerminal(['init', '--no-check'], {}, 60)
    let seen = 0
    for (const [question, text] of [
      ['EVM chains', 'nowhere'],
      ['nowhere is not a known chain.', ''],
      ['EVM chains', 'etherem,etth'],
      ['etherem is not a known chain. Did you mean eth? [yes]', 'perhaps'],
      ['"perhaps" is neither yes nor no.', 'no'],
      ['etherem is not a known chain. Is it a chain', ''],
      ['EVM chains', 'etherem,etth'],
      ['etherem is not a known chain. Did you mean eth? [yes]', 'no'],
      ['etherem is not a known chain. Is it a chain', 'yes'],
      // Every name is settled before a chain is asked about.
      ['etth is not a known chain. Did you mean eth? [yes]', 'eth'],
      ['etherem: JSON-RPC endpoints', ''],
      ['etherem: WebSocket endpoint', ''],
      ['etherem: index everything', 'full'],
      ['eth: JSON-RPC endpoints', ''],
    ] as const) {
      await run.until(() => run.stdout.indexOf(question, seen) !== -1, question)
      seen = run.stdout.indexOf(question, seen) + question.length
      run.child.stdin.write(`${text}\n`)
    }
    await run.kill()
    // A narrow terminal breaks what is said between words.
    const begun = run.stdout.slice(0, run.stdout.indexOf('EVM chains')).split('\r\n')
    expect(begun.length).toBeGreaterThan(4)
    for (const line of begun) expect(line.length, line).toBeLessThanOrEqual(60)
  })
})
