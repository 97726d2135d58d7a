// Builds the console, each file also compressed: `node web/build.ts [folder]`. In a checkout the folder is
// `web/dist`, and `npm start` builds it again when a source has changed.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'
import { type Build, buildFolder, buildFromCommandLine, root } from './build-folder.ts'

/** Below this a compressed file saves less than a packet. */
const compressedFrom = 1_400

export const build: Build = {
  name: 'console',
  usualFolder: 'web/dist',
  sources: ['web/src', 'web/index.html', 'web/build.ts', 'web/build-folder.ts', 'package-lock.json'],
  make: async folder => {
    await bundle(folder)
    copyLicences(folder)
    compressAll(folder)
  },
}

export async function buildConsole(folder: string, options?: { ifChanged?: boolean }): Promise<void> {
  await buildFolder(build, folder, options)
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

async function bundle(outDir: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    root: join(root, 'web'),
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
      // How long each part took is no warning to whoever starts the service on a busy machine.
      rolldownOptions: { checks: { bundlerTimings: false } },
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

if (import.meta.main) await buildFromCommandLine(build)
