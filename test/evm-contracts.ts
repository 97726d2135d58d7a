// The contracts of the tests on real nodes: the sandbox's collections, and one that emits whatever it is told.
import { join } from 'node:path'
import { type CollectionName, loadCollections } from '../sandbox/src/collections.ts'
import { type CompiledContract, compileContracts } from '../sandbox/src/compile-contracts.ts'

export type ContractName = CollectionName | 'Anything'

export async function loadContracts(): Promise<Record<ContractName, CompiledContract>> {
  const { Anything } = await compileContracts([join(import.meta.dirname, 'evm-contracts.sol')])
  return { ...(await loadCollections()), Anything: Anything! }
}
