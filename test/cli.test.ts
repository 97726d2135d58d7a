// The command line as its users meet it: real processes, real stores, real signals.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { issueKey, registerOperatorKey } from '../src/keys/keys.ts'
import { openStore } from '../src/store/open.ts'
import { almanacMain, compileCache } from './bundled-service.ts'
import { type Ended, runHere } from './command-here.ts'
import { listeningUrls, makeStore } from './command-run.ts'
import { isRelease } from './release-runs.ts'

const wallet = '0x2bd806c97f0e00af1a1fc3328fa763a9269723c8'

let directory: string
const made: string[] = []
const children: ChildProcessWithoutNullStreams[] = []

const makeDirectory = (): string => mkdtempSync(join(tmpdir(), 'almanac-cli-'))

beforeEach(() => {
  directory = makeDirectory()
  made.push(directory)
})

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true })
})

type Environment = Readonly<Record<string, string>>

class Run {
  stdout = ''
  stderr = ''
  readonly child: ChildProcessWithoutNullStreams
  readonly code: Promise<number | null>

  constructor(parameters: readonly string[], environment: Environment = {}) {
    // A fresh environment: the machine's own must not decide what is tested.
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...environment }
    this.child = spawn(process.execPath, [almanacMain, ...parameters], { cwd: directory, env })
    children.push(this.child)
    this.child.stdout.on('data', chunk => {
      this.stdout += chunk
    })
    this.child.stderr.on('data', chunk => {
      this.stderr += chunk
    })
    this.code = once(this.child, 'close').then(([code]) => code as number | null)
  }

  /** Waits until the process has written something. */
  async written(pattern: RegExp, withinMs = 60_000): Promise<RegExpExecArray> {
    const deadline = performance.now() + withinMs
    while (performance.now() < deadline) {
      const found = pattern.exec(this.stderr)
      if (found !== null) return found
      if (this.child.exitCode !== null) break
      await delay(10)
    }
    throw new Error(`${pattern} was not written. stderr:\n${this.stderr}`)
  }

  async url(): Promise<string> {
    await this.written(/Server listening/)
    return listeningUrls(this.stderr)[0]!
  }
}

async function almanac(parameters: readonly string[], environment?: Environment) {
  const run = new Run(parameters, environment)
  return { code: await run.code, stdout: run.stdout, stderr: run.stderr }
}

/** Without a process of its own, where only what it says is looked at. */
function almanacHere(parameters: readonly string[], environment?: Environment): Promise<Ended> {
  return runHere(parameters, directory, environment)
}

/** With a store, because a start that names nothing at all runs the sandbox. */
function start(parameters: readonly string[] = [], environment?: Environment): Run {
  const store = ['--store', 'file:./almanac.db']
  return new Run(['start', '--listen', '127.0.0.1:0', ...store, ...parameters], environment)
}

async function ask(url: string, key: string, path = `/api/v2/wallets/${wallet}/chains`): Promise<number> {
  const answer = await fetch(url + path, { headers: { 'x-api-key': key } })
  await answer.arrayBuffer()
  return answer.status
}

