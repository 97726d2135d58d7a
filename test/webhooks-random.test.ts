// Receivers of webhooks on random histories: each keeps the ids that it is told, and has what the store has once it is
// told everything, though receivers fail, hang, lose acknowledgements and are down for hours, and senders are killed.
// `npm run soak:changes` takes many more seeds.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reachRules } from '../src/api/evm/webhooks/delivery.ts'
import { WebhookSender } from '../src/api/evm/webhooks/sender.ts'
import { secretOf } from '../src/api/evm/webhooks/signature.ts'
import { filterText } from '../src/api/evm/webhooks/webhook-filter.ts'
import { ChainTable } from '../src/chains.ts'
import { AlmanacError } from '../src/errors.ts'
import { issueKey } from '../src/keys/keys.ts'
import { createLog } from '../src/log.ts'
import { createWebhookMetrics } from '../src/metrics.ts'
import { PositionSigner } from '../src/query/changes/position.ts'
import { KnownLabels } from '../src/query/known-labels.ts'
import { transferReads } from '../src/query/nft-transfers.ts'
import { openStore } from '../src/store/open.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import { chain, Kept, type PlaceOf, Trial } from './changes-trial.ts'
import { isRelease } from './release-runs.ts'
import { type Behaviour, type Receiver, ReceiverServer } from './webhook-receiver.ts'

const runs = Number(process.env.WEBHOOK_RUNS ?? (isRelease ? 40 : 2))
const firstSeed = Number(process.env.CHANGES_SEED ?? Math.floor(Math.random() * 1_000_000))
const stepsPerRun = 24
const stepsPerRest = 4
const leaseMs = 200
const hourMs = 3_600_000
const minuteMs = 60_000

let server: ReceiverServer
let folder: string
beforeAll(async () => {
  server = await ReceiverServer.open()
  folder = mkdtempSync(join(tmpdir(), 'almanac-webhooks-'))
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

test.each(Array.from({ length: runs }, (_, at) => firstSeed + at))('seed %s', { timeout: 120_000 }, async seed => {
  const path = join(folder, `${seed}.db`)
  const trial = new Trial(() => openSqliteStore(path, { role: 'owner', foldBlocks: 1 + (seed % 4) }), seed)
  await trial.start()
  const clock = { aheadMs: 0 }
  const listeners = await listen(trial, seed)
  let sender = await KillableSender.start(path, clock)
  try {
    for (let step = 1; step <= stepsPerRun; step++) {
      for (const { receiver } of listeners) if (trial.draw(3) === 0) receiver.behaviour = behaviours[trial.draw(6)]!
      if (trial.draw(10) === 0) clock.aheadMs += hourMs
      if (trial.draw(6) === 0) {
        await sender.kill()
        sender = await KillableSender.start(path, clock)
      }
      if (trial.draw(12) === 0) await trial.reopen()
      await trial.move()
      if (step % stepsPerRest === 0) await rest(listeners, clock)
      else await new Promise(resolve => setTimeout(resolve, trial.draw(120)))
    }
    expect(server.failures).toEqual([])
  } finally {
    await sender.kill()
    await trial.store.close()
  }
})

const behaviours: readonly Behaviour[] = ['ok', 'ok', 'slow', 'fails', 'resets', 'lost']

/** As `change-json.ts` makes ids. */
const idAt: PlaceOf = (hash, { transactionIndex, logIndex, batchIndex }) => {
  const place = [chain, hash, transactionIndex, logIndex, batchIndex].join('/')
  return createHash('sha256').update(place).digest('hex').slice(0, 32)
}

type Listening = { receiver: Receiver; kept: Kept }

/** Half of the filters of the run, each with a webhook. */
async function listen(trial: Trial, seed: number): Promise<Listening[]> {
  const { store } = trial
  const { key } = await issueKey(store, { name: 'listener', scopes: ['webhooks'] })
  const signer = new PositionSigner(store.secret)
  const listeners: Listening[] = []
  for (const filter of trial.filters.filter(() => trial.draw(2) === 0)) {
    const fromBlock = trial.drawFrom()
    const id = `wh_${seed}_${listeners.length}`
    const receiver = server.add(`/${id}`)
    receiver.secret = secretOf(store.secret, { id, secret: 1 })
    const kept = new Kept(trial, { filter, fromBlock, placeOf: idAt, isUnsure: true })
    // Also where too many answers in a row got lost.
    kept.mayBeGone = true
    const bodies = new Map<string, string>()
    receiver.onBody = ({ id: batch, body }) => {
      const told = JSON.stringify(body.type === 'changes' ? body.changes.map(({ id, state }) => [id, state]) : body)
      // The same id is the same batch.
      expect(bodies.get(batch) ?? told).toBe(told)
      bodies.set(batch, told)
      if (body.type === 'gone') kept.forget(body.from_block)
      else for (const { id, state, block_number } of body.changes) kept.hear(state, id, block_number)
    }
    const position = signer.seal(filter, await trial.changes.begin(filter, fromBlock))
    const webhook = {
      ...{ id, keyId: key.id, name: id, url: `${server.url}/${id}`, filter: filterText(filter), createdAt: seed },
      ...{ paused: false, secret: 1, oldSecretUntil: undefined },
    }
    await store.addWebhook(webhook, position, { ofKeys: [key.id], count: 100 })
    listeners.push({ receiver, kept })
  }
  return listeners
}

/** Every receiver is well, and what failed is tried again: then each has what the store has. */
async function rest(listeners: readonly Listening[], clock: { aheadMs: number }): Promise<void> {
  for (const { receiver } of listeners) receiver.behaviour = 'ok'
  const differing = () => {
    // An attempt that failed just now is due again too.
    clock.aheadMs += minuteMs
    expect(server.failures).toEqual([])
    const pairs = listeners.map(({ kept, receiver }) => [receiver.path, ...kept.hasAndIs()] as const)
    return pairs.find(([, has, is]) => JSON.stringify(has) !== JSON.stringify(is))
  }
  await expect.poll(differing, { timeout: 15_000, interval: 20 }).toBeUndefined()
  for (const { kept } of listeners) kept.check()
}

/** Killed, it writes nothing more and gives nothing back, and nobody hears the answers that it gets. */
class KillableSender {
  readonly #store: Store
  readonly #sender: WebhookSender
  readonly #life: { isOver: boolean }

  static async start(path: string, clock: { aheadMs: number }): Promise<KillableSender> {
    return new KillableSender(await openStore(`file:${path}`, { role: 'reader' }), clock)
  }

  private constructor(store: Store, clock: { aheadMs: number }) {
    const life = { isOver: false }
    const mortal: Store = {
      ...store,
      release: async lease => (life.isOver ? undefined : await store.release(lease)),
      fenced: lease => {
        const writer = store.fenced(lease)
        return {
          ...writer,
          putProgress: async (...written) => {
            if (life.isOver) throw new AlmanacError('conflict', 'killed')
            await writer.putProgress(...written)
          },
        }
      },
    }
    this.#store = store
    this.#life = life
    this.#sender = new WebhookSender({
      ...{ store: mortal, chains: new ChainTable(), dialect: 'live', leaseMs },
      reads: transferReads(store, new KnownLabels(store, () => store.revision())),
      rules: reachRules({ allowPrivate: true, allowHttp: true }),
      log: createLog({ level: 'error', format: 'json', write: () => {} }),
      metrics: createWebhookMetrics(),
      holder: `sender ${Math.random()}`,
      nowMs: () => Date.now() + clock.aheadMs,
    })
  }

  async kill(): Promise<void> {
    this.#life.isOver = true
    await this.#sender.close()
    await this.#store.close()
  }
}
