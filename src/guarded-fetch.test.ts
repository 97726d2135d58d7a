// Attacks on the one way out: where it may connect, what it follows, and how much it takes. Servers are real; 127.0.0.2
// stands for a public address, 127.0.0.1 for a private one.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { cert, key } from '../test/test-certificate.ts'
import { AlmanacError } from './errors.ts'
import {
  type FetchRequest,
  type FetchRules,
  fetchFailureOf,
  guardedFetch,
  isPublicAddress,
  permittedUrl,
} from './guarded-fetch.ts'

const publicAddress = '127.0.0.2'
const privateAddress = '127.0.0.1'
const closings: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closings) await close()
})

type Local = { port: number; connections: () => number; open: () => number; requests: IncomingMessage[] }

async function listen(server: Server, host: string): Promise<Local> {
  let connections = 0
  const sockets = new Set<Socket>()
  const requests: IncomingMessage[] = []
  server.on('request', request => requests.push(request))
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    // A server that does not read does not notice the end either.
    if (!('requestTimeout' in server)) socket.resume()
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  closings.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, open: () => sockets.size, requests }
}

const serve = (answer: RequestListener, host = publicAddress): Promise<Local> => listen(createServer(answer), host)

const rules: FetchRules = {
  permits: () => ({ http: true }),
  redirectsMax: 3,
  bytesMax: 100_000,
  timeoutMs: 5_000,
  headersTimeoutMs: 2_000,
  resolve: async () => [publicAddress],
  isPublic: address => address === publicAddress,
}

const get = (url: string, changed: Partial<FetchRules> = {}, request: Partial<FetchRequest> = {}) =>
  guardedFetch({ url, ...request }, { ...rules, ...changed })

async function failureOf(answer: Promise<unknown>): Promise<string | undefined> {
  const error = await answer.then(
    () => undefined,
    error => error,
  )
  if (error !== undefined && fetchFailureOf(error) === undefined) throw error
  return fetchFailureOf(error)
}

describe('addresses', () => {
  test.each([
    ...[
      '8.8.8.8',
      '1.1.1.1',
      '100.63.255.255',
      '100.128.0.1',
      '172.15.0.1',
      '172.32.0.1',
      '192.0.1.1',
      '223.255.255.1',
    ],
    ...['2606:4700::1111', '2a00:1450:4001::1', '2400:cb00::1', '64:ff9b::8.8.8.8', '64:ff9b::808:808'],
  ])('%s is public', address => expect(isPublicAddress(address)).toBe(true))

  test.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.9', '192.0.2.1', '192.31.196.1'],
    ...['192.52.193.1', '192.88.99.1', '192.168.1.1', '192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
    ...['203.0.113.1', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      '::127.0.0.1',
      '::8.8.8.8',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:8.8.8.8',
      '::ffff:0:1.2.3.4',
    ],
    ...[
      '64:ff9b::',
      '64:ff9b::127.0.0.1',
      '64:ff9b::a00:1',
      '64:ff9b::1',
      '64:ff9b:1::1',
      '64:ff9b::1:7f00:1',
      '100::1',
      '100:0:0:1::1',
    ],
    ...['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1'],
    ...['2002:7f00:1::', '2002:808:808::1', '2620:4f:8000::1', '3fff::1', '5f00::1', 'fc00::1', 'fd12::1', 'fe80::1'],
    ...[
      'fe80::1%eth0',
      '2606:4700::1%eth0',
      'fec0::1',
      'ff02::1',
      '4000::1',
      'f000::1',
      '',
      'localhost',
      '1.2.3',
      '127.1',
    ],
  ])('%s is not', address => expect(isPublicAddress(address)).toBe(false))
})

test.each([
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127.0.0.1.', '0'],
  ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]'],
  ...[
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'router',
    'db.internal',
  ],
  ...['metadata.google.internal', 'printer.local', 'nas.home.arpa', '169.254.169.254', '[fe80::1]'],
])('%s is refused before anything is looked up or connected to', async host => {
  const local = await serve((_, response) => void response.end('secret'), privateAddress)
  const resolve = vi.fn(async () => [privateAddress])
  const url = `http://${host}:${local.port}/`
  expect(await failureOf(get(url, { resolve, isPublic: isPublicAddress }))).toBe('refused_host')
  expect(await failureOf(get(url, { resolve }))).toBe('refused_host')
  expect([resolve.mock.calls.length, local.connections()]).toEqual([0, 0])
})