describe('help and version', () => {
  test('go to stdout and exit 0', async () => {
    const version = await almanac(['--version'])
    expect(version).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' })
    const help = await almanacHere(['--help'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('Examples:')
    const create = (await almanacHere(['keys', 'create', '--help'])).stdout
    expect(create).toContain('--expires')
    expect(create).toMatch(/--help +Print help\.\n$/)
  })

  test('in a checkout, commands are named as they are run there', async () => {
    const checkout = { npm_lifecycle_event: 'almanac', npm_package_name: 'almanac' }
    expect((await almanac(['--help'], checkout)).stdout).toContain('Examples (almanac is: npm run almanac --):')
    const { stderr } = await almanac(['keys', 'revoke', '--id'], checkout)
    expect(stderr).toMatch(/\nTry: {3}npm run almanac -- keys revoke --help\n$/)
    const without = await almanac(['keys', 'revoke'], checkout)
    expect(without.stderr).toMatch(/\nTry: {3}for example: npm run almanac -- keys revoke ID-OR-NAME\n$/)
  })

  test.each([
    [['strat'], '\nTry:   did you mean start?'],
    [['start', '--lisen', ':1'], '\nTry:   did you mean --listen?'],
    [['start', '--only', 'both'], 'Allowed choices are api, index'],
    [['init', '--index', 'fulll'], 'Allowed choices are full, on-demand.\nTry:   did you mean full?\n'],
  ])('%j is refused with 1', async (parameters, message) => {
    const { code, stdout, stderr } = await almanacHere(parameters)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^Error: .*\n(Try: {3}|Or: {4})almanac [a-z ]*--help\n$/s)
  })
})

test('a reader that closes the pipe is no failure', async () => {
  await makeStore(`file:${directory}/almanac.db`)
  const run = new Run(['keys', 'list'])
  run.child.stdout.destroy()
  expect(await run.code).toBe(0)
  expect(run.stderr).toBe('')
})

describe('configuration', () => {
  test('check prints what is in force and hides secrets', async () => {
    const secret = 'S3cr3tS3cr3t'
    writeFileSync(join(directory, 'almanac.yaml'), `chains: { eth: { rpc: https://rpc.example/${secret}, from: 7 } }\n`)
    const environment = { ALMANAC_CHAINS_POLYGON_RPC: `https://u:${secret}@other.example`, ALMANAC_LOG_LEVEL: 'warn' }
    const text = await almanacHere(['config', 'check', '--listen', ':9'], environment)
    expect(text.code).toBe(0)
    expect(text.stdout + text.stderr).not.toContain(secret)
    expect(text.stdout).toContain('https://rpc.example/…')
    const json = JSON.parse((await almanacHere(['config', 'check', '--json', '--listen', ':9'], environment)).stdout)
    expect(json).toMatchObject({ listen: ':9', log: { level: 'warn' }, chains: { eth: { from: 7 } } })
  })

  test('check says what of files and folders is not there, and that is no error', async () => {
    mkdirSync(join(directory, 'empty'))
    const text = 'chains: { eth: { index: full, history: [gone, empty, loop], history_summaries: [none.ssz] } }\n'
    writeFileSync(join(directory, 'almanac.yaml'), text)
    symlinkSync(join(directory, 'loop'), join(directory, 'loop'))
    const { code, stderr } = await almanacHere(['config', 'check'])
    expect(code).toBe(0)
    expect(stderr.trimEnd().split('\n').slice(1, -2)).toEqual([
      'Note: chains.eth.history names gone, which does not exist.',
      'Note: chains.eth.history names empty, which has no file that ends in .era1, .ere or .erae.',
      expect.stringMatching(/^Note: chains.eth.history names loop, which cannot be read \(ELOOP/),
      'Note: chains.eth.history_summaries names none.ssz, which does not exist.',
    ])
  })

  test('a command that asks nodes says where a chain has none', async () => {
    writeFileSync(join(directory, 'almanac.yaml'), 'chains: { eth: { history: ., index: full } }\n')
    for (const command of [['sync', '--from', '0', '--to', '9'], ['verify']]) {
      const { code, stderr } = await almanacHere([...command, '--chain', 'eth'])
      expect([code, stderr]).toEqual([
        1,
        'Error: eth has no node, and this command asks one.\nTry:   set chains.eth.rpc; what files or a portal give is filled by almanac start.\n',
      ])
    }
  })

  test('check shows the new spelling of a setting in the old one, with a warning', async () => {
    writeFileSync(join(directory, 'almanac.yaml'), 'limits:\n  pageSizeMax: 7\n')
    const { code, stdout, stderr } = await almanacHere(['config', 'check', '--json'])
    expect([code, JSON.parse(stdout).limits.page_size_max]).toEqual([0, 7])
    expect(stdout).not.toContain('pageSizeMax')
    expect(stderr).toBe(
      'Warning: almanac.yaml:2:3: limits.pageSizeMax is now spelled limits.page_size_max. The old spelling works until 1.0.\nalmanac.yaml is valid.\n',
    )
  })

  test.each(['keys list --json', 'status --json', 'store backup copy.db'])(
    '%s warns of a setting in the old spelling, on stderr alone',
    async command => {
      writeFileSync(join(directory, 'almanac.yaml'), 'listen: 127.0.0.1:1\nlimits:\n  pageSizeMax: 7\n')
      const { stdout, stderr } = await almanacHere(command.split(' '))
      expect(stderr).toContain('Warning: almanac.yaml:3:3: limits.pageSizeMax is now spelled limits.page_size_max.')
      expect(stdout).not.toContain('Warning')
    },
  )

  test('start logs a setting in the old spelling as an event with facts', async () => {
    writeFileSync(join(directory, 'almanac.yaml'), 'limits:\n  pageSizeMax: 7\n')
    const server = start()
    await server.url()
    const lines = server.stderr.split('\n').filter(line => line.includes('Setting renamed'))
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { level: 'warn', place: 'almanac.yaml:2:3', old: 'limits.pageSizeMax', new: 'limits.page_size_max' },
    ])
  })

  test.each(['config check', 'start', 'keys list'])(
    'an error in the file ends %s with 1 and says where',
    async command => {
      writeFileSync(join(directory, 'almanac.yaml'), 'listen: :0\nchanis: {}\n')
      const { code, stdout, stderr } = await (command === 'start' ? almanac : almanacHere)(command.split(' '))
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe('Error: almanac.yaml:2:1: unknown key chanis.\nTry:   did you mean chains?\n')
    },
  )
})

