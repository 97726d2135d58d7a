// The memory of a process that answers from recent blocks: Ethereum with 100 of them beside eleven chains with 4,000
// each (2 transfers and 20 wallets a block), and one chain with 4,000 in the shape of Ethereum.
// What is resident has SQLite's page cache in it (up to 64 MB), which the first reading fills.
// Run: node --expose-gc bench/recent-blocks.ts
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Block, ChainId, Hash, TransferRow } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { HotBlock } from '../src/store/store.ts'
import { filled, type GeneratedContract, RowMaker, roomFor, walletAddress } from './made-rows.ts'
import { Random } from './random.ts'
import { shapes } from './shape.ts'

type RecentChain = { chain: number; blocks: number; transfers: number; wallets: number }

const ofEthereum = { transfers: 50, wallets: 300 }
const cases: Record<string, { chains: RecentChain[]; boundMb: number }> = {
  'twelve chains': {
    chains: [
      { chain: 1, blocks: 100, ...ofEthereum },
      ...Array.from({ length: 11 }, (_, at) => ({ chain: at + 2, blocks: 4_000, transfers: 2, wallets: 20 })),
    ],
    boundMb: 120,
  },
  'one long head': { chains: [{ chain: 1, blocks: 4_000, ...ofEthereum }], boundMb: 60 },
}

const contracts: GeneratedContract[] = Array.from({ length: 400 }, (_, at) => ({
  ...{ contract: walletAddress(1_000_000 + at), standard: 'ERC721', transfers: 0 },
}))

function blockOf(number: number): Block {
  return { number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash, timestamp: 1_700_000_000 + 12 * number }
}

const blocksPerCommit = 100

async function fill(url: string, chains: readonly RecentChain[]): Promise<void> {
  const store = await openStore(url, { role: 'owner' })
  for (const { chain, blocks, transfers: rows, wallets } of chains) {
    const maker = new RowMaker(new Random(chain), shapes.ethereum)
    const random = new Random(chain)
    for (let first = 1; first <= blocks; first += blocksPerCommit) {
      const made: HotBlock[] = []
      for (let number = first; number < first + blocksPerCommit; number++) {
        const block = blockOf(number)
        const transfers: TransferRow[] = []
        maker.fillBlock(block, rows, () => contracts[random.below(contracts.length)]!, transfers)
        const room = roomFor(wallets)
        made.push({ ...block, transfers, activity: filled(room, maker.activityOf(block, wallets, room, 0)) })
      }
      await store.commitHot({ chain: chain as ChainId, ancestor: first - 1, blocks: made, head: made.at(-1)! })
    }
  }
  await store.close()
}

/** In a process of its own: what it held before it answered, and what it holds then. */
async function answer(url: string, chains: readonly RecentChain[]): Promise<void> {
  const store = await openStore(url, { role: 'reader' })
  await store.transferPage({ chain: 9_999 as ChainId, contract: contracts[0]!.contract, order: 'desc', limit: 1 })
  const before = held()
  const rows: number[] = []
  for (const { chain } of chains) {
    const { contract } = contracts[chain]!
    rows.push((await store.transferPage({ chain: chain as ChainId, contract, order: 'desc', limit: 100 })).length)
  }
  await store.activityOf(walletAddress(1))
  const after = held()
  console.log(JSON.stringify({ heldMb: after.held - before.held, residentMb: after.resident - before.resident, rows }))
  await store.close()
}

function held(): { held: number; resident: number } {
  for (let run = 0; run < 3; run++) global.gc!()
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
  return { held: (heapUsed + arrayBuffers) / 1e6, resident: rss / 1e6 }
}

const [, script, url, name] = process.argv as [string, string, string?, string?]
if (url !== undefined) await answer(url, cases[name!]!.chains)
else {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    const results = []
    for (const [at, [of, { chains, boundMb }]] of Object.entries(cases).entries()) {
      const made = `file:${join(directory, `${at}.db`)}`
      await fill(made, chains)
      const { stdout } = spawnSync(process.execPath, ['--expose-gc', script, made, of], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const { heldMb, residentMb } = JSON.parse(stdout.toString())
      results.push({ of, heldMb: Math.round(heldMb), residentMb: Math.round(residentMb), boundMb })
    }
    console.table(results)
    console.log(JSON.stringify({ benchmark: 'recent-blocks', results }))
  } finally {
    rmSync(directory, { recursive: true })
  }
}
