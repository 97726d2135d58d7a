// A way to a server that can be cut without a goodbye, as a network does: bytes stop, connections stay open. Healed, they flow again.
import { createServer, connect as openSocket, type Socket } from 'node:net'

export class TcpProxy {
  readonly #server = createServer(socket => this.#accept(socket))
  readonly #target: { host: string; port: number }
  readonly #sockets = new Set<Socket>()
  readonly #waiting = new Set<Socket>()
  #cut = false

  private constructor(target: { host: string; port: number }) {
    this.#target = target
  }

  static async open(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    await new Promise<void>(resolve => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  cut(): void {
    this.#cut = true
    for (const socket of this.#sockets) socket.pause()
  }

  heal(): void {
    this.#cut = false
    for (const socket of this.#sockets) socket.resume()
    for (const socket of this.#waiting) this.#join(socket)
    this.#waiting.clear()
  }

  async close(): Promise<void> {
    for (const socket of [...this.#sockets, ...this.#waiting]) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #accept(near: Socket): void {
    near.on('error', () => near.destroy())
    if (!this.#cut) {
      this.#join(near)
      return
    }
    near.pause()
    this.#waiting.add(near)
    near.once('close', () => this.#waiting.delete(near))
  }

  #join(near: Socket): void {
    const far = openSocket(this.#target)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', chunk => {
        if (to.writable) to.write(chunk)
      })
      from.on('error', () => from.destroy())
      from.once('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
    }
    near.resume()
  }
}
