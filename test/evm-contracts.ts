// Compiles the contracts of the tests on real nodes. It knows nothing of nodes, and nothing of Almanac.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

export type CompiledContract = { abi: Abi; bytecode: Hex }

export const contractNames = ['Collection721', 'Collection1155', 'Collection721A', 'Coin', 'Anything'] as const
export type ContractName = (typeof contractNames)[number]

const source = 'evm-contracts.sol'
const packages = join(import.meta.dirname, '..', 'node_modules')

export async function compileContracts(): Promise<Record<ContractName, CompiledContract>> {
  // Loaded here, because the compiler is eight megabytes that skipped tests do without.
  const { default: solc } = await import('solc')
  const input = {
    language: 'Solidity',
    sources: { [source]: { content: readFileSync(join(import.meta.dirname, source), 'utf8') } },
    settings: { evmVersion: 'cancun', outputSelection: { [source]: { '*': ['abi', 'evm.bytecode.object'] } } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readPackageFile })) as CompilerOutput
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const compiled = contractNames.map(name => {
    const contract = output.contracts[source]?.[name]
    if (contract === undefined) throw new Error(`${source} has no contract ${name}`)
    return [name, { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` }] as const
  })
  return Object.fromEntries(compiled) as Record<ContractName, CompiledContract>
}

type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}

function readPackageFile(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(join(packages, path), 'utf8') }
  } catch (error) {
    return { error: String(error) }
  }
}
