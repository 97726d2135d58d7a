// What would be published: the right files and no others, small, clean for publint, and a program that runs from there
// like the sources do, with and without the sandbox; and the image's build finds all that it needs in the few files that .dockerignore lets
// through.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandRun } from '../command-run.ts'
import { contextFiles } from '../image-context.ts'
import { sandboxNodes } from '../sandbox-nodes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Of which the documentation that it serves is 0.4 MB. */
const packedBytesMax = 2_000_000
const installedMegabytesMax = 42

type Packed = { filename: string; size: number; files: { path: string }[] }

let directory: string
/** Apart from the build, whose packages would be found from below it. */
let elsewhere: string
let packed: Packed
let packedSandbox: Packed

/** The build runs apart from the checkout, on the files of the image's context, so that it shows both at once. */
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-package-'))
  elsewhere = mkdtempSync(join(tmpdir(), 'almanac-installed-'))
  for (const path of [...contextFiles(root), 'README.md', 'CHANGELOG.md', 'etc'])
    cpSync(join(root, path), join(directory, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  expect(run('npm', ['run', '-s', 'build'])).toBe('')
  packed = pack('.')
  packedSandbox = pack('./sandbox/dist')
}, 240_000)

afterAll(() => {
  for (const folder of [directory, elsewhere]) rmSync(folder, { recursive: true })
})

function pack(folder: string): Packed {
  return JSON.parse(run('npm', ['pack', folder, '--json', '--ignore-scripts', '--silent']))[0]
}

function run(command: string, options: readonly string[], where = directory): string {
  return execFileSync(command, options, { cwd: where, encoding: 'utf8' })
}

test('only what runs and what is read is published, and it is small', () => {
  const paths = packed.files.map(({ path }) => path)
  for (const path of [
    'bin/almanac.js',
    'bin/check-node.js',
    'dist/cli/main.js',
    'docs/openapi.json',
    'README.md',
    'LICENSE',
    'etc/almanac.service',
  ])
    expect(paths).toContain(path)
  expect(
    paths.filter(path => /\.test\.|sandbox|^(src|test|bench|node_modules)\/|\.db$|\.env|almanac\.yaml$/.test(path)),
  ).toEqual([])
  console.log(`The package: ${packed.size} bytes, ${packed.files.length} files`)
  expect(packed.size).toBeLessThan(packedBytesMax)
})

test('the sandbox is published apart, with its contracts and without what runs sources only', () => {
  const paths = packedSandbox.files.map(({ path }) => path)
  for (const path of ['sandbox.js', 'collections.json', 'evm-edr-process.js', 'README.md', 'LICENSE'])
    expect(paths).toContain(path)
  expect(paths.filter(path => /\.ts$|\.test\.|\.sol$|^node_modules\//.test(path))).toEqual([])
  expect(packedSandbox.size).toBeLessThan(packedBytesMax)
  const collections = JSON.parse(readFileSync(join(directory, 'sandbox/dist/collections.json'), 'utf8'))
  expect(Object.keys(collections)).toContain('Collection721A')
  const service = manifestOf('.')
  const sandbox = manifestOf('sandbox/dist')
  expect([sandbox.version, service.peerDependencies['almanac-sandbox']]).toEqual([service.version, service.version])
  expect(sandbox).not.toHaveProperty('private')
  for (const version of Object.values({ ...sandbox.dependencies, ...sandbox.optionalDependencies }))
    expect(version).toMatch(/^\d/)
  // Native parts of one platform each; the libraries around them bring tens of megabytes that the sandbox does not use.
  expect(Object.keys(sandbox.optionalDependencies!).sort()).toEqual(sandboxNodes)
})

test.each(['.', 'sandbox/dist'])('publint finds nothing in %s', async folder => {
  const pkgDir = join(directory, folder)
  const { messages } = await publint({ pkgDir, level: 'suggestion', strict: true, pack: 'npm' })
  expect(messages).toEqual([])
})

type Manifest = {
  version: string
  engines: { node: string }
  dependencies: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies: Record<string, string>
  bin: { almanac: string }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(directory, folder, 'package.json'), 'utf8'))
}

function unpack({ filename }: Packed): string {
  const where = mkdtempSync(join(elsewhere, 'unpacked-'))
  run('tar', ['-xzf', join(directory, filename), '-C', where])
  return join(where, 'package')
}

