// Starts a real EVM node for a test, mines what it is told and nothing else, and stops it. Anvil where its package is installed (x64), or
// where the variable ANVIL_COMMAND says how to run it; otherwise Hardhat's EVM where its binary loads (arm64). Both on `eth`'s id.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Hex } from 'viem'
import { funded, mnemonic } from './evm-accounts.ts'

export type EvmNode = {
  url: string
  ask(method: string, ...params: unknown[]): Promise<unknown>
  /** Mines a block of these signed transactions, in their order. */
  mine(transactions: readonly Hex[]): Promise<void>
  /** Replaces as many of the newest blocks as are given. */
  reorganise(blocks: readonly (readonly Hex[])[]): Promise<void>
  stop(): Promise<void>
}

const require = createRequire(import.meta.url)
const startTimeoutMs = 20_000
const anvilCommand = process.env.ANVIL_COMMAND?.split(' ') ?? anvilOfPackage()

/** Undefined where this machine has no node that runs. */
export const evmNodeKind = anvilCommand !== undefined ? 'anvil' : edrLoads() ? 'edr' : undefined

const genesisTimestamp = 1_700_000_000
const blockTimeSeconds = 12

export async function startEvmNode(): Promise<EvmNode> {
  if (evmNodeKind === undefined) throw new Error('no EVM node runs on this machine')
  const child = evmNodeKind === 'anvil' ? spawnAnvil(anvilCommand ?? []) : spawnEdr()
  return new RunningNode(child, evmNodeKind, await listeningAt(child))
}

class RunningNode implements EvmNode {
  readonly url: string
  readonly #child: ChildProcess
  readonly #kind: 'anvil' | 'edr'
  /** By the head at which it was taken, for the node that has no call for reorganisations. */
  readonly #snapshots = new Map<number, unknown>()

  constructor(child: ChildProcess, kind: 'anvil' | 'edr', url: string) {
    this.#child = child
    this.#kind = kind
    this.url = url
  }

  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(this.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  async mine(transactions: readonly Hex[]): Promise<void> {
    const head = (await this.ask('eth_getBlockByNumber', 'latest', false)) as { number: Hex; timestamp: Hex }
    if (this.#kind === 'edr') this.#snapshots.set(Number(head.number), await this.ask('evm_snapshot'))
    for (const transaction of transactions) await this.ask('eth_sendRawTransaction', transaction)
    await this.ask('evm_setNextBlockTimestamp', Number(head.timestamp) + blockTimeSeconds)
    await this.ask('evm_mine')
    const mined = (await this.ask('eth_getBlockByNumber', 'latest', false)) as { transactions: Hex[] }
    if (mined.transactions.length !== transactions.length)
      throw new Error(`${mined.transactions.length} of ${transactions.length} transactions were mined`)
  }

  async reorganise(blocks: readonly (readonly Hex[])[]): Promise<void> {
    if (this.#kind === 'anvil') {
      const placed = blocks.flatMap((transactions, at) => transactions.map(transaction => [transaction, at]))
      await this.ask('anvil_reorg', blocks.length, placed)
      return
    }
    const ancestor = Number(await this.ask('eth_blockNumber')) - blocks.length
    if ((await this.ask('evm_revert', this.#snapshots.get(ancestor))) !== true)
      throw new Error(`cannot go back to block ${ancestor}`)
    for (const transactions of blocks) await this.mine(transactions)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

function spawnAnvil(command: readonly string[]): ChildProcess {
  const settings = {
    '--host': '127.0.0.1',
    '--port': 0,
    '--chain-id': 1,
    '--hardfork': 'prague',
    '--order': 'fifo',
    '--gas-limit': 100_000_000,
    '--timestamp': genesisTimestamp,
    '--mnemonic': mnemonic,
  }
  const flags = ['--no-mining', ...Object.entries(settings).flat().map(String)]
  return spawn(command[0]!, [...command.slice(1), ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
}

function spawnEdr(): ChildProcess {
  const file = join(import.meta.dirname, 'evm-edr-process.ts')
  const beginning = JSON.stringify({ timestamp: genesisTimestamp, funded: funded.map(({ address }) => address) })
  return spawn(process.execPath, [file, beginning], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Both say where they listen; what Anvil prints after that is read and let go. */
async function listeningAt(child: ChildProcess): Promise<string> {
  let printed = ''
  return await new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`the EVM node ${reason}. It printed:\n${printed}`))
    }
    const timer = setTimeout(() => fail(`did not listen within ${startTimeoutMs} ms`), startTimeoutMs)
    const exited = (code: number | null) => fail(`ended with ${code}`)
    const read = (chunk: Buffer) => {
      printed += chunk.toString()
      const place = /Listening on (127\.0\.0\.1:\d+)/.exec(printed)?.[1]
      if (place === undefined) return
      clearTimeout(timer)
      child.off('exit', exited)
      child.stdout?.off('data', read).resume()
      resolve(`http://${place}`)
    }
    child.once('exit', exited)
    child.once('error', error => fail(error.message))
    child.stdout?.on('data', read)
  })
}

function anvilOfPackage(): string[] | undefined {
  try {
    return [join(dirname(require.resolve('@foundry-rs/anvil-linux-amd64/package.json')), 'bin', 'anvil')]
  } catch {
    return undefined
  }
}

function edrLoads(): boolean {
  try {
    require('@nomicfoundation/edr-linux-arm64-gnu')
    return true
  } catch {
    return false
  }
}
