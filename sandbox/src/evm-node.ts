// Starts a real local EVM node that mines only on request: Hardhat's EVM, in a process of its own.
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Hex } from 'ox/Hex'
import { developmentAccount, fundedAccounts } from './evm-accounts.ts'
import { loads, packageNames } from './installed.ts'
import { endProcess, printedBy, spawnTethered } from './tethered-process.ts'

export type EvmNode = {
  chainId: number
  url: string
  processId?: number | undefined
  ask(method: string, ...params: unknown[]): Promise<unknown>
  /** Mines a block of these signed transactions, in order. */
  mine(transactions: readonly Hex[], timestamp: number): Promise<void>
  /** Mines empty blocks with these timestamps. */
  mineEmpty(timestamps: readonly number[]): Promise<void>
  stop(): Promise<void>
}

export type EvmNodeOptions = {
  chainId: number
  genesisTimestamp: number
  /** How long the node may take for one answer. */
  answerMsMax?: number
}

/** Generous: the machine may be busy. */
const answerMsMaxDefault = 30_000

/** Undefined where none loads. */
export const edrPackage = packageNames('@nomicfoundation/edr').find(loads)

export async function startEvmNode(options: EvmNodeOptions): Promise<EvmNode> {
  if (edrPackage === undefined) throw new Error('no EVM node runs on this machine')
  const child = spawnEdr(options)
  const place = await printedBy(child, /Listening on (127\.0\.0\.1:\d+)/, 'the EVM node')
  const { chainId, answerMsMax = answerMsMaxDefault } = options
  return new RunningNode({ child, chainId, url: `http://${place}`, answerMsMax })
}

type RunningNodeParts = Pick<EvmNode, 'chainId' | 'url'> & { child: ChildProcess; answerMsMax: number }

class RunningNode implements EvmNode {
  readonly chainId: number
  readonly url: string
  readonly #child: ChildProcess
  readonly #answerMsMax: number

  constructor({ child, chainId, url, answerMsMax }: RunningNodeParts) {
    this.#child = child
    this.#answerMsMax = answerMsMax
    this.chainId = chainId
    this.url = url
  }

  get processId(): number | undefined {
    return this.#child.pid
  }

  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    return resultOf(method, (await this.#post({ jsonrpc: '2.0', id: 1, method, params })) as Answer)
  }

  async #post(body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(this.#answerMsMax)
    const response = await fetch(this.url, { method: 'POST', headers, body: JSON.stringify(body), signal })
    return await response.json()
  }

  async mine(transactions: readonly Hex[], timestamp: number): Promise<void> {
    const sent = await this.#askEach(
      'eth_sendRawTransaction',
      transactions.map(transaction => [transaction]),
    )
    await this.ask('evm_mine', timestamp)
    // Each by its receipt: people try the chain with transactions and blocks of their own.
    const receipts = await this.#askEach(
      'eth_getTransactionReceipt',
      sent.map(hash => [hash]),
    )
    const missing = receipts.filter(receipt => receipt === null).length
    if (missing > 0) throw new Error(`${missing} of ${sent.length} transactions were not mined`)
  }

  // Not hardhat_mine: the blocks that Hardhat's EVM invents for it do not link to their parents.
  async mineEmpty(timestamps: readonly number[]): Promise<void> {
    await this.#askEach(
      'evm_mine',
      timestamps.map(at => [at]),
    )
  }

  /** In order, in one request: requests are most of what a local chain costs. */
  async #askEach(method: string, calls: readonly (readonly unknown[])[]): Promise<unknown[]> {
    if (calls.length === 0) return []
    const answers = await this.#post(calls.map((params, id) => ({ jsonrpc: '2.0', id, method, params })))
    return (answers as Answer[]).map(answer => resultOf(method, answer))
  }

  stop(): Promise<void> {
    return endProcess(this.#child)
  }
}

type Answer = { result?: unknown; error?: { message: string } }

function resultOf(method: string, { result, error }: Answer): unknown {
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

function spawnEdr({ chainId, genesisTimestamp }: EvmNodeOptions): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const funded = Array.from({ length: fundedAccounts }, (_, index) => developmentAccount(index).address)
  const beginning = JSON.stringify({ package: edrPackage, chainId, timestamp: genesisTimestamp, funded })
  return spawnTethered([process.execPath, join(import.meta.dirname, `evm-edr-process.${extension}`), beginning])
}
