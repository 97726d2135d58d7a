// The sandbox as a newcomer meets it: `npm start` with no configuration, the lines that it prints, and nothing left of it afterwards.
import { execFile } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadCollections } from '../sandbox/src/collections.ts'
import { startEvmNode } from '../sandbox/src/evm-node.ts'
import { EvmWorld } from '../sandbox/src/evm-world.ts'
import { pagesAreBuilt } from './built-pages.ts'
import { almanacMain } from './bundled-service.ts'
import { Checkout } from './checkout.ts'
import { withInstalledSdk } from './clients/sdk-place.ts'
import { type Ended, runHere } from './command-here.ts'
import { CommandRun } from './command-run.ts'
import { pythonPath } from './python.ts'
import { callBlocks, guideCalls, shellBlocks } from './readme-blocks.ts'
import { isRelease } from './release-runs.ts'

/** Thirty seconds are for a machine that does nothing else; this one may run other tests. */
const startedWithinMs = 150_000
const patience = { timeout: 60_000, interval: 200 }
const headers = { 'x-api-key': 'sandbox' }
const requestsAtLeast = 100

/** Of the first wallets of the usual seed, as in the README. */
const portfolioPath = '/account/devnet/8auSoPVSFzyyEV6svsGAF37kGcZ5e2gZq98bevt5GNF5/portfolio'
const chainsPath =
  '/api/v2.2/wallets/0x70997970c51812dc3a010c7d01b50e0d17dc79c8/chains?chains=eth&chains=polygon&chains=base'

const coinAddress = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35'

const sameOnChain =
  /^(eth|polygon) is the same in the store as on the chain: [1-9]\d* blocks? in \d+ ranges?, [1-9]\d* tr/m

let checkout: Checkout
const runs: CommandRun[] = []

beforeAll(async () => {
  checkout = new Checkout()
  if (isRelease) return
  // As after the first start, which builds them: suites share what the run has built.
  await pagesAreBuilt()
  for (const pages of ['web/dist', 'site/dist'])
    cpSync(join(import.meta.dirname, '..', pages), join(checkout.directory, pages), { recursive: true })
})
afterAll(async () => {
  for (const run of runs) {
    // npm passes the signal on; killed, it would leave the service behind.
    run.child.kill('SIGTERM')
    await run.ended()
  }
  checkout?.remove()
})

function begin(command: readonly string[], environment: Readonly<Record<string, string>> = {}): CommandRun {
  // What a killed one leaves behind is removed with the checkout.
  const places = { HOME: process.env.HOME ?? '', TMPDIR: checkout.directory, ...environment }
  const run = new CommandRun(command, checkout.directory, { ALMANAC_LISTEN: '127.0.0.1:0', ...places })
  runs.push(run)
  return run
}

/** A command beside the sandbox, which it finds by its directory. */
function commandHere(...words: readonly string[]): Promise<Ended> {
  return runHere(words, checkout.directory, { HOME: process.env.HOME ?? '' })
}

/** Waits for the last line of what a newcomer is told. */
async function guideOf(run: CommandRun): Promise<{ curls: string[]; url: string }> {
  await vi.waitFor(
    () => {
      if (run.child.exitCode !== null) throw new Error(`it ended:\n${run.stderr}`)
      // The log is JSON here: what is for people goes elsewhere.
      expect(run.stdout).toContain('Next:  ')
    },
    { timeout: startedWithinMs, interval: 100 },
  )
  const curls = run.stdout.match(/^curl .*$/gm) ?? []
  return { curls, url: /Console: +(http:\/\/[^/]+)/.exec(run.stdout)![1]! }
}

async function runLine(line: string): Promise<Answer> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', line])
  return JSON.parse(stdout)
}

type Answer = {
  result: { verified_collection: boolean }[]
  active_chains: { chain: string }[]
  nativeBalance: { lamports: string }
  accounts: { address: string }[]
  nfts: { name: string; mint: string }[]
  tokens: { name: string; mint: string; amount: string; amountRaw: string; decimals: number }[]
  chains: Record<string, { head: number; rpc: { endpoint: string }[] }>
  solana: Record<string, { slot: number; rpc: { endpoint: string }[] }>
}

/** Who owns what changes with the traffic: the lines answer, whatever it is. */
async function expectOwners(lines: readonly string[]): Promise<void> {
  const [nfts, token, stats] = await Promise.all(lines.map(runLine))
  expect(nfts).toMatchObject({ result: expect.any(Array), status: expect.stringMatching(/^SYNC/) })
  expect(token).toMatchObject({ token_id: '1', owner_of: expect.stringMatching(/^0x/) })
  expect(stats).toMatchObject({ owners: { current: expect.stringMatching(/^[1-9]/) } })
}

