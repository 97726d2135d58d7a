// Completes sandbox/dist, the folder that is published: the compiled contracts, so that it needs neither their sources
// nor a compiler, and a manifest that speaks of built files. `tsc` has written the rest.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCollections } from './src/collections.ts'

/**
 * Newer than in a checkout, which may be installed by Node 20: the last version of Hardhat's EVM for that Node does not
 * say which platform a package is for, so each has a package around it in `edr/` that does. These say it themselves.
 */
const publishedEdrVersion = '0.20.0'

const from = (path: string): string => join(import.meta.dirname, path)

writeFileSync(from('dist/collections.json'), JSON.stringify(await loadCollections()))

const { private: _, scripts, devDependencies, ...manifest } = JSON.parse(readFileSync(from('package.json'), 'utf8'))
const nodes = Object.entries(manifest.optionalDependencies).map(([name, version]) =>
  name.startsWith('almanac-sandbox-edr-')
    ? [name.replace('almanac-sandbox-edr', '@nomicfoundation/edr'), publishedEdrVersion]
    : [name, version],
)
const published = { ...manifest, exports: './sandbox.js', optionalDependencies: Object.fromEntries(nodes) }
writeFileSync(from('dist/package.json'), `${JSON.stringify(published, undefined, 2)}\n`)

for (const file of ['README.md', '../LICENSE']) copyFileSync(from(file), join(from('dist'), file.replace('../', '')))
