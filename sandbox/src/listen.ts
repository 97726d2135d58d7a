// Starts a server on a free local port.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function listen(server: Server): Promise<string> {
  // On a busy machine a request may be on its way on the connection that is ended as idle.
  server.keepAliveTimeout = 0
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
