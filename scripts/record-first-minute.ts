// Records the first minute in a terminal as an animated picture, from the real thing: the sandbox starts, its chains fill, and a call is answered.
//   npm run record [file]
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Frame, TerminalFilm } from './terminal-film.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const size = { columns: 110, rows: 26 }
const watchedMs = 14_000
const startedWithinMs = 120_000

async function recordService(folder: string): Promise<{ frames: Frame[]; curl: string; stop: () => Promise<void> }> {
  const film = new TerminalFilm(size)
  film.type('npm start')
  // `script` gives it a terminal; the size is set within, and nothing of the environment changes what is shown.
  const inner = `stty cols ${size.columns} rows ${size.rows}; exec node ${join(root, 'bin/almanac.js')} start --listen 127.0.0.1:8080`
  const child = spawn('script', ['-qfec', inner, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
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
  film.type(`${curl.replace(/limit=\d+/, 'limit=1')} | jq`)
  const answer = execFileSync('sh', ['-c', curl.replace(/limit=\d+/, 'limit=1')], { encoding: 'utf8' })
  film.write(Buffer.from(`${JSON.stringify(JSON.parse(answer), null, 2).replaceAll('\n', '\r\n')}\r\n`))
  return await film.frames()
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-recording-'))
try {
  const { frames, curl, stop } = await recordService(folder)
  const call = await recordCall(curl)
  await stop()
  const file = resolve(process.argv[2] ?? join(root, 'docs/pictures/first-minute.svg'))
  const text = TerminalFilm.svg([...frames, ...call], size)
  writeFileSync(file, text)
  process.stdout.write(`${file}: ${Math.round(text.length / 1_000)} kB, ${frames.length + call.length} frames\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
