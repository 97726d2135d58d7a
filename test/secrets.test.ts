// The whole service with nodes that repeat the secrets of their URLs in every way: none of them may reach an answer, the
// status, the metrics, the events or the log.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { almanacMain, compileCache } from './bundled-service.ts'

const key = 'a-key-of-the-operator'
const contract = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'
const owner = 'EJpLyTeE8XHG9CeREeHd6pr6hNhaRnTRJx4Z5DPhEJJ6'

/** Each endpoint has its own. The names of chains and versions beside them are no secrets. */
function secretsOf(name: string) {
  const login = { user: `${name}u5er`, password: `${name}p4ss:w0rd` }
  return {
    ...login,
    pathLong: `${name}SECRETAPIKEY1234567890`,
    pathShort: `${name}k3y`,
    query: `${name}qw7`,
    pair: Buffer.from(`${login.user}:${login.password}`).toString('base64'),
  }
}

const names = ['Qe', 'Qp', 'Qr', 'Qs', 'Qw']
const planted = names.flatMap(name => Object.values(secretsOf(name)))

function urlOf(name: string, scheme: 'http' | 'ws', port: number): string {
  const { user, password, pathLong, pathShort, query } = secretsOf(name)
  const login = `${user}:${encodeURIComponent(password)}`
  return `${scheme}://${login}@127.0.0.1:${port}/v2/${pathShort}/mainnet/${pathLong}?tok=${query}`
}

const header = {
  hash: `0x${'11'.repeat(32)}`,
  parentHash: `0x${'22'.repeat(32)}`,
  number: '0x64',
  timestamp: '0x65000000',
}
let turn = 0

/** Says what it was asked with: the URL, the headers, and what the credentials in them mean. */
function repeatSecrets(incoming: IncomingMessage, body: string, outgoing: ServerResponse): void {
  const name = names.find(each => incoming.url?.includes(each)) ?? ''
  const { user, password } = secretsOf(name)
  const words = `project ${incoming.url?.replaceAll(/[/?=]/g, ' ')} of ${user}, ${password} (${incoming.headers.authorization}) at http://x${incoming.url}`
  const { id = 0, method = '' } = [JSON.parse(body)].flat()[0] ?? {}
  const answer = (fields: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...fields })
  const error = (code: number): string =>
    answer({ error: { code, message: words, data: { words, headers: incoming.rawHeaders } } })
  if (method === 'eth_chainId') return void outgoing.end(answer({ result: name === 'Qe' ? '0x1' : '0x89' }))
  if (method === 'eth_getBlockByNumber' && turn % 3 === 0) {
    turn++
    return void outgoing.end(JSON.stringify([JSON.parse(body)].flat().map(({ id }) => ({ id, result: header }))))
  }
  const ways: (() => void)[] = [
    () => outgoing.end(error(-32000)),
    () => outgoing.writeHead(403, words.slice(0, 60), { 'x-words': words }).end(error(-32001)),
    () => outgoing.end(words),
    () => outgoing.end(error(-32602)),
    () => outgoing.writeHead(500).end(words),
    () => outgoing.writeHead(429, { 'retry-after': '0', 'www-authenticate': words }).end(error(429)),
    () => outgoing.end(answer({ result: words })),
    () =>
      outgoing.end(
        answer({ result: { context: { slot: words }, value: words, hash: words, number: words, [words]: 1 } }),
      ),
    () => outgoing.writeHead(302, { location: `http://x${incoming.url}` }).end(),
    () => outgoing.end(`{"error": ${words} }`),
    () =>
      outgoing.end(
        answer({ result: { context: { slot: 5 }, value: [{ pubkey: words, account: { owner: words } }, words] } }),
      ),
  ]
  ways[turn++ % ways.length]!()
}

