// Commands on simulated chains: a place, a node and a configuration for each test, and what is compared afterwards.
import { afterEach, beforeEach, expect } from 'vitest'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { alterRows } from './altered-rows.ts'
import { CommandPlace, type CommandRun } from './command-run.ts'
import { storedTransfers, truthByContract } from './evm-harness.ts'
import { type SimNode, type SimNodeOptions, startSimNode } from './sim/node.ts'
import { lightBlocks, type SimChainOptions } from './sim/options.ts'

export const chainId = 31_337
export const cleanups: (() => Promise<void>)[] = []
export let place: CommandPlace

/** Gives each test of a suite a place of its own, and removes what it leaves. Suites share this module, so each asks. */
export function placeEachTest(): void {
  beforeEach(() => {
    place = new CommandPlace()
    cleanups.push(() => place.dispose())
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })
}

export type Simulated = Omit<SimNodeOptions, 'chain'> & { chain?: Partial<SimChainOptions> }

/** For what a block costs. */
export const fullBlocks = { transactionsPerBlock: 8, logsPerCall: 3 } satisfies Partial<SimChainOptions>

/** A node whose final block is 64 below its head, and a configuration that names it. */
export async function simulate(options: Simulated = {}, settings: object = { index: 'full' }): Promise<SimNode> {
  const { chain, ...rest } = options
  const node = await startSimNode({
    chain: { chainId, height: 364, hashes: 'real', ...lightBlocks, ...chain },
    ...rest,
  })
  cleanups.push(() => node.close())
  configureFor(node, settings)
  return node
}

export function configureFor(node: SimNode, settings: object, limits?: object): void {
  place.configure({ sim: { id: chainId, rpc: node.endpoints.map(({ url }) => url), ...settings } }, undefined, limits)
}

export async function expectTruth(node: SimNode, range: { from: number; to: number }, only?: Address): Promise<void> {
  const store = await openStore(place.storeUrl, { role: 'tool' })
  try {
    const truth = truthByContract(node.chain, range)
    expect(truth.size).toBeGreaterThan(3)
    for (const [contract, expected] of truth) {
      const wanted = only === undefined || only === contract ? expected : []
      expect(await storedTransfers(store, node.chain, contract)).toEqual(wanted)
    }
  } finally {
    await store.close()
  }
}

/** What a service with open operations says of its chains. */
export async function chainsOf(service: CommandRun): Promise<Record<string, { state: string; complete: boolean }>> {
  const url = await service.listening()
  return ((await (await fetch(`${url}/status`)).json()) as { chains: Awaited<ReturnType<typeof chainsOf>> }).chains
}

export function busiest(node: SimNode): Address {
  const truth = [...truthByContract(node.chain, { from: 0, to: node.chain.finalized })]
  return truth.sort((a, b) => b[1].length - a[1].length)[0]![0]
}

/** Changes the file behind the service's back, a row with each statement. */
export async function alter(...statements: readonly string[]): Promise<void> {
  const changes = await alterRows(place.storeFile, ...statements)
  expect(changes, statements.join('\n')).toEqual(statements.map(() => 1))
}
