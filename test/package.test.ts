// What packages are made of: the files that they take, what is installed with them, the lock file, and what the image's
// build is given. `test/release/package.test.ts` builds and runs them.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { contextFiles } from './image-context.ts'
import { sandboxNodes, sandboxPlatforms } from './sandbox-nodes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest: {
  version: string
  engines: { node: string }
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  bin: { almanac: string }
  scripts: Record<string, string>
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

function run(command: string, options: readonly string[]): string {
  return execFileSync(command, options, { cwd: root, encoding: 'utf8' })
}

test('only what runs and what is read is published', () => {
  const packed = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent']))[0]
  const paths: string[] = packed.files.map(({ path }: { path: string }) => path)
  for (const path of ['bin/almanac.js', 'bin/check-node.js', 'docs/openapi.json', 'README.md', 'LICENSE'])
    expect(paths).toContain(path)
  // What the build makes is looked at before a release.
  const others = paths.filter(
    path => !/^(bin|dist|docs|etc)\/|^(CHANGELOG|README)\.md$|^(LICENSE|package\.json)$/.test(path),
  )
  expect([others, paths.filter(path => path.startsWith('docs/pictures'))]).toEqual([[], []])
})

test('the service takes the sandbox of its own version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'sandbox/package.json'), 'utf8'))
  expect([version, manifest.peerDependencies['almanac-sandbox']]).toEqual([manifest.version, manifest.version])
})

test('the sandbox asks for the same two nodes on every platform, and for no other', () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'sandbox/package.json'), 'utf8'))
  const wrapped = (name: string): string => name.replace('@nomicfoundation/', 'almanac-sandbox-')
  expect(Object.keys(optionalDependencies).sort()).toEqual(sandboxNodes.map(wrapped).sort())
  expect(Object.keys(dependencies)).toEqual(['@noble/curves', '@scure/base', 'ox', 'ws'])
  const others = /anvil|foundry|surfpool|surfnet|ganache|hardhat-node|test-validator/i
  const sources = run('git', ['ls-files', 'sandbox', 'Dockerfile', 'package.json', 'package-lock.json']).trim()
  expect(sources.split('\n').length).toBeGreaterThan(30)
  expect(sources.split('\n').filter(path => others.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
})

describe('an old Node', () => {
  const fake = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.1.0'}})"
  const preload = `--import=data:text/javascript,${encodeURIComponent(fake)}`
  const required = manifest.engines.node.replace('>=', '')
  const sentence = (folder: string) => {
    const error = `Error: Almanac needs Node ${required} or newer; this is Node 20.1.0.\n`
    const bin = join(folder, 'node_modules/.bin')
    return existsSync(join(bin, 'node'))
      ? `${error}Try:   use the Node ${required} of this checkout: export PATH="${bin}:$PATH"\nOr:    in the checkout, npm run almanac -- COMMAND\n`
      : `${error}Try:   install Node ${required}, then run npm install again.\n`
  }

  test.each(['an install', 'a checkout with a Node of its own'])('is told which one is needed: %s', what => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'almanac-old-node-')))
    try {
      for (const path of ['package.json', 'bin']) cpSync(join(root, path), join(folder, path), { recursive: true })
      if (what !== 'an install') {
        mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
        symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'))
      }
      const command = [preload, join(folder, manifest.bin.almanac), 'start']
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: tmpdir(), encoding: 'utf8' })
      expect([status, stdout, stderr]).toEqual([1, '', sentence(folder)])
      expect(stderr.includes('export PATH=')).toBe(what !== 'an install')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('meets no wall of warnings when it installs', () => {
    expect(run('npm', ['config', 'get', 'loglevel', 'engine-strict']).trim()).toBe(
      'loglevel=error\nengine-strict=false',
    )
  })

  test.each(['start', 'almanac'])('is told so by the script %s too', script => {
    const command = manifest.scripts[script]!
    const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NODE_OPTIONS: preload }
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: root, encoding: 'utf8', env })
    expect([status, stdout, stderr]).toEqual([1, '', sentence(root)])
  })
})

test('what is installed with it has no blockchain node', () => {
  const listed = ['ls', '--omit=dev', '--all', '--parseable', '--workspaces=false']
  const folders = run('npm', listed)
    .split('\n')
    .filter(path => path.includes('/node_modules/'))
  expect(folders.length).toBeGreaterThan(Object.keys(manifest.dependencies).length)
  expect(
    folders.filter(path => /solana|triton|edr|anvil|litesvm|viem|\/ox$|\/node-(bin|linux|darwin|win)/.test(path)),
  ).toEqual([])
})

type Locked = {
  version: string
  integrity?: string
  link?: boolean
  resolved?: string
  os?: string[]
  cpu?: string[]
}

describe('the lock file', () => {
  const locked: Record<string, Locked> = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const installed = Object.entries(locked).filter(([path, { link }]) => path.includes('node_modules/') && !link)

  test('has a checksum of every package, the Node that runs included', () => {
    for (const [path, { integrity }] of installed) expect(integrity, path).toMatch(/^sha512-/)
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'runtime/package.json'), 'utf8'))
    for (const [name, version] of Object.entries(optionalDependencies))
      expect(locked[`node_modules/${name}`]).toMatchObject({
        version,
        os: expect.anything(),
        cpu: expect.anything(),
      })
  })

  test.each(['@solana/kit', 'typescript'])('has one version of %s', name => {
    expect(installed.filter(([path]) => path.endsWith(`node_modules/${name}`))).toHaveLength(1)
  })

  test('has no package of one platform that npm would install on another', () => {
    const ofPlatform = installed.filter(([path]) => /(linux|darwin|win32)-?(x64|arm64|amd64)/.test(path))
    expect(ofPlatform.length).toBeGreaterThan(20)
    const anywhere = ofPlatform.filter(([, { os, cpu }]) => os === undefined || cpu === undefined)
    // The package around each says the platform.
    const edr = sandboxPlatforms.map(platform => `node_modules/@nomicfoundation/edr-${platform}`)
    expect(anywhere.map(([path]) => path).sort()).toEqual(edr)
  })

  test.each(sandboxPlatforms)("has the sandbox's two nodes for %s", platform => {
    const [os, cpu, library] = platform.split('-')
    const libc = library && { libc: [library.replace('gnu', 'glibc')] }
    const only = { optional: true, os: [os], cpu: [cpu], ...libc }
    expect(locked[`node_modules/litesvm-${platform}`]).toMatchObject(only)
    expect(locked[`sandbox/edr/${platform}`]).toMatchObject(only)
    expect(locked[`sandbox/edr/${platform}`]).toMatchObject({
      dependencies: { [`@nomicfoundation/edr-${platform}`]: expect.stringMatching(/^\d/) },
    })
  })
})

test('the image takes only what its context and its own stages have', () => {
  const copies = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
  const kept = contextFiles(root)
  const isKept = (path: string) => kept.some(file => file === path || file.startsWith(`${path}/`))
  for (const path of copies.flatMap(([, paths]) => String(paths).split(' ')))
    expect(path === '.' || isKept(path), path).toBe(true)
})

test('the image removes no package of one platform as if it were on every one', () => {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const removals = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/\brm ((?:-\S+ )*)((?:\S+ ?)+)$/gm)]
  expect(removals).not.toEqual([])
  const strict = removals.filter(([, options]) => !options!.includes('f')).flatMap(([, , paths]) => paths!.split(' '))
  for (const path of strict) {
    const { link, resolved, ...own } = packages[path] ?? {}
    expect(link === true ? packages[resolved!] : own, path).not.toHaveProperty('os')
  }
})