test('a command where there is no store says so and leaves nothing behind', async () => {
  const contract = `0x${'1'.repeat(40)}`
  const commands = [
    'keys list',
    'keys create --name app',
    'labels export',
    `labels set ${contract} Ada`,
    `explain eth ${contract}`,
    `collections spam eth ${contract}`,
    'store backup copy.db',
    'store copy --from file:./almanac.db --to file:./new.db',
  ]
  for (const command of commands) {
    const { code, stdout, stderr } = await almanacHere(command.split(' '))
    expect({ command, code, stdout, stderr }).toEqual({
      ...{ command, code: 1, stdout: '' },
      stderr: expect.stringMatching(
        command.includes('--from')
          ? new RegExp(`^Error: There is no store at ${directory}/almanac.db.\nTry: {3}start the service once, .*\n$`)
          : new RegExp(
              `^Error: There is no configuration here. There is no store at ${directory}/almanac.db.\nTry: {3}write one with \`almanac init\`, .*\nOr: {4}start the service once, .*\n$`,
            ),
      ),
    })
  }
  expect(readdirSync(directory)).toEqual([])
})

test('a command on a chain where nothing is configured says how to configure one', async () => {
  for (const command of ['plan', 'verify --chain eth']) {
    const { code, stderr } = await almanacHere(command.split(' '))
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /\nTry: {3}write a configuration with `(npx )?almanac init`, or name yours with --config\.\n$/,
    )
  }
})

