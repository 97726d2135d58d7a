// Makes the README's pictures from the real thing: the first minute in a terminal, as a picture that plays by itself,
// and the console of that sandbox in light and dark.
//   npm run pictures:readme [folder]
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { browserPath, launchBrowser } from '../test/browser.ts'
import { type Frame, TerminalFilm } from './terminal-film.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const size = { columns: 110, rows: 26 }
const watchedMs = 14_000
const startedWithinMs = 120_000
/** What npm sets: commands are named as they are where it runs. */
const npmStart = { npm_lifecycle_event: 'start', npm_package_name: 'almanac' }

async function recordService(folder: string): Promise<{ frames: Frame[]; curl: string; stop: () => Promise<void> }> {
  const film = new TerminalFilm(size)
  film.type('npm start')
  // `script` gives it a terminal; the size is set within, and nothing of the environment changes what is shown.
  const inner = `stty cols ${size.columns} rows ${size.rows}; exec node ${join(root, 'bin/almanac.js')} start --listen 127.0.0.1:8080`
  const child = spawn('script', ['-qfec', inner, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...npmStart },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.on('data', (chunk: Buffer) => {
    written += chunk.toString()
    film.write(chunk)
  })
  const deadline = performance.now() + startedWithinMs
  const curlOf = () => /curl .*transfers[^']*'/.exec(plain(written).replaceAll(/\s*\n\s*/g, ' '))?.[0]
  while (curlOf() === undefined) {
    if (performance.now() > deadline || child.exitCode !== null)
      throw new Error(`The sandbox did not start:\n${written}`)
    await sleep(200)
  }
  await sleep(watchedMs)
  const stop = async () => {
    child.stdin.write('\u0003')
    await once(child, 'exit')
  }
  return { frames: await film.frames(), curl: curlOf()!, stop }
}

/** What a terminal obeys is no text. */
function plain(written: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it removes
  return written.replaceAll(/\u001b\[[\d;?]*[A-Za-z]|\r/g, '')
}

async function recordCall(curl: string): Promise<Frame[]> {
  const film = new TerminalFilm(size)
  const short = curl.replace(/limit=\d+/, 'limit=1')
  film.type(`${short} | jq`)
  const answer = execFileSync('sh', ['-c', short], { encoding: 'utf8' })
  film.write(Buffer.from(`${JSON.stringify(JSON.parse(answer), null, 2).replaceAll('\n', '\r\n')}\r\n`))
  return await film.frames()
}

/** High enough for the ribbon of blocks. */
const viewport = { width: 1_440, height: 980 }
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
  const { frames, curl, stop } = await recordService(folder)
  const call = await recordCall(curl)
  try {
    await photographConsole(target)
  } finally {
    await stop()
  }
  const text = TerminalFilm.svg([...frames, ...call], size)
  writeFileSync(join(target, 'first-minute.svg'), text)
  process.stdout.write(
    `${target}: first-minute.svg has ${Math.round(text.length / 1_000)} kB, ${frames.length + call.length} frames\n`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
