// What people meet on the command line: help, completion, empty lists, plurals, and what a command says where it has no
// key, no store or no node that is of use. Commands run within this process, but for shells.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createWebServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completionScript } from '../src/cli/completion.ts'
import { offerWord } from '../src/cli/current-process.ts'
import { guide } from '../src/cli/demo.ts'
import { createProgram } from '../src/cli/program.ts'
import { announceServer, serverMeant, urlHere } from '../src/cli/running-server.ts'
import { openBrowser } from '../src/cli/screen/open-browser.ts'
import { nextStep } from '../src/cli/service/listen-place.ts'
import { differentBlocks } from '../src/cli/verify.ts'
import { loadConfig } from '../src/config/load.ts'
import { clientScopes, issueKey, scopes } from '../src/keys/keys.ts'
import { openStore } from '../src/store/open.ts'
import { prepareFile } from '../src/store/sqlite/open-file.ts'
import { described } from '../src/tools/plan/report.ts'
import { almanacMain, compileCache } from './bundled-service.ts'
import { runHere } from './command-here.ts'
import { CommandPlace, CommandRun, makeStore } from './command-run.ts'
import { startSimNode } from './sim/node.ts'

const address = `0x${'ab'.repeat(20)}`

let place: CommandPlace
beforeEach(() => {
  place = new CommandPlace()
})
afterEach(() => place.dispose())

describe('help', () => {
  test('lists every command in one line', async () => {
    const summaries: [name: string, summary: string][] = []
    const walk = (command: Awaited<ReturnType<typeof createProgram>>): void => {
      for (const each of command.commands) {
        summaries.push([each.name(), each.summary()])
        walk(each)
      }
    }
    walk(await createProgram())
    expect(summaries.length).toBeGreaterThan(50)
    for (const [name, summary] of summaries) expect(summary, name).toMatch(/^[A-Z][^\n]{4,75}\.$/)
  })

  test('fits 80 columns, in groups', async () => {
    const { stdout } = await place.runHere(['--help'])
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    expect(stdout.match(/^\w+( \w+)*(?=.*:$)/gm)).toEqual([
      'Options',
      'Run',
      'Index',
      'Answers',
      'Store and shell',
      'Examples',
    ])
  })

  test('an option or a choice that does not exist is answered with one that does', async () => {
    const said = async (...words: string[]) => (await place.runHere(words)).stderr
    expect(await said('start', '--port', '8081')).toBe(
      "Error: unknown option '--port'.\nTry:   did you mean --listen 127.0.0.1:PORT?\nOr:    almanac start --help\n",
    )
    expect(await said('start', '--chain', 'eth=http://127.0.0.1:8545')).toBe(
      "Error: unknown option '--chain'.\nTry:   almanac init --chain NAME=URL, which configures chains.\nOr:    almanac start --help\n",
    )
    expect(await said('status', '--chain', 'eth')).not.toContain('init')
    expect(await said('completion', 'tcsh')).toMatch(
      /^Error: 'tcsh' is not a shell\. Allowed choices are bash, zsh, fish\.\n/,
    )
  })

  test('of a command within another is that of the command', async () => {
    const { code, stdout } = await place.runHere(['help', 'keys', 'create'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: almanac keys create \[options\]/)])
    expect(stdout).toContain('--expires')
    const wrong = await place.runHere(['help', 'keys', 'creat'])
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/^Error: unknown command 'creat'\.\nTry: {3}did you mean create\?\nOr: /),
    ])
  })
})

describe('on a terminal', () => {
  /** Takes connections and never says a word. */
  const silent = createServer(() => {})
  let port: number
  beforeAll(async () => {
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    port = (silent.address() as AddressInfo).port
  })
  afterAll(() => void silent.close())

  test.skipIf(spawnSync('script', ['--version']).status !== 0)('a command says what it waits for', async () => {
    const rpc = `http://127.0.0.1:${port}`
    place.configure({ sim: { id: 31_337, rpc, index: 'full' }, some: { id: 31_338, rpc, contracts: [address] } })
    const store = `postgres://user@127.0.0.1:${port}/almanac`
    const commands: [RegExp, string[]][] = [
      [/Waiting for the store … \d+ s/, ['keys', 'list', '--store', store]],
      [/Waiting for the node of eth … \d+ s/, ['init', '--yes', '--chain', `eth=http://127.0.0.1:${port}`]],
      [/Waiting for the node of sim … \d+ s/, ['sync', '--chain', 'sim', '--from', '1', '--to', '2']],
      [/Waiting for the node of some …/, ['plan', '--chain', 'some']],
      [/Waiting for http:\S+ … \d+ s/, ['status', '--url', `http://127.0.0.1:${port}`]],
    ]
    const json = place.beginOnTerminal(['keys', 'list', '--json', '--store', store])
    const piped = place.begin(['keys', 'list', '--store', store])
    await Promise.all(
      commands.map(async ([said, words]) => {
        const run = place.beginOnTerminal(words)
        await run.until(() => said.test(run.stdout), `${said}`)
      }),
    )
    expect(json.stdout + piped.stdout + piped.stderr).not.toContain('Waiting')
  })
})

