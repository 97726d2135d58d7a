// The guard over the whole run notices a connection that leaves this machine, in a suite and in what it starts.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
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
  const connect = async (address: string, at: number): Promise<string> => {
    const notes = join(folder, address.replaceAll(':', '-'))
    const program = `fetch('http://${address}:${at}').catch(() => {}).finally(() => process.exit())`
    const env = { ...process.env, NODE_OPTIONS: `--require="${guard}"`, ALMANAC_TESTS_CONNECTIONS: notes }
    // The server answers meanwhile.
    await promisify(execFile)(process.execPath, ['-e', program], { env })
    try {
      return readFileSync(notes, 'utf8')
    } catch {
      return ''
    }
  }
  try {
    expect(await connect('127.0.0.1', port)).toBe('')
    expect(await connect('192.0.2.1', 80)).toContain('192.0.2.1')
    expect(await connect('[2001:db8::1]', 80)).toContain('2001:db8::1')
  } finally {
    await new Promise(resolve => server.close(resolve))
    rmSync(folder, { recursive: true })
  }
})