describe('keys', () => {
  test('are issued, listed and revoked; the secret appears once, alone on stdout', async () => {
    const options = [
      '--name',
      'ci',
      '--scopes',
      'ops,portfolio',
      '--expires',
      '90d',
      '--rate',
      '5',
      '--quota',
      '1000',
      '--index',
      '3',
    ]
    await makeStore(`file:${directory}/almanac.db`)
    const created = await almanac(['keys', 'create', ...options])
    expect(created.code).toBe(0)
    expect(created.stdout).toMatch(/^alm_[A-Za-z0-9_-]{43}\n$/)
    const listed = await almanacHere(['keys', 'list', '--json'])
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        name: 'ci',
        state: 'active',
        scopes: ['portfolio', 'ops'],
        rate_per_second: 5,
        quota_per_day: 1000,
        index_per_day: 3,
        index_waiting: 20,
        unlimited: false,
        used_today: 0,
        requests_today: 0,
        last_used_on: null,
        created_at: expect.any(String),
        expires_at: expect.any(String),
        revoked_at: null,
        replaces_id: null,
        from_environment: false,
      },
    ])
    const table = await almanacHere(['keys', 'list'])
    expect(table.stdout).toMatch(/^ID .*CREATED\n[0-9a-f]{12} {2}ci +expires in \d+ d /)
    expect(listed.stdout + table.stdout + table.stderr + created.stderr).not.toContain(created.stdout.trim())
    const again = await almanacHere(['keys', 'create', '--name', 'ci', '--json'])
    expect(created.stderr).not.toContain('Another')
    expect(again.stderr).toBe('Another active key is named ci: limit and revoke each by its id.\n')
    const second = JSON.parse(again.stdout).id
    // It ends some day, which is no sign that the other one replaced it.
    const { stdout: both } = await almanacHere(['keys', 'list'])
    expect(both).not.toContain('retires')
    for (const order of ['revoke', 'rotate']) {
      const { code, stderr } = await almanacHere(['keys', order, 'ci'])
      expect([code, stderr]).toEqual([1, expect.stringContaining('2 keys are named "ci"')])
      expect(stderr).toContain(second)
    }
    expect(await almanacHere(['keys', 'revoke', second])).toMatchObject({ code: 0, stdout: '' })
    expect(await almanacHere(['keys', 'revoke', 'ci'])).toMatchObject({ code: 0, stdout: '' })
    expect(JSON.parse((await almanacHere(['keys', 'list', '--json'])).stdout)[0].state).toBe('revoked')
  })

  test('get limits unless told otherwise, which a command changes and a list marks where there are none', async () => {
    await makeStore(`file:${directory}/almanac.db`)
    const create = async (...options: string[]) =>
      JSON.parse((await almanacHere(['keys', 'create', '--json', ...options])).stdout)
    const usual = { rate_per_second: 50, quota_per_day: null, index_per_day: 500, index_waiting: 20, unlimited: false }
    const none = { ...usual, rate_per_second: null, index_per_day: null, index_waiting: null, unlimited: true }
    expect(await create('--name', 'usual')).toMatchObject(usual)
    const free = ['--rate', 'none', '--index', 'none', '--waiting', 'none']
    expect(await create('--name', 'free', ...free)).toMatchObject(none)
    // Each key that it makes has limits of its own.
    expect(await create('--name', 'maker', '--scopes', 'keys')).toMatchObject(none)
    const { stdout: table } = await almanacHere(['keys', 'list'])
    expect(table).toMatch(/ {2}usual +active +client +50 rps, index 500\/day, 20 waiting +0 /)
    expect(table).toMatch(/ {2}free +active +client +none +0 /)
    const changed = await almanacHere(['keys', 'limit', 'usual', '--rate', '200', '--index', 'none', '--json'])
    expect(JSON.parse(changed.stdout)).toMatchObject({ ...usual, rate_per_second: 200, index_per_day: null })
    const [listed] = JSON.parse((await almanacHere(['keys', 'list', '--json'])).stdout)
    expect(listed).toMatchObject({ ...usual, name: 'usual', rate_per_second: 200, index_per_day: null })
  })

  test.each([
    [['--scopes', 'everything'], '"everything" is not a scope'],
    [['--expires', 'soon'], 'neither a span nor a date'],
    [['--rate', '0'], '--rate is "0"'],
    [['--quota', '1e9'], '--quota is "1e9"'],
    [['--name', ''], 'cannot be the name'],
  ])('%j is refused with 1 and issues nothing', async (options, message) => {
    const { code, stdout, stderr } = await almanacHere(['keys', 'create', ...options])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain('Try:')
    expect(existsSync(join(directory, 'almanac.db'))).toBe(false)
  })

  test('an unknown one cannot be revoked', async () => {
    await makeStore(`file:${directory}/almanac.db`)
    const { code, stderr } = await almanacHere(['keys', 'revoke', 'nobody'])
    expect(code).toBe(1)
    expect(stderr).toContain('No key has the id or name "nobody".')
  })
})