/** It answers what is printed below it, but for what each start makes anew. */
async function expectAnswer(line: string, answer: unknown): Promise<void> {
  const answered = await runLine(line)
  // The wallet may have given its pictures away, and holds other things each time.
  if (answered.nfts?.length === 0) (answer as Answer).nfts = []
  const isOfWallet = line.includes('/nft ')
  if (isOfWallet && answered.result.length === 0) (answer as Answer).result = []
  const known = isOfWallet ? new Set(['page', 'page_size']) : lasting
  expect(constantsOf(answered, known), line).toEqual(constantsOf(answer, known))
}

async function expectPrinted(program: string, ...parameters: readonly string[]): Promise<void> {
  const { stdout, stderr } = await promisify(execFile)(program, parameters, { cwd: checkout.directory })
  expect([stdout, stderr]).toEqual([expect.stringMatching(/\w/), ''])
  expect(stdout).not.toMatch(/undefined|None|NaN/)
}

const typescriptFlags = ['--input-type=module-typescript', '--eval']

/** Programs that wait for requests, and those that import a package, which are found by the directory. */
const ownProcess = /createServer|HTTPServer|^import .* from '(?!node:)/m

/** Runs programs in one process: most of the time of one for each would go into its start. */
const runEach = {
  typescript: [
    process.execPath,
    ...['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'],
    `import { stripTypeScriptTypes } from 'node:module'
    for (const [at, text] of JSON.parse(process.argv[1]).entries()) {
      console.log('\\0')
      await import('data:text/javascript,' + encodeURIComponent(stripTypeScriptTypes(text) + '//' + at))
    }`,
  ],
  python: [
    pythonPath ?? 'python3',
    '-c',
    `import json, sys
for text in json.loads(sys.argv[1]):
    print('\\0')
    exec(compile(text, 'example', 'exec'), {'__name__': '__main__'})`,
  ],
} as const

async function expectEachPrints(language: keyof typeof runEach, programs: readonly string[]): Promise<void> {
  const [program, ...parameters] = runEach[language]
  const { stdout, stderr } = await promisify(execFile)(program, [...parameters, JSON.stringify(programs)], {
    cwd: checkout.directory,
  })
  expect(stderr).toBe('')
  const printed = stdout.split('\0').slice(1)
  expect(printed).toHaveLength(programs.length)
  for (const [at, text] of printed.entries()) {
    expect(text, programs[at]).toMatch(/\w/)
    expect(text, programs[at]).not.toMatch(/undefined|None|NaN/)
  }
}

async function status(url: string): Promise<Answer> {
  return (await (await fetch(`${url}/status`, { headers })).json()) as Answer
}

async function heightsOf(url: string): Promise<Record<string, number>> {
  const { chains, solana } = await status(url)
  const heights = [
    ...Object.entries(chains).map(([name, { head }]) => [name, head]),
    ...Object.entries(solana).map(([name, { slot }]) => [name, slot]),
  ]
  return Object.fromEntries(heights)
}

async function nodesOf(url: string): Promise<string[]> {
  const { chains, solana } = await status(url)
  const endpoints = [...Object.values(chains), ...Object.values(solana)].flatMap(({ rpc }) => rpc)
  return endpoints.map(({ endpoint }) => `http://${endpoint.replace('http://', '')}`)
}

/** Every node must stop listening. */
async function expectGone(nodes: readonly string[]): Promise<void> {
  expect(nodes.length).toBeGreaterThan(0)
  for (const node of nodes)
    await vi.waitFor(() => expect(fetch(node, { method: 'POST' }), node).rejects.toThrow('fetch failed'), patience)
}