test.each([
  ['not a URL', 'x'],
  ['no host', 'http://'],
  ['a zone', 'http://[fe80::1%25eth0]/'],
  ['another scheme', 'ftp://gateway.example/'],
  ['a file', 'file:///etc/passwd'],
  ['data', 'data:text/plain,x'],
  ['credentials', 'https://user:word@gateway.example/'],
  ['a user', 'https://user@gateway.example/'],
  ['a port of mail', 'https://gateway.example:25/'],
  ['a port that cannot be', 'https://gateway.example:65536/'],
  ['too long', `https://gateway.example/${'x'.repeat(9_000)}`],
])('a URL with %s is refused', async (_, url) => {
  const resolve = vi.fn(async () => [publicAddress])
  expect(await failureOf(get(url, { resolve }))).toBe('invalid_url')
  expect(resolve).not.toHaveBeenCalled()
})

test('http and hosts only where the rules permit them', async () => {
  const permits = (url: URL) => (url.hostname === 'gateway.example' ? {} : undefined)
  expect(() => permittedUrl('http://gateway.example/', { permits })).toThrow('must begin with https')
  expect(() => permittedUrl('https://other.example/', { permits })).toThrow('may not be asked')
  expect(permittedUrl('https://gateway.example/', { permits }).host).toBe('gateway.example')
  const local = await serve((_, response) => void response.end('mine'), privateAddress)
  const own = await get(`http://localhost:${local.port}/`, {
    permits: () => ({ http: true, private: true }),
    resolve: async () => [privateAddress],
  })
  expect(own.body.toString()).toBe('mine')
})

test('the address that was checked is the one that is connected to: a name that changes in between gains nothing', async () => {
  const inner = createServer((_, response) => void response.end('secret'))
  const outer = await serve((_, response) => void response.end('public'))
  await new Promise<void>(resolve => inner.listen(outer.port, privateAddress, resolve))
  closings.push(async () => void inner.close())
  const connected = vi.fn()
  inner.on('connection', connected)
  const answers = [[publicAddress], [privateAddress]]
  const resolve = vi.fn(async () => answers.shift() ?? [privateAddress])
  const { body } = await get(`http://rebinding.example:${outer.port}/`, { resolve })
  expect([body.toString(), resolve.mock.calls.length]).toEqual(['public', 1])
  // Of several addresses, those that are public alone.
  const both = await get(`http://both.example:${outer.port}/`, { resolve: async () => [privateAddress, publicAddress] })
  expect(both.body.toString()).toBe('public')
  expect(await failureOf(get(`http://rebinding.example:${outer.port}/`, { resolve }))).toBe('no_address')
  expect(connected).not.toHaveBeenCalled()
})

test('who chose a name does not learn whether a private network knows it', async () => {
  const messages = await Promise.all(
    [async () => ['10.0.0.1'], async () => [], () => Promise.reject(new Error('ENOTFOUND'))].map(async resolve => {
      const error = await get('https://db.corp.example/', { resolve }).catch(error => error as AlmanacError)
      if (!(error instanceof AlmanacError)) throw new Error('It answered.')
      return [error.message, error.code, error.details]
    }),
  )
  expect(new Set(messages.map(each => JSON.stringify(each))).size).toBe(1)
})