test('a sandbox in another directory is named where nothing is found, and not taken', async () => {
  const note = { process: process.pid, directory: '/home/ada/almanac', config: 'x', store: 'x', url: 'x', key: 'x' }
  writeFileSync(join(place.directory, `almanac-sandbox-${'0'.repeat(16)}.json`), JSON.stringify(note))
  const hint =
    /\nTry: {3}\S.*\.\n(?:Or: {4}start the service once.*\n)?Or: {4}run this in \/home\/ada\/almanac, where a sandbox runs\.\n/
  const commands = ['keys list', 'store backup copy.db', 'status --listen 127.0.0.1:1', 'verify --chain eth', 'plan']
  for (const words of commands) expect((await place.runHere(words.split(' '))).stderr, words).toMatch(hint)
  expect((await place.runHere(['keys', 'list', '--store', 'file:./other.db'])).stderr).not.toMatch(hint)
})

test('a sandbox of this very directory does not hide what an error says to do', async () => {
  await makeStore(place.storeUrl)
  const directory = realpathSync(place.directory)
  const note = { process: process.pid, directory, config: 'x', store: place.storeUrl, url: 'x', key: 'x' }
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  writeFileSync(join(directory, `almanac-sandbox-${name}.json`), JSON.stringify(note))
  const { stderr } = await place.runHere(['store', 'backup', 'nope/dir/backup.db'])
  expect(stderr).toMatch(/\nTry: {3}create it, or pass a file in another folder\.\n$/)
})

describe('a port in use', () => {
  test('is told before the sandbox is built, with what to type', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const told = async (environment: Record<string, string>) =>
      place.begin(['start', '--listen', `127.0.0.1:${port}`], environment).ended()
    const { code, stdout, stderr } = await told({ npm_lifecycle_event: 'start' })
    const direct = await told({})
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /^Error: Cannot listen on 127\.0\.0\.1:\d+\. \(.*EADDRINUSE.*\)\nTry: .*\nOr: .* npm start -- --listen 127\.0\.0\.1:\d+\n$/,
    )
    // It may be what the user looks for.
    const notes = createHash('sha256').update(realpathSync(place.directory)).digest('hex').slice(0, 16)
    const note = { process: process.pid, directory: '', config: '', store: '', key: 'a key' }
    const url = `http://127.0.0.1:${port}`
    writeFileSync(join(place.directory, `almanac-sandbox-${notes}.json`), JSON.stringify({ ...note, url }))
    const again = await told({})
    server.close()
    expect(again.stderr).toMatch(
      /\nTry: {3}open the sandbox that runs there: http:\S+\/#key=a%20key\nOr: {4}choose another port: --listen 127/,
    )
    expect(direct.stderr).toMatch(/ port: --listen 127\.0\.0\.1:\d+\n$/)
  })

  test('is passed over by what to do after init', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const told = await nextStep(`127.0.0.1:${port}`, 'almanac start')
    server.close()
    expect(told).toMatch(
      new RegExp(`^The address 127.0.0.1:${port} is in use\\.\\nNext: almanac start --listen 127.0.0.1:\\d+$`),
    )
    expect(told).not.toMatch(new RegExp(`${port}$`))
    await once(server, 'close')
    expect(await nextStep(`127.0.0.1:${port}`, 'almanac start')).toBe('Next: almanac start')
  })
})

test.each([
  ['npx runs it', { npm_lifecycle_event: 'npx', npm_package_name: 'almanac' }, 'npx almanac'],
  ['a script of a project that has it', { npm_lifecycle_event: 'serve', npm_package_name: 'shop' }, 'npx almanac'],
  ['a script of the checkout', { npm_lifecycle_event: 'start', npm_package_name: 'almanac' }, 'npm run almanac --'],
])('what to type is what works where %s', async (_, environment, command) => {
  const { stdout } = await place.begin(['--help'], environment).ended()
  expect(stdout).toContain(`Examples (almanac is: ${command}):`)
})

test('a program that the shell finds is called by its name', async () => {
  const folder = join(place.directory, 'node_modules/.bin')
  mkdirSync(folder, { recursive: true })
  symlinkSync(fileURLToPath(new URL('../src/cli/main.ts', import.meta.url)), join(folder, 'almanac'))
  const help = async (path: string) =>
    new CommandRun([process.execPath, join(folder, 'almanac'), '--help'], place.directory, { PATH: path }).ended()
  expect((await help(`/usr/bin:${folder}`)).stdout).toContain('\nExamples:\n')
  expect((await help('/usr/bin')).stdout).toContain('Examples (almanac is: npx almanac):')
  // In another folder npx would ask a registry for it.
  const program = join(folder, 'almanac')
  const elsewhere = await new CommandRun([process.execPath, program, '--help'], tmpdir(), { PATH: '/usr/bin' }).ended()
  expect(elsewhere.stdout).toContain(`Examples (almanac is: ${program}):`)
})