describe('the sandbox', { timeout: startedWithinMs + 150_000 }, () => {
  test('npm start with no configuration: a line that answers, blocks that go on, and Ctrl-C ends everything', async () => {
    const run = begin(['npm', 'start'])
    const { curls, url } = await guideOf(run)
    expect(run.stdout).toContain('This is a sandbox')
    expect(run.stdout).toContain(`${url}/#key=sandbox`)
    // What `init` asks for, for those who have no node.
    const [, node] = /^ {2}Nodes: +eth +(http:\/\/127\.0\.0\.1:\d+)$/m.exec(run.stdout)!
    const asked = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
    const answer = await fetch(node!, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) },
    })
    expect(await answer.json()).toMatchObject({ result: '0x1' })
    // So that the reference answers without signing in.
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { info: object }
    expect(document.info).toHaveProperty('x-sandbox-key', 'sandbox')
    // So that its examples of Solana answer: its accounts were read, and their mints are known.
    const { accounts } = await runLine(`curl -s -H 'X-API-Key: sandbox' '${url}/solana/devnet/accounts'`)
    expect(accounts.map(({ address }) => address)).toContain(portfolioPath.split('/')[3])
    const held = await Promise.all(
      accounts.map(({ address }) =>
        runLine(`curl -s -H 'X-API-Key: sandbox' '${url}/account/devnet/${address}/portfolio'`),
      ),
    )
    const mints = {
      nft: held.flatMap(({ nfts }) => nfts)[0]!.mint,
      token: held.flatMap(({ tokens }) => tokens)[0]!.mint,
    }
    for (const [kind, mint] of Object.entries(mints)) {
      const about = await fetch(`${url}/${kind}/devnet/${mint}/metadata`, { headers })
      expect(about.status, kind).toBe(200)
    }
    // So that the console says what it shows.
    const events = await fetch(`${url}/events`, { headers: { 'x-api-key': 'sandbox' } })
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
    let told = ''
    while (!/event: status\ndata: .*\n\n/.test(told)) told += (await reader.read()).value ?? ''
    await reader.cancel()
    expect(told).toContain('"sandbox":true')
    for (const name of ['eth', 'polygon', 'base', 'solana'])
      expect(run.stdout).toMatch(new RegExp(`^${name} ready after`, 'm'))
    for (const line of run.stdout.split('\n').filter(text => !/^curl |^export |^ +Console: /.test(text)))
      expect(line.length, line).toBeLessThan(120)
    // Every line of the log is JSON; npm may have warnings of its own.
    const logged = run.stderr.split('\n').filter(line => line !== '' && !line.startsWith('npm '))
    expect(logged).not.toEqual([])
    for (const line of logged) expect(JSON.parse(line)).toHaveProperty('msg')
    expect(curls).toHaveLength(1)
    const lines = [
      curls[0]!,
      ...[chainsPath, portfolioPath].map(path => `curl -s -H 'X-API-Key: sandbox' '${url}${path}'`),
    ]
    const [, , portfolio] = await Promise.all(lines.map(runLine))
    // A busy machine indexes for longer than a request waits, and looks the wallet up on demand for longer too.
    await vi.waitFor(async () => {
      const { result } = await runLine(lines[0]!)
      expect(result.map(({ verified_collection }) => verified_collection)).toEqual([true, true])
    }, patience)
    await vi.waitFor(async () => {
      const { active_chains: active } = await runLine(lines[1]!)
      expect(active.map(({ chain }) => chain)).toEqual(['eth', 'polygon', 'base'])
    }, patience)
    expect(Number(portfolio!.nativeBalance.lamports)).toBeGreaterThan(0)
    expect(portfolio!.tokens.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Sandbox Dollar', 'Savings', 'Split Share']),
    )
    const split = portfolio!.tokens.find(({ name }) => name === 'Split Share')!
    expect(Number(split.amount)).toBe((2 * Number(split.amountRaw)) / 10 ** split.decimals)

    // The lines of the README and the guides answer what is printed below them, but for what each start makes anew, and
    // the same calls in other languages print something of it.
    let sdks = 0
    const programs = { typescript: [] as string[], python: [] as string[] }
    for (const { lines, answer, typescript, python, sdk } of [...callBlocks, ...guideCalls]) {
      const here = (text: string) => text.replaceAll('http://127.0.0.1:8080', url)
      const written = lines.map(here)
      if (answer !== undefined) await expectAnswer(written.join('\n'), answer)
      else if (typescript !== undefined) await expectPrinted('sh', '-euc', written.join('\n'))
      else await expectOwners(written)
      // The SDK takes a second of the processor to load; `test/clients` asks for every operation with it.
      if (sdk !== undefined) sdks++
      const asked = isRelease || sdks % 8 === 1 ? sdk : undefined
      if (asked !== undefined) await expectPrinted(process.execPath, ...typescriptFlags, here(withInstalledSdk(asked)))
      if (typescript !== undefined)
        if (ownProcess.test(typescript)) await expectPrinted(process.execPath, ...typescriptFlags, here(typescript))
        else programs.typescript.push(here(typescript))
      if (python !== undefined)
        if (!ownProcess.test(python)) programs.python.push(here(python))
        else if (pythonPath !== undefined) await expectPrinted(pythonPath, '-c', here(python))
    }
    await expectEachPrints('typescript', programs.typescript)
    if (pythonPath !== undefined) await expectEachPrints('python', programs.python)

    // The README's commands for operators work on it, from the same directory.
    const operations = shellBlocks.find(({ lines }) => lines.some(line => line.includes(' keys create ')))!.lines
    for (const [at, line] of operations.entries()) {
      const [, ...words] = line.split(/ almanac | /)
      const { code, stdout, stderr } = await (at === 0
        ? begin([process.execPath, almanacMain, ...words]).ended()
        : commandHere(...words))
      expect([line, code], stderr).toEqual([line, 0])
      // Said once, and not with every command.
      expect(stderr.includes('this and the next commands use the running sandbox.'), line).toBe(at === 0)
      if (line.includes(' keys create ')) {
        const used = curls[0]!.replace('X-API-Key: sandbox', `X-API-Key: ${stdout.trim()}`)
        expect((await runLine(used)).result).toHaveLength(2)
      }
      if (line.endsWith(' status')) expect(stdout).toMatch(/^eth +\w+ /m)
    }
    const history = await commandHere('backfill', 'status')
    expect(history.stdout, history.stderr).toMatch(/^eth +open /m)
    // So do the commands that ask the nodes, about what the sandbox has.
    for (const chain of ['eth', 'polygon']) {
      const { code, stdout, stderr } = await commandHere('verify', '--chain', chain)
      expect([code, stdout], stderr).toEqual([0, expect.stringMatching(sameOnChain)])
    }
    const planned = await commandHere('plan', '--json')
    expect(planned.code, planned.stderr).toBe(0)
    const { eth, polygon } = JSON.parse(planned.stdout).chains
    const tokens = { ledger: 'erc20', source: 'nodes', from: 0 }
    for (const full of [eth, polygon])
      expect(full).toMatchObject({ parts: [{ source: 'nodes', from: 0 }, tokens], missing: [] })
    expect(eth.parts[0].to).toBeGreaterThan(500)
    expect(readdirSync(checkout.directory)).not.toContain('almanac.db')

    // Collections are read by their names, also beside those that refuse to say theirs.
    await vi.waitFor(async () => {
      const answer = await fetch(`${url}/chains/eth/contracts`, { headers })
      const { contracts } = (await answer.json()) as { contracts: { name: string | null }[] }
      expect(contracts.map(({ name }) => name)).toContain('Harbour Lights')
    }, patience)

    // And then it goes on. Its Solana node for longer: sandbox-life.test.ts; all of it for minutes: test/release.
    const askOften = async () => {
      for (let asked = 0; asked < requestsAtLeast; asked += 25) {
        const answers = Array.from({ length: 25 }, () => fetch(`${url}${portfolioPath}`, { headers }))
        for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
      }
    }
    await askOften()
    const before = await heightsOf(url)
    expect(Object.keys(before)).toHaveLength(4)
    await vi.waitFor(async () => {
      for (const [name, height] of Object.entries(await heightsOf(url)))
        expect(height, name).toBeGreaterThan(before[name]!)
    }, patience)

    const nodes = await nodesOf(url)
    expect(nodes).toHaveLength(4)
    run.child.kill('SIGINT')
    expect((await run.ended()).code).toBe(0)
    await expectGone(nodes)
    expect(readdirSync(checkout.directory).filter(name => name.startsWith('almanac-sandbox-'))).toEqual([])
    expect(run.stderr).not.toMatch(/"level":"(warn|error|fatal)"/)
  })

  test('on a terminal the start names its parts, and Ctrl-C meanwhile leaves nothing behind', async () => {
    const line = `stty cols 100; exec '${process.execPath}' '${almanacMain}' demo`
    const run = begin(['script', '-qefc', line, '/dev/null'], { LANG: 'C.UTF-8' })
    await vi.waitFor(() => expect(run.stdout).toMatch(/ eth +mining history, [1-9]\d* of 600 blocks/), {
      ...{ timeout: startedWithinMs, interval: 50 },
    })
    expect(run.stdout).toMatch(/ eth +starting the node/)
    await vi.waitFor(() => expect(run.stdout).toMatch(/ solana +filling wallets/), {
      ...{ timeout: startedWithinMs, interval: 50 },
    })
    // As the terminal's own Ctrl-C.
    run.child.stdin.write('\u0003')
    expect((await run.ended()).code).toBe(130)
    expect(run.stdout).toMatch(/Stopped\. Nothing is left running\.\r\n$/)
    expect(run.stdout).not.toContain(' ready after ')
    // The terminal has its cursor again.
    expect(run.stdout.lastIndexOf('\u001b[?25h')).toBeGreaterThan(run.stdout.lastIndexOf('\u001b[?25l'))
    expect(readdirSync(checkout.directory).filter(name => name.startsWith('almanac-sandbox-'))).toEqual([])
  })

  test('nodes do not outlive what was killed, and another seed has other wallets', async () => {
    const sources = join(import.meta.dirname, '../sandbox/src')
    const program = `
      import { startEvmNode } from ${JSON.stringify(join(sources, 'evm-node.ts'))}
      import { startSolanaNode } from ${JSON.stringify(join(sources, 'solana-node.ts'))}
      import { SolanaWorld } from ${JSON.stringify(join(sources, 'solana-world.ts'))}
      const evm = await startEvmNode({ chainId: 1, genesisTimestamp: ${Math.floor(Date.now() / 1_000) - 60} })
      const node = await startSolanaNode()
      const { wallets } = await SolanaWorld.create({ node, seed: 'another', answerMsMax: 30_000 })
      console.log(JSON.stringify({ urls: [evm.url, node.rpcUrl], wallets: wallets.map(({ address }) => address) }))
    `
    const run = begin([process.execPath, '--input-type=module', '--eval', program])
    await run.until(() => run.stdout.endsWith('\n'), 'the nodes')
    const { urls, wallets } = JSON.parse(run.stdout) as { urls: string[]; wallets: string[] }
    expect(wallets).toHaveLength(3)
    expect(wallets).not.toContain(portfolioPath.split('/')[3])
    for (const url of urls) expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBeLessThan(600)
    await run.kill()
    await expectGone(urls)
  })

  // The same of a whole sandbox, of whose start most is making its history.
  test.runIf(isRelease)('a killed sandbox leaves no node behind, and another seed has other wallets', async () => {
    const run = begin([process.execPath, almanacMain, 'demo', '--seed', 'another'])
    const { curls, url } = await guideOf(run)
    expect(curls).toHaveLength(1)
    const { tokens } = await runLine(`curl -s -H 'X-API-Key: sandbox' '${url}${portfolioPath}'`)
    expect(tokens).toEqual([])
    const nodes = await nodesOf(url)
    await run.kill()
    await expectGone(nodes)
  })
})

