// The compiled collections: read from the build or from an earlier start, or compiled now.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { type CompiledContract, compileContracts } from './compile-contracts.ts'

const collectionNames = ['Collection721', 'Collection1155', 'Collection721A', 'Coin'] as const
export type CollectionName = (typeof collectionNames)[number]
export type CompiledCollections = Record<CollectionName, CompiledContract>

const collectionsSource = join(import.meta.dirname, 'collections.sol')
const built = join(import.meta.dirname, 'collections.json')
const require = createRequire(import.meta.url)

/** False when loading has to compile first, which takes seconds. */
export function collectionsAreReady(): boolean {
  return existsSync(built) || existsSync(keptFile(collectionsSource))
}

export async function loadCollections(): Promise<CompiledCollections> {
  if (existsSync(built)) return read(built)
  const compiled = await compileOnce(collectionsSource)
  const missing = collectionNames.find(name => compiled[name] === undefined)
  if (missing !== undefined) throw new Error(`${collectionsSource} has no contract ${missing}`)
  return compiled as CompiledCollections
}

/** The contracts of a file, by name; of one that was compiled before, without the compiler. */
export async function compileOnce(source: string): Promise<Record<string, CompiledContract>> {
  const kept = keptFile(source)
  if (existsSync(kept)) return read(kept)
  const compiled = await compileContracts([source])
  keep(kept, compiled)
  return compiled
}

function keep(file: string, compiled: Record<string, CompiledContract>): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    // Renamed into place, so a concurrent start reads all of it or nothing.
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(compiled))
    renameSync(`${file}.${process.pid}`, file)
  } catch {
    // The packages may belong to another user; then the next start compiles again.
  }
}

/** In the cache of the installed packages; its name depends on their versions. */
function keptFile(source: string): string {
  const key = createHash('sha256').update(readFileSync(source))
  const compiler = require.resolve('solc/package.json')
  for (const name of ['solc', '@openzeppelin/contracts', 'erc721a'])
    key.update((require(`${name}/package.json`) as { version: string }).version)
  const folder = join(dirname(dirname(compiler)), '.cache', 'almanac')
  return join(folder, `${basename(source, '.sol')}-${key.digest('hex').slice(0, 16)}.json`)
}

function read(file: string): CompiledCollections {
  return JSON.parse(readFileSync(file, 'utf8')) as CompiledCollections
}