test('the banner of the sandbox has one line to copy, and breaks between words', () => {
  const chain = {
    name: 'eth',
    id: 1,
    index: 'full' as const,
    url: 'http://127.0.0.1:41233',
    collections: [{ kind: 'ERC721', name: 'A', address }],
  }
  const sandbox = { chains: [chain], wallets: [address], solana: undefined, missing: [] }
  const place = { url: 'http://127.0.0.1:8080', key: 'sandbox', directory: '/tmp/almanac-sandbox-x' }
  const painted = guide(sandbox as unknown as Parameters<typeof guide>[0], { ...place, width: 80, colours: true })
  expect(painted).toContain('\u001b[36mhttp://127.0.0.1:8080/#key=sandbox\u001b[39m\n')
  const narrow = guide(sandbox as unknown as Parameters<typeof guide>[0], { ...place, width: 30 })
  // In a checkout the line makes the shell find the command, as the README does.
  const last =
    /\n {2}Next: {6}your own chains;\n[\s\S]*\n\n(?:export PATH="\/\S+\/node_modules\/\.bin:\$PATH" && |npx )?almanac init\n\n$/
  expect(narrow).toMatch(last)
  for (const width of [60, 80, 120]) {
    const lines = guide(sandbox as unknown as Parameters<typeof guide>[0], { ...place, width }).split('\n')
    // Nothing stands before what is copied, and the key can be seen without reading an address.
    expect(lines.filter(line => line.includes('curl '))).toEqual([
      expect.stringMatching(/^curl -s -w '\\n' -H 'X-API-Key: /),
    ])
    expect(lines).toContain('  Key:       sandbox')
    expect(lines).toContain('  Docs:      http://127.0.0.1:8080/docs')
    expect(lines).toContain('  Reference: http://127.0.0.1:8080/reference')
    // For those who have no node of their own.
    expect(lines).toContain('  Nodes:     eth  http://127.0.0.1:41233')
    const prose = lines.filter(line => !/^ {2}Console: |^curl |^export /.test(line))
    for (const line of prose) expect(line.length, line).toBeLessThan(width)
    expect(prose.join(' ').replaceAll(/\s+/g, ' ')).toContain(
      'eth here is a local chain with generated collections, tokens, wallets and traffic, and an occasional reorg',
    )
  }
})

test('a server that listens everywhere is shown where a browser finds it', () => {
  expect(['0.0.0.0:80', ':80', '[::]:80', '10.0.0.1:80'].map(urlHere)).toEqual([
    ...['http://127.0.0.1:80', 'http://127.0.0.1:80', 'http://[::1]:80', 'http://10.0.0.1:80'],
  ])
})

test('where no browser can be opened, the address is said', async () => {
  const said = (environment: Record<string, string>) =>
    new Promise<string>(resolve => openBrowser('http://127.0.0.1:1/', () => resolve('said'), environment))
  expect(await said({})).toBe('said')
  // A desktop without anything that opens.
  expect(await said({ DISPLAY: ':0', PATH: '/nonexistent' })).toBe('said')
})

describe('completion', () => {
  type Shell = 'bash' | 'zsh' | 'fish'
  const isThere = (shell: Shell): boolean => spawnSync(shell, ['--version']).status === 0
  const quoted = (words: readonly string[]): string => words.map(word => `'${word}'`).join(' ')
  /** How each shell is asked what it offers after a line. In zsh the functions that show it stand in for themselves. */
  const asks: Record<Shell, (words: readonly string[]) => string> = {
    bash: words =>
      `COMP_WORDS=(${quoted(words)}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _almanac; printf '%s\\n' "\${COMPREPLY[@]}"`,
    zsh: words => `words=(${quoted(words)}); CURRENT=\${#words}; _almanac`,
    fish: words => `complete -C ${quoted([words.join(' ')])}`,
  }
  const shown = `compdef() { : }
    compadd() { shift; print -l -- "$@" }
    _describe() { print -l -- \${choices%%:*} }
    _files() { print -l -- *(N) }`

  /** In the working directory of the test, where `almanac` is this program. */
  const offered = async (shell: Shell, ...lines: readonly string[][]): Promise<string[][]> => {
    const program = join(place.directory, 'almanac')
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${almanacMain}' "$@"\n`, { mode: 0o755 })
    const script = completionScript(shell, await createProgram())
    const asked = [
      ...(shell === 'zsh' ? [shown] : []),
      script,
      ...lines.map(words => `${asks[shell](words)}; echo '=='`),
    ].join('\n')
    const plain = { bash: '--norc', zsh: '-f', fish: '--no-config' }[shell]
    const { stdout, stderr } = spawnSync(shell, [plain, '-c', asked], {
      encoding: 'utf8',
      cwd: place.directory,
      env: { PATH: `${place.directory}:${process.env.PATH}`, NODE_COMPILE_CACHE: compileCache, HOME: place.directory },
    })
    expect(stderr).toBe('')
    const answers = stdout.split(/^==\n/m).slice(0, -1)
    return answers.map((text, at) => {
      const last = lines[at]!.at(-1)!
      const words = text.split('\n').map(line => line.split('\t')[0]!)
      return words.filter(word => word !== '' && word.startsWith(last))
    })
  }

  test.each(['bash', 'zsh', 'fish'] as const)(
    'in %s offers commands, options and what they accept, and files where a file is meant',
    async shell => {
      if (!isThere(shell)) return
      place.configure({ eth: { rpc: 'http://127.0.0.1:1' }, polygon: { rpc: 'http://127.0.0.1:1' } })
      await makeStore(place.storeUrl)
      const store = await openStore(place.storeUrl, { role: 'tool' })
      await issueKey(store, { name: 'ci', scopes: ['portfolio'] })
      const { key } = await issueKey(store, { name: 'two words', scopes: ['portfolio'] })
      await store.close()
      const [commands, below, option, only, level, chains, second, keys, text, files, shells] = await offered(
        shell,
        ['almanac', 'ke'],
        ['almanac', 'keys', ''],
        ['almanac', 'keys', 'create', '--sc'],
        ['almanac', 'start', '--only', ''],
        ['almanac', 'start', '--log-level', 'tr'],
        ['almanac', 'plan', '--json', '--chain', ''],
        ['almanac', 'explain', 'eth', ''],
        ['almanac', 'keys', 'revoke', ''],
        ['almanac', 'keys', 'create', '--name', ''],
        ['almanac', 'start', '-c', 'alm'],
        ['almanac', 'completion', 'f'],
      )
      expect(commands).toEqual(['keys'])
      expect(below).toEqual(expect.arrayContaining(['create', 'rotate', 'revoke']))
      expect(option).toEqual(['--scopes'])
      expect(only).toEqual(['api', 'index'])
      expect(level).toEqual(['trace'])
      expect(chains).toEqual(['eth', 'polygon'])
      expect(second).toEqual([])
      expect([...keys!].sort()).toEqual(['ci', key.id].sort())
      expect(text).toEqual([])
      expect(files).toContain('almanac.yaml')
      expect(shells).toEqual(['fish'])
    },
  )

  test('changes no store: names of keys are those of a file that is in order', async () => {
    await prepareFile(place.storeFile)
    const raw = new DatabaseSync(place.storeFile)
    raw.exec('PRAGMA journal_mode = DELETE')
    raw.close()
    const before = readFileSync(place.storeFile)
    const { stdout, stderr } = await place.runHere([offerWord, 'keys'])
    expect([stdout, stderr]).toEqual(['', expect.stringContaining('was not closed in order.')])
    expect(readFileSync(place.storeFile)).toEqual(before)
    await makeStore(place.storeUrl)
    const store = await openStore(place.storeUrl, { role: 'tool' })
    await issueKey(store, { name: 'ci', scopes: ['portfolio'] })
    await store.close()
    expect((await place.runHere([offerWord, 'keys'])).stdout).toBe('ci\n')
  })

  test('without a program that answers, chains are those of the table', async () => {
    const script = completionScript('bash', await createProgram())
    const asked = `${script}\n${asks.bash(['nowhere', 'plan', '--chain', 'op'])}`
    expect(spawnSync('bash', ['--norc', '-c', asked], { encoding: 'utf8' }).stdout).toBe('optimism\nopbnb\n')
  })

  test.each(['zsh', 'fish'] as const)('in %s knows every command and option, and is whole', async shell => {
    const program = await createProgram()
    const script = completionScript(shell, program)
    for (const path of ['keys rotate', 'store backup', 'backfill throttle']) expect(script).toContain(`'${path}`)
    for (const { options } of program.commands.flatMap(command => [command, ...command.commands]))
      for (const { long } of options) expect(script).toContain(shell === 'fish' ? `-l ${long!.slice(2)} ` : `${long}:`)
    if (!isThere(shell)) return
    const { status, stderr } = spawnSync(shell, ['-n', '-c', script], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })

  test('its help says what to type where the program belongs to one project', async () => {
    const { stdout } = await place.runHere(['completion', '--help'])
    expect(stdout).toContain('almanac() { npx almanac "$@"; }')
  })
})

describe('where nothing is there', () => {
  test('the check of the configuration says what to do', async () => {
    const { code, stdout, stderr } = await place.runHere(['config', 'check'])
    expect([code, stdout]).toEqual([0, '  store   file:./almanac.db\n  listen  127.0.0.1:8080\n'])
    expect(stderr).toMatch(
      /^Nothing is configured .*\nTry: {3}.*almanac init for .*almanac start for the sandbox\.\n$/s,
    )
    place.configure({ eth: { rpc: 'http://127.0.0.1:1/secret', contracts: [address], from: 7_000 } })
    const valid = await place.runHere(['config', 'check'])
    expect(valid.stderr).toMatch(/^almanac\.yaml is valid\.\n\nEvery setting: (npx )?almanac config check --all\n$/)
    expect(valid.stdout).toBe(
      '  eth     on-demand, http://127.0.0.1:1/…, 1 contract, from block 7,000\n  store   file:./almanac.db\n  listen  127.0.0.1:8080\n',
    )
    expect((await place.runHere(['config', 'check', '--all'])).stdout).toMatch(/^listen: 127.*^chains:\n {2}eth:\n/ms)
  })

  test('a list says so instead of a bare heading', async () => {
    await makeStore(place.storeUrl)
    const said = async (...parameters: string[]) => (await place.runHere(parameters)).stdout
    expect(await said('keys', 'list')).toBe('No keys.\n')
    expect(await said('labels', 'show', address)).toBe('No labels.\n')
    expect(await said('collections', 'list')).toBe('No pins.\n')
    expect(await said('collections', 'list', '--source', 'mine')).toBe('No marks of "mine".\n')
    expect(await said('keys', 'list', '--json')).toBe('[]\n')
  })

  test('one of a kind is not called many', async () => {
    await makeStore(place.storeUrl)
    const list = join(place.directory, 'names.csv')
    writeFileSync(list, `address,label\n${address},One\n`)
    expect((await place.runHere(['labels', 'import', list, '--source', 'mine'])).stderr).toContain(
      'Imported 1 label as',
    )
    expect((await place.runHere(['labels', 'forget', 'mine'])).stderr).toBe('Removed 1 label and 0 marks of "mine".\n')
  })

  test('a contract that was never judged is not said to be by the rules', async () => {
    place.configure({ bsc: { rpc: ['http://127.0.0.1:1'] } })
    await makeStore(place.storeUrl)
    const { stdout } = await place.runHere(['explain', 'bsc', address])
    expect(stdout).toContain('possible_spam        false: the rules have not judged it yet\n')
    expect(stdout).not.toMatch(/say so|never judged/)
  })

  test('a configuration that may not be read is a matter of its owner, not of another file', () => {
    const file = join(place.directory, 'almanac.yaml')
    writeFileSync(file, '{}')
    chmodSync(file, 0o000)
    chmodSync(place.directory, 0o755)
    // Root may read everything.
    const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const load = `import { loadConfig } from ${JSON.stringify(new URL('../src/config/load.ts', import.meta.url).href)}
      try { loadConfig({ file: 'almanac.yaml' }) } catch (error) { console.log(error.hint) }`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', load], {
      ...{ cwd: place.directory, encoding: 'utf8', env: {}, ...other },
    })
    expect(stdout).toMatch(/^let user \d+ read it, or run as its owner;/)
  })
})