describe('start', () => {
  test('without a terminal its log holds no key, and says how to create the first one', async () => {
    const server = start()
    const url = await server.url()
    await server.written(/Indexing idle/)
    const lines = server.stderr
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines[0]).toMatchObject({ msg: 'Service starting', store: 'file:./almanac.db', chains: [] })
    expect(server.stderr).not.toContain('alm_')
    const { hint } = lines.find(({ msg }) => msg === 'Keys missing; every request is refused')
    expect(hint).toMatch(/^set ALMANAC_KEY and start again, .*: almanac keys create --name admin --scopes all$/)
    const made = await almanacHere(['keys', 'create', '--name', 'admin', '--scopes', 'all'])
    expect(await ask(url, made.stdout.trim(), '/status')).toBe(200)
    server.child.kill('SIGTERM')
    expect([await server.code, server.stdout]).toEqual([0, ''])
    const last = JSON.parse(server.stderr.trim().split('\n').at(-1)!)
    expect(last).toMatchObject({ level: 'info', msg: 'Shutdown complete', seconds: expect.any(Number) })
  })

  test('registers ALMANAC_KEY, which is never printed, and leaves older ones in force', async () => {
    const one = start(['--log-level', 'trace'], { ALMANAC_KEY: 'first-operator-key' })
    const url = await one.url()
    expect(await ask(url, 'first-operator-key')).toBe(200)
    expect(await ask(url, 'first-operator-key', '/metrics')).toBe(200)
    expect(one.stderr).not.toContain('first-operator-key')
    expect(one.stderr).not.toContain('alm_')
    one.child.kill('SIGTERM')
    await one.code
    const two = start([], { ALMANAC_KEY: 'second-operator-key' })
    expect(await ask(await two.url(), 'first-operator-key')).toBe(200)
    expect(await ask(await two.url(), 'second-operator-key')).toBe(200)
  })

  test('starts with a revoked ALMANAC_KEY and with keys that could administer before, and says so', async () => {
    const store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
    const { id } = await registerOperatorKey(store, 'the-operator-key')
    await store.endKey(id, { revokedAt: Date.now() })
    for (const name of ['console', 'prometheus']) await issueKey(store, { name, scopes: ['ops'] })
    await store.close()
    const server = start(['--log-format', 'json'], { ALMANAC_KEY: 'the-operator-key' })
    expect(await ask(await server.url(), 'the-operator-key')).toBe(401)
    const lines = server.stderr.split('\n').filter(line => line.includes('"level":"warn"'))
    expect(lines.find(line => line.includes('Operator key revoked'))).toContain(`"key_id":"${id}"`)
    const administration = lines.filter(line => line.includes('cannot administer keys'))
    expect(administration).toHaveLength(1)
    expect(JSON.parse(administration[0]!)).toMatchObject({
      keys: 2,
      hint: expect.stringContaining('keys create --name admin --scopes ops,keys'),
    })
    const made = await almanacHere(['keys', 'create', '--name', 'admin', '--scopes', 'ops,keys'])
    expect(await ask(await server.url(), made.stdout.trim(), '/keys')).toBe(200)
  })

  test('counts what keys use, also what came last before the end', async () => {
    const server = start([], { ALMANAC_KEY: 'the-operator-key' })
    const url = await server.url()
    for (let request = 0; request < 3; request++) await ask(url, 'the-operator-key')
    server.child.kill('SIGTERM')
    expect(await server.code).toBe(0)
    expect(JSON.parse((await almanacHere(['keys', 'list', '--json'])).stdout)[0].used_today).toBe(3)
  })

  test('a node that cannot be reached is reported in the log, and nothing is called complete', {
    timeout: 60_000,
  }, async () => {
    writeFileSync(join(directory, 'almanac.yaml'), 'chains: { eth: { rpc: "http://127.0.0.1:1/secret-path" } }')
    const server = start([], { ALMANAC_KEY: 'the-operator-key' })
    const url = await server.url()
    const [line] = await server.written(/\{"level":"warn"[^\n]*stalled[^\n]*/, 45_000)
    expect(line).toContain('eth endpoint 127.0.0.1:1 did not answer')
    expect(server.stderr).not.toContain('secret-path')
    const { stdout } = await almanacHere(['status', '--json', '--url', url, '--key', 'the-operator-key'])
    expect(JSON.parse(stdout).chains.eth).toMatchObject({ state: 'stalled', head: -1, complete: false })
  })

  test('--only index with nothing to index is refused', async () => {
    const { code, stderr } = await almanac(['start', '--only', 'index'])
    expect(code).toBe(1)
    expect(stderr).toContain('so there is nothing to index')
  })

  test('a store that cannot be opened is refused clearly', async () => {
    writeFileSync(join(directory, 'text.db'), 'this is no database, and long enough to be looked at as one'.repeat(100))
    for (const store of ['file:absent/almanac.db', 'file:text.db']) {
      const { code, stderr } = await almanac(['start', '--listen', '127.0.0.1:0', '--store', store], {
        ALMANAC_CHAINS_ETH_RPC: 'http://127.0.0.1:1',
      })
      expect(code).toBe(1)
      expect(stderr).toMatch(/^\{.*"Service starting"\}\nError: .*\nTry: {3}.*\n$/)
    }
  })

  test('exits 75 with the cause if the thread that indexes cannot reach the database', async () => {
    const { code, stderr } = await almanac(['start', '--store', 'postgres://almanac:secret@127.0.0.1:1/almanac'], {
      ALMANAC_CHAINS_ETH_RPC: 'http://127.0.0.1:1',
    })
    expect(code).toBe(75)
    expect(stderr).toMatch(/\nError: The database .* cannot be reached\. \(.*ECONNREFUSED.*\)\nTry: {3}.*\n$/)
  })

  test('listens at a second place for Solana', async () => {
    const server = start(['--solana-listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
    await server.written(/Server listening[\s\S]*Server listening/)
    const urls = listeningUrls(server.stderr)
    expect(new Set(urls).size).toBe(2)
    const path = '/account/mainnet/B8qdgQDsaTYR8QBmCB252oNrtyMKYhg6wMqRLaMcUr7i/portfolio'
    const statuses = await Promise.all(urls.map(url => ask(url, 'the-operator-key', path)))
    expect(statuses[0]).toBe(statuses[1])
  })
})

describe('beside a running service', () => {
  let kept: string
  let server: Run
  let url: string
  beforeAll(async () => {
    kept = makeDirectory()
    directory = kept
    server = start([], { ALMANAC_KEY: 'the-operator-key' })
    children.length = 0
    url = await server.url()
  })
  beforeEach(() => {
    directory = kept
  })
  afterAll(async () => {
    server.child.kill('SIGTERM')
    await server.code
    rmSync(kept, { recursive: true })
  })

  test('a key that another process revokes stops within a second', async () => {
    const secret = (await almanacHere(['keys', 'create', '--name', 'guest'])).stdout.trim()
    expect(await ask(url, secret)).toBe(200)
    const store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'tool' })
    const guest = (await store.keys()).find(key => key.name === 'guest')!
    await store.endKey(guest.id, { revokedAt: Date.now() })
    const revokedAt = performance.now()
    await store.close()
    while ((await ask(url, secret)) === 200 && performance.now() - revokedAt < 5_000) await delay(5)
    // A busy machine is late with all that it does; before a release it is not busy.
    expect(performance.now() - revokedAt).toBeLessThan(isRelease ? 1_000 : 5_000)
    expect(await ask(url, secret)).toBe(401)
    expect(await ask(url, 'the-operator-key')).toBe(200)
  })

  test('a second one on the same file is refused clearly; one for the API alone is not', async () => {
    const second = start([], { ALMANAC_KEY: 'the-operator-key' })
    expect(await second.code).toBe(1)
    expect(second.stderr).toContain('Another process is already indexing into the store')
    expect(second.stderr).toContain('Try:')
    const copy = await almanacHere(['store', 'copy', '--from', 'file:./almanac.db', '--to', 'file:./copy.db'])
    expect(copy.code).toBe(1)
    expect(copy.stderr).toMatch(/\nTry: {3}stop it first\. .* almanac store backup\.\n$/)
    const api = start(['--only', 'api'], { ALMANAC_KEY: 'the-operator-key' })
    expect(await ask(await api.url(), 'the-operator-key')).toBe(200)
    api.child.kill('SIGTERM')
    await api.code
    expect(api.stderr).not.toContain('Indexing idle')
  })

  test('a port in use is refused clearly, and the store is free again', async () => {
    const { host } = new URL(url)
    const second = await almanac(['start', '--listen', host, '--store', 'file:other.db'])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`Error: Cannot listen on ${host}`)
    const next = `127.0.0.1:${Number(new URL(`http://${host}`).port) + 1}`
    const hint = `\nTry:   stop what uses it.\nOr:    choose another port: --listen ${next}\n`
    expect(second.stderr.slice(-hint.length)).toBe(hint)
    // Nothing was created for nothing.
    expect(existsSync(join(directory, 'other.db'))).toBe(false)
    const third = start(['--store', 'file:other.db'])
    await third.url()
  })

  test('status asks it', async () => {
    const json = await almanacHere(['status', '--json', '--url', url], { ALMANAC_KEY: 'the-operator-key' })
    expect(json.code).toBe(0)
    expect(JSON.parse(json.stdout)).toMatchObject({ version: expect.any(String), chains: {} })
    const text = await almanacHere(['status', '--listen', new URL(url).host, '--key', 'the-operator-key'])
    expect(text.code).toBe(0)
    expect(text.stdout).toContain('almanac.db')
    const refused = await almanacHere(['status', '--url', url, '--key', 'wrong'])
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('scope ops') })
    expect(refused.stderr).toContain('answered 401 to /status. (Invalid key)')
  })
})

