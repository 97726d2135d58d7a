// The browser that the suites of one run share: it starts when one of them asks for it, and ends with the run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserPath, launchBrowserServer } from './browser.ts'
import { askOffered, offer, socketIn } from './offered.ts'

describe.skipIf(browserPath === undefined)('the browser of a run', () => {
  test('starts when it is asked for, once, and ends with the offer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'almanac-browser-'))
    let started = 0
    const socket = socketIn(folder, 'browser')
    const launch = () => {
      started++
      return launchBrowserServer()
    }
    const take = await offer(socket, launch, browser => browser.wsEndpoint())
    const end = async () => await (await take())?.close()
    try {
      expect(started).toBe(0)
      const [one, other] = await Promise.all([askOffered(socket), askOffered(socket)])
      expect([started, other]).toEqual([1, one])
      const suite = await chromium.connect(one)
      await suite.close()
      const next = await chromium.connect(one)
      expect(next.contexts()).toEqual([])
      await end()
      await expect.poll(() => next.isConnected()).toBe(false)
    } finally {
      await end()
      rmSync(folder, { recursive: true })
    }
  })

  test('does not outlive a run that is killed', async () => {
    const script = `import { launchBrowserServer } from ${JSON.stringify(new URL('browser.ts', import.meta.url).href)}
      process.stdout.write(String((await launchBrowserServer()).process().pid))`
    const run = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number((await once(run.stdout, 'data')).toString())
    expect(isRunning(pid)).toBe(true)
    run.kill('SIGKILL')
    await expect.poll(() => isRunning(pid)).toBe(false)
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