test('a key is rotated: the successor may do the same, and the old one ends after the grace period', async () => {
  await makeStore(place.storeUrl)
  const store = await openStore(place.storeUrl, { role: 'tool' })
  const { key: old } = await issueKey(store, { name: 'ci', scopes: ['portfolio'], ratePerSecond: 7 })
  await store.close()
  const rotated = await place.runHere(['keys', 'rotate', 'ci', '--grace', '2h'])
  expect(rotated.stdout).toMatch(/^alm_[A-Za-z0-9_-]{43}\n$/)
  expect(rotated.stderr).toMatch(new RegExp(`^Key [0-9a-f]{12} \\(ci\\) replaces ${old.id}, which works until 2.*Z\\.`))
  const [first, second] = JSON.parse((await place.runHere(['keys', 'list', '--json'])).stdout)
  expect(second).toMatchObject({ name: 'ci', scopes: ['portfolio'], rate_per_second: 7, expires_at: null })
  expect(Date.parse(first.expires_at) - Date.now()).toBeLessThan(2 * 3_600_000)
  const again = await place.runHere(['keys', 'rotate', second.id, '--grace', '0', '--json'])
  const { key, replaced } = JSON.parse(again.stdout)
  expect(key).toMatchObject({ name: 'ci', secret: expect.stringMatching(/^alm_/) })
  expect(replaced).toMatchObject({ id: second.id, state: 'revoked' })
  // A name means the newest of those that replaced each other, and revoking it ends them all.
  expect((await place.runHere(['keys', 'rotate', 'ci'])).code).toBe(0)
  const ended = await place.runHere(['keys', 'revoke', 'ci'])
  expect([ended.code, ended.stderr.match(/^Revoked key /gm)!.length]).toEqual([0, 3])
  const left = JSON.parse((await place.runHere(['keys', 'list', '--json'])).stdout) as { state: string }[]
  expect(left.map(({ state }) => state)).not.toContain('active')
  const wrong = await place.runHere(['keys', 'rotate', key.id, '--grace', 'soon'])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('The grace period "soon" is not a span')])
})

