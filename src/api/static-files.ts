// The files of the console and of the documentation, served as they are. Which files there are is decided elsewhere.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { AlmanacError } from '../errors.ts'
import { atOrigin, originOf, usualOrigin } from './agents/served-origin.ts'
import { type Answer, chooseEncoding, type Handler, matchesTag } from './answer.ts'
import { nothingAt } from './hosted/not-served.ts'
import { type ApiRequest, namesType } from './request.ts'

export type StaticFile = {
  /** With the character set. */
  type: string
  /** The ETag. */
  tag: string
  /** The path changes with the content, so a client never asks again. */
  immutable: boolean
  plain: Buffer<ArrayBuffer>
  /** Smaller forms. */
  br?: Buffer<ArrayBuffer> | undefined
  gzip?: Buffer<ArrayBuffer> | undefined
}

/** By path. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

/** By path; each is read when it is first asked for. */
export type LazyStaticFiles = ReadonlyMap<string, () => Promise<StaticFile>>

/** Scripts, styles and data come from this service alone, nothing is embedded, and text never becomes markup. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
}

/** The search of the documentation loads its index as a script, and its font stands in its styles. */
const docsHeaders = {
  ...pageHeaders,
  'Content-Security-Policy': pageHeaders['Content-Security-Policy']
    .replace("font-src 'self'", "font-src 'self' data:")
    .replace("trusted-types 'none'", 'trusted-types almanac-docs'),
}

/** The page at `/` is also that at `/reference`: it reads its own address. */
export function consoleHandlers(files: StaticFiles | undefined): ReadonlyMap<string, Handler> {
  const page = files?.get('/')
  const handlers = new Map<string, Handler>(
    [...(files ?? [])].map(([path, file]) => [path, request => staticAnswer(file, request)]),
  )
  for (const path of ['/', '/reference'])
    handlers.set(path, page === undefined ? refuseConsole : request => staticAnswer(page, request))
  return handlers.set('/reference/{operation}', leadToOperation)
}

/** People type the name of an operation as a path; the page has it behind its `#`. */
function leadToOperation(request: ApiRequest): Answer {
  const name = request.pathParameter('operation')
  if (!/^\w+$/.test(name)) throw nothingAt(request.target)
  return movedTo(`/reference#/${name}`)
}

export function docsHandlers(files: LazyStaticFiles | undefined): ReadonlyMap<string, Handler> {
  const refuse: Handler = () => {
    throw new AlmanacError('not_found', 'The documentation is not built here: run `npm run docs` and start again')
  }
  if (files === undefined) return new Map([['/docs', refuse]])
  const handlers = new Map<string, Handler>()
  for (const [path, read] of files)
    handlers.set(path, async request => staticAnswer(await fileHere(await read(), request), request, docsHeaders))
  const pages = [...files.keys()].filter(path => path.endsWith('.html'))
  for (const path of pages) handlers.set(path.replace(/\.html$/, ''), () => movedTo(path))
  // Links of pages are relative, and a path means the same with a slash at its end and without.
  return handlers.set('/docs', () => movedTo('/docs/index.html'))
}

const compress = promisify(gzip)

/** A page asks the service that serves it. Its scripts and its styles name none. */
async function fileHere(file: StaticFile, request: ApiRequest): Promise<StaticFile> {
  const origin = originOf(request)
  if (origin === usualOrigin || !/^text\/(html|markdown|plain)/.test(file.type)) return file
  const plain = Buffer.from(atOrigin(file.plain.toString(), origin)) as Buffer<ArrayBuffer>
  const gzip = (await compress(plain)) as Buffer<ArrayBuffer>
  return { ...file, tag: `${file.tag.slice(0, -1)}-${encodeURIComponent(origin)}"`, plain, gzip, br: undefined }
}

function movedTo(path: string): Answer {
  return { status: 308, headers: { Location: path }, body: null }
}

/** The list of the pages for `/llms.txt`, by sections; empty where none are served. */
export async function docsSections(files: LazyStaticFiles | undefined): Promise<string> {
  const list = await files?.get('/docs/llms.txt')?.()
  return list?.plain.toString().replace(/^# .*\n/, '') ?? ''
}

/** For a browser that followed an old link; every other client reads the error. */
export async function missingDocsPage(page: Handler | undefined, request: ApiRequest): Promise<Answer | undefined> {
  if (page === undefined || !namesType(request.header('accept'), 'text/html')) return undefined
  const answer = await page(request)
  const headers = { ...answer.headers, Vary: 'Accept, Accept-Encoding' }
  return { ...answer, status: answer.status === 200 ? 404 : answer.status, headers }
}

function refuseConsole(): Answer {
  throw new AlmanacError(
    'not_found',
    'The console is not built here: run `npm run build:console` and start again, or read /openapi.json',
  )
}

function staticAnswer(file: StaticFile, request: ApiRequest, safety: Answer['headers'] = pageHeaders): Answer {
  const headers = {
    'Content-Type': file.type,
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.tag,
    Vary: 'Accept-Encoding',
    ...safety,
  }
  const known = request.header('if-none-match')
  if (known !== undefined && matchesTag(known, file.tag)) return { status: 304, headers, body: null }
  const encoding = chooseEncoding(request.header('accept-encoding'))
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
