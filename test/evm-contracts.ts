// The contracts of the tests on real nodes: the sandbox's collections, and those that do what no collection does.
import { join } from 'node:path'
import { type CollectionName, compileOnce, loadCollections } from '../sandbox/src/collections.ts'
import type { CompiledContract } from '../sandbox/src/compile-contracts.ts'

export type ContractName = CollectionName | 'Anything' | 'Uris' | 'Owners'

export async function loadContracts(): Promise<Record<ContractName, CompiledContract>> {
  const { Anything, Uris, Owners } = await compileOnce(join(import.meta.dirname, 'evm-contracts.sol'))
  return { ...(await loadCollections()), Anything: Anything!, Uris: Uris!, Owners: Owners! }
}
