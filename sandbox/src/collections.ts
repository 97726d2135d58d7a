// The compiled collections: read from the build or from an earlier start, or compiled now.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type CompiledContract, compileContracts } from './compile-contracts.ts'

const collectionNames = ['Collection721', 'Collection1155', 'Collection721A', 'Coin'] as const
export type CollectionName = (typeof collectionNames)[number]
export type CompiledCollections = Record<CollectionName, CompiledContract>

const collectionsSource = join(import.meta.dirname, 'collections.sol')
const built = join(import.meta.dirname, 'collections.json')
const require = createRequire(import.meta.url)

/** False when loading has to compile first, which takes seconds. */
export function collectionsAreReady(): boolean {
  return existsSync(built) || existsSync(keptFile())
}

export async function loadCollections(): Promise<CompiledCollections> {
  if (existsSync(built)) return read(built)
  const kept = keptFile()
  if (existsSync(kept)) return read(kept)
  const compiled = await compileCollections()
  keep(kept, compiled)
  return compiled
}

function keep(file: string, compiled: CompiledCollections): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    // Renamed into place, so a concurrent start reads all of it or nothing.
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(compiled))
    renameSync(`${file}.${process.pid}`, file)
  } catch {
    // The packages may belong to another user; then the next start compiles again.
  }
}

async function compileCollections(): Promise<CompiledCollections> {
  const compiled = await compileContracts([collectionsSource])
  return Object.fromEntries(
    collectionNames.map(name => {
      const contract = compiled[name]
      if (contract === undefined) throw new Error(`${collectionsSource} has no contract ${name}`)
      return [name, contract]
    }),
  ) as CompiledCollections
}

/** In the cache of the installed packages; its name depends on their versions. */
function keptFile(): string {
  const key = createHash('sha256').update(readFileSync(collectionsSource))
  const compiler = require.resolve('solc/package.json')
  for (const name of ['solc', '@openzeppelin/contracts', 'erc721a'])
    key.update((require(`${name}/package.json`) as { version: string }).version)
  const folder = join(dirname(dirname(compiler)), '.cache', 'almanac')
  return join(folder, `collections-${key.digest('hex').slice(0, 16)}.json`)
}

function read(file: string): CompiledCollections {
  return JSON.parse(readFileSync(file, 'utf8')) as CompiledCollections
}
