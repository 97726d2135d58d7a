// Every code block of README, CONTRIBUTING, docs and the other pages is held by something: it runs here beside a real
// service, or in the test or soak named below, or is read by the program it is for, or stands here with the reason why
// it cannot run. A new block fails until one of these is true of it. Settings of proxies: `proxy-guide.test.ts`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { createProgram } from '../src/cli/program.ts'
import { loadConfig } from '../src/config/load.ts'
import { type Ended, runHere } from './command-here.ts'
import { CommandPlace, type CommandRun } from './command-run.ts'
import { blocksOf, commandsOf, type DocBlock, pages, pageText, root, wordsOf } from './doc-blocks.ts'
import { truthByContract } from './evm-harness.ts'
import { type Databases, sharedPostgres } from './postgres-server.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'

/** By page, or by page and the beginning of a block: the test that runs it. */
const elsewhere: Readonly<Record<string, string>> = {
  'README.md': 'test/readme.test.ts',
  'README.md: curl': 'test/sandbox.test.ts',
  'CONTRIBUTING.md': 'test/sandbox.test.ts',
  'docs/README.md': 'test/sandbox.test.ts',
  'docs/guides/balances.md': 'test/sandbox.test.ts',
  'docs/guides/authentication.md': 'test/sandbox.test.ts',
  'docs/guides/erc-20.md': 'test/sandbox.test.ts',
  'docs/guides/follow-transfers.md': 'test/sandbox.test.ts',
  'docs/guides/react-to-transfers.md: curl': 'test/sandbox.test.ts',
  'docs/guides/react-to-transfers.md: import ': 'test/sandbox.test.ts',
  'docs/guides/pages.md': 'test/sandbox.test.ts',
  'docs/guides/complete-answers.md': 'test/sandbox.test.ts',
  'docs/guides/errors-and-retries.md': 'test/sandbox.test.ts',
  'docs/guides/solana.md': 'test/sandbox.test.ts',
  'docs/guides/who-owns-what.md': 'test/sandbox.test.ts',
  'docs/guides/whole-lists.md': 'test/sandbox.test.ts',
  'docs/guides/a-whole-chain.md: almanac history': 'test/whole-chain-guide.test.ts',
  'docs/guides/a-whole-chain.md: almanac config': 'test/whole-chain-guide.test.ts',
  'docs/guides/development-chain.md': 'test/development-chain.test.ts',
  'docs/guides/endpoints.md': 'test/init.test.ts',
  'docs/guides/one-contract.md': 'test/one-contract-guide.test.ts',
  'docs/guides/first-calls.md': 'test/readme.test.ts',
  'docs/guides/first-calls.md: curl': 'test/sandbox.test.ts',
  'docs/guides/first-calls.md: const ': 'test/sandbox.test.ts',
  'docs/guides/first-calls.md: import ': 'test/sandbox.test.ts',
  'docs/guides/moving.md': 'test/clients/moving-guide.test.ts',
  'docs/guides/postgres-and-citus.md: almanac start': 'test/roles.test.ts',
  'docs/guides/snapshot-of-holders.md': 'test/snapshot-guide.test.ts',
  'sandbox/README.md': 'scripts/rehearse-release.sh',
}

/** What no test can run, and why. Commands of Almanac and npm scripts in them are still looked up below. */
const notRun: Readonly<Record<string, string>> = {
  'docs/guides/a-whole-chain.md: wget': 'fetches hundreds of gigabytes',
  'docs/guides/a-whole-chain.md: geth': 'needs a node with the whole chain',
  'docs/guides/docker.md': 'needs a container engine; release/package.test.ts builds what the image is made of',
  'docs/guides/kubernetes.md': 'needs a cluster; kubernetes-files.test.ts checks the manifests',
  'docs/guides/moving.md: export ALMANAC_COMPARE_KEY': 'asks the hosted service; compare.test.ts runs the command',
  'docs/guides/postgres-and-citus.md: sudo':
    'installs packages as root; npm run test:citus makes a cluster the same way',
  'docs/guides/postgres-and-citus.md: SELECT': 'needs Citus; npm run test:citus runs these functions',
  'docs/guides/postgres-and-citus.md: almanac start\n': 'needs Citus; npm run test:citus starts on it',
  'docs/backup.md: BEGIN': 'needs two Citus clusters; citus-restore.test.ts does it',
  'docs/backup.md: pg_dump': 'needs tools of the version of the server; store-backup.test.ts runs them where they are',
  'docs/guides/react-to-transfers.md: CREATE': 'is of your own database, beside what you do there',
  'docs/guides/server.md': 'installs a service as root; unit-file.test.ts runs the service as the unit does',
  'docs/scale.md': 'takes hours; bench/README.md has the results',
  'bench/README.md': 'takes minutes to hours: these are the measurements themselves',
}

