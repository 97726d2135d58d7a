// Sends bytes to a socket as they are, for requests that no HTTP client would send, and reads one answer.
import { connect } from 'node:net'

export type RawAnswer = { status: number; headers: Map<string, string>; body: string; text: string }

/** Resolves when the server closes the connection or, for an answer with a length, when it is whole. */
export async function rawRequest(url: string, bytes: string | Buffer, timeoutMs = 5_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const text = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(Buffer.concat(chunks).toString('latin1'))
    }
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no whole answer within ${timeoutMs} ms to ${JSON.stringify(bytes.toString().slice(0, 200))}`))
    }, timeoutMs)
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (isWhole(Buffer.concat(chunks).toString('latin1'))) finish()
    })
    socket.on('close', finish)
    // A server may close while more bytes are on their way to it.
    socket.on('error', finish)
  })
  return parse(text)
}

function isWhole(text: string): boolean {
  const { headers, body } = parse(text)
  const length = headers.get('content-length')
  return length !== undefined && body.length >= Number(length)
}

function parse(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = (end === -1 ? '' : text.slice(0, end)).split('\r\n')
  const headers = new Map(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: end === -1 ? '' : text.slice(end + 4), text }
}
