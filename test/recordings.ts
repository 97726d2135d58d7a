// What was recorded on public chains, as `test/recordings/README.md` describes it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { base58 } from '@scure/base'
import type { RpcBlock, RpcLog } from '../src/evm/rpc/port.ts'

function bytesOf(name: string): Buffer {
  return brotliDecompressSync(readFileSync(join(import.meta.dirname, 'recordings', `${name}.br`)))
}

function textOf(name: string): string {
  return bytesOf(name).toString()
}

function linesOf<Line>(name: string): Line[] {
  return textOf(name)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
}

type RecordedStep = { step: number; head: boolean; block: RpcBlock; logs: RpcLog[] }

/** The block of Polygon that a reorganisation replaced. */
export const polygonOrphan = '0x6f01a5163724e4bfbbcac469a9a2aafd16bc1a50f15c346b1ab1347561fb7c4d'

/** Polygon's blocks in the order in which a watcher received them, the orphan included. */
export function polygonSteps(): RecordedStep[] {
  return linesOf('polygon.jsonl')
}

export function canonicalSteps(steps: readonly RecordedStep[]): RecordedStep[] {
  return steps
    .filter(({ block }) => block.hash !== polygonOrphan)
    .sort((a, b) => Number(a.block.number) - Number(b.block.number))
}

export function hiveBlocks(): RpcBlock[] {
  return JSON.parse(textOf('hive-blocks.json')) as RpcBlock[]
}

export function hiveLogs(): RpcLog[] {
  return linesOf<{ logs: RpcLog[] }>('hive-logs.jsonl').flatMap(({ logs }) => logs)
}

type RecordedTransaction = { block_number: string; timestamp: number; transaction_hash: string }
type RecordedWallets = Record<string, Record<'first_transaction' | 'last_transaction', RecordedTransaction>>

export function hiveWallets(): RecordedWallets {
  return JSON.parse(textOf('hive-wallets.json')) as RecordedWallets
}

type RecordedAccount = { key: Uint8Array; lamports: bigint; program: string; data: Uint8Array }
type AccountText = { pubkey: string; lamports: number | string; owner: string; data: string }

/** An account of Solana mainnet, by its name in the README. */
export function solanaAccount(name: string): RecordedAccount {
  const recorded = (JSON.parse(textOf('solana-accounts.json')) as Record<string, AccountText>)[name]
  if (recorded === undefined) throw new Error(`no account is recorded as ${name}`)
  return {
    key: base58.decode(recorded.pubkey),
    lamports: BigInt(recorded.lamports),
    program: recorded.owner,
    data: new Uint8Array(Buffer.from(recorded.data, 'base64')),
  }
}

export type MainnetBlock = {
  header: Buffer
  body: Buffer
  /** Without their bloom. */
  receipts: Buffer
  proof: { type: number; ssz: Buffer } | undefined
}

/** Lowest first. */
export function mainnetBlocks(): MainnetBlock[] {
  const bytes = bytesOf('mainnet-blocks.bin')
  const blocks: MainnetBlock[] = []
  let at = 0
  const part = (): Buffer => {
    const start = at + 4
    at = start + bytes.readUInt32LE(at)
    return bytes.subarray(start, at)
  }
  while (at < bytes.length) {
    const [header, body, receipts, proof] = [part(), part(), part(), part()]
    const known = proof.length === 0 ? undefined : { type: proof[0]!, ssz: proof.subarray(1) }
    blocks.push({ header, body, receipts, proof: known })
  }
  return blocks
}

/** Lists that have the recorded entries in their places, and zeros elsewhere. */
export function mainnetBeaconRoots(): { historicalRoots: Buffer; historicalSummaries: Buffer } {
  const recorded = JSON.parse(textOf('mainnet-beacon-roots.json')) as Record<'roots' | 'summaries', object>
  const listOf = (entries: object, size: number): Buffer => {
    const list = Buffer.alloc(1_000 * size)
    for (const [number, digits] of Object.entries(entries)) list.write(digits as string, Number(number) * size, 'hex')
    return list
  }
  return { historicalRoots: listOf(recorded.roots, 32), historicalSummaries: listOf(recorded.summaries, 64) }
}

/** The records of blocks of an era1 file, without its version, accumulator and index. */
export const sepoliaRecords = { from: 175_870, count: 40, bytes: (): Buffer => bytesOf('sepolia-era1.bin') }
