import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryStore } from '../../../test/evm-harness.ts'
import { AlmanacError } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { createEvmMetrics } from '../../metrics.ts'
import type { Address, ChainId } from '../../model.ts'
import { RateBudget } from '../rate-budget.ts'
import type { RpcPort } from '../rpc/port.ts'
import { ContractAnnotator, ContractQueue } from './contract-annotator.ts'

const patience = { timeout: 30_000 }
const contract = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address

test('those that were asked for come first, then those that changed last; each once', () => {
  const queue = new ContractQueue()
  for (const index of [1, 2, 3, 2]) queue.change(contract(index))
  queue.ask(contract(9))
  queue.ask(contract(1))
  // A request pays for what it asks for, and for nothing else.
  expect(queue.take(3)).toEqual([contract(9), contract(1)])
  expect(queue.take(3)).toEqual([contract(3), contract(2)])
  expect(queue.length).toBe(0)
})

test('both lines are bounded', () => {
  const queue = new ContractQueue({ askedMax: 1, changedMax: 4 })
  expect([queue.ask(contract(1)), queue.ask(contract(2)), queue.ask(contract(1))]).toEqual([true, false, true])
  for (let index = 10; index < 100; index++) queue.change(contract(index))
  expect(queue.length).toBeLessThanOrEqual(9)
  expect([queue.take(2), queue.take(1)]).toEqual([[contract(1)], [contract(99)]])
})

test('requests pay for names that they ask for, and for no others; without means it is read in the background', async () => {
  const { store, remove } = await temporaryStore()
  onTestFinished(remove)
  const asked: [payer: string | undefined, contract: unknown][] = []
  const rpc: Pick<RpcPort, 'ask'> = {
    async ask(calls, { payer }) {
      const [{ to }] = calls[0]!.params as [{ to: unknown }]
      asked.push([payer?.id, to])
      if (payer !== undefined) throw new AlmanacError('budget_exceeded', 'used up')
      return { endpoint: 'node.example', values: calls.map(() => null), bytes: 0 }
    },
  }
  const annotator = new ContractAnnotator({
    ...{ chain: { id: 1 as ChainId, name: 'sim' }, store, rpc: rpc as RpcPort },
    ...{ budget: new RateBudget(Number.POSITIVE_INFINITY), metrics: createEvmMetrics() },
    log: createLog({ level: 'silent', format: 'text' }),
    pace: { restPerWork: 0, restPerWorkFilling: 0, retryDelayMs: { first: 1, max: 3_600_000 } },
  })
  annotator.start()
  onTestFinished(() => annotator.stop())
  annotator.changed([contract(1)])
  await vi.waitFor(() => expect(asked).toEqual([[undefined, contract(1)]]), patience)
  await annotator.ensure(contract(2), 10_000)
  const ofRequest: typeof asked = [
    ['', contract(2)],
    [undefined, contract(2)],
  ]
  await vi.waitFor(() => expect(asked.slice(1)).toEqual(ofRequest), patience)
})