describe('redirects', () => {
  const to = (location: string | undefined, status = 302): RequestListener => {
    return (_, response) => {
      response.writeHead(status, location === undefined ? {} : { location })
      response.end('a body that nobody reads')
    }
  }

  test('three are followed, by any of their statuses and relative ones too; not a fourth', async () => {
    const local = await serve((request, response) => {
      const left = Number(request.url!.slice(1))
      if (left === 0) return void response.end('there')
      to(left === 2 ? `../${left - 1}` : `http://next.example:${local.port}/${left - 1}`, [301, 307, 308, 303][left])(
        request,
        response,
      )
    })
    const answer = await get(`http://first.example:${local.port}/3`)
    expect([answer.body.toString(), answer.url]).toEqual(['there', `http://next.example:${local.port}/0`])
    expect(await failureOf(get(`http://first.example:${local.port}/4`))).toBe('refused_redirect')
  })

  test('none is followed where none is allowed, nor one that answers a POST', async () => {
    const local = await serve(to('http://127.0.0.1/'))
    expect(await get(`http://one.example:${local.port}/`, { redirectsMax: 0 })).toMatchObject({ status: 302 })
    expect(await get(`http://one.example:${local.port}/`, {}, { method: 'POST', body: 'x' })).toMatchObject({
      status: 302,
    })
  })

  test('none leads to a private address, a name, another scheme or a host that is not permitted', async () => {
    const inner = await serve((_, response) => void response.end('secret'), privateAddress)
    for (const location of [
      ...[
        `http://127.0.0.1:${inner.port}/`,
        `http://2130706433:${inner.port}/`,
        `http://[::ffff:127.0.0.1]:${inner.port}/`,
      ],
      ...[
        `//127.1:${inner.port}/`,
        'http://169.254.169.254/latest/meta-data',
        'file:///etc/passwd',
        'gopher://a.example/',
      ],
      ...[
        'http://user:word@a.example/',
        'http://a.example:22/',
        'http://forbidden.example/',
        `/${'x'.repeat(9_000)}`,
        undefined,
      ],
    ]) {
      const local = await serve(to(location))
      const permits = (url: URL) => (url.hostname === 'forbidden.example' ? undefined : { http: true })
      const failed = await failureOf(get(`http://a.example:${local.port}/`, { permits }))
      expect(['refused_redirect', 'refused_host']).toContain(failed)
    }
    const local = await serve(to(`http://inner.example:${inner.port}/`))
    const resolve = async (name: string) => [name === 'inner.example' ? privateAddress : publicAddress]
    expect(await failureOf(get(`http://a.example:${local.port}/`, { resolve }))).toBe('no_address')
    expect(inner.connections()).toBe(0)
  })

  test('what one host gave or was sent is not sent to the next', async () => {
    const last = await serve((_, response) => void response.end())
    const first = await serve((_, response) => {
      response.writeHead(302, { location: `http://last.example:${last.port}/`, 'set-cookie': 'a=1' }).end()
    })
    const headers = { authorization: 'Bearer word', 'x-secret': '1', accept: 'image/*' }
    await get(`http://first.example:${first.port}/`, {}, { headers })
    expect(first.requests[0]!.headers).toMatchObject(headers)
    expect(Object.keys(last.requests[0]!.headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host'])
    expect(last.requests[0]!.headers.accept).toBe('image/*')
  })
})

describe('sizes', () => {
  const endless = (_: IncomingMessage, response: ServerResponse): void => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }

  test('an endless body ends at the bound, or is cut there; its connection closes', async () => {
    const local = await serve(endless)
    expect(await failureOf(get(`http://a.example:${local.port}/`))).toBe('too_large')
    const cut = await get(`http://a.example:${local.port}/`, { bytesMax: 1_000, cutsBody: true })
    expect(cut.body).toHaveLength(1_000)
    await vi.waitFor(() => expect(local.open()).toBe(0))
  })

  test('a length that is too large is refused before the body', async () => {
    const local = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100_001 })
      response.flushHeaders()
    })
    expect(await failureOf(get(`http://a.example:${local.port}/`))).toBe('too_large')
  })

  test('compressed bodies are unpacked, bombs are not', async () => {
    const bomb = Buffer.alloc(200 * 2 ** 20)
    const bodies: Record<string, [string, Buffer]> = {
      '/gzip': ['gzip', gzipSync('{"a":1}')],
      '/br': ['br', brotliCompressSync('{"a":1}')],
      '/gzip-bomb': ['gzip', gzipSync(bomb)],
      '/br-bomb': ['br', brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      '/twice': ['gzip, gzip', gzipSync(gzipSync('x'))],
      '/deflate': ['deflate', Buffer.from('x')],
      '/broken': ['gzip', gzipSync('x'.repeat(1_000)).subarray(0, 20)],
      '/no-gzip': ['gzip', Buffer.from('this is not gzip')],
      '/no-br': ['br', Buffer.from('\xff\xff\xff this is not brotli')],
    }
    const local = await serve((request, response) => {
      const [encoding, body] = bodies[request.url!]!
      response.writeHead(200, { 'content-encoding': encoding }).end(body)
    })
    const outcome = async (path: string) => {
      const answer = get(`http://a.example:${local.port}${path}`)
      return (await failureOf(answer)) ?? (await answer).body.toString()
    }
    for (const path of ['/gzip', '/br']) expect(await outcome(path)).toBe('{"a":1}')
    const before = process.memoryUsage().rss
    for (const path of ['/gzip-bomb', '/br-bomb']) expect(await outcome(path)).toBe('too_large')
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 2 ** 20)
    for (const path of ['/twice', '/deflate', '/broken', '/no-gzip', '/no-br'])
      expect(await outcome(path)).toBe('invalid_answer')
  })

  test('headers without end, and what is not HTTP', async () => {
    const many = await listen(
      createTcpServer(socket => void socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}`)),
      publicAddress,
    )
    expect(await failureOf(get(`http://a.example:${many.port}/`))).toBe('too_large')
    const other = await listen(
      createTcpServer(socket => void socket.write('220 mail ready\r\n')),
      publicAddress,
    )
    expect(await failureOf(get(`http://a.example:${other.port}/`))).toBe('invalid_answer')
  })
})

