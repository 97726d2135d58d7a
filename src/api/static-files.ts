// Files that are served as they are, from memory: the console. Which files there are is decided elsewhere.
import { AlmanacError } from '../errors.ts'
import { type Answer, matchesTag } from './answer.ts'
import { chooseEncoding } from './encoding.ts'
import type { Exchange } from './exchange.ts'
import { pageHeaders } from './page-headers.ts'

export type StaticFile = {
  /** With the character set. */
  type: string
  /** Names the content, for clients that have it already. */
  tag: string
  /** The path changes with the content, so a client never needs to ask again. */
  immutable: boolean
  plain: Buffer<ArrayBuffer>
  /** Smaller forms, where there are any. */
  br?: Buffer<ArrayBuffer> | undefined
  gzip?: Buffer<ArrayBuffer> | undefined
}

/** By path. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

/** Text never becomes markup. */
const headersOfAll = pageHeaders(["require-trusted-types-for 'script'", "trusted-types 'none'"])

export function staticAnswer(file: StaticFile, exchange: Exchange): Answer {
  const headers = {
    'Content-Type': file.type,
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.tag,
    Vary: 'Accept-Encoding',
    ...headersOfAll,
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  }
  const known = exchange.header('if-none-match')
  if (known !== undefined && matchesTag(known, file.tag)) return { status: 304, headers, body: null }
  const encoding = chooseEncoding(exchange.header('accept-encoding'))
  const smaller = encoding && file[encoding]
  const body = smaller ?? file.plain
  return {
    status: 200,
    headers: {
      ...headers,
      'Content-Length': `${body.length}`,
      ...(smaller === undefined ? {} : { 'Content-Encoding': encoding! }),
    },
    body,
  }
}

export function answerNoConsole(): Answer {
  throw new AlmanacError('not_found', 'The console was not built here; see /reference', {
    hint: 'run `npm run build:console`.',
  })
}
