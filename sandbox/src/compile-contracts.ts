// Compiles Solidity that imports installed packages. The compiler is a development dependency: the published package
// has its output instead.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Abi } from 'ox/Abi'
import type { Hex } from 'ox/Hex'

export type CompiledContract = { abi: Abi; bytecode: Hex }

const require = createRequire(import.meta.url)

/** The contracts of the files, by name. */
export async function compileContracts(files: readonly string[]): Promise<Record<string, CompiledContract>> {
  // Loaded on use: most callers do without these eight megabytes.
  const { default: solc } = await import('solc')
  const packages = dirname(dirname(require.resolve('solc/package.json')))
  const sources = files.map(file => [basename(file), { content: readFileSync(file, 'utf8') }] as const)
  const outputs = sources.map(([name]) => [name, { '*': ['abi', 'evm.bytecode.object'] }] as const)
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: { evmVersion: 'cancun', outputSelection: Object.fromEntries(outputs) },
  }
  const readImport = (path: string): { contents: string } | { error: string } => {
    try {
      return { contents: readFileSync(join(packages, path), 'utf8') }
    } catch (error) {
      return { error: String(error) }
    }
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport })) as CompilerOutput
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const contracts = sources.flatMap(([source]) => Object.entries(output.contracts[source] ?? {}))
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }]),
  )
}

type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}
