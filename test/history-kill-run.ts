// Indexes a chain from files in a process that is killed again and again: it goes on where it was, never loses what it
// claimed, and leaves the store as an undisturbed process does.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { blockCount, isCovered, wholeCoverage } from '../src/coverage.ts'
import type { ChainId, CoveredInterval } from '../src/model.ts'
import { findDamage } from '../src/store/sqlite/damage.ts'
import { prepareFile } from '../src/store/sqlite/open-file.ts'
import { Dice } from './evm-fault-plan.ts'
import { chainOf, claimsOf, dumpOf, indexAll, signedChain } from './history-world.ts'
import { exportChain } from './sim/export-files.ts'
import { requireSoundRuns } from './store-kill-run.ts'

const childFile = fileURLToPath(new URL('./history-kill-child.ts', import.meta.url))

/** In which part of the work kills struck; `end`: when all was claimed. */
export type HistoryKills = { opening: number; transfers: number; senders: number; end: number }

export type KillPlan = { seed: number; kills: number; blocks: number }

/** Begins with new stores until all kills are spent: some end before they are killed. */
export async function runKilledHistory({ seed, kills, blocks }: KillPlan): Promise<HistoryKills> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-history-kill-'))
  const struck: HistoryKills = { opening: 0, transfers: 0, senders: 0, end: 0 }
  const count = (): number => Object.values(struck).reduce((sum, each) => sum + each, 0)
  try {
    const sim = signedChain({ seed, height: blocks - 1 })
    const id = sim.options.chainId as ChainId
    const history = join(folder, 'files')
    exportChain(sim, { from: 0, to: sim.head }, { folder: history, format: 'ere', blocksPerFile: 16 })
    const calm = join(folder, 'calm.db')
    await indexAll(chainOf(id), sim.head, `file:${calm}`, { history: [history] })
    const expected = await dumpOf(`file:${calm}`, id)
    const dice = new Dice(seed)
    for (let round = 1; count() < kills; round++) {
      const path = join(folder, `killed-${round}.db`)
      await prepareFile(path)
      const asked = kills - count()
      // Each process gets some time to work, as most of it goes into its start.
      const blocksPerSecond = Math.ceil((2 * blocks) / (workSecondsPerKill * asked))
      await indexKilled({ id, head: sim.head, history, path, kills: asked, blocksPerSecond, dice }, struck)
      assert.deepEqual(await dumpOf(`file:${path}`, id), expected)
      requireSound(path)
    }
    return struck
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const workSecondsPerKill = 0.2

type Killing = {
  id: ChainId
  head: number
  history: string
  path: string
  kills: number
  blocksPerSecond: number
  dice: Dice
}

async function indexKilled(killing: Killing, struck: HistoryKills): Promise<void> {
  const { id, head, history, path, kills, blocksPerSecond, dice } = killing
  const url = `file:${path}`
  let before: Claims = { transfers: [], full: [] }
  let claimed = 0
  for (let killed = 0; ; killed++) {
    const given = [url, `${id}`, `${head}`, history, `${blocksPerSecond}`]
    const child = fork(childFile, given, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    const closed = once(child, 'close')
    let heard = ''
    // Blocks are read twice: for transfers, and for senders.
    const left = 2 * (head + 1) - claimed
    const strikesAt = claimed + dice.below(Math.ceil((1.5 * left) / (kills - killed + 1)))
    const inOpening = dice.chance(15)
    const pauseMs = dice.below(inOpening ? 600 : 60)
    let waits = killed < kills
    const strike = (): void => {
      waits = false
      void delay(pauseMs).then(() => child.kill('SIGKILL'))
    }
    child.stdout!.on('data', (chunk: Buffer) => {
      heard += chunk.toString()
      if (waits && Number(heard.split('\n').at(-2)) >= strikesAt) strike()
    })
    if (waits && inOpening) strike()
    const [code] = await closed
    const after = await claimsIn(url, id)
    requireKept(before, after)
    if (code === 0) return assert.match(heard, /done/)
    assert.equal(code, null, 'The index process failed.')
    struck[phaseOf(heard, after, head)]++
    before = after
    claimed = blockCount(after.transfers) + blockCount(after.full)
  }
}

type Claims = Record<'transfers' | 'full', CoveredInterval[]>

async function claimsIn(url: string, id: ChainId): Promise<Claims> {
  const claims = await claimsOf(url, id)
  return { transfers: wholeCoverage(claims, 'transfers'), full: wholeCoverage(claims, 'full') }
}

/** What is claimed stays claimed. */
function requireKept(before: Claims, after: Claims): void {
  for (const scope of ['transfers', 'full'] as const)
    for (const { from, to } of before[scope])
      assert(isCovered(after[scope], { from, to }), `blocks ${from} to ${to} are no longer claimed for ${scope}`)
}

function phaseOf(heard: string, { transfers, full }: Claims, head: number): keyof HistoryKills {
  if (heard === '') return 'opening'
  if (blockCount(transfers) <= head) return 'transfers'
  return blockCount(full) <= head ? 'senders' : 'end'
}

function requireSound(path: string): void {
  const raw = new DatabaseSync(path)
  assert.deepEqual({ ...raw.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
  raw.close()
  assert.equal(findDamage(path), 'ok')
  requireSoundRuns(path)
}