/** Installs the archive as npm would, without the packages named. */
function install(without: readonly string[]): { program: string; packages: string } {
  const folder = unpack(packed)
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!without.includes(name)) symlinkSync(join(root, 'node_modules', name), join(packages, name))
  return { program: join(folder, manifestOf('.').bin.almanac), packages }
}

/** In a folder with no configuration. */
function runProgram(command: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const environment = { PATH: process.env.PATH ?? '', HOME: elsewhere }
  const where = mkdtempSync(join(elsewhere, 'empty-'))
  return spawnSync(process.execPath, command, { cwd: where, encoding: 'utf8', env: environment, timeout: 60_000 })
}

test('the published program runs from the archive', () => {
  const { program } = install([])
  expect(readFileSync(program, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true)
  expect(runProgram([program, '--version']).stdout).toBe(`${manifestOf('.').version}\n`)
})

test('the published program runs a service, down to the thread that indexes and the console', async () => {
  const { program } = install([])
  const where = mkdtempSync(join(elsewhere, 'serving-'))
  // No node is there, but the thread that looks for it must be.
  writeFileSync(join(where, 'almanac.yaml'), 'chains: { eth: { rpc: "http://127.0.0.1:1" } }')
  const service = new CommandRun([process.execPath, program, 'start', '--listen', '127.0.0.1:0'], where, {
    ALMANAC_KEY: 'the-operator-key',
  })
  try {
    const url = await service.listening()
    const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': 'the-operator-key' } })
    const { version } = manifestOf('.')
    expect(await answer.json()).toMatchObject({ version, chains: { eth: { rpc: [{ endpoint: '127.0.0.1:1' }] } } })
    const page = await fetch(`${url}/`, { headers: { 'accept-encoding': 'br' } })
    const script = /<script type="module" [^>]*src="(\/assets\/[^"]+)"/.exec(await page.text())?.[1]
    const asset = await fetch(`${url}${script}`, { headers: { 'accept-encoding': 'br' } })
    expect([asset.status, asset.headers.get('content-encoding')]).toEqual([200, 'br'])
    const docs = await fetch(`${url}/docs`)
    expect([docs.status, docs.url]).toEqual([200, `${url}/docs/index.html`])
    expect(await docs.text()).toContain('site.js')
    service.child.kill('SIGTERM')
    expect(await service.ended()).toMatchObject({ code: 0, stdout: '' })
  } finally {
    await service.kill()
  }
})

test.each([
  [
    'start',
    /^Error: Nothing is configured, and the sandbox is not installed\.\nTry: {3}.*almanac init, or get the sandbox: /,
  ],
  ['demo', /^Error: The sandbox is not installed\.\nTry: {3}get the sandbox: /],
])('%s without configuration and sandbox says in two lines what to do', (command, opening) => {
  const { program } = install(['almanac-sandbox'])
  const { status, stdout, stderr } = runProgram([program, command])
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(opening)
  expect(stderr).toMatch(/^Error: .+\nTry: {3}.*npm install -g almanac-sandbox.*image tag sandbox\.\n$/)
})

test('the published sandbox is loaded where it is installed', () => {
  const { packages } = install(['almanac-sandbox'])
  renameSync(unpack(packedSandbox), join(packages, 'almanac-sandbox'))
  const script = "import('almanac-sandbox').then(({ startSandbox }) => console.log(typeof startSandbox))"
  expect(run(process.execPath, ['-e', script], dirname(packages))).toBe('function\n')
})

test('what is installed with it is small and has no blockchain node', () => {
  const listed = ['ls', '--omit=dev', '--all', '--parseable', '--workspaces=false']
  const folders = run('npm', listed, root)
    .split('\n')
    .filter(path => path.includes('/node_modules/'))
  expect(folders.length).toBeGreaterThan(Object.keys(manifestOf('.').dependencies).length)
  expect(
    folders.filter(path => /solana|triton|edr|anvil|litesvm|viem|\/ox$|\/node-(bin|linux|darwin|win)/.test(path)),
  ).toEqual([])
  const kilobytes = [...folders, unpack(packed)].map(path => Number(run('du', ['-sk', path]).split('\t')[0]))
  expect(kilobytes.reduce((sum, size) => sum + size) / 1_024).toBeLessThan(installedMegabytesMax)
})