test('the key whose secret ALMANAC_KEY has is neither rotated nor limited, whatever its name is', async () => {
  await makeStore(place.storeUrl)
  const store = await openStore(place.storeUrl, { role: 'tool' })
  const { secret } = await issueKey(store, { name: 'mine', scopes: ['ops'] })
  const { secret: other } = await issueKey(store, { name: 'other', scopes: ['ops'] })
  await store.close()
  const keys = (order: readonly string[], key: string) =>
    runHere(['keys', ...order], place.directory, { ALMANAC_KEY: key })
  const rotated = await keys(['rotate', 'mine', '--grace', '0'], secret)
  expect([rotated.code, rotated.stderr]).toEqual([1, expect.stringContaining('The key of ALMANAC_KEY is not rotated')])
  const limited = await keys(['limit', 'mine', '--rate', '5'], secret)
  expect([limited.code, limited.stderr]).toEqual([1, expect.stringContaining('The key of ALMANAC_KEY has no limits')])
  expect((await keys(['rotate', 'mine', '--grace', '0'], other)).code).toBe(0)
})

test('a list of keys fits a terminal, says in words what a key may do, and when it ends', async () => {
  await makeStore(place.storeUrl)
  const store = await openStore(place.storeUrl, { role: 'tool' })
  await issueKey(store, { name: 'first', scopes })
  await issueKey(store, { name: 'ci', scopes: clientScopes, ratePerSecond: 5, quotaPerDay: 1_000 })
  const expiresAt = Date.now() + 90.5 * 86_400_000
  await issueKey(store, { name: 'watch', scopes: ['portfolio', 'ops'], expiresAt })
  // Made for 30 days a moment ago.
  await issueKey(store, { name: 'month', scopes: ['ops'], expiresAt: Date.now() + 30 * 86_400_000 - 5_000 })
  await store.close()
  expect((await place.runHere(['keys', 'list'])).stdout).toMatch(/ month +expires in 30 d /)
  await place.runHere(['keys', 'rotate', 'ci', '--grace', '36h'])
  const { stdout } = await place.runHere(['keys', 'list'])
  expect(stdout).toMatch(/^ID +NAME +STATE +SCOPES +LIMITS +TODAY +CREATED$/m)
  expect(stdout).toMatch(/^[0-9a-f]{12} +first +active +all +none +0 +2\S+$/m)
  expect(stdout).toMatch(/^[0-9a-f]{12} +ci +retires in 1 d +client +5 rps, 1000\/day +0 +2\S+$/m)
  expect(stdout).toMatch(/^[0-9a-f]{12} +ci +active +client +5 rps, 1000\/day /m)
  expect(stdout).toMatch(/^[0-9a-f]{12} +watch +expires in 90 d +portfolio,ops +none /m)
  for (const columns of [80, 50]) {
    const shown = place.beginOnTerminal(['keys', 'list'], { NO_COLOR: '1' }, columns)
    const lines = (await shown.ended()).stdout.trimEnd().split('\r\n')
    expect(lines).toHaveLength(6)
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns)
    for (const line of lines.slice(1)) expect(line).toMatch(/^[0-9a-f]{12} +(first|ci|watch|month) +\w/)
  }
})

