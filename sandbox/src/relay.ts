// A fixed local address that passes connections on to a node, which may be replaced by another one.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Relay = {
  port: number
  /** Ends all connections; undefined refuses new ones. */
  passTo(url: string | undefined): void
  close(): Promise<void>
}

export async function startRelay(): Promise<Relay> {
  const sockets = new Set<Socket>()
  let target: URL | undefined
  const server = createServer(client => {
    if (target === undefined) return void client.destroy()
    const node = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    passTo(url) {
      endAll()
      target = url === undefined ? undefined : new URL(url)
    },
    async close() {
      endAll()
      await new Promise(done => server.close(done))
    },
  }
}
