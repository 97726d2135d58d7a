// Proves that the gates can fail: each layer rule, the ban on import cycles and the search for unused code are run
// against files that break them.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-architecture-'))
  for (const file of ['biome.json', 'package.json', '.gitignore']) cpSync(join(root, file), join(directory, file))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** Runs Biome with the rules of this project over the given files. */
async function lint(files: Readonly<Record<string, string>>): Promise<{ failed: boolean; output: string }> {
  for (const folder of ['src', 'web', 'sandbox']) rmSync(join(directory, folder), { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const options = ['--vcs-enabled=false', '--error-on-warnings', '--max-diagnostics=none']
  const command = [biome, 'lint', ...options, ...Object.keys(files)]
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: directory })
    return { failed: false, output: stdout + stderr }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return { failed: true, output: stdout + stderr }
  }
}

const importOf = (path: string) => `import type { Thing } from '${path}'\n\nexport type Mine = Thing\n`
const thing = 'export type Thing = string\n'

/** Every layer with those that it must not import. */
const forbidden: [layer: string, others: string[]][] = [
  ['config', ['store', 'evm', 'api', 'cli', 'tools']],
  ['rpc', ['store', 'evm', 'solana', 'query', 'annotate', 'keys', 'processes', 'config', 'api', 'cli', 'tools']],
  ['store', ['rpc', 'evm', 'solana', 'query', 'annotate', 'keys', 'processes', 'config', 'api', 'cli', 'tools']],
  ['evm', ['solana', 'query', 'keys', 'processes', 'config', 'api', 'cli', 'tools']],
  ['solana', ['evm', 'query', 'annotate', 'keys', 'processes', 'config', 'api', 'cli', 'tools']],
  [
    'query',
    ['rpc', 'evm', 'solana', 'keys', 'processes', 'config', 'api', 'cli', 'tools', 'store/sqlite', 'store/postgres'],
  ],
  [
    'keys',
    ['rpc', 'evm', 'solana', 'query', 'processes', 'config', 'api', 'cli', 'tools', 'store/sqlite', 'store/postgres'],
  ],
  [
    'annotate',
    ['rpc', 'evm', 'solana', 'query', 'processes', 'config', 'api', 'cli', 'tools', 'store/sqlite', 'store/postgres'],
  ],
  [
    'processes',
    ['rpc', 'evm', 'solana', 'annotate', 'keys', 'config', 'api', 'cli', 'tools', 'store/sqlite', 'store/postgres'],
  ],
  ['api', ['rpc', 'evm', 'solana', 'processes', 'cli', 'tools', 'store/sqlite', 'store/postgres']],
  ['tools', ['api', 'keys', 'solana', 'query', 'processes', 'cli/service']],
]

/** It constructs everything, so it may know everything. */
const top = 'cli'