test('verify counts a block once, whatever ranges it is in', () => {
  const result = { evidence: 'bloom', transfers: 0, unheard: [] }
  const results = [
    { interval: { from: 1, to: 10 }, ...result },
    { interval: { from: 5, to: 12 }, ...result },
    { interval: { from: 20, to: 21 }, ...result },
  ] as unknown as Parameters<typeof differentBlocks>[0]
  expect(differentBlocks(results)).toBe(14)
  expect(differentBlocks([])).toBe(0)
})

test('a plan of a whole chain without a final block does not ask for contracts', () => {
  const young = { name: 'local', works: [], missing: [], sources: [], isArchive: false, notFinal: 5 }
  const told = described([young], { price: '', more: [], spent: { calls: 2, bytes: 1, seconds: 0 } })
  expect(told).toContain('No block is final yet')
  expect(told).not.toContain('No contract is configured')
})

test('a plan of a node without final blocks says what it leaves out, and assumes nothing of nothing', async () => {
  const node = await startSimNode({ chain: { chainId: 31_337, height: 41, finalityDepth: 41 } })
  try {
    place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full' } })
    const { stdout } = await place.runHere(['plan'])
    expect(stdout).toMatch(/^sim: 41 blocks are not final and are left out\.$/m)
    place.configure({ sim: { id: 31_337, rpc: node.url } })
    const nothing = (await place.runHere(['plan'])).stdout
    expect(nothing).toContain('No contract is configured')
    expect(nothing).not.toContain('Assumed:')
  } finally {
    await node.close()
  }
})

const terminal = spawnSync('script', ['--version']).status === 0

