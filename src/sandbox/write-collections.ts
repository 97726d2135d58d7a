// Writes the compiled collections beside the built files, for the package that has neither their sources nor a compiler. Run by the build only.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeCollections } from './collections.ts'

const directory = join(import.meta.dirname, '..', '..', 'dist', 'sandbox')
mkdirSync(directory, { recursive: true })
await writeCollections(join(directory, 'collections.json'))
