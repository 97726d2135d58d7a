// Completes sandbox/dist, the folder that is published: the compiled contracts, so that it needs neither their sources
// nor a compiler, and a manifest that speaks of built files. `tsc` has written the rest.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCollections } from './src/collections.ts'

const from = (path: string): string => join(import.meta.dirname, path)

writeFileSync(from('dist/collections.json'), JSON.stringify(await loadCollections()))

const read = (path: string) => JSON.parse(readFileSync(from(path), 'utf8'))

const { private: _, scripts, devDependencies, optionalDependencies, ...manifest } = read('package.json')
const { 'almanac-sandbox-edr': __, ...nodes } = optionalDependencies
// Not the version of a checkout: `edr/package.json` has both, and says why they differ.
const { publishedDependencies } = read('edr/package.json')
const published = {
  ...{ ...manifest, exports: './sandbox.js' },
  optionalDependencies: { ...publishedDependencies, ...nodes },
}
writeFileSync(from('dist/package.json'), `${JSON.stringify(published, undefined, 2)}\n`)

for (const file of ['README.md', '../LICENSE']) copyFileSync(from(file), join(from('dist'), file.replace('../', '')))
