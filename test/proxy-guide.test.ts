// The settings of the guide to proxies, as they stand there, in a real nginx and a real Caddy with TLS in front of a
// real service: pages, whole lists and the stream of events pass, and operator routes do not where they are kept inside.
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { blocksOf } from './doc-blocks.ts'
import { seed, seeded } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const name = 'almanac.example.com'
const settingsOf = (language: string): string[] =>
  blocksOf('docs/guides/behind-a-proxy.md').flatMap(block => (block.language === language ? [block.text] : []))
const [nginxWhole, nginxAlone] = settingsOf('nginx') as [string, string]
const [caddyOne, caddyMany, caddyAlone] = settingsOf('caddyfile') as [string, string, string]

const has = (program: string): boolean => spawnSync(program, ['-v']).error === undefined
const folder = mkdtempSync(join(tmpdir(), 'almanac-proxy-'))
const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
let api: ServedApi
let proxy: ChildProcess | undefined

beforeAll(async () => {
  api = await serveApi({ fill: seed })
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const named = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync('openssl', [...made, ...named, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
})
afterEach(async () => {
  if (proxy === undefined) return
  const ended = once(proxy, 'exit')
  proxy.kill('SIGTERM')
  await ended
  proxy = undefined
})
afterAll(async () => {
  await api.close()
  rmSync(folder, { recursive: true })
})

test('there are settings for both proxies, whole and for the API alone', () => {
  expect([settingsOf('nginx').length, settingsOf('caddyfile').length]).toEqual([2, 3])
  for (const text of [...settingsOf('nginx'), ...settingsOf('caddyfile')])
    expect(text.match(/\{$/gm)?.length).toBe(text.match(/^\s*\}$/gm)?.length)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function begin(command: readonly string[], port: number): Promise<void> {
  const child = spawn(command[0]!, command.slice(1), { env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder } })
  proxy = child
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      said += chunk
    })
  const opens = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.end() !== undefined)).on('error', () =>
        resolve(false),
      )
    })
  await vi.waitFor(
    async () => {
      expect(child.exitCode, said).toBeNull()
      expect(await opens()).toBe(true)
    },
    { timeout: 30_000, interval: 100 },
  )
}

async function startNginx(text: string): Promise<{ tls: number; plain: number }> {
  const [tls, plain] = [await freePort(), await freePort()]
  const version = spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr
  const isOld = !/nginx\/1\.(2[5-9]|[3-9]\d)/.test(version)
  const here = text
    .replace('127.0.0.1:8080', new URL(api.url).host)
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    // As the page says of older versions.
    .replace('listen 443 ssl;\n    http2 on;', isOld ? 'listen 443 ssl http2;' : 'listen 443 ssl;\n    http2 on;')
    .replace('listen 443', `listen 127.0.0.1:${tls}`)
    .replace(/\S+fullchain\.pem/, certificate)
    .replace(/\S+privkey\.pem/, key)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    kind => `${kind}_temp_path ${folder}/${kind};`,
  )
  const file = join(folder, 'nginx.conf')
  const errors = join(folder, 'errors')
  const http = `http {\naccess_log off;\n${places.join('\n')}\n${here}\n}`
  writeFileSync(file, `pid ${folder}/pid;\nerror_log ${errors};\nevents {}\n${http}\n`)
  await begin(['nginx', '-e', errors, '-c', file, '-g', 'daemon off;'], tls)
  return { tls, plain }
}

async function startCaddy(text: string): Promise<number> {
  const port = await freePort()
  const here = text
    .replace(`${name} {`, `https://${name}:${port} {\n\ttls ${certificate} ${key}`)
    .replace(/10\.0\.0\.1[123]:8080|127\.0\.0\.1:8080/g, new URL(api.url).host)
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${here}\n`)
  await begin(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], port)
  return port
}

type Answer = { status: string; http: string; body: string }

/** Through TLS, as a client of the public name. */
async function ask(port: number, path: string, ...options: string[]): Promise<Answer> {
  const to = ['--cacert', certificate, '--resolve', `${name}:${port}:127.0.0.1`, '-H', `X-API-Key: ${api.key}`]
  const url = `https://${name}:${port}${path}`
  const parameters = ['-s', '-w', '\n%{http_code} %{http_version}', ...to, ...options, url]
  // A stream ends by the time that it was given: curl says so by its code.
  const { stdout } = await promisify(execFile)('curl', parameters).catch(error => error as { stdout: string })
  const [, body, status, http] = /^(.*)\n(\d+) (\S+)$/s.exec(stdout)!
  return { body: body!, status: status!, http: http! }
}

const page = `/api/v2.2/nft/${seeded.collection}/transfers?chain=eth&limit=5`
const list = `/api/v2.2/nft/${seeded.collection}/owners?chain=eth`

async function expectApi(port: number): Promise<void> {
  const direct = await api.get(page)
  expect(await ask(port, page)).toEqual({ status: '200', http: '2', body: await direct.text() })
  expect((await ask(port, list, '-H', 'Accept: text/csv')).body).toMatch(/\n# complete rows=90 block=20000\n$/)
}

async function expectConsole(port: number): Promise<void> {
  expect(await ask(port, '/ready')).toMatchObject({ status: '200' })
  const { body, status } = await ask(port, '/events', '-N', '-m', '3')
  expect([status, body]).toEqual(['200', expect.stringMatching(/^event: \w+$/m)])
  const { body: headers } = await ask(port, page, '-D', '-', '-o', '/dev/null')
  expect(headers).toMatch(/^x-request-id: \S+/im)
}

async function expectNoConsole(port: number): Promise<void> {
  for (const path of ['/', '/status', '/events', '/keys', '/metrics'])
    expect(await ask(port, path), path).toMatchObject({ status: '404' })
}

describe.skipIf(!has('nginx'))('nginx', () => {
  test('passes pages, whole lists and events, and sends plain requests to TLS', async () => {
    const { tls, plain } = await startNginx(nginxWhole)
    await expectApi(tls)
    await expectConsole(tls)
    const moved = await fetch(`http://127.0.0.1:${plain}/ready`, { redirect: 'manual' })
    expect([moved.status, moved.headers.get('location')]).toEqual([301, expect.stringMatching(/^https:.*\/ready$/)])
  })

  test('keeps the console inside', async () => {
    const { tls } = await startNginx(nginxWhole.replace(/ {4}location \/ \{.*?^ {4}\}/ms, nginxAlone))
    await expectApi(tls)
    await expectNoConsole(tls)
  })
})

describe.skipIf(!has('caddy'))('Caddy', () => {
  test.each([
    ['one process', caddyOne],
    ['several processes', caddyMany],
  ])('passes everything to %s', async (_, text) => {
    const port = await startCaddy(text!)
    await expectApi(port)
    await expectConsole(port)
  })

  test('keeps the console inside', async () => {
    const port = await startCaddy(caddyAlone)
    await expectApi(port)
    await expectNoConsole(port)
  })
})