describe('signals', () => {
  /** A request whose last header the server is still waiting for. */
  async function slowRequest(url: string): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /health HTTP/1.1\r\nHost: a\r\n')
    // Once a later connection is answered, this one was read.
    await (await fetch(`${url}/health`)).arrayBuffer()
    return socket
  }

  async function answerTo(socket: Socket): Promise<string> {
    let text = ''
    for await (const chunk of socket) text += chunk
    return text
  }

  test.each(['SIGTERM', 'SIGINT'] as const)('%s lets a slow request finish and ends with 0', async signal => {
    const server = start()
    const url = await server.url()
    const socket = await slowRequest(url)
    server.child.kill(signal)
    await server.written(/Shutdown started/)
    await delay(200)
    expect(server.child.exitCode).toBeNull()
    await expect(fetch(`${url}/health`)).rejects.toThrow()
    socket.write('\r\n')
    const askedAt = performance.now()
    expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(await server.code).toBe(0)
    // Once answered, the connection is not waited for, though its client would keep it.
    expect(performance.now() - askedAt).toBeLessThan(9_000)
  })

  test('a second signal ends it at once with 130', async () => {
    const server = start()
    const socket = await slowRequest(await server.url())
    server.child.kill('SIGTERM')
    await server.written(/Shutdown started/)
    server.child.kill('SIGINT')
    expect(await server.code).toBe(130)
    socket.destroy()
  })

  test('a request that never ends is cut off after the drain time, and the end is still orderly', async () => {
    const server = start([], { ALMANAC_LIMITS_DRAIN_TIMEOUT_MS: '300' })
    const socket = await slowRequest(await server.url())
    socket.on('error', () => undefined)
    server.child.kill('SIGTERM')
    const signalledAt = performance.now()
    expect(await server.code).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(9_000)
    socket.destroy()
  })

  test('a connection that is kept alive without a request does not hold up the end', async () => {
    const server = start()
    const url = await server.url()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    server.child.kill('SIGTERM')
    const signalledAt = performance.now()
    expect(await server.code).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(9_000)
    socket.destroy()
  })
})

