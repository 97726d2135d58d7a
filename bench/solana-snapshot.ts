// How fast a snapshot archive is imported: accounts that are stepped over and token accounts that are stored, a second.
// Run: node bench/solana-snapshot.ts
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programKeys } from '../src/solana/decode.ts'
import { importSnapshot } from '../src/solana/snapshot.ts'
import { openStore } from '../src/store/open.ts'
import { appendVector, type SnapshotAccount, tokenAccountData, writeArchive } from '../test/solana-snapshot-archive.ts'

const perFile = 20_000
const foreign = new Uint8Array(32).fill(9)

function randomKey(): Uint8Array {
  return randomFillSync(new Uint8Array(32))
}

function skippedAccount(index: number): SnapshotAccount {
  // Most accounts of a real snapshot are small: stake, vote, program and wallet accounts.
  return { key: randomKey(), lamports: 1n, program: foreign, data: new Uint8Array(index % 2 === 0 ? 0 : 200) }
}

const owners = Array.from({ length: 10_000 }, randomKey)
const mints = Array.from({ length: 1_000 }, randomKey)

function tokenAccount(index: number): SnapshotAccount {
  const [mint, owner] = [mints[index % 1_000]!, owners[(index * 7) % 10_000]!]
  const data = tokenAccountData({ mint, owner, amount: BigInt(index) })
  return { key: randomKey(), lamports: 2_039_280n, program: programKeys.token, data }
}

async function measure(what: string, count: number, make: (index: number) => SnapshotAccount): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-bench-'))
  const path = join(folder, 'snapshot-100-bench.tar.zst')
  const files = function* () {
    for (let first = 0; first < count; first += perFile) {
      const accounts = Array.from({ length: perFile }, (_, index) => make(first + index))
      yield { name: `accounts/90.${first / perFile}`, content: appendVector(accounts) }
    }
  }
  await writeArchive(path, files())
  const store = await openStore(`file:${join(folder, 'bench.db')}`, { role: 'owner' })
  const started = performance.now()
  const processor = process.cpuUsage()
  let peakBytes = 0
  const sample = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, 20)
  await importSnapshot({ store, network: 'devnet', path })
  clearInterval(sample)
  const seconds = (performance.now() - started) / 1_000
  const { user, system } = process.cpuUsage(processor)
  const perSecond = Math.round(count / seconds)
  const perProcessorSecond = Math.round(count / ((user + system) / 1e6))
  console.log(
    JSON.stringify({ what, count, perSecond, perProcessorSecond, peakMegabytes: Math.round(peakBytes / 2 ** 20) }),
  )
  await store.close()
  await rm(folder, { recursive: true, force: true })
}

await measure('skipped accounts', 4_000_000, skippedAccount)
await measure('stored token accounts', 1_000_000, tokenAccount)
