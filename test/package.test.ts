// What would be published: the right files and no others, small, clean for publint, and a program that runs from there; and the image's
// build finds all that it needs in the few files that .dockerignore lets through.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const packedBytesMax = 1_500_000

type Packed = { filename: string; size: number; files: { path: string }[] }

let directory: string
let packed: Packed

/** The build runs apart from the checkout, on the files of the image's context, so that it shows both at once. */
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-package-'))
  for (const path of [...contextFiles(), 'README.md', 'CHANGELOG.md', 'etc'])
    cpSync(join(root, path), join(directory, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  run('npm', ['run', '-s', 'build'])
  packed = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--silent']))[0]
}, 120_000)

afterAll(() => rmSync(directory, { recursive: true }))

function run(command: string, options: readonly string[], where = directory): string {
  return execFileSync(command, options, { cwd: where, encoding: 'utf8' })
}

/** Of the tracked files, those that a line `!path` of .dockerignore lets through. */
function contextFiles(): string[] {
  const kept = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+/gm) ?? []
  return run(
    'git',
    [
      'ls-files',
      '--cached',
      '--others',
      '--exclude-standard',
      '--',
      ...kept.map(path => `:(glob)${path}`),
      ...kept.map(path => `:(glob)${path}/**`),
    ],
    root,
  )
    .split('\n')
    .filter(path => path !== '')
}

test('only what runs and what is read is published, and it is small', () => {
  const paths = packed.files.map(({ path }) => path)
  for (const path of ['dist/cli/main.js', 'docs/openapi.json', 'README.md', 'LICENSE', 'etc/almanac.service'])
    expect(paths).toContain(path)
  expect(
    paths.filter(path => /\.test\.|^(src|test|bench|node_modules)\/|\.db$|\.env|almanac\.yaml$/.test(path)),
  ).toEqual([])
  expect(packed.size).toBeLessThan(packedBytesMax)
})

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: directory, level: 'suggestion', strict: true, pack: 'npm' })
  expect(messages).toEqual([])
})

test('the published program runs from the archive', () => {
  const where = mkdtempSync(join(directory, 'unpacked-'))
  run('tar', ['-xzf', join(directory, packed.filename), '-C', where])
  symlinkSync(join(root, 'node_modules'), join(where, 'package', 'node_modules'))
  const { bin, version } = JSON.parse(readFileSync(join(where, 'package', 'package.json'), 'utf8'))
  const program = join(where, 'package', bin.almanac)
  expect(readFileSync(program, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true)
  mkdirSync(join(where, 'elsewhere'))
  expect(run(process.execPath, [program, '--version'], join(where, 'elsewhere'))).toBe(`${version}\n`)
})

test('the image takes only what its context and its own stages have', () => {
  const copies = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
  const kept = new Set(contextFiles().flatMap(path => [path, dirname(path)]))
  for (const path of copies.flatMap(([, paths]) => String(paths).split(' ')))
    expect(path === '.' || kept.has(path), path).toBe(true)
})
