// Reads the built console into memory: from beside the built program, or, in a checkout, from where `web/build.ts` puts it.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StaticFile, StaticFiles } from '../api/static-files.ts'

const folder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../web/dist' : '../console', import.meta.url),
)

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By path; undefined where the console was not built. */
export function readConsole(): StaticFiles | undefined {
  if (!existsSync(join(folder, 'index.html'))) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => extname(name) in types)
  return new Map(names.map(name => [name === 'index.html' ? '/' : `/${name}`, readStatic(name)]))
}

function readStatic(name: string): StaticFile {
  const path = join(folder, name)
  const plain = readFileSync(path)
  return {
    type: types[extname(name)]!,
    tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    // Vite puts a hash of the content into the names of these.
    immutable: name.startsWith('assets'),
    plain,
    br: readIfThere(`${path}.br`),
    gzip: readIfThere(`${path}.gz`),
  }
}

function readIfThere(path: string): Buffer<ArrayBuffer> | undefined {
  return existsSync(path) ? readFileSync(path) : undefined
}
