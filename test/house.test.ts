// Bounds the lines of `src` in all, the length of files, the width of comments and the methods of `Store`, and shows on
// made-up trees that these checks, the ban on import circles (types counted) and the search for code that only tests
// call can fail. `release/files-passed` bounds the files that a request passes.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const made = mkdtempSync(join(tmpdir(), 'almanac-house-'))
afterAll(() => rmSync(made, { recursive: true }))

const roots = ['src', 'web/src', 'sandbox/src'].filter(folder => existsSync(join(root, folder)))
/** Of `src` in all. A change that needs more says in its message what it made simpler. */
const linesMax = 85_500
const linesP90Max = 300
const commentWidthMax = 120
const storeMethodsMax = 82

/** The sources below a folder, tests and generated files aside, with their lines. */
function sourcesBelow(folder: string): { path: string; lines: number }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path) && !/\.(test|gen)\.tsx?$/.test(path))
    .map(path => ({ path, lines: readFileSync(join(folder, path), 'utf8').split('\n').length - 1 }))
}

/** Comments that run past the width, tests included: `path:line` of each. SQL within the sources counts too. */
function wideComments(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.(tsx?|sh)$/.test(path) && !/\.gen\.tsx?$/.test(path) && !/(^|\/)node_modules\//.test(path))
    .flatMap(path =>
      readFileSync(join(folder, path), 'utf8')
        .split('\n')
        .flatMap((line, at) => ([...line].length > commentWidthMax && isComment(line) ? [`${path}:${at + 1}`] : [])),
    )
}

/** A line of nothing but a comment, or one that a comment ends. */
function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*|-- |# )/.test(line) || /\s\/\/ \S/.test(line) || /\*\/$/.test(line)
}

/** What is too much: lines in all, and a tail of files that are too long. */
function excesses(folder: string, linesInAllMax = Number.POSITIVE_INFINITY): string[] {
  const lengths = sourcesBelow(folder)
    .map(({ lines }) => lines)
    .sort((a, b) => a - b)
  const inAll = lengths.reduce((sum, lines) => sum + lines, 0)
  const p90 = lengths[Math.floor(lengths.length * 0.9)] ?? 0
  return [
    ...(inAll <= linesInAllMax ? [] : [`${inAll} lines in all, ${inAll - linesInAllMax} too many`]),
    ...(p90 < linesP90Max ? [] : [`a tenth of the files has ${p90} lines or more`]),
  ]
}

