// Builds a folder of files that the service serves: aside, and moved into place in one step; where that is wanted, only
// when one of its sources has changed. What is built is decided elsewhere.
import { createHash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const root = resolve(fileURLToPath(new URL('..', import.meta.url)))
const cache = join(root, 'node_modules', '.cache')

export type Build = {
  /** In a sentence, such as `console`. */
  name: string
  /** Where it stands in a checkout. */
  usualFolder: string
  /** Files and folders of the checkout that decide what is built. */
  sources: readonly string[]
  make: (folder: string) => Promise<void>
}

export async function buildFolder(build: Build, folder: string, { ifChanged = false } = {}): Promise<void> {
  const stamp = hashOf(build.sources)
  const stampFile = join(folder, '.sources')
  const isBuilt = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
  if (ifChanged && isBuilt()) return
  // `npm start` would be silent for seconds.
  if (ifChanged && process.stderr.isTTY) process.stderr.write(`Building the ${build.name}, as its sources are new …\n`)
  // A service that starts meanwhile finds the old files or the new ones.
  const made = join(cache, `${build.name}-${process.pid}-${randomUUID()}`)
  mkdirSync(made, { recursive: true })
  try {
    await build.make(made)
    writeFileSync(join(made, '.sources'), stamp)
    mkdirSync(dirname(resolve(folder)), { recursive: true })
    putInPlace(made, folder, isBuilt)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** `[folder]`, as the command line has it. */
export async function buildFromCommandLine(build: Build): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  await buildFolder(build, resolve(positionals[0] ?? join(root, build.usualFolder)))
}

/** In its usual folder. The service runs without it, so a failure is told and nothing more. */
export async function buildIfChanged(build: Build): Promise<void> {
  try {
    await buildFolder(build, join(root, build.usualFolder), { ifChanged: true })
  } catch (error) {
    process.stderr.write(`The ${build.name} cannot be built, so it is not served: ${(error as Error).message}\n`)
  }
}

const placeTries = 5

/** Where another process puts the same build there at the same moment, one of them is enough. */
function putInPlace(made: string, folder: string, isBuilt: () => boolean): void {
  for (let tries = 1; !isBuilt(); tries++) {
    try {
      rmSync(folder, { recursive: true, force: true })
      move(made, folder)
    } catch (error) {
      if (tries === placeTries) throw error
    }
  }
}

/** From another file system it is copied beside its place first. */
function move(made: string, folder: string): void {
  try {
    renameSync(made, folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const beside = `${resolve(folder)}-${randomUUID()}`
    try {
      cpSync(made, beside, { recursive: true })
      renameSync(beside, folder)
    } finally {
      rmSync(beside, { recursive: true, force: true })
    }
  }
}

function hashOf(sources: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of sources.flatMap(filesBelow).sort())
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

/** What is built is no source. */
function filesBelow(path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path]
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => !['dist', 'node_modules'].includes(name))
    .flatMap(({ name }) => filesBelow(`${path}/${name}`))
}
