// Finds the built console and the built documentation: beside the built program, or in a checkout where `web/build.ts`
// and `site/build.ts` put them. It builds nothing.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { LazyStaticFiles, StaticFile, StaticFiles } from '../../api/static-files.ts'

const isCheckout = import.meta.url.endsWith('.ts')

function folderOf(checkout: string, built: string): string {
  return fileURLToPath(new URL(isCheckout ? `../../../${checkout}` : `../../${built}`, import.meta.url))
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

const text = 'text/plain; charset=utf-8'

/** By path; undefined if the console was not built. */
export function readConsole(): StaticFiles | undefined {
  const folder = folderOf('web/dist', 'console')
  const names = namesBelow(folder).filter(name => extname(name) in types || extname(name) === '.txt')
  if (!names.includes('index.html')) return undefined
  return new Map(
    names.map(name => {
      const path = join(folder, name)
      const file = staticFile(name, readFileSync(path))
      return [
        name === 'index.html' ? '/' : `/${name}`,
        { ...file, br: ifThere(`${path}.br`), gzip: ifThere(`${path}.gz`) },
      ]
    }),
  )
}

const gzipped = promisify(gzip)

/** By path; undefined if the documentation was not built. Few read it, so a file takes memory once it is asked for. */
export function readDocs(): LazyStaticFiles | undefined {
  const folder = folderOf('site/dist', 'docs')
  const names = namesBelow(folder)
  if (!names.includes('index.html')) return undefined
  const files = new Map<string, () => Promise<StaticFile>>()
  for (const name of names) {
    let reading: Promise<StaticFile> | undefined
    const read = async () => {
      const plain = await readFile(join(folder, name))
      return { ...staticFile(name, plain), ...(extname(name) === '.png' ? {} : { gzip: await gzipped(plain) }) }
    }
    const forget = (error: unknown) => {
      reading = undefined
      throw error
    }
    files.set(`/docs/${name}`, () => (reading ??= read().catch(forget)))
  }
  return files
}

function namesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.startsWith('.'))
    .map(entry =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
}

function staticFile(name: string, plain: Buffer<ArrayBuffer>): StaticFile {
  return {
    type: types[extname(name)] ?? text,
    tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    // Vite puts a hash of the content into these names.
    immutable: name.startsWith('assets'),
    plain,
  }
}

function ifThere(path: string): Buffer<ArrayBuffer> | undefined {
  return existsSync(path) ? readFileSync(path) : undefined
}
