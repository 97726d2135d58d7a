// Bundles the service for the processes that suites start. There are hundreds, and each would spend half of its processor
// time on loading six hundred modules. Nothing but the loading differs: files are found where the sources would find them.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = { main: join(root, 'src/cli/main.ts'), program: join(root, 'src/cli/program.ts') }
/** The packages that may be missing. */
const external = ['almanac-sandbox', '@triton-one/yellowstone-grpc', 'pg-native']

const { ALMANAC_TESTS_SERVICE: bundled, NODE_COMPILE_CACHE } = process.env
/** The entry of the command line: of the bundle that this run of Vitest has made, or else of the sources. */
export const almanacMain = bundled === undefined ? sources.main : join(bundled, 'main.js')
/** The module that runs a command within the process that imports it. */
export const almanacProgram = bundled === undefined ? sources.program : join(bundled, 'program.js')
/** Where its processes keep compiled code. That of a bundle goes with it. */
export const compileCache = bundled === undefined ? NODE_COMPILE_CACHE : join(bundled, 'compiled')

/** Gives the folder of the bundle. It lies among the packages, some of which are not bundled. */
export async function bundleService(): Promise<string> {
  const { build } = await import('vite')
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const outDir = mkdtempSync(join(cache, 'almanac-service-'))
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [placesOfSources(outDir)],
    ssr: { noExternal: true },
    build: { ssr: true, outDir, target: 'node26', minify: false, rolldownOptions: { input: sources, external } },
  })
  // Else Node reads each file twice to see what it is.
  writeFileSync(join(outDir, 'package.json'), '{ "type": "module" }\n')
  return outDir
}

/** Lets each module find what lies beside its source, and the modules of threads in the bundle. */
function placesOfSources(folder: string): Plugin {
  return {
    name: 'places-of-sources',
    enforce: 'pre',
    transform: {
      filter: { id: { exclude: /^\0/ }, code: 'import.meta.url' },
      handler(code, id) {
        const url = pathToFileURL(id)
        const withThreads = code.replaceAll(/\bthreadModule\('([\w-]+)', import\.meta\.url\)/g, (_, name) => {
          this.emitFile({ type: 'chunk', id: fileURLToPath(new URL(`${name}.ts`, url)), fileName: `${name}.js` })
          return `new URL(${JSON.stringify(pathToFileURL(join(folder, `${name}.js`)))})`
        })
        return withThreads.replaceAll('import.meta.url', JSON.stringify(url))
      },
    },
  }
}