/** Pages whose shell blocks run here, from top to bottom: beside the service, and once it is stopped. */
const besideService = [
  'docs/troubleshooting.md',
  'docs/annotations.md',
  'docs/guides/authentication.md: almanac keys',
  'docs/guides/keys-and-limits.md',
  'docs/guides/agents.md',
  'docs/guides/operating.md',
  'docs/guides/react-to-transfers.md: almanac keys',
  'docs/guides/a-whole-chain.md: almanac status',
  'docs/backup.md: almanac store backup',
]
const onceStopped = [
  'docs/backup.md: almanac store restore',
  'docs/guides/forgetting.md',
  'docs/guides/postgres-and-citus.md: almanac store copy',
  'docs/backup.md: psql',
]

const blocks = pages.flatMap(blocksOf)
const runnable = blocks.filter(({ language }) => ['sh', 'ts', 'python', 'sql'].includes(language))

const matches = ({ page, text }: DocBlock, key: string): boolean =>
  key === page || (key.startsWith(`${page}: `) && text.startsWith(key.slice(page.length + 2)))

/** The most exact entry decides. */
function wayOf(block: DocBlock): string | undefined {
  const keys = [...Object.keys(elsewhere), ...Object.keys(notRun), ...besideService, ...onceStopped]
  return keys.filter(key => matches(block, key)).sort((one, other) => other.length - one.length)[0]
}

describe('every block', () => {
  test('is fenced and says its language', () => {
    const known = ['sh', 'ts', 'python', 'sql', 'yaml', 'json', 'nginx', 'caddyfile', 'conf', 'diff', 'text']
    // The synopses of the generated page are the program's own.
    const others = blocks.filter(
      ({ page, isFenced, language }) => page !== 'docs/commands.md' && !(isFenced && known.includes(language)),
    )
    expect(others.map(({ page, first }) => `${page}: ${first}`)).toEqual([])
  })

  test('that can run does, or says why not', () => {
    expect(runnable.length).toBeGreaterThan(60)
    expect(runnable.filter(block => wayOf(block) === undefined)).toEqual([])
    const used = new Set(runnable.map(wayOf))
    const all = [...Object.keys(elsewhere), ...Object.keys(notRun), ...besideService, ...onceStopped]
    expect(all.filter(key => !used.has(key))).toEqual([])
    for (const file of Object.values(elsewhere)) expect(existsSync(join(root, file)), file).toBe(true)
  })

  test('that is JSON can be read', () => {
    for (const { text } of blocks.filter(({ language }) => language === 'json'))
      expect(() => JSON.parse(text)).not.toThrow()
  })
})

