// Listeners to the changes of random histories: each keeps the rows that it is told by their places, and has what the
// store has after every commit, through reorganisations down to the final block, folds, history that comes late, rows
// on demand, repairs and restarts, wherever pages end and whichever acknowledgements get lost. `npm run soak:changes`
// takes many more seeds.
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hash } from '../src/model.ts'
import {
  type ChangeMark,
  type ChangePage,
  type ChangeRows,
  type Changes,
  type ChangesGone,
  quietMark,
} from '../src/query/changes/changes.ts'
import type { ChangeState } from '../src/query/changes/ledger-read.ts'
import { type ChangeFilter, type ChangePosition, maybeTold, PositionSigner } from '../src/query/changes/position.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { Kept, type PlaceOf, Trial } from './changes-trial.ts'
import { isRelease } from './release-runs.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'

const runs = Number(process.env.CHANGES_RUNS ?? (isRelease ? 250 : 2))
const firstSeed = Number(process.env.CHANGES_SEED ?? Math.floor(Math.random() * 1_000_000))
const stepsPerRun = 30

describe.each(engineNames)('on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test.each(Array.from({ length: runs }, (_, at) => firstSeed + at))('seed %s', { timeout: 120_000 }, async seed => {
    const url = await engine.newStore()
    const options = { role: 'owner', foldBlocks: 1 + (seed % 4) } as const
    const open = () =>
      name === 'sqlite'
        ? openSqliteStore(url.replace('file:', ''), options)
        : openPostgresStore(url, { foldBlocks: options.foldBlocks })
    const trial = new Trial(open, seed)
    await trial.start()
    const listeners: Listener[] = []
    for (const filter of trial.filters) listeners.push(await Listener.begin(trial, filter))
    try {
      for (let step = 0; step < stepsPerRun; step++) await oneStep(trial, listeners)
    } finally {
      await trial.store.close()
    }
  })
})

async function oneStep(trial: Trial, listeners: readonly Listener[]): Promise<void> {
  if (trial.draw(12) === 0) await trial.reopen()
  // Some read while the chain moves on.
  const page = trial.draw(2) === 0 ? listeners[trial.draw(listeners.length)]!.page(trial.changes) : undefined
  const moved = trial.move()
  const read = await page
  await moved
  read?.()
  for (const listener of listeners) if (trial.draw(3) > 0) await listener.readAll(trial.changes)
}

const placeOf: PlaceOf = (hash, { logIndex, batchIndex }) => `${hash} ${logIndex} ${batchIndex}`
const signer = new PositionSigner(new Uint8Array(32).fill(7))

/** What was sent last, and may have arrived. */
type Unsure = { end: string; told: Change[] }
type Change = { state: ChangeState; id: string; block: number }

function changesIn({ state, rows, places }: ChangeRows): Change[] {
  return places.map(({ row, position }) => {
    const hash = Buffer.from(rows.stored.blockHashes.subarray(row * 32, row * 32 + 32)).toString('hex')
    return { state, id: placeOf(`0x${hash}` as Hash, position), block: position.block }
  })
}

function toldIn({ told }: ChangePage): Change[] {
  return told.flatMap(changesIn)
}

class Listener {
  readonly #trial: Trial
  readonly #filter: ChangeFilter
  readonly #kept: Kept
  #position!: string
  /** Acknowledgements of this one get lost. */
  readonly #isUnsure: boolean
  #unsure: Unsure | undefined
  /** Of when it was told everything. */
  #quiet: { changes: Changes; mark: ChangeMark } | undefined

  static async begin(trial: Trial, filter: ChangeFilter): Promise<Listener> {
    const fromBlock = trial.drawFrom()
    const listener = new Listener(trial, filter, fromBlock)
    listener.#keep(await trial.changes.begin(filter, fromBlock))
    return listener
  }

  private constructor(trial: Trial, filter: ChangeFilter, fromBlock: number | undefined) {
    this.#trial = trial
    this.#filter = filter
    this.#isUnsure = trial.draw(2) === 0
    this.#kept = new Kept(trial, { filter, fromBlock, placeOf, isUnsure: this.#isUnsure })
  }

  #keep(position: ChangePosition): void {
    this.#position = signer.seal(this.#filter, position)
  }

  /** Reads one page and answers what takes it in. */
  async page(changes: Changes): Promise<() => boolean> {
    this.#quiet = undefined
    const position = signer.open(this.#filter, this.#position) as ChangePosition
    if (this.#unsure !== undefined) return await this.#pageAgain(changes, position, this.#unsure)
    const page = await changes.after(this.#filter, position, 1 + this.#trial.draw(6))
    return () => ('fromBlock' in page ? this.#forget(page) : this.#take(page))
  }

  /** After an answer that got lost, or of which only the acknowledgement was: the same again, or what became of it. */
  async #pageAgain(changes: Changes, before: ChangePosition, { end, told }: Unsure): Promise<() => boolean> {
    const upTo = signer.open(this.#filter, end) as ChangePosition
    const same = await changes.after(this.#filter, before, told.length, upTo)
    const isSame = 'told' in same && isDeepStrictEqual(toldIn(same), told)
    if (!isSame) {
      const unsure = maybeTold(this.#filter, before, upTo)
      if (unsure !== undefined) this.#keep(unsure)
      else {
        const gone = await changes.restart(this.#filter, before)
        this.#kept.mayBeGone = true
        this.#forget(gone)
      }
    } else if (this.#trial.draw(2) === 0) {
      this.#hearAll(same.told)
      this.#position = end
    }
    if (!isSame || this.#position === end) this.#unsure = undefined
    return () => true
  }

  #hearAll(told: readonly ChangeRows[]): void {
    for (const { state, block, id } of told.flatMap(changesIn)) this.#kept.hear(state, id, block)
  }

  #forget({ fromBlock, next }: ChangesGone): boolean {
    this.#kept.forget(fromBlock)
    this.#keep(next)
    return true
  }

  #take(page: ChangePage): boolean {
    const { told, next, more } = page
    for (const rows of told) {
      expect(rows.places).toHaveLength(rows.rows.length)
      if (this.#isUnsure && this.#trial.draw(4) === 0) {
        this.#unsure = { end: signer.seal(this.#filter, next), told: toldIn(page) }
        if (this.#trial.draw(2) === 0) this.#hearAll(told)
        return true
      }
      for (const [at, { state, id, block }] of changesIn(rows).entries()) {
        this.#kept.hear(state, id, block)
        // The connection ends here, and what comes behind is told again.
        if (this.#trial.draw(10) > 0) continue
        this.#keep(rows.behind(at))
        return true
      }
    }
    this.#keep(next)
    return more
  }

  /** Nothing is read where the mark says that there is nothing, and then the listener has all the same. */
  async readAll(changes: Changes): Promise<void> {
    const known = this.#quiet?.changes === changes ? this.#quiet.mark : undefined
    const mark = await changes.mark(this.#filter, known)
    if (mark !== known) {
      for (let pages = 0; (await this.page(changes))(); pages++) expect(pages).toBeLessThan(500)
      const position = signer.open(this.#filter, this.#position) as ChangePosition
      this.#quiet = { changes, mark: quietMark(mark, position, this.#filter) }
      this.#kept.mayBeGone = false
    }
    this.#kept.check()
  }
}
