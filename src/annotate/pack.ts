// Brings the built-in pack into a store, as a whole and only when the store has another version of it.

import { referenceChains } from '../chains.ts'
import type { Address } from '../model.ts'
import { parseAddress } from '../model.ts'
import type { SourceContent } from '../store/annotation-store.ts'
import type { Store } from '../store/store.ts'
import { packDate, packEntries, packVersion } from './pack-entries.ts'
import { packSource } from './sources.ts'

const checkpointName = 'built-in pack'

/** Returns whether anything was written. The process that writes calls it; readers see the result. */
export async function loadPack(store: Store, content: SourceContent = packContent()): Promise<boolean> {
  if ((await store.checkpoint(checkpointName)) === content.checkpoint.value) return false
  await store.replaceSource(content)
  return true
}

export function packContent(): SourceContent {
  const said = { rank: 'built-in', updatedAt: Date.parse(packDate) } as const
  const labels: SourceContent['labels'][number][] = []
  const marks: SourceContent['marks'][number][] = []
  for (const [kind, chains, text, label] of packEntries) {
    const address = parseAddress(text) as Address
    for (const chain of chains === '*' ? [undefined] : chains.split(',').map(chainOf)) {
      labels.push({ chain, address, label, ...said })
      if (kind === 'collection' && chain !== undefined)
        marks.push({ chain, contract: address, verified: true, spam: undefined, ...said })
    }
  }
  return { source: packSource, labels, marks, checkpoint: { name: checkpointName, value: String(packVersion) } }
}

function chainOf(name: string) {
  const chain = referenceChains.find(known => known.name === name)
  if (chain === undefined) throw new Error(`The pack names the chain ${name}, which the chain table does not have.`)
  return chain.id
}
