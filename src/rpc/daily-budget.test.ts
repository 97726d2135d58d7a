import { expect, test } from 'vitest'
import { BudgetKeeper, DailyBudget } from './daily-budget.ts'

test('a daily budget counts from midnight to midnight UTC', () => {
  let now = Date.UTC(2025, 0, 31, 23, 59, 59)
  const budget = new DailyBudget(2, { now: () => now })
  const spend = () => {
    if (budget.left > 0) return budget.use(1) === undefined
    return false
  }
  expect([spend(), spend(), spend()]).toEqual([true, true, false])
  expect(budget.renewsInMs).toBe(1_000)
  now += 999
  expect(spend()).toBe(false)
  now += 1
  expect([spend(), spend(), spend()]).toEqual([true, true, false])
  expect(budget.renewsInMs).toBe(86_400_000)
})

test('what was spent survives a restart, is shared with other processes, and ends at midnight', async () => {
  let now = Date.UTC(2025, 0, 31, 12)
  const kept = new Map<string, string>()
  const checkpoints = {
    checkpoint: async (name: string) => kept.get(name),
    putCheckpoint: async (name: string, value: string) => void kept.set(name, value),
  }
  const start = async () => {
    const budget = new DailyBudget(10, { now: () => now }, 'chains.eth.daily_budget')
    const keeper = new BudgetKeeper(budget, checkpoints, 5)
    await expect.poll(() => budget.unkept.calls).toBe(0)
    return { budget, keeper }
  }
  const first = await start()
  first.budget.use(7)
  await first.keeper.close()
  const [second, third] = [await start(), await start()]
  await expect.poll(() => second.budget.left).toBe(3)
  second.budget.use(2)
  await expect.poll(() => third.budget.left).toBe(1)
  now += 43_200_000
  expect([second.budget.left, third.budget.left]).toEqual([10, 10])
  third.budget.use(4)
  await third.keeper.close()
  await expect.poll(() => second.budget.left).toBe(6)
  await second.keeper.close()
  expect([...kept.keys()]).toEqual(['budget/chains.eth.daily_budget'])
})
