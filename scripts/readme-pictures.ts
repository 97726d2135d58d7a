// Makes the README's pictures from the real thing: the console of a sandbox in light and dark.
//   npm run pictures:readme [folder]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { browserPath, launchBrowser } from '../test/browser.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const startedWithinMs = 120_000

/** Gives what stops it. */
async function startSandbox(folder: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [join(root, 'bin/almanac.js'), 'start', '--listen', '127.0.0.1:8080'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.on('data', (chunk: Buffer) => {
    written += chunk.toString()
  })
  const deadline = performance.now() + startedWithinMs
  while (!written.includes('Console:')) {
    if (performance.now() > deadline || child.exitCode !== null)
      throw new Error(`The sandbox did not start:\n${written}`)
    await sleep(200)
  }
  return async () => {
    child.kill('SIGINT')
    await once(child, 'exit')
  }
}

/** High enough for the ribbon of blocks. */
const viewport = { width: 1_440, height: 1_040 }
const requestsEveryMs = 120
const usedForMs = 45_000

/** With some use of the API, so that there is something to see. */
async function photographConsole(target: string): Promise<void> {
  const stop = new AbortController()
  const used = use(stop.signal)
  const browser = await launchBrowser()
  try {
    await sleep(usedForMs)
    for (const theme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme: theme, viewport })
      await page.goto(`${url}/#key=sandbox`)
      await page.locator('.plots').waitFor()
      // Of a new store alone.
      await page.getByRole('button', { name: 'Hide' }).click()
      // New blocks arrive meanwhile.
      await sleep(8_000)
      await page.screenshot({ path: join(target, `console-${theme}.png`) })
      await page.close()
    }
  } finally {
    stop.abort()
    await browser.close()
    await used
  }
}

const url = 'http://127.0.0.1:8080'

async function use(signal: AbortSignal): Promise<void> {
  const paths = [
    '/api/v2.2/nft/0x8464135c8f25da09e49bc8782676a84730c318bc/transfers?chain=eth&limit=25',
    '/api/v2.2/nft/0x8464135c8f25da09e49bc8782676a84730c318bc/owners?chain=eth',
    '/api/v2.2/0x70997970c51812dc3a010c7d01b50e0d17dc79c8/nft?chain=eth',
    '/api/v2.2/wallets/0x70997970c51812dc3a010c7d01b50e0d17dc79c8/chains',
  ]
  for (let turn = 0; !signal.aborted; turn++) {
    await fetch(url + paths[turn % paths.length]!, { headers: { 'x-api-key': 'sandbox' } }).then(answer =>
      answer.text(),
    )
    await sleep(requestsEveryMs * (1 + Math.sin(turn / 40)))
  }
}

if (browserPath === undefined)
  throw new Error('No browser was found. Install Debian’s chromium, or set ALMANAC_BROWSER.')
const folder = mkdtempSync(join(tmpdir(), 'almanac-recording-'))
const target = resolve(process.argv[2] ?? join(root, 'docs/pictures'))
try {
  const stop = await startSandbox(folder)
  try {
    await photographConsole(target)
  } finally {
    await stop()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
