// The server side of WebSocket, as little of it as `newHeads` needs: handshake, text frames, ping and close.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const

export class ServerWebSocket {
  readonly #socket: Duplex
  #pending = Buffer.alloc(0)
  #onText: (text: string) => void = () => {}

  constructor(request: IncomingMessage, socket: Duplex) {
    this.#socket = socket
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => socket.destroy())
  }

  onText(listener: (text: string) => void): void {
    this.#onText = listener
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener)
  }

  send(text: string): void {
    this.#frame(opcodes.text, Buffer.from(text))
  }

  /** Ends the connection without a word, as a dying node does. */
  destroy(): void {
    this.#socket.destroy()
  }

  #frame(opcode: number, payload: Buffer): void {
    if (this.#socket.destroyed) return
    const head = payload.length < 126 ? Buffer.of(0x80 | opcode, payload.length) : Buffer.alloc(4)
    if (payload.length >= 126) {
      head[0] = 0x80 | opcode
      head[1] = 126
      head.writeUInt16BE(payload.length, 2)
    }
    this.#socket.write(Buffer.concat([head, payload]))
  }

  #read(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk])
    while (this.#pending.length >= 6) {
      const short = this.#pending[1]! & 127
      const headLength = short === 126 ? 4 : 2
      const length = short === 126 ? this.#pending.readUInt16BE(2) : short
      const end = headLength + 4 + length
      if (this.#pending.length < end) return
      const mask = this.#pending.subarray(headLength, headLength + 4)
      const payload = Buffer.from(this.#pending.subarray(headLength + 4, end)).map((byte, at) => byte ^ mask[at % 4]!)
      const opcode = this.#pending[0]! & 15
      this.#pending = this.#pending.subarray(end)
      if (opcode === opcodes.text) this.#onText(Buffer.from(payload).toString())
      else if (opcode === opcodes.ping) this.#frame(opcodes.pong, Buffer.from(payload))
      else if (opcode === opcodes.close) this.#socket.end()
    }
  }
}
