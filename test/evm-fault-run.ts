// One seeded run: a chain that mines and reorganises, endpoints that fail in several ways, an index process that is killed at random
// moments. In the end the faults stop, and the store must hold what the simulator knows, row for row.

import { setTimeout as delay } from 'node:timers/promises'
import { ethereumHeaders } from '../src/chains.ts'
import { missingIntervals } from '../src/coverage.ts'
import type { Address, ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import {
  addressesWithActivity,
  expectContractTruth,
  expectFullTruth,
  expectHotAndColdApart,
  expectNothingWrong,
  expectSentTruth,
  isTold,
} from './evm-fault-checks.ts'
import { Dice, type FaultPlan, planOf } from './evm-fault-plan.ts'
import { type ChildQuestion, type ChildSetup, IndexProcess } from './evm-fault-process.ts'
import { simulatedChain, truthByContract } from './evm-harness.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { makeStory } from './sim/story.ts'
import { expectedActivity, expectedSent } from './sim/truth.ts'

export type FaultRunReport = { plan: FaultPlan; head: number; faultsFired: number; reorganisations: number; ms: number }

const catchUpMs = 30_000

/** Into a new and empty store. */
export async function runWithFaults(seed: number, storeUrl: string): Promise<FaultRunReport> {
  const plan = planOf(seed)
  const startedAt = performance.now()
  const node = await startSimNode({ chain: plan.chain, endpoints: plan.faults.map(faults => ({ faults })) })
  const run = new FaultRun(plan, node, storeUrl)
  try {
    await run.story()
    await run.end()
    return {
      plan,
      head: node.chain.head,
      faultsFired: node.endpoints.flatMap(({ fired }) => [...fired.values()]).reduce((sum, count) => sum + count, 0),
      reorganisations: node.chain.branches.length - 1,
      ms: Math.round(performance.now() - startedAt),
    }
  } catch (error) {
    throw new Error(
      `seed ${seed}: ${error instanceof Error ? error.message : String(error)}\n${JSON.stringify(plan)}`,
      {
        cause: error,
      },
    )
  } finally {
    await run.kill()
    await node.close()
  }
}

class FaultRun {
  readonly #plan: FaultPlan
  readonly #node: SimNode
  readonly #setup: ChildSetup
  readonly #dice: Dice
  readonly #contracts: Address[]
  readonly #wallets: Address[]
  #child: IndexProcess

  constructor(plan: FaultPlan, node: SimNode, storeUrl: string) {
    this.#plan = plan
    this.#node = node
    this.#dice = new Dice(plan.seed ^ 0x5107)
    const known = [...truthByContract(node.chain, { from: 0, to: node.chain.head }).keys()]
    this.#contracts = [...new Set(Array.from({ length: 4 }, () => this.#dice.one(known)))]
    const senders = node.chain.block(Math.ceil(node.chain.head / 2)).transactions.map(({ from }) => from as Address)
    this.#wallets = [...new Set(senders)].slice(0, 2)
    const chain = simulatedChain(node)
    this.#setup = {
      chain: { ...chain, quirks: plan.ethereumHeaders ? { headers: ethereumHeaders } : {} },
      index: plan.mode === 'on-demand' ? 'on-demand' : 'full',
      from: plan.from,
      contracts: plan.mode === 'on-demand' && this.#dice.chance(50) ? this.#contracts.slice(0, 1) : [],
      storeUrl,
      urls: node.endpoints.map(({ url }) => url),
    }
    this.#child = new IndexProcess(this.#setup)
  }

  async story(): Promise<void> {
    const { moves, kills, seed } = this.#plan
    const { chain } = this.#node
    const story = makeStory({ seed, depthMax: chain.options.finalityDepth })
    const killAt = new Set(Array.from({ length: kills }, () => this.#dice.below(moves)))
    await this.#child.ready
    for (let move = 0; move < moves; move++) {
      this.#node.tell([story.next().value])
      if (this.#plan.mode === 'on-demand' && this.#dice.chance(30)) this.#askSomething()
      await delay(this.#dice.between(0, 80))
      if (!killAt.has(move)) continue
      await this.#child.kill()
      await this.#check(store => expectNothingWrong(store, chain))
      // Long absences: what was hot is final by now, or gone.
      if (this.#dice.chance(40)) this.#node.mine(this.#dice.between(1, 3 * chain.options.finalityDepth))
      this.#child = new IndexProcess(this.#setup)
      // Killed while it starts, or a while later.
      if (this.#dice.chance(70)) await this.#child.ready
    }
    await delay(this.#dice.between(0, 300))
  }

  async end(): Promise<void> {
    const { plan } = { plan: this.#plan }
    const { chain } = this.#node
    const id = chain.options.chainId as ChainId
    for (const endpoint of this.#node.endpoints) endpoint.faults = endpoint.faults.filter(isLasting)
    if (this.#dice.chance(50)) await this.#child.kill().then(() => (this.#child = new IndexProcess(this.#setup)))
    await this.#caughtUp()
    await this.kill()
    await this.#check(async store => {
      await expectNothingWrong(store, chain)
      if (plan.mode !== 'on-demand') {
        await expectFullTruth(store, chain, plan.from)
        const addresses = expectedActivity(chain, { from: plan.from, to: chain.head }).size
        const stored = await addressesWithActivity(store, id, this.#setup.storeUrl)
        if (stored !== addresses) throw new Error(`${stored} addresses have activity instead of ${addresses}`)
      } else {
        const truth = truthByContract(chain, { from: plan.from, to: chain.head })
        for (const contract of this.#contracts)
          await expectContractTruth(store, chain, contract, truth.get(contract) ?? [])
        for (const wallet of this.#wallets) await expectSentTruth(store, chain, wallet)
      }
      await expectHotAndColdApart(store, id, this.#setup.storeUrl)
    })
  }

  async kill(): Promise<void> {
    await this.#child.kill()
  }

  async #check(look: (store: Store) => Promise<void>): Promise<void> {
    const store = await openStore(this.#setup.storeUrl, { role: 'tool' })
    try {
      await look(store)
    } finally {
      await store.close()
    }
  }

  /** A question that nobody waits for, as by a client that hung up. */
  #askSomething(): void {
    const question: ChildQuestion = this.#dice.chance(70)
      ? { ask: 'contract', address: this.#dice.one(this.#contracts), waitMs: 1_000 }
      : { ask: 'wallet', address: this.#dice.one(this.#wallets), waitMs: 1_000 }
    this.#child.ask(question).catch(() => {})
  }

  async #caughtUp(): Promise<void> {
    const deadline = performance.now() + catchUpMs
    const { chain } = this.#node
    const id = chain.options.chainId as ChainId
    for (;;) {
      let status = await this.#child.ask({ ask: 'status' })
      if (this.#plan.mode === 'on-demand') {
        for (const address of this.#contracts) await this.#child.ask({ ask: 'contract', address, waitMs: 2_000 })
        for (const address of this.#wallets) status = await this.#child.ask({ ask: 'wallet', address, waitMs: 2_000 })
      }
      const live = status.state === 'live' && status.complete && status.head === chain.head && status.lag_seconds === 0
      const lacking = await this.#lacking(id)
      if (live && lacking.length === 0) return
      if (performance.now() > deadline) {
        const shown = {
          ...status,
          covered: status.covered.slice(0, 12),
          sim: { head: chain.head, final: chain.finalized },
          lacking,
        }
        throw new Error(`not caught up: ${JSON.stringify(shown)}`)
      }
      await delay(30)
    }
  }

  /** What the store does not have yet, in words. */
  async #lacking(id: ChainId): Promise<string[]> {
    const { chain } = this.#node
    const lacking: string[] = []
    await this.#check(async store => {
      const scopes = this.#plan.mode === 'on-demand' ? this.#contracts : (['full'] as const)
      for (const scope of scopes) {
        const covered = scope === 'full' ? await store.coverage(id, scope) : await store.contractCoverage(id, scope)
        for (const { from, to } of missingIntervals(covered, { from: this.#plan.from, to: chain.head }))
          lacking.push(`${scope} from ${from} to ${to}`)
      }
      if (this.#plan.mode === 'on-demand')
        for (const wallet of this.#wallets) if (!(await this.#knowsWallet(store, wallet))) lacking.push(wallet)
      // A branch of the same length may have replaced the one that is stored.
      const head = (await store.chainState(id))?.head
      if (head?.hash !== chain.hashOf(chain.head)) lacking.push(`the head, which is ${head?.number} ${head?.hash}`)
      for (const { number, hash } of await store.hotBlocks(id))
        if (chain.hashOf(number) !== hash) lacking.push(`recent block ${number}, which is ${hash}`)
    })
    return lacking
  }

  /** A look-up that ran out of time leaves what an earlier one found. */
  async #knowsWallet(store: Store, wallet: Address): Promise<boolean> {
    const { chain } = this.#node
    const sent = expectedSent(chain, wallet)
    if (sent === undefined || !(await isTold(store, chain, sent.last.block))) return true
    const found = (await store.activityOf(wallet)).get(chain.options.chainId as ChainId)
    return found?.last.hash === sent.last.hash && found.last.block === sent.last.block
  }
}

/** What stays when the story has ended: an endpoint's nature is no fault of the moment. */
function isLasting({ kind }: { kind: string }): boolean {
  return ['wrong-chain-id', 'method-missing', 'range-limit', 'batch-limit', 'pruned', 'no-finalized'].includes(kind)
}
