// What the calls of a plan cost at a provider that asks a price for them. Pure.
import { AlmanacError } from '../../errors.ts'

/** In whatever money the reader pays in. */
export type Priced = {
  per_million_calls: number
  total: number
  chains: Record<string, number>
}

export function parsePrice(text: string): number {
  const price = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0
  if (price > 0) return price
  throw new AlmanacError('bad_request', `--price is ${JSON.stringify(text)}.`, {
    hint: 'pass what a million calls cost, as a number such as 5 or 0.45.',
  })
}

export function pricedCalls(perMillion: number, calls: Readonly<Record<string, number>>): Priced {
  const chains = Object.fromEntries(Object.entries(calls).map(([name, count]) => [name, costOf(count, perMillion)]))
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0)
  return { per_million_calls: perMillion, total: costOf(total, perMillion), chains }
}

function costOf(calls: number, perMillion: number): number {
  return Math.round(calls * perMillion) / 1_000_000
}

/** `areSummed`: whether all of them would be paid. */
export function priceText({ per_million_calls: perMillion, total, chains }: Priced, { areSummed = true } = {}): string {
  const each = Object.entries(chains).map(([name, cost]) => `${name} ${moneyText(cost)}`)
  const parts = each.length < 2 && areSummed ? '' : `${areSummed ? ': ' : ' '}${each.join(', ')}`
  return `Cost at ${perMillion} per million calls: ${areSummed ? `about ${moneyText(total)}` : 'about'}${parts}.`
}

/** For the sentence that ends with the calls. */
export function shortPriceText({ per_million_calls: perMillion, total }: Priced): string {
  return ` (about ${moneyText(total)} at ${perMillion} per million)`
}

function moneyText(cost: number): string {
  if (cost > 0 && cost < 0.01) return '0.01 or less'
  return cost.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
}
