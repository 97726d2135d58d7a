// The interactive reference at `/reference`: a page over `/openapi.json`, with nothing loaded from elsewhere.
import type { Answer } from './answer.ts'
import { pageHeaders } from './page-headers.ts'
import { referenceScript } from './reference-script.ts'

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
