// The guard over the whole run notices a connection that leaves this machine, in a suite and in what it starts.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const guard = fileURLToPath(new URL('socket-guard.cjs', import.meta.url))

test('this run is guarded', () => {
  expect(process.env.NODE_OPTIONS).toContain('socket-guard.cjs')
  expect(process.env.ALMANAC_TESTS_CONNECTIONS).toBeDefined()
})

test('a process that connects elsewhere is stopped and noted; one that stays here is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-guard-'))
  const server = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const connect = (address: string, at: number): string => {
    const notes = join(folder, address.replaceAll(':', '-'))
    const program = `fetch('http://${address}:${at}').catch(() => {}).finally(() => process.exit())`
    const env = { ...process.env, NODE_OPTIONS: `--require="${guard}"`, ALMANAC_TESTS_CONNECTIONS: notes }
    execFileSync(process.execPath, ['-e', program], { env })
    try {
      return readFileSync(notes, 'utf8')
    } catch {
      return ''
    }
  }
  try {
    expect(connect('127.0.0.1', port)).toBe('')
    expect(connect('192.0.2.1', 80)).toContain('192.0.2.1')
    expect(connect('[2001:db8::1]', 80)).toContain('2001:db8::1')
  } finally {
    await new Promise(resolve => server.close(resolve))
    rmSync(folder, { recursive: true })
  }
})