let directory: string
let server: Server
let service: ChildProcess
let url: string
let printed = ''

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-secrets-'))
  server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    repeatSecrets(incoming, body, outgoing)
  })
  server.on('upgrade', (incoming, socket) =>
    socket.end(`HTTP/1.1 401 ${incoming.url}\r\nx-words: ${incoming.url}\r\n\r\n`),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const file = join(directory, 'almanac.yaml')
  const chains = {
    eth: { rpc: [urlOf('Qe', 'http', port)], ws: urlOf('Qw', 'ws', port), index: 'full', from: 0 },
    polygon: { rpc: [urlOf('Qp', 'http', port), urlOf('Qr', 'http', port)] },
  }
  const solana = { mainnet: { rpc: [urlOf('Qs', 'http', port)], ws: urlOf('Qw', 'ws', port) } }
  const log = { level: 'trace', format: 'json' }
  const store = `file:${join(directory, 'almanac.db')}`
  writeFileSync(file, JSON.stringify({ listen: '127.0.0.1:0', store, chains, solana, log }))
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache, ALMANAC_KEY: key }
  service = spawn(process.execPath, [almanacMain, 'start', '--config', file], { env })
  url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      printed += chunk
      const listening = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(printed)
      if (listening !== null) resolve(listening[1]!)
    }
    service.stdout!.on('data', hear)
    service.stderr!.on('data', hear)
    service.once('exit', () => reject(new Error(printed)))
  })
})

afterAll(async () => {
  service.kill('SIGKILL')
  server.closeAllConnections()
  server.close()
  rmSync(directory, { recursive: true, force: true })
})

async function ask(path: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(url + path, {
    headers: { 'x-api-key': key, ...headers },
    signal: AbortSignal.timeout(10_000),
  })
  const sent = JSON.stringify([...answer.headers])
  if (!path.startsWith('/events')) return `${answer.status} ${sent} ${await answer.text()}`
  const reader = answer.body!.getReader()
  let heard = ''
  while (!heard.includes('event: status')) heard += Buffer.from((await reader.read()).value!).toString()
  await reader.cancel()
  return sent + heard
}

const unread = `/nft/${contract}/transfers?chain=polygon`
const paths = [
  `/api/v2${unread}`,
  `/api/v2.2${unread}`,
  `/api/v2.2/nft/${contract}/transfers?chain=eth`,
  `/api/v2/wallets/${contract}/chains?chains=eth,polygon`,
  `/api/v2.2/wallets/${contract}/chains?chains=eth,polygon`,
  `/api/v2/${contract}/balance?chain=polygon`,
  `/api/v2.2/wallets/balances?chain=eth&wallet_addresses[]=${contract}`,
  ...Array.from({ length: 12 }, () => `/account/mainnet/${owner}/portfolio`),
  `/nft/mainnet/${owner}/metadata`,
  ...Array.from({ length: 4 }, (_, at) => `/explain/polygon/${contract}?transfer=0x${`${at}`.repeat(64)}`),
  ...['/status', '/metrics', '/events', '/ready', '/keys', '/chains/eth/contracts', '/openapi.json'],
  '/solana/mainnet/accounts',
]

test('no secret of an endpoint reaches clients, the status, the metrics, the events or the log', async () => {
  const answers = new Map<string, string>()
  const started = Date.now()
  const said = /project v2 \*\*\* mainnet \*\*\* tok \*\*\* of \*\*\*, \*\*\* \(Basic \*\*\*=*\)/
  const isEnough = () => said.test(printed) && (Date.now() - started >= 4_000 || turn >= 60)
  for (let round = 0; round < 2 || (!isEnough() && Date.now() - started < 15_000); round++) {
    const accept = round % 2 === 0 ? 'application/json' : 'application/problem+json'
    const wait = { accept, prefer: 'wait=0' }
    const asked = await Promise.all(paths.map(async path => [path, await ask(path, wait)] as const))
    for (const [path, answer] of asked) answers.set(`${path} #${round} ${answers.size}`, answer)
  }
  service.kill('SIGTERM')
  await once(service, 'exit')
  answers.set('the log', printed)
  expect(turn).toBeGreaterThan(11)
  // What the nodes said is there for the operator, without the secrets.
  expect(printed).toMatch(said)
  const clients = [...answers].filter(([path]) =>
    ['/api', '/account', '/nft', '/explain'].some(start => path.startsWith(start)),
  )
  expect(clients.filter(([, answer]) => /project v2|127\.0\.0\.1|endpoint/.test(answer))).toEqual([])
  for (const [path, answer] of answers)
    for (const secret of planted)
      expect(
        answer.toLowerCase().includes(secret.toLowerCase()),
        `${secret} in ${path}: ${answer
          .split('\n')
          .find(line => line.toLowerCase().includes(secret.toLowerCase()))
          ?.slice(0, 3_000)}`,
      ).toBe(false)
}, 30_000)
