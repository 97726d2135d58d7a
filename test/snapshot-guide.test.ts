// The commands of the guide to snapshots, run from top to bottom as they stand there.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { pythonPath } from './python.ts'
import { seed, seeded } from './seed.ts'
import { serveApi } from './served-api.ts'

const guide = readFileSync(new URL('../docs/guides/snapshot-of-holders.md', import.meta.url), 'utf8')
  .replaceAll('0x8464135c8f25da09e49bc8782676a84730c318bc', seeded.collection)
  .replaceAll('0x70997970c51812dc3a010c7d01b50e0d17dc79c8', seeded.alice)
  .replaceAll('_block=400', '_block=20000')
const blocksIn = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text!)

test('every command of the guide works, and the files are whole', async () => {
  const api = await serveApi({ fill: seed })
  const folder = mkdtempSync(join(tmpdir(), 'almanac-guide-'))
  try {
    const here = (text: string) =>
      text.replaceAll('http://127.0.0.1:8080', api.url).replaceAll(/(?<=X-API-Key.{2,4})sandbox/g, api.key)
    const execute = async (program: string, ...args: string[]) =>
      (await promisify(execFile)(program, args, { cwd: folder })).stdout
    const run = (command: string) => execute('sh', '-euc', here(command))
    const has = (program: string) => run(`command -v ${program}`).catch(() => '')
    for (const command of blocksIn('sh')) {
      // The others are in every system; these are not.
      const program = /^(duckdb|jq) /m.exec(command)?.[1]
      if (program === undefined || (await has(program)) !== '') await run(command)
    }
    const lastLine = (name: string) => readFileSync(join(folder, name), 'utf8').split('\n').at(-2)
    expect(lastLine('holders.csv')).toBe('# complete rows=90 block=20000')
    expect(lastLine('again.csv')).toBe('# complete rows=90 block=20000')
    expect(lastLine('wallets.csv')).toBe('# complete rows=3 block=20000')
    expect(lastLine('held.csv')).toBe('# complete rows=181 block=20000')
    expect(lastLine('moved.csv')).toBe('# complete rows=338 block=20000')
    expect(await run('cat headers.txt')).toMatch(/x-block-number: 20000\r\n/i)
    // In other languages the same file, checked before it is written.
    const others = [
      ...blocksIn('ts').map(program => [process.execPath, '--input-type=module-typescript', '--eval', here(program)]),
      ...(pythonPath === undefined ? [] : blocksIn('python').map(program => [pythonPath, '-c', here(program)])),
    ] as [string, ...string[]][]
    expect(others.length).toBeGreaterThan(0)
    for (const [program, ...args] of others) {
      rmSync(join(folder, 'holders.csv'))
      expect(await execute(program, ...args)).toBe('# complete rows=90 block=20000\n')
      expect(lastLine('holders.csv')).toBe('# complete rows=90 block=20000')
    }
  } finally {
    await api.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