describe('times', () => {
  const trickle = (socket: Socket): void => {
    let at = 0
    const timer = setInterval(() => socket.write('HTTP/1.1 200 OK\r\na: '[at++] ?? 'b'), 5)
    socket.on('close', () => clearInterval(timer))
  }
  test.each<[string, string, (socket: Socket) => void]>([
    ['no answer', 'http', () => {}],
    ['headers that come byte by byte', 'http', trickle],
    ['a TLS handshake that never begins', 'https', () => {}],
  ])('%s', async (_, scheme, answer) => {
    const local = await listen(createTcpServer(answer), publicAddress)
    const beganMs = performance.now()
    expect(await failureOf(get(`${scheme}://a.example:${local.port}/`, { headersTimeoutMs: 200 }))).toBe('timeout')
    expect(performance.now() - beganMs).toBeLessThan(2_000)
    await vi.waitFor(() => expect(local.open()).toBe(0))
  })

  test('a lookup that never ends', async () => {
    const resolve = () => new Promise<string[]>(resolve => setTimeout(resolve, 400, []))
    expect(await failureOf(get('https://slow.example/', { resolve, headersTimeoutMs: 100 }))).toBe('timeout')
  })

  test('a body that trickles: by the time in all, and by its rate', async () => {
    const local = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const url = `http://a.example:${local.port}/`
    expect(await failureOf(get(url, { timeoutMs: 300 }))).toBe('timeout')
    const slowest = { windowMs: 200, bytesMin: 1_000 }
    expect(await failureOf(get(url, { slowest }))).toBe('timeout')
    await vi.waitFor(() => expect(local.open()).toBe(0))
  })

  test('redirects count towards the time in all', async () => {
    const local = await serve((_, response) => {
      setTimeout(() => response.writeHead(302, { location: '/again' }).end(), 150)
    })
    expect(await failureOf(get(`http://a.example:${local.port}/`, { timeoutMs: 300 }))).toBe('timeout')
  })

  test('a signal ends it at once, with its reason', async () => {
    const local = await serve(() => {})
    const stopped = new AbortController()
    const asked = get(`http://a.example:${local.port}/`, {}, { signal: stopped.signal })
    await vi.waitFor(() => expect(local.requests).toHaveLength(1))
    stopped.abort(new Error('nobody waits'))
    await expect(asked).rejects.toThrow('nobody waits')
    await vi.waitFor(() => expect(local.open()).toBe(0))
    await expect(get(`http://a.example:${local.port}/`, {}, { signal: stopped.signal })).rejects.toThrow('nobody waits')
    expect(local.connections()).toBe(1)
  })
})

describe('proxies', () => {
  afterEach(() => vi.unstubAllEnvs())

  test('the environment names none', async () => {
    const proxy = await serve((_, response) => void response.end('proxy'), privateAddress)
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    const local = await serve((_, response) => void response.end('direct'))
    expect((await get(`http://a.example:${local.port}/`)).body.toString()).toBe('direct')
    expect(proxy.connections()).toBe(0)
  })
})

test('a POST with its headers and its body; any status is an answer', async () => {
  const bodies: string[] = []
  const local = await serve((request, response) => {
    request.on('data', chunk => bodies.push(String(chunk)))
    request.on('end', () => response.writeHead(503, { 'Retry-After': '5' }).end('later'))
  })
  const headers = { 'content-type': 'application/json' }
  const answer = await get(
    `http://a.example:${local.port}/hook?x=1`,
    { redirectsMax: 0 },
    { method: 'POST', headers, body: '{}' },
  )
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
  expect([bodies.join(''), local.requests[0]!.url, local.requests[0]!.headers.host]).toEqual([
    '{}',
    '/hook?x=1',
    `a.example:${local.port}`,
  ])
})

test('a host that refuses or breaks off; what it says is not in the message', async () => {
  const broken = await listen(
    createTcpServer(socket => socket.once('data', () => socket.destroy())),
    publicAddress,
  )
  const error = await get(`http://a.example:${broken.port}/secret-path`).catch(error => error as AlmanacError)
  expect(error).toMatchObject({ code: 'upstream_failed', retryable: true, details: { fetch: 'unreachable' } })
  expect((error as AlmanacError).message).toBe(`a.example:${broken.port} could not be reached, or broke off`)
  const half = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('x')
    setTimeout(() => response.destroy(), 50)
  })
  expect(await failureOf(get(`http://a.example:${half.port}/`))).toBe('unreachable')
})

test('TLS is that of the host in the URL, at the pinned address', async () => {
  const names: string[] = []
  const server = createTlsServer({ key, cert }, (_, response) => void response.end('over TLS'))
  server.on('secureConnection', socket => names.push(`${(socket as { servername?: string }).servername}`))
  const local = await listen(server, publicAddress)
  expect(await failureOf(get(`https://gateway.example:${local.port}/`))).toBe('unreachable')
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  try {
    const answer = await get(`https://gateway.example.:${local.port}/`)
    expect([answer.body.toString(), names.at(-1)]).toEqual(['over TLS', 'gateway.example'])
    expect(await failureOf(get(`https://other.example:${local.port}/`))).toBe('unreachable')
    expect(await failureOf(get(`https://${publicAddress}:${local.port}/`))).toBe('unreachable')
  } finally {
    setDefaultCACertificates(before)
  }
})
