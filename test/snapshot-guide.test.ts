// The commands of the guide to snapshots, run from top to bottom as they stand there.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { seed, seeded } from './seed.ts'
import { serveApi } from './served-api.ts'

const guide = readFileSync(new URL('../docs/guides/snapshot-of-holders.md', import.meta.url), 'utf8')
const commands = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text!)

test('every command of the guide works, and the files are whole', async () => {
  const api = await serveApi({ fill: seed })
  const folder = mkdtempSync(join(tmpdir(), 'almanac-guide-'))
  try {
    const env = {
      ...{ PATH: process.env.PATH, ALMANAC_KEY: api.key, ALMANAC_URL: api.url },
      ...{ CONTRACT: seeded.collection, WALLET: seeded.alice },
    }
    const run = async (command: string) =>
      (await promisify(execFile)('sh', ['-euc', command], { cwd: folder, env })).stdout
    const has = (program: string) => run(`command -v ${program}`).catch(() => '')
    for (const command of commands) {
      // The others are in every system; these are not.
      const program = /^(duckdb|jq) /m.exec(command)?.[1]
      if (program === undefined || (await has(program)) !== '') await run(command)
    }
    const lastLine = (name: string) => readFileSync(join(folder, name), 'utf8').split('\n').at(-2)
    expect(lastLine('holders.csv')).toBe('# complete rows=90 block=20000')
    expect(lastLine('again.csv')).toBe('# complete rows=90 block=20000')
    expect(lastLine('wallets.csv')).toBe('# complete rows=3 block=20000')
    expect(lastLine('held.csv')).toBe('# complete rows=181 block=20000')
    expect(lastLine('moved.csv')).toMatch(/^# complete rows=0 block=\d+$/)
    expect(await run('cat headers.txt')).toMatch(/x-block-number: 20000\r\n/i)
  } finally {
    await api.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
