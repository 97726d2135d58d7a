// Ways in which a portal sends too slowly, too little or too much. Each answer looks right when it begins.
import type { ServerResponse } from 'node:http'
import { createGzip } from 'node:zlib'
import type { PortalPace } from './portal.ts'

/** Writes pieces one after another, each after a pause, for as long as somebody reads. */
function inTurns(response: ServerResponse, pieces: Iterable<string | Buffer>, everyMs: number): void {
  const rest = pieces[Symbol.iterator]()
  const timer = setInterval(() => {
    const { done, value } = rest.next()
    if (done === true) response.end()
    else response.write(value)
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

function begun(response: ServerResponse, encoding = 'identity'): ServerResponse {
  response.writeHead(200, { 'content-type': 'application/jsonl', 'content-encoding': encoding })
  response.flushHeaders()
  return response
}

/** A byte at a time. */
export const bytes =
  (everyMs: number): PortalPace =>
  (response, lines) =>
    inTurns(begun(response), Buffer.from(lines.join('')).toString('latin1'), everyMs)

/** A line at a time. */
export const lines =
  (everyMs: number): PortalPace =>
  (response, all) =>
    inTurns(begun(response), all, everyMs)

/** As an honest portal over a slow line: so many bytes at a time. */
export const slowLine =
  (bytesEach: number, everyMs: number): PortalPace =>
  (response, all) => {
    const text = Buffer.from(all.join(''))
    const count = Math.ceil(text.length / bytesEach)
    const pieces = Array.from({ length: count }, (_, at) => text.subarray(at * bytesEach, (at + 1) * bytesEach))
    inTurns(begun(response), pieces, everyMs)
  }

/** The first line at once, then nothing. */
export const stalled: PortalPace = (response, all) => {
  begun(response).write(all[0])
}

/** Nothing at all. */
export const silent: PortalPace = () => {}

/** Empty lines without an end, packed a thousand to one. */
export const newlines: PortalPace = (response, _) => {
  const pack = createGzip({ level: 9 })
  pack.pipe(begun(response, 'gzip'))
  pack.on('error', () => undefined)
  response.on('close', () => pack.destroy())
  const more = Buffer.alloc(2 ** 20, '\n')
  const send = (): void => {
    while (!pack.destroyed && pack.write(more));
    if (!pack.destroyed) pack.once('drain', send)
  }
  send()
}

/** Each line with as many values, below the size from which a single one is looked at. */
export const values =
  (count: number): PortalPace =>
  (response, all) => {
    const line = `{"header":{},"logs":[${Array.from({ length: count }, () => '1').join()}]}\n`
    const pack = createGzip({ level: 1 })
    pack.pipe(begun(response, 'gzip'))
    pack.on('error', () => undefined)
    response.on('close', () => pack.destroy())
    for (const _ of all) pack.write(line)
    pack.end()
  }