test('one sentence says what Almanac is', () => {
  const { description }: { description: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const sentence = `Almanac is a${description.slice(1)}`
  for (const page of ['README.md', 'docs/README.md']) {
    const text = pageText(page).replaceAll(/<picture>.*?<\/picture>/gs, '')
    expect(/^(?!#|$).+?(?=\. |\.$)\./ms.exec(text)![0].replaceAll('\n', ' '), page).toBe(sentence)
  }
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain(
    `org.opencontainers.image.description="${description}"`,
  )
  const [listed] = /^## Served.*?^## Notes/ms.exec(pageText('docs/operations.md'))!
  const served = listed.match(/^\| `\w+` \|/gm)!
  const missing = pageText('docs/operations.md')
    .split(/^## /m)
    .filter(section => section.startsWith('Not served'))
  const all = served.length + missing.join('').match(/^\| `\w+` \|/gm)!.length
  expect(pageText('README.md')).toContain(` ${served.length} operations of ${all} `)
  expect(pageText('README.md')).toContain(` all ${all} endpoints `)
})

type Tree = { [name: string]: unknown }

/** What a page shows of a file is added to the rest of it. */
function merged(base: Tree, over: Tree): Tree {
  const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)
  const entries = Object.entries(over).map(([name, value]) => {
    const under = base[name]
    return [name, isTree(value) && isTree(under) ? merged(under, value) : value]
  })
  return { ...base, ...Object.fromEntries(entries) }
}

test('settings are read by the real reader, without a warning', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-settings-'))
  const shown = blocks.filter(({ language }) => language === 'yaml')
  expect(shown.length).toBeGreaterThan(8)
  const base = { chains: { eth: { rpc: 'http://127.0.0.1:8545', index: 'full' } } }
  try {
    writeFileSync(join(folder, 'historical_roots.ssz'), Buffer.alloc(32))
    for (const { page, text } of shown) {
      // An indented one is a setting of a chain that the page has shown before.
      const own = parse(text)
      const tree = merged(base, text.startsWith(' ') ? { chains: { eth: own } } : own)
      const file = join(folder, 'almanac.yaml')
      writeFileSync(file, JSON.stringify(tree))
      expect(loadConfig({ file, environment: {} }).warnings, `${page}: ${text}`).toEqual([])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe('what pages name', () => {
  const code = (page: string) => [...pageText(page).matchAll(/`([^`\n]+)`/g)].map(([, text]) => text!)

  test('commands and options of Almanac exist', async () => {
    const program = await createProgram()
    const named = pages.flatMap(page => [
      ...code(page).filter(text => text.startsWith('almanac ')),
      ...blocksOf(page)
        .filter(({ language }) => language === 'sh')
        .flatMap(({ text }) =>
          [...text.matchAll(/(?:^|-- | almanac )almanac (.+)$/gm)].map(([, words]) => `almanac ${words}`),
        ),
    ])
    expect(named.length).toBeGreaterThan(100)
    expect(named.flatMap(line => unknownIn(program, line))).toEqual([])
  })

  test('images have the version of this one, and packages any: unreleased changes are packed as one of their own', () => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const named = pages.flatMap(page => [
      ...pageText(page).matchAll(/release\/almanac(?:-sandbox)?-(.+?)\.tgz|<repository>:(\d[\w.]*\w)/g),
    ])
    expect(named.length).toBeGreaterThan(3)
    const isRight = ([, archive, tag]: RegExpExecArray): boolean =>
      archive === undefined ? tag === version : /^(\[0-9\])?\*$/.test(archive)
    expect(named.filter(each => !isRight(each)).map(([text]) => text)).toEqual([])
  })

  test('npm scripts exist', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const current = pages.filter(page => page !== 'CHANGELOG.md')
    const named = current.flatMap(page =>
      [...pageText(page).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name]) => name!),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(name => scripts[name] === undefined)).toEqual([])
    const listed = ['CONTRIBUTING.md', 'bench/README.md'].flatMap(page => [
      ...pageText(page).matchAll(/[`\s]([a-z]+(:[\w-]+)?)(?=[`\s])/g),
    ])
    const unlisted = Object.keys(scripts).filter(name => !listed.some(([, word]) => word === name))
    // npm runs this one itself.
    expect(unlisted).toEqual(['prepack'])
  })
})

/** Which words of a line are no command and no option of its command. */
function unknownIn(program: Command, line: string): string[] {
  const words = line
    .split(/\s+#|[|<>;]/)[0]!
    .split(/\s+/)
    .slice(1)
  let command = program
  while (command.commands.length > 0 && words.length > 0 && !words[0]!.startsWith('-')) {
    const next = command.commands.find(each => each.name() === words[0])
    if (next === undefined) return /^[a-z]/.test(words[0]!) ? [line] : []
    command = next
    words.shift()
  }
  const options = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short])
  const given = words.filter(word => /^--?[a-z]/.test(word)).map(word => word.split('=')[0]!)
  return given.every(option => option === '--help' || options.includes(option)) ? [] : [line]
}

describe('the blocks of operators', { timeout: 180_000 }, () => {
  let place: CommandPlace
  let bin: string
  let nodes: SimNode[] = []
  let service: CommandRun
  let server: Databases
  let contract: string
  let transaction: string
  const key = 'a-key-of-the-operator'
  let environment: Record<string, string>

  beforeAll(async () => {
    place = new CommandPlace()
    const light = { height: 200, hashes: 'real', ...lightBlocks } as const
    nodes = [
      await startSimNode({ chain: { chainId: 1, ...light } }),
      await startSimNode({ chain: { chainId: 137, ...light } }),
    ]
    const [eth, polygon] = nodes as [SimNode, SimNode]
    const [first] = truthByContract(eth.chain, { from: 1, to: eth.chain.finalized })
    contract = first![0]
    transaction = first![1][0]!.transactionHash
    place.configure({ eth: { rpc: eth.url, index: 'full' }, polygon: { rpc: polygon.url, index: 'full' } })
    mkdirSync(join(place.directory, 'backups'))
    bin = place.install()
    writeFileSync(join(place.directory, 'names.csv'), `address,label\n${contract},Somebody\n`)
    writeFileSync(join(place.directory, 'names.json'), JSON.stringify({ [contract]: 'Somebody' }))
    for (const name of ['verified.csv', 'spam.csv'])
      writeFileSync(join(place.directory, name), `address\n${contract}\n`)
    service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: key })
    environment = { ALMANAC_URL: await service.listening(), ALMANAC_KEY: key }
    // What is backed up, copied and forgotten must be there.
    await vi.waitFor(async () => {
      const answer = await fetch(`${environment.ALMANAC_URL}/status`, { headers: { 'x-api-key': key } })
      const { chains } = (await answer.json()) as { chains: Record<string, { complete: boolean }> }
      expect(Object.values(chains).map(({ complete }) => complete)).toEqual([true, true])
    }, 60_000)
  })
  afterAll(async () => {
    await place?.dispose()
    for (const node of nodes) await node.close()
    await server?.stop()
  })

  /** As it stands there, with what this machine has in place of what the page can only name. */
  function adapted(command: string): string {
    const there: readonly [string | RegExp, string][] = [
      [/0x<hash>\[:<log index>\]/g, transaction],
      [/0x…|0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d/g, contract],
      [/http:\/\/(127\.0\.0\.1|localhost):8080/g, environment.ALMANAC_URL!],
      ['X-API-Key: …', `X-API-Key: ${key}`],
      ['/backups/', `${place.directory}/backups/`],
      ['<process id>', String(service.child.pid)],
      // Nobody is there to be asked.
      [/^(almanac forget \S+( --(contract|view) \S+)?)/g, '$1 --yes'],
    ]
    return there.reduce((text, [from, to]) => text.replaceAll(from, to), command)
  }

  async function run(command: string): Promise<Ended> {
    const words = wordsOf(command)
    if (words?.[0] === 'almanac') return await runHere(words.slice(1), place.directory, environment)
    const env = { ...environment, PATH: `${bin}:${process.env.PATH}` }
    const { status, stdout, stderr } = spawnSync('sh', ['-euc', command], {
      cwd: place.directory,
      encoding: 'utf8',
      env,
    })
    return { code: status, stdout, stderr }
  }

  async function runBlocks(key: string, change = (text: string) => text): Promise<string> {
    let printed = ''
    for (const block of runnable.filter(each => wayOf(each) === key))
      for (const command of commandsOf(block.text)) {
        const { code, stdout, stderr } = await run(change(adapted(command)))
        expect([command, code], stderr).toEqual([command, 0])
        printed += stdout
      }
    return printed
  }

  test.each(besideService)('%s', async key => {
    const printed = await runBlocks(key)
    if (key.endsWith('annotations.md')) expect(printed).toContain('Somebody')
  })

  test('those for a service that is stopped', async () => {
    service.child.kill('SIGTERM')
    expect((await service.ended()).code).toBe(0)
    const [restore, forget, copy, keys] = onceStopped as [string, string, string, string]
    await runBlocks(restore)
    server = await sharedPostgres()
    const database = await server.createDatabase()
    await runBlocks(copy, text => text.replace(/postgres:\S+/, database))
    await runBlocks(forget)
    if (spawnSync('psql', ['--version']).status !== 0) return
    const restored = await server.createDatabase(database)
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    await client.query('UPDATE keys SET revoked_at = 1')
    await client.end()
    await runBlocks(keys, text =>
      text.replaceAll(/postgres:\S+?\/almanac(_restored)?(?= )/g, (_, other) => (other ? restored : database)),
    )
    const after = new pg.Client({ connectionString: restored })
    await after.connect()
    expect((await after.query('SELECT DISTINCT revoked_at FROM keys')).rows).toEqual([{ revoked_at: '1' }])
    // Names of settings that the server itself knows; those of Citus are in the suite's own cluster.
    const settings = blocks
      .filter(({ language }) => language === 'conf')
      .flatMap(({ text }) => [...text.matchAll(/^([\w.]+) = /gm)])
    const names = settings.map(([, name]) => name!).filter(name => !name.startsWith('citus.'))
    expect(names.length).toBeGreaterThan(8)
    const { rows } = await after.query('SELECT name FROM pg_settings WHERE name = ANY($1)', [names])
    await after.end()
    expect(rows.map(({ name }) => name).sort()).toEqual([...new Set(names)].sort())
  })
})
