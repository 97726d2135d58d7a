// Files that are served as they are, from memory: the console. Which files there are is decided elsewhere.
import { AlmanacError } from '../errors.ts'
import { type Answer, chooseEncoding, matchesTag } from './answer.ts'
import type { Exchange } from './exchange.ts'

// The headers of everything that a browser shows from this service: what a page may load, and what others may do with it.

/** Scripts, styles and data come from here alone, and nothing is embedded. */
const ownContentOnly = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

/** `further`: directives beside those of every page. */
export function pageHeaders(further: readonly string[] = []): Record<string, string> {
  return {
    'Content-Security-Policy': [...ownContentOnly, ...further].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
  }
}

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

// The interactive reference at `/reference`: a page over `/openapi.json`, with nothing loaded from elsewhere.

/** By path. */
export function referenceFiles(): ReadonlyMap<string, Answer> {
  return new Map([
    ['/reference', file('text/html; charset=utf-8', page)],
    ['/reference/page.css', file('text/css; charset=utf-8', style)],
    ['/reference/page.js', file('text/javascript; charset=utf-8', referenceScript)],
  ])
}

function file(type: string, text: string): Answer {
  const body = Buffer.from(text) as Buffer<ArrayBuffer>
  return {
    status: 200,
    headers: {
      'Content-Length': `${body.length}`,
      'Content-Type': type,
      'Cache-Control': 'no-cache',
      ...pageHeaders(),
    },
    body,
  }
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Almanac reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/reference/page.css">
<script src="/reference/page.js" defer></script>
<nav aria-label="Operations"></nav>
<main><noscript>This page needs JavaScript. The same facts are in <a href="/openapi.json">openapi.json</a>.</noscript></main>
</html>
`

const style = `:root { color-scheme: light dark; --line: #8885; --soft: #8881; --accent: light-dark(#0b5fbf, #7db7ff) }
* { box-sizing: border-box }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); font: 16px/1.5 system-ui, sans-serif }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line) }
nav strong { display: block; margin-top: 1rem }
nav a { display: block; padding: .2rem 0 }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
main { padding: 1rem 2rem 6rem; max-width: 60rem }
section { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2rem }
h2 { font-size: 1.25rem; margin: 0 0 .5rem }
code, pre, input, textarea { font-family: ui-monospace, monospace; font-size: .875rem }
.path { overflow-wrap: anywhere }
.path b { color: var(--accent) }
pre { background: var(--soft); padding: .75rem; overflow: auto; max-height: 30rem; border-radius: .375rem }
.field { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: .25rem 1rem; margin: .75rem 0; align-items: baseline }
.field small { grid-column: 2; opacity: .8 }
.field.deprecated label { text-decoration: line-through }
input, textarea { width: 100%; padding: .4rem .5rem; border: 1px solid var(--line); border-radius: .375rem; background: none; color: inherit }
button { font: inherit; padding: .4rem 1rem; border: 0; border-radius: .375rem; background: var(--accent); color: light-dark(#fff, #000); cursor: pointer }
details { margin: .5rem 0 }
summary { cursor: pointer }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0 } main { padding: 1rem } }
`

// The script of the reference page, as text for the browser. It builds every node itself, so that no answer becomes markup.

export const referenceScript = `'use strict'

function element(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

// Only what the document uses of Markdown: code between backticks.
function prose(text) {
  return text.split('\`').map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)))
}

function paragraphs(text) {
  return text.split('\\n\\n').map(part => element('p', {}, ...prose(part)))
}

function json(value) {
  return JSON.stringify(value, null, 2)
}

function resolve(document, node) {
  if (node === undefined || node.$ref === undefined) return node
  return node.$ref.slice(2).split('/').reduce((at, name) => at[name], document)
}

function field(parameter, id) {
  const input = element('input', { id, name: parameter.name, spellcheck: 'false', autocomplete: 'off' })
  const example = [parameter.example ?? ''].flat().join(',')
  if (parameter.required) input.value = example
  else input.placeholder = example
  const kind = parameter.in === 'path' ? 'required' : 'optional'
  return element(
    'div',
    { class: parameter.deprecated ? 'field deprecated' : 'field' },
    element('label', { for: id }, parameter.name),
    input,
    element('small', {}, kind + (parameter.deprecated ? ', deprecated. ' : '. '), ...prose(parameter.description)),
  )
}

function targetOf(path, parameters, form) {
  const valueOf = name => form.elements[name].value.trim()
  const query = new URLSearchParams()
  let target = path
  for (const parameter of parameters) {
    const value = valueOf(parameter.name)
    if (parameter.in === 'path') target = target.replace('{' + parameter.name + '}', encodeURIComponent(value))
    else if (value !== '') query.append(parameter.name, value)
  }
  return query.size === 0 ? target : target + '?' + query
}

// Streams do not end: of them the first part is read.
async function textOf(response) {
  if (!(response.headers.get('content-type') || '').startsWith('text/event-stream')) return await response.text()
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value) + '…'
}