test.skipIf(!terminal)(
  'on a terminal: the first key is printed once, o opens the console, q ends the service',
  async () => {
    const node = await startSimNode({ chain: { chainId: 31_337, height: 100, hashes: 'cheap' } })
    try {
      await (await import('./built-pages.ts')).pagesAreBuilt()
      place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full' } })
      const opened = join(place.directory, 'opened')
      for (const opener of ['xdg-open', 'open'])
        writeFileSync(join(place.directory, opener), `#!/bin/sh\necho "$@" > '${opened}'\n`, { mode: 0o755 })
      const environment = { PATH: `${place.directory}:${process.env.PATH}`, DISPLAY: ':0', NO_COLOR: '1' }
      const run = place.beginOnTerminal(['start', '--listen', '127.0.0.1:0'], environment, 60)
      const url = await run.listening()
      await run.until(() => run.stdout.includes('Press o to open the console, q to quit.'), 'the keys')
      const [secret] = /alm_[A-Za-z0-9_-]{43}/.exec(run.stdout)!
      const trial = '/api/v2.2/wallets/0xd8da6bf26964af9d7eed9e03e53415d37aa96045/chains?chains=sim'
      expect(run.stdout.indexOf('Server listening')).toBeLessThan(run.stdout.indexOf(secret))
      expect(run.stdout).toMatch(/more keys, with\s+(npx )?almanac keys create --help/)
      expect(run.stdout).toContain(`\r\ncurl -s -w '\\n' -H 'X-API-Key: ${secret}' '${url}${trial}'\r\n`)
      // What a client would ask, and an answer.
      const tried = await fetch(`${url}${trial}`, { headers: { 'x-api-key': secret } })
      expect(tried.status).toBe(200)
      expect(run.stdout).not.toContain('Console available')
      // A narrow terminal breaks it between words.
      const note = run.stdout.split('\r\n').filter(line => /^ {2}\S/.test(line) && !/^ {2}(Console|Key): /.test(line))
      expect(note.length).toBeGreaterThan(3)
      for (const line of note) expect(line.length, line).toBeLessThan(60)
      const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': secret } })
      expect(answer.status).toBe(200)
      run.child.stdin.write('o')
      await run.until(() => existsSync(opened) && readFileSync(opened, 'utf8') !== '', 'a browser')
      // Other users may see how a browser is called: the key stays out of it.
      expect(readFileSync(opened, 'utf8')).toBe(`${url}/\n`)
      run.child.stdin.write('q')
      expect((await run.ended()).code).toBe(0)
      expect(run.stdout).toMatch(/Stopping… [\s\S]*Done\.\s*$/)
      expect(readdirSync(place.directory)).not.toContain('almanac.db-server')
    } finally {
      await node.close()
    }
  },
)