describe('status', () => {
  test('nothing there is worth another try later: 75', async () => {
    const { code, stdout, stderr } = await almanacHere(['status', '--listen', '127.0.0.1:1'])
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' })
    expect(stderr).toMatch(/^Error: No server answers at http:\/\/127\.0\.0\.1:1\. \(.+\)\nTry: {3}start the server/)
  })

  test.each(['nonsense', 'localhost:8080', ''])('%j is not a URL, and trying later would not help: 1', async url => {
    const { code, stdout, stderr } = await almanacHere(['status', '--url', url])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `Error: "${url}" is not the URL of a server.\nTry:   pass a URL such as http://127.0.0.1:8080 with --url.\n`,
    )
  })

  test('names the views that are being filled', async () => {
    const views_filling = [{ view: 'by_wallet', contracts: 1_200, of: 5_000 }]
    const chains = { eth: { state: 'live', index: 'full', head: 9, views: ['transfers', 'by_wallet'], views_filling } }
    const server = createServer((_, outgoing) => outgoing.end(JSON.stringify({ chains }))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stdout } = await almanacHere(['status', '--url', url])
    server.close()
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^eth fills by_wallet: 1,200 of 5,000 contracts$/m),
    })
  })

  test('a server that breaks off is worth another try later: 75', async () => {
    const server = createServer((_, outgoing) => {
      outgoing.writeHead(200, { 'content-length': '100' }).write('{')
      setTimeout(() => outgoing.destroy(), 50)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await almanacHere(['status', '--url', url])
    server.close()
    expect(code).toBe(75)
    expect(stderr).toContain(`No server answers at ${url}.`)
  })
})

test.runIf(existsSync('/dev/full'))('output that cannot be written is an error of two lines', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [almanacMain, 'config', 'check'], {
    cwd: directory,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache },
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect(status).toBe(1)
  expect(stderr).toMatch(/\nError: Cannot write the output\. \(ENOSPC.*\)\nTry: {3}make room .*\n$/)
})
