// Stands between the service and a real node, over HTTP and WebSocket, and misbehaves on demand. It never invents data:
// it delays, drops, cuts, refuses, or answers with an older true answer.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { listen } from '../sandbox/src/listen.ts'

export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'rpc-error'; code: number; message: string }
  | { kind: 'cut' }
  | { kind: 'garbage'; body: string }
  | { kind: 'hang' }
  | { kind: 'reset' }
  /** Answers every call as the node did when it was first asked the same, so that the node seems to stand still. */
  | { kind: 'frozen' }
  /** Answers truly, but only after this. */
  | { kind: 'held'; until: Promise<void> }

export type FaultProxy = {
  rpcUrl: string
  wsUrl: string
  /** Which calls fail how; undefined lets the call through. */
  fault: ((call: { method: string; params: unknown[] }) => Fault | undefined) | undefined
  /** How often each method was asked for. */
  calls: Map<string, number>
  /** Breaks every open WebSocket and, while true, refuses new ones. */
  socketsDown: boolean
  /** While true, bytes from the node are swallowed: the socket stays open and says nothing. */
  socketsSilent: boolean
  close(): Promise<void>
}

export async function startFaultProxy(node: { rpcUrl: string; wsUrl: string }): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const frozen = new Map<string, Buffer>()
  const state = { down: false, silent: false }

  const http = createServer(async (incoming, outgoing) => {
    const body = await readAll(incoming)
    const call = JSON.parse(body.toString())
    proxy.calls.set(call.method, (proxy.calls.get(call.method) ?? 0) + 1)
    const fault = proxy.fault?.(call)
    const question = JSON.stringify([call.method, call.params[0], call.params[1]?.programId])
    const answer = frozen.get(question)
    if (fault?.kind === 'frozen' && answer !== undefined) return void outgoing.end(withId(answer, call.id))
    if (fault?.kind === 'held') await fault.until
    else if (fault !== undefined && fault.kind !== 'frozen' && fault.kind !== 'cut')
      return misbehave(fault, call, outgoing)
    const real = await forward(node.rpcUrl, body).catch(() => undefined)
    if (real === undefined) return void outgoing.destroy()
    if (!frozen.has(question)) frozen.set(question, real)
    outgoing.setHeader('content-type', 'application/json')
    if (fault?.kind !== 'cut') return void outgoing.end(real)
    outgoing.setHeader('content-length', real.length)
    outgoing.write(real.subarray(0, real.length >> 1))
    setTimeout(() => outgoing.destroy(), 20)
  })
  const { port: wsPort, hostname: wsHost } = new URL(node.wsUrl)
  const ws = createServer().on('upgrade', (incoming, client: Socket, head) => {
    if (state.down) return void client.destroy()
    const upstream = connect(Number(wsPort), wsHost)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    const headers = incoming.rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
    upstream.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${headers}\r\n`)
    upstream.write(head)
    client.on('data', chunk => upstream.write(chunk))
    upstream.on('data', chunk => state.silent || client.write(chunk))
  })
  const [httpUrl, wsUrl] = [await listen(http), await listen(ws)]
  const proxy: FaultProxy = {
    rpcUrl: httpUrl,
    wsUrl: wsUrl.replace('http:', 'ws:'),
    fault: undefined,
    calls: new Map(),
    get socketsDown() {
      return state.down
    },
    set socketsDown(down) {
      state.down = down
      if (down) for (const socket of sockets) socket.destroy()
    },
    get socketsSilent() {
      return state.silent
    },
    set socketsSilent(silent) {
      state.silent = silent
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      for (const server of [http, ws]) {
        server.closeAllConnections()
        await new Promise(done => server.close(done))
      }
    },
  }
  return proxy
}

function misbehave(fault: Fault, call: { id: unknown }, outgoing: ServerResponse): void {
  if (fault.kind === 'reset') outgoing.destroy()
  else if (fault.kind === 'garbage') outgoing.end(fault.body)
  else if (fault.kind === 'status') outgoing.writeHead(fault.status, fault.headers).end('<html>no</html>')
  else if (fault.kind === 'rpc-error') {
    const { code, message } = fault
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code, message } }))
  }
}

function forward(url: string, body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    request(url, { method: 'POST', headers }, answer => readAll(answer).then(resolve, reject))
      .on('error', reject)
      .end(body)
  })
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function withId(answer: Buffer, id: unknown): string {
  return JSON.stringify({ ...JSON.parse(answer.toString()), id })
}
