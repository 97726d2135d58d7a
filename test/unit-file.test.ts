// The systemd unit as it runs: the service under the unit's own system call filter.
import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { CommandPlace, CommandRun } from './command-run.ts'
import { startSimNode } from './sim/node.ts'
import { buildFilter, canFilter } from './system-call-filter.ts'

const unit = readFileSync(new URL('../etc/almanac.service', import.meta.url), 'utf8')
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

test.skipIf(!canFilter)('the service indexes, answers and stops under the filter of the unit', async () => {
  const filter = buildFilter(unit)
  cleanups.push(() => rmSync(dirname(filter), { recursive: true }))
  const node = await startSimNode({ chain: { chainId: 31_337, height: 40, hashes: 'real' } })
  const place = new CommandPlace()
  place.configure({ sim: { id: 31_337, rpc: node.endpoints.map(({ url }) => url), index: 'full' } })
  const start = ['start', '--listen', '127.0.0.1:0', '--ops-open', '--log-format', 'json']
  const service = new CommandRun([filter, process.execPath, main, ...start], place.directory)
  cleanups.push(
    () => place.dispose(),
    () => node.close(),
    () => service.kill(),
  )
  const url = await service.listening()
  const isLive = async (): Promise<boolean> => {
    const { chains } = (await (await fetch(`${url}/status`)).json()) as { chains: { sim: { complete: boolean } } }
    return chains.sim.complete
  }
  await service.until(isLive, 'indexing')
  service.child.kill('SIGTERM')
  expect((await service.ended()).code).toBe(0)
})

test('a reload gives the service the file as it is now, readable by it alone, and then the signal', () => {
  const reloads = [...unit.matchAll(/^ExecReload=(.*)$/gm)].map(([, line]) => line)
  const [before] = [...unit.matchAll(/^ExecStartPre=(.*)$/gm)].map(([, line]) => line)
  expect(reloads).toEqual([before, '/bin/kill -HUP $MAINPID'])
  expect(before).toContain('install -m 600 /etc/almanac/almanac.yaml /run/almanac/almanac.yaml')
  expect(unit).toMatch(/^ExecStart=.* --config \/run\/almanac\/almanac\.yaml$/m)
})

test('systemd restarts the service after a defect, and not after a wrong setting', () => {
  expect(unit).toMatch(/^Restart=on-failure$/m)
  expect(unit).toMatch(/^RestartPreventExitStatus=1$/m)
})