function makeTree(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(made, 'tree-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

test.each(roots)('%s has few long files, and src few lines in all', folder => {
  expect(sourcesBelow(join(root, folder)).length).toBeGreaterThan(10)
  expect(excesses(join(root, folder), folder === 'src' ? linesMax : undefined)).toEqual([])
})

test('too many lines and long files are noticed', () => {
  const files = { 'one.ts': '\n\n', 'below/two.tsx': '\n', 'one.test.ts': '\n\n\n', 'made.gen.ts': '\n\n\n' }
  expect(excesses(makeTree(files), 3)).toEqual([])
  expect(excesses(makeTree(files), 2)).toEqual(['3 lines in all, 1 too many'])
  const long = makeTree({ 'long.ts': '\n'.repeat(linesP90Max), 'short.ts': '\n' })
  expect(excesses(long)).toEqual(['a tenth of the files has 300 lines or more'])
  expect(excesses(makeTree({ 'short.ts': '\n'.repeat(linesP90Max - 1) }))).toEqual([])
})

test.each(['src', 'sandbox/src', 'scripts'])('the comments of %s fit into 120 columns', folder => {
  expect(wideComments(join(root, folder))).toEqual([])
})

test('a wide comment is noticed', () => {
  const wide = (comment: string) => comment.replaceAll('…', 'x'.repeat(commentWidthMax))
  const long = makeTree({
    'line.ts': wide('\n// …\n'),
    'block.test.ts': wide('/** … */\n/**\n * …\n */\n'),
    'beside.tsx': wide('const one = 1 // …\n'),
    'sql.ts': wide('const tables = `\n-- …\n`\n'),
  })
  expect(wideComments(long).sort()).toEqual([
    'beside.tsx:1',
    'block.test.ts:1',
    'block.test.ts:3',
    'line.ts:2',
    'sql.ts:2',
  ])
  const fits = `// ${'é'.repeat(commentWidthMax - 3)}\n`
  expect(
    wideComments(makeTree({ 'fits.ts': fits, 'text.ts': wide("const text = '…'\n"), 'made.gen.ts': wide('// …\n') })),
  ).toEqual([])
})

/** The methods of an interface, with those of what it extends and of its parts, as Biome lays interfaces out. */
function methodsOf(name: string, text: string): string[] {
  const found = new RegExp(`^export interface ${name}\\b([^{]*)\\{([\\s\\S]*?)^\\}`, 'm').exec(text)
  const [, heritage = '', body = ''] = found ?? []
  const own = Array.from(body.matchAll(/^ {2}(\w+)\??\(/gm), ([, method]) => `${name}.${method}`)
  const parts = Array.from(body.matchAll(/^ {2}(?:readonly )?\w+\??: ([A-Z]\w+)$/gm), ([, part]) => part!)
  const others = [...Array.from(heritage.matchAll(/[A-Z]\w+/g), ([other]) => other), ...parts]
  return [...own, ...others.flatMap(other => methodsOf(other, text))]
}

test('a store has few methods', () => {
  const folder = join(root, 'src/store')
  const files = readdirSync(folder).filter(name => name.endsWith('.ts'))
  const methods = methodsOf('Store', files.map(name => readFileSync(join(folder, name), 'utf8')).join('\n'))
  expect(methods).toEqual(expect.arrayContaining(['Store.close', 'IndexReader.rowState', 'KeyStore.keys']))
  expect(methods.length).toBeLessThanOrEqual(storeMethodsMax)
})

test('methods of an interface, of what it extends and of its parts are counted', () => {
  const text = [
    'export interface Small\n  extends First,\n    Second {\n  readonly name: string\n  one(two: {\n    three(): void\n  }): void\n  part: Part\n}',
    'export interface First {\n  four?(): void\n}\nexport interface Second {\n  five(): void\n}',
    'export interface Part {\n  six(): void\n}\nexport interface Other {\n  seven(): void\n}\n',
  ]
  expect(methodsOf('Small', text.join('\n'))).toEqual(['Small.one', 'First.four', 'Second.five', 'Part.six'])
})

test('a circle of type imports is refused', () => {
  const folder = makeTree({
    'src/a.ts': "import type { B } from './b.ts'\n\nexport type A = B | string\n",
    'src/b.ts': "import type { A } from './a.ts'\n\nexport type B = A[]\n",
  })
  for (const file of ['biome.json', 'package.json']) cpSync(join(root, file), join(folder, file))
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const lint = () =>
    execFileSync(process.execPath, [biome, 'lint', '--vcs-enabled=false', 'src'], { cwd: folder, stdio: 'pipe' })
  expect(lint).toThrow('lint/suspicious/noImportCycles')
  writeFileSync(join(folder, 'src/b.ts'), 'export type B = number\n')
  expect(lint).not.toThrow()
})

test('code that only tests call is found', () => {
  const folder = makeTree({
    'src/cli/main.ts': "import { used } from '../half-used.ts'\n\nused()\n",
    'src/half-used.ts': 'export function used() {}\n\nexport function onlyTested() {}\n',
    'src/half-used.test.ts': "import { onlyTested } from './half-used.ts'\n\nonlyTested()\n",
  })
  for (const file of ['knip.json', 'package.json']) cpSync(join(root, file), join(folder, file))
  const knip = (...options: string[]): string => {
    const command = [
      join(root, 'node_modules/knip/bin/knip.js'),
      '--include',
      'exports',
      '--no-config-hints',
      ...options,
    ]
    try {
      return execFileSync(process.execPath, command, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }
  expect(knip('--production')).toContain('onlyTested')
  expect(knip()).toBe('')
})
