// Builds the console into a folder, each file also compressed: `node web/build.ts [--if-changed] [folder]`. In a checkout the folder is
// `web/dist`, and `npm start` builds it again when a source has changed.
import { createHash, randomUUID } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const web = fileURLToPath(new URL('.', import.meta.url))
const root = dirname(resolve(web))
const cache = join(root, 'node_modules', '.cache')

/** Below this a compressed file saves less than a packet. */
const compressedFrom = 1_400

export async function buildConsole(folder: string, { ifChanged = false } = {}): Promise<void> {
  const stamp = sourcesHash()
  const stampFile = join(folder, '.sources')
  const isBuilt = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
  if (ifChanged && isBuilt()) return
  // `npm start` would be silent for seconds.
  if (ifChanged && process.stderr.isTTY) process.stderr.write('Building the console, as its sources are new …\n')
  // Built aside and moved in one step, so that a service that starts meanwhile finds the old files or the new ones.
  const made = join(cache, `console-${process.pid}-${randomUUID()}`)
  mkdirSync(made, { recursive: true })
  try {
    await bundle(made)
    copyLicences(made)
    compressAll(made)
    writeFileSync(join(made, '.sources'), stamp)
    mkdirSync(dirname(resolve(folder)), { recursive: true })
    putInPlace(made, folder, isBuilt)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** The font that every page is written in is asked for together with the styles that name it. */
const preloadFont: Plugin = {
  name: 'preload-font',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter(name => /geist-latin.*\.woff2$/.test(name))
        .map(name => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${name}`, crossorigin: true },
          injectTo: 'head' as const,
        })),
  },
}

/** Their licence wants to be with the fonts wherever they go. */
function copyLicences(folder: string): void {
  for (const font of ['geist', 'geist-mono'])
    copyFileSync(join(root, 'node_modules', '@fontsource-variable', font, 'LICENSE'), join(folder, `${font}-OFL.txt`))
}

const placeTries = 5

/** Where another process puts the same build there at the same moment, one of them is enough. */
function putInPlace(made: string, folder: string, isBuilt: () => boolean): void {
  for (let tries = 1; !isBuilt(); tries++) {
    try {
      rmSync(folder, { recursive: true, force: true })
      renameSync(made, folder)
    } catch (error) {
      if (tries === placeTries) throw error
    }
  }
}

async function bundle(outDir: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    root: web,
    configFile: false,
    logLevel: 'warn',
    // Whatever NODE_ENV says: what is built while tests run is served afterwards, and development names every source by its path.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    plugins: [preloadFont],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'baseline-widely-available',
      modulePreload: { polyfill: false },
      // Nothing is written into the page itself: the policy that it is served with allows files alone.
      assetsInlineLimit: 0,
    },
  })
}

function compressAll(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!['.html', '.js', '.css', '.svg'].includes(extname(name))) continue
    const path = join(folder, name)
    const plain = readFileSync(path)
    if (plain.length < compressedFrom) continue
    const brotli = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length }
    writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: brotli }))
    writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }))
  }
}

/** Of everything that decides what is built: the sources and the versions of packages. */
function sourcesHash(): string {
  const names = readdirSync(join(web, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
  for (const path of [...names, join(web, 'index.html'), join(web, 'build.ts'), join(root, 'package-lock.json')]) {
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { 'if-changed': { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  try {
    await buildConsole(resolve(positionals[0] ?? join(web, 'dist')), { ifChanged: values['if-changed'] })
  } catch (error) {
    // The service runs without its console; who asked for the console alone is told by the failure.
    if (!values['if-changed']) throw error
    process.stderr.write(`The console cannot be built, so it is not served: ${(error as Error).message}\n`)
  }
}
