// The yardstick: a bare `node:http` server that sends ready-made bodies. `/12` sends the thirteenth of those in the file
// that the first argument names.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deserialize } from 'node:v8'

const bodies = (deserialize(readFileSync(process.argv[2]!)) as Uint8Array[]).map(body => Buffer.from(body))

const server = createServer((request, response) => {
  const body = bodies[Number(request.url!.slice(1)) % bodies.length]!
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit(0))