describe('status', () => {
  test('finds the service that runs on the store, wherever it listens, and not one that was killed', async () => {
    // Nobody listens there.
    writeFileSync(join(place.directory, 'almanac.yaml'), 'listen: 127.0.0.1:2')
    const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
    const url = await service.listening()
    await service.until(() => existsSync(`${place.storeFile}-server`), 'the note')
    const asked = (...more: string[]) => place.runHere(['status', '--key', 'the-operator-key', ...more])
    expect(await asked()).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is indexed.') })
    expect((await asked('--listen', '127.0.0.1:1')).stderr).toContain('No server answers at http://127.0.0.1:1.')
    await service.kill()
    const { code, stderr } = await asked('--listen', new URL(url).host)
    expect([code, stderr]).toEqual([75, expect.stringContaining(`No server answers at ${url}.`)])
    expect((await asked()).stderr).toContain('No server answers at http://127.0.0.1:2.')
  })

  test('believes a note beside the store only if it is whole, of this user and of this machine', () => {
    const loaded = loadConfig({ flags: new Map([['store', place.storeUrl]]) })
    const listen = '127.0.0.1:80'
    const note = `${place.storeFile}-server`
    const asked = (listenGiven = false) => serverMeant(loaded, listenGiven).url
    const usual = 'http://127.0.0.1:8080'
    const takeBack = announceServer(place.storeUrl, `http://${listen}`)
    expect([asked(), asked(true)]).toEqual([`http://${listen}`, usual])
    takeBack()
    expect([existsSync(note), asked()]).toEqual([false, usual])
    const written = (text: string) => {
      writeFileSync(note, text)
      return asked()
    }
    expect(written(JSON.stringify({ process: process.pid, listen }))).toBe(`http://${listen}`)
    for (const wrong of ['127.0.0.1', '127.0.0.1:x', '192.0.2.1:80', 'example.org:80'])
      expect(written(JSON.stringify({ process: process.pid, listen: wrong })), wrong).toBe(usual)
    expect(written('{')).toBe(usual)
    const other = join(place.directory, 'other')
    writeFileSync(other, JSON.stringify({ process: process.pid, listen }))
    rmSync(note)
    symlinkSync(other, note)
    expect(asked()).toBe(usual)
    if (process.getuid?.() !== 0) return
    rmSync(note)
    written(JSON.stringify({ process: process.pid, listen }))
    chownSync(note, 65_534, 65_534)
    expect(asked()).toBe(usual)
  })

  test('needs no key where the store is, and says what it shows', async () => {
    const node = await startSimNode({ chain: { chainId: 31_337, height: 100, hashes: 'cheap' } })
    place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full', views: ['transfers', 'erc20'] } })
    const service = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: 'the-operator-key' })
    const { host } = new URL(await service.listening())
    const shown = async (...more: string[]) => place.runHere(['status', '--listen', host, ...more])
    await service.until(async () => /^sim +\w+ +100 /m.test((await shown()).stdout), 'a report in the store')
    const { code, stdout, stderr } = await shown()
    expect([code, stderr]).toEqual([0, 'Without a key: the last report in the store. For live figures pass --key.\n'])
    expect(stdout).toMatch(/^CHAIN +STATE +HEAD +AGE +LAG +COVERED +RATE +ETA +ENDPOINTS$/m)
    expect(stdout).toMatch(/^sim +\w+ +100 /m)
    // What is in order is said once, also of the tokens.
    const wellSaid = async () => (await shown()).stdout.endsWith('\nAll systems normal: 1 of 1 chain live\n')
    await service.until(wellSaid, 'live')
    // A narrow terminal keeps what tells the state.
    const narrow = await place.beginOnTerminal(['status', '--listen', host], { NO_COLOR: '1' }, 60).ended()
    const rows = narrow.stdout.split('\r\n').filter(line => /^(CHAIN|sim) {2}/.test(line))
    expect(rows).toEqual([
      expect.stringMatching(/^CHAIN +STATE +HEAD +LAG +COVERED/),
      expect.stringMatching(/^sim +\w+ +100 /),
    ])
    for (const row of rows) expect(row.length, row).toBeLessThanOrEqual(60)
    const json = (await shown('--json')).stdout
    expect(json).toMatch(/^\{\n {2}"version": /)
    expect(JSON.parse(json)).toMatchObject({ chains: { sim: { head: 100 } }, findings: [] })
    // Over HTTP the same form.
    expect((await shown('--json', '--key', 'the-operator-key')).stdout).toMatch(/^\{\n {2}"/)
    // Another server's store is not at hand.
    const elsewhere = await place.runHere(['status', '--url', `http://${host}`])
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringMatching(
        /Try: {3}pass a key with the scope ops .*\nOr: .* keys create --name status --scopes ops\n$/,
      ),
    ])
    await service.kill()
    await node.close()
  })

  test('does not take another service on its port for its own, and reads the store instead', async () => {
    const node = await startSimNode({ chain: { chainId: 31_337, height: 100, hashes: 'cheap' } })
    const other = new CommandPlace()
    try {
      const key = 'the-operator-key'
      place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full' } })
      const own = place.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: key })
      const ownUrl = await own.listening()
      const asked = (url: string, ...more: string[]) =>
        place.runHere(['status', '--listen', new URL(url).host, '--key', key, ...more])
      await own.until(async () => / 100% /.test((await asked(ownUrl)).stdout), 'all blocks')
      expect((await asked(ownUrl)).stderr).toBe('')
      own.child.kill('SIGTERM')
      await own.ended()
      writeFileSync(join(other.directory, 'almanac.yaml'), 'ops_open: true')
      const url = await other.begin(['start', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: key }).listening()
      const web = createWebServer((_, outgoing) => outgoing.end('<!doctype html>'))
      await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve))
      const page = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
      for (const stranger of [url, page]) {
        const { code, stdout, stderr } = await asked(stranger)
        expect([code, stdout]).toEqual([0, expect.stringMatching(/^sim +stopped +100 .* 100% /m)])
        expect(stderr).toContain(`${stranger} is another service, not the one of this store.`)
        expect(stderr.replaceAll(/\s+/g, ' ')).toContain('pass its URL with --url.')
        expect(JSON.parse((await asked(stranger, '--json')).stdout).chains.sim).toMatchObject({ state: 'stopped' })
      }
      web.close()
      // Before the first start there is no store, and a key for a stranger would be of no use.
      const fresh = new CommandPlace()
      fresh.configure({ sim: { id: 31_337, rpc: node.url } })
      const { code, stderr } = await fresh.runHere(['status', '--listen', new URL(url).host])
      const note = { process: process.pid, directory: '/home/ada', config: '/x/y', store: 'x', url, key: 'x' }
      const noteFile = join(fresh.directory, `almanac-sandbox-${'f'.repeat(16)}.json`)
      writeFileSync(noteFile, JSON.stringify(note))
      const beside = await fresh.runHere(['status', '--listen', new URL(url).host])
      await fresh.dispose()
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^Error: http:\S+ is another service, not the service of almanac\.yaml, which has not started yet\. \(There is no store at .*\)\nTry: {3}start it on another port: (npx )?almanac start --listen 127\.0\.0\.1:\d+\nOr: {4}if it runs elsewhere, pass its URL with --url\.\n$/,
        ),
      ])
      expect(beside.stderr).toContain(' is the sandbox of /home/ada, not the service of almanac.yaml')
      // A server that is named is asked, whosever it is.
      const named = await place.runHere(['status', '--url', url, '--key', key])
      expect(named.stdout).toContain('Nothing is indexed.')
    } finally {
      await other.dispose()
      await node.close()
    }
  })
})