function quoted(text) {
  return "'" + text.replaceAll("'", "'\\\\''") + "'"
}

async function send(method, target, key, body, output) {
  output.replaceChildren(element('p', {}, 'Waiting for ' + target + ' …'))
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { accept: 'application/json', ...(key === '' ? {} : { 'x-api-key': key }), ...type }
  const curl = [
    'curl',
    ...(method === 'GET' ? [] : ['-X ' + method]),
    ...(key === '' ? [] : ["-H 'X-API-Key: …'"]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json' -d", quoted(body)]),
    quoted(location.origin + target),
  ].join(' ')
  try {
    const response = await fetch(target, { method, headers, body, cache: 'no-store' })
    const text = await textOf(response)
    const isJson = (response.headers.get('content-type') || '').includes('json')
    const shown = [...response.headers].map(([name, value]) => name + ': ' + value).join('\\n')
    output.replaceChildren(
      element('p', {}, element('b', {}, String(response.status)), ' ' + response.statusText),
      element('pre', {}, curl),
      element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, shown)),
      element('pre', {}, isJson ? json(JSON.parse(text)) : text),
    )
  } catch (error) {
    output.replaceChildren(element('pre', {}, curl), element('p', {}, 'The request failed: ' + error.message))
  }
}

function responses(document, operation) {
  return Object.entries(operation.responses).map(([status, given]) => {
    const response = resolve(document, given)
    const parts = Object.values(response.content || {}).flatMap(content => [
      ...Object.entries(content.examples || {}).flatMap(([name, example]) => [
        element('p', {}, 'Example: ', element('code', {}, name)),
        element('pre', {}, typeof example.value === 'string' ? example.value : json(example.value)),
      ]),
      element('details', {}, element('summary', {}, 'Schema'), element('pre', {}, json(resolve(document, content.schema)))),
    ])
    const headers = Object.entries(response.headers || {}).map(([name, header]) =>
      element('li', {}, element('code', {}, name), ': ', ...prose(header.description)),
    )
    const summary = element('summary', {}, element('b', {}, status), ' ' + response.description)
    return element('details', {}, summary, element('ul', {}, ...headers), ...parts)
  })
}

function bodyField(operation) {
  const { examples } = operation.requestBody.content['application/json']
  const id = operation.operationId + '-body'
  const area = element('textarea', { id, name: 'body', rows: '8', spellcheck: 'false' })
  area.value = json(Object.values(examples)[0].value)
  return element('div', { class: 'field' }, element('label', { for: id }, 'body'), area, element('small', {}, 'required. JSON.'))
}

function section(document, { method, path, operation }, keyInput) {
  const parameters = operation.parameters || []
  const hasBody = operation.requestBody !== undefined
  const output = element('div', { 'aria-live': 'polite' })
  const form = element(
    'form',
    {},
    ...parameters.map(parameter => field(parameter, operation.operationId + '-' + parameter.name)),
    ...(hasBody ? [bodyField(operation)] : []),
    element('button', { type: 'submit' }, 'Send'),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    const body = hasBody ? form.elements.body.value : undefined
    send(method, targetOf(path, parameters, form), keyInput.value.trim(), body, output)
  })
  return element(
    'section',
    { id: operation.operationId },
    element('h2', {}, ...prose(operation.summary)),
    element('p', { class: 'path' }, element('code', {}, element('b', {}, method + ' '), path)),
    ...(operation.description === undefined ? [] : paragraphs(operation.description)),
    form,
    output,
    element('h3', {}, 'Answers'),
    ...responses(document, operation),
  )
}

function show(document) {
  const nav = window.document.querySelector('nav')
  const main = window.document.querySelector('main')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const keyInput = element('input', { id: 'key', type: 'password', autocomplete: 'off', placeholder: 'alm_…' })
  nav.append(element('a', { href: '#' }, document.info.title + ' ' + document.info.version))
  for (const { name } of document.tags) {
    nav.append(element('strong', {}, name))
    for (const { method, path, operation } of operations) {
      if (operation.tags.includes(name)) {
        const title = method + ' ' + path
        nav.append(element('a', { href: '#' + operation.operationId, title }, operation.operationId))
      }
    }
  }
  nav.append(element('strong', {}, 'Document'), element('a', { href: '/openapi.json' }, 'openapi.json'))
  main.replaceChildren(
    element('h1', {}, document.info.title),
    ...paragraphs(document.info.description),
    element('div', { class: 'field' }, element('label', { for: 'key' }, 'X-API-Key'), keyInput,
      element('small', {}, 'Sent with the requests of this page, kept nowhere.')),
    ...operations.map(each => section(document, each, keyInput)),
  )
}

fetch('/openapi.json')
  .then(response => response.json())
  .then(show)
  .catch(error => {
    document.querySelector('main').replaceChildren(element('p', {}, 'The document could not be loaded: ' + error.message))
  })
`
