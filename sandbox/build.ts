// Completes sandbox/dist, the folder that is published: the compiled contracts, so that it needs neither their sources nor
// a compiler, and a manifest that speaks of built files. `tsc` has written the rest.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCollections } from './src/collections.ts'

const from = (path: string): string => join(import.meta.dirname, path)

writeFileSync(from('dist/collections.json'), JSON.stringify(await loadCollections()))

const {
  private: _,
  scripts,
  devDependencies,
  optionalDependencies,
  ...manifest
} = JSON.parse(readFileSync(from('package.json'), 'utf8'))
const { 'almanac-sandbox-edr': __, ...nodes } = optionalDependencies
// It says itself which platform it is for, but only to a Node newer than the one that may install a checkout.
const edr = { '@nomicfoundation/edr-linux-arm64-gnu': '0.20.0' }
const published = { ...manifest, exports: './sandbox.js', optionalDependencies: { ...edr, ...nodes } }
writeFileSync(from('dist/package.json'), `${JSON.stringify(published, undefined, 2)}\n`)

for (const file of ['README.md', '../LICENSE']) copyFileSync(from(file), join(from('dist'), file.replace('../', '')))