describe('the direction of imports', () => {
  test('every folder is a layer with a rule', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter(entry => entry.isDirectory())
    expect(folders.map(({ name }) => name).sort()).toEqual([...forbidden.map(([layer]) => layer), top].sort())
  })

  const fileOf = (layer: string, other: string) => `src/${layer}/uses-${other.replace('/', '-')}.ts`
  // All at once: each start of Biome takes longer than the files.
  let linted: Awaited<ReturnType<typeof lint>>
  beforeAll(async () => {
    const files: Record<string, string> = {}
    for (const [layer, others] of forbidden)
      for (const other of others) {
        files[fileOf(layer, other)] = importOf(`../${other}/thing.ts`)
        files[`src/${other}/thing.ts`] = thing
      }
    linted = await lint(files)
  })

  test.each(forbidden)('%s', (layer, others) => {
    expect(linted.failed).toBe(true)
    for (const other of others)
      expect(linted.output).toContain(`${fileOf(layer, other)}:1:28 lint/style/noRestrictedImports`)
  })

  test('the service loads no tool', async () => {
    const { failed, output } = await lint({
      'src/cli/service/uses-tools.ts': importOf('../../tools/thing.ts'),
      'src/tools/thing.ts': thing,
    })
    expect(failed).toBe(true)
    expect(output).toContain('src/cli/service/uses-tools.ts:1:28 lint/style/noRestrictedImports')
  })

  test('the console knows nothing of the service, nor the service of the console', async () => {
    const { failed, output } = await lint({
      'web/src/uses-api.ts': importOf('../../src/api/thing.ts'),
      'web/src/uses-node.ts': importOf('node:fs'),
      'src/api/uses-web.ts': importOf('../../web/src/thing.ts'),
      'src/api/thing.ts': thing,
      'web/src/thing.ts': thing,
    })
    expect(failed).toBe(true)
    for (const file of ['web/src/uses-api.ts', 'web/src/uses-node.ts', 'src/api/uses-web.ts']) {
      expect(output).toContain(`${file}:1:28 lint/style/noRestrictedImports`)
    }
  })

  test('the sandbox knows nothing of the service', async () => {
    const { failed, output } = await lint({
      'sandbox/src/uses-model.ts': importOf('../../src/thing.ts'),
      'sandbox/src/uses-almanac.ts': importOf('almanac'),
      'sandbox/src/uses-thing.ts': importOf('./thing.ts'),
      'sandbox/src/thing.ts': thing,
      'src/thing.ts': thing,
    })
    expect(failed).toBe(true)
    const refused = [...output.matchAll(/^sandbox\/src\/(\S+?):1:28 lint\/style\/noRestrictedImports/gm)]
    expect(refused.map(([, file]) => file).sort()).toEqual(['uses-almanac.ts', 'uses-model.ts'])
  })

  test('the service loads the sandbox by its name, when it is asked for one', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(file =>
      file.endsWith('.ts'),
    )
    const imports = files.flatMap(file => {
      const text = readFileSync(join(root, 'src', file), 'utf8')
      const found = text.matchAll(/^import (type )?.*from '[^']*sandbox[^']*'|import\('[^']*sandbox[^']*'\)/gm)
      return [...found].map(([statement]) => `${file}: ${statement}`)
    })
    expect(imports.length).toBeGreaterThan(1)
    for (const statement of imports)
      expect(statement).toMatch(/^cli\/demo\.ts: import( type .*from |\()'almanac-sandbox'/)
  })

  test('the base imports no layer', async () => {
    const { failed, output } = await lint({ 'src/base.ts': importOf('./store/thing.ts'), 'src/store/thing.ts': thing })
    expect(failed).toBe(true)
    expect(output).toContain('src/base.ts:1:28 lint/style/noRestrictedImports')
  })

  test('what is allowed passes, so the rules do not refuse everything', async () => {
    const { failed, output } = await lint({
      'src/base.ts': thing,
      'src/store/thing.ts': importOf('../base.ts').replace('Mine', 'Kept'),
      'src/query/rule.ts': "import type { Kept } from '../store/thing.ts'\n\nexport type Rule = Kept\n",
      'src/cli/main.ts': "import type { Rule } from '../query/rule.ts'\n\nexport type Main = Rule\n",
    })
    expect(output).toContain('Checked 4 files')
    expect(failed).toBe(false)
  })
})

test('import cycles are refused', async () => {
  const { failed, output } = await lint({
    'src/a.ts': "import { b } from './b.ts'\n\nexport const a = () => b\n",
    'src/b.ts': "import { a } from './a.ts'\n\nexport const b = () => a\n",
  })
  expect(failed).toBe(true)
  expect(output).toContain('lint/suspicious/noImportCycles')
})

test('unused exports and files are found', async () => {
  rmSync(join(directory, 'src'), { recursive: true, force: true })
  mkdirSync(join(directory, 'src/cli'), { recursive: true })
  writeFileSync(join(directory, 'src/cli/main.ts'), "import { used } from '../half-used.ts'\n\nused()\n")
  writeFileSync(
    join(directory, 'src/half-used.ts'),
    'export function used() {}\n\nexport function nobodyCallsThis() {}\n',
  )
  writeFileSync(join(directory, 'src/orphan.ts'), 'export const orphan = 1\n')
  cpSync(join(root, 'knip.json'), join(directory, 'knip.json'))
  const knip = join(root, 'node_modules/knip/bin/knip.js')
  const run = promisify(execFile)(process.execPath, [knip, '--include', 'files,exports', '--no-config-hints'], {
    cwd: directory,
  })
  const output = await run.then(
    () => 'nothing found',
    (error: { stdout: string }) => error.stdout,
  )
  expect(output).toContain('nobodyCallsThis')
  expect(output).toContain('src/orphan.ts')
})