describe('a chain of the sandbox', { timeout: 120_000 }, () => {
  const genesisTimestamp = Math.floor(Date.now() / 1_000) - 3_600

  /** What happened on a chain of this seed, and that nothing failed. */
  async function storyOf(seed: string): Promise<string[]> {
    const node = await startEvmNode({ chainId: 1, genesisTimestamp })
    try {
      const kinds = ['ERC721', 'ERC721A', 'ERC1155', 'airdrop'] as const
      const compiled = await loadCollections()
      const world = await EvmWorld.create({ node, compiled, seed, kinds, genesisTimestamp, historyBlocks: 80 })
      for (let block = 0; block < 20; block++) await world.mineBlock()
      await world.reorganise()
      await world.mineBlock()
      const head = Number(await node.ask('eth_blockNumber'))
      const story: string[] = []
      for (let block = 1; block <= head; block++) {
        const receipts = (await node.ask('eth_getBlockReceipts', `0x${block.toString(16)}`)) as Receipt[]
        for (const { status, logs } of receipts) {
          expect(status, `block ${block}`).toBe('0x1')
          story.push(...logs.map(({ address, topics, data }) => [block, address, ...topics, data].join(' ')))
        }
      }
      return story
    } finally {
      await node.stop()
    }
  }

  test('is the same for the same seed and another one for another; every transaction succeeds, whatever was taken back', async () => {
    const [one, same, other] = await Promise.all([storyOf('one'), storyOf('one'), storyOf('other')])
    expect(one!.length).toBeGreaterThan(60)
    expect(same).toEqual(one)
    expect(other).not.toEqual(one)
    // The token moves too, at the address that the guide to first calls names.
    expect(one!.filter(log => log.includes(coinAddress)).length).toBeGreaterThan(10)
  })
})

type Receipt = { status: string; logs: { address: string; topics: string[]; data: string }[] }

const lasting = new Set([
  'code',
  'details',
  'contract_type',
  'token_address',
  'verified_collection',
  'address',
  'chain',
  'chain_id',
  'page',
  'page_size',
])

/** The names of all fields, and the values of those that are the same at every start. Lists are told by their first entry. */
function constantsOf(value: unknown, known: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [constantsOf(value[0], known)]
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const isText = typeof field === 'string' || field === null
      return [name, known.has(name) ? field : isText ? 'text or nothing' : constantsOf(field, known)]
    }),
  )
}
