// Clients that stand in the way: connections that ask for nothing, that read slowly, and that listen to events. Each
// comes back when the server closes it.
import { connect, type Socket } from 'node:net'
import { requestBytes } from './load.ts'

export type Bystanders = {
  /** Connections that are open now, and answers by status so far. */
  open: () => number
  statuses: Map<number, number>
  close: () => void
}

type Kind = { url: string; count: number; begin: (socket: Socket) => void; againMs: number }

/** Opened so many at a time, so that the server's backlog does not overflow. */
const openedAtOnce = 100

function bystanders({ url, count, begin, againMs }: Kind): Bystanders {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const statuses = new Map<number, number>()
  let closed = false
  const later = (ms: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!closed) open()
    }, ms)
    timers.add(timer)
  }
  const open = () => {
    const socket = connect({ host: hostname, port: Number(port) })
    sockets.add(socket)
    socket.once('data', chunk => {
      const status = Number(chunk.toString('latin1', 9, 12))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 200) socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      // Not all at once.
      if (!closed) later(againMs * (0.75 + Math.random() / 2))
    })
    begin(socket)
  }
  for (let at = 0; at < count; at++) later(Math.floor(at / openedAtOnce) * 20)
  return {
    open: () => sockets.size,
    statuses,
    close: () => {
      closed = true
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Ask once, so that their connections are kept, and then for nothing. */
export function idleConnections(url: string, count: number): Bystanders {
  const request = requestBytes('/health')
  return bystanders({ url, count, againMs: 100, begin: socket => void socket.resume().write(request) })
}

/** Ask for 16 pages at once, or as many as told, and take one chunk a second, or as often as told. */
export function slowReaders(
  url: string,
  count: number,
  page: () => Buffer,
  { pages = 16, everyMs = 1_000, againMs = 100 } = {},
): Bystanders {
  return bystanders({
    url,
    count,
    againMs,
    begin: socket => {
      socket.write(Buffer.concat(Array.from({ length: pages }, page)))
      socket.on('data', () => socket.pause())
      const timer = setInterval(() => socket.resume(), everyMs)
      socket.on('close', () => clearInterval(timer))
    },
  })
}

/** Come back after ten seconds where there is no room, as `Retry-After` says. */
export function listeners(url: string, count: number, key: string): Bystanders {
  const request = requestBytes('/events', { 'x-api-key': key })
  return bystanders({ url, count, againMs: 10_000, begin: socket => void socket.resume().write(request) })
}
