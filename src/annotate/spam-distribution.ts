// How a contract's tokens reached their holders, as shares and counts for the rules. Pure: it works on a sample of
// stored transfers.
//
// The numbers are computed from stored rows whenever those change, not kept as counters: a reorganisation takes nothing
// back, a crash leaves nothing wrong, rows stay as small, and a new rule needs no new history. It costs half a
// millisecond for each changed contract.
import { type Address, type SentBy, type TransferFacts, zeroAddress } from '../model.ts'

export type SampledTransfer = Pick<TransferFacts, 'from' | 'to' | 'tokenId' | 'value' | 'transactionHash'> & {
  sentBy?: SentBy
  timestamp: number
}

export type DistributionEvidence = {
  /** The share of received transfers that one source made unasked: the recipient did not send the transaction. */
  unsolicitedShare: number
  /** The share of received transfers whose recipient sent the transaction. */
  solicitedShare: number
  /** How many received from that source unasked. */
  recipients: number
  /** The most of them within an hour. */
  burstRecipients: number
  recipientsPerTransaction: number
  /** Recipients for each unasked transfer: 1 where each got one. */
  oneEachShare: number
  /** The share of unasked transfers whose transaction moved no money. */
  zeroValueShare: number
  /** The share of unasked transfers with the most frequent token. */
  sameTokenShare: number
  /** The share of recipients who later gave the token away. */
  respondedShare: number
  /** Since the last unasked transfer, by the chain's own clock. */
  quietHours: number
}

const hourSeconds = 3_600

export const noDistribution: DistributionEvidence = {
  ...{ unsolicitedShare: 0, solicitedShare: 0, recipients: 0, burstRecipients: 0, recipientsPerTransaction: 0 },
  ...{ oneEachShare: 0, zeroValueShare: 0, sameTokenShare: 0, respondedShare: 0, quietHours: 0 },
}

/** `sample` in any order; rows without a known sender do not count. */
export function distributionEvidence(sample: readonly SampledTransfer[], nowSeconds: number): DistributionEvidence {
  const arrived = sample.filter(({ to, sentBy }) => to !== zeroAddress && sentBy !== undefined)
  const unasked = arrived.filter(({ from, to, sentBy }) => sentBy !== 'recipient' && from !== to)
  const source = widestSource(unasked)
  // What the source receives to give out does not count.
  const received = arrived.filter(({ to }) => to !== source)
  if (received.length === 0) return noDistribution
  const solicited = received.filter(({ sentBy }) => sentBy === 'recipient').length
  const given = unasked.filter(({ from }) => from === source)
  if (given.length === 0) return { ...noDistribution, solicitedShare: solicited / received.length }
  const recipients = new Set(given.map(({ to }) => to))
  const transactions = new Set(given.map(({ transactionHash }) => transactionHash))
  const responded = new Set(sample.filter(({ from }) => recipients.has(from)).map(({ from }) => from))
  const last = given.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0)
  return {
    unsolicitedShare: given.length / received.length,
    solicitedShare: solicited / received.length,
    recipients: recipients.size,
    burstRecipients: mostWithinAnHour(given),
    recipientsPerTransaction: distinctPairs(given) / transactions.size,
    oneEachShare: recipients.size / given.length,
    zeroValueShare: given.filter(({ value }) => value === 0n).length / given.length,
    sameTokenShare: (mostFrequent(given.map(({ tokenId }) => tokenId))?.count ?? 0) / given.length,
    respondedShare: responded.size / recipients.size,
    quietHours: Math.max(0, (nowSeconds - last) / hourSeconds),
  }
}

/**
 * The address that gave to most others. The zero address is not it where tokens are minted to a stock and then given
 * out.
 */
function widestSource(unasked: readonly SampledTransfer[]): Address | undefined {
  const recipients = new Map<Address, Set<Address>>()
  let widest: Address | undefined
  for (const { from, to } of unasked) {
    const known = recipients.get(from) ?? new Set()
    recipients.set(from, known.add(to))
    if (known.size > (recipients.get(widest ?? from)?.size ?? 0) || widest === undefined) widest = from
  }
  return widest
}

function mostFrequent<T>(values: readonly T[]): { value: T; count: number } | undefined {
  const counts = new Map<T, number>()
  let best: { value: T; count: number } | undefined
  for (const value of values) {
    const count = (counts.get(value) ?? 0) + 1
    counts.set(value, count)
    if (best === undefined || count > best.count) best = { value, count }
  }
  return best
}

/** Recipients of each transaction, added up. */
function distinctPairs(given: readonly SampledTransfer[]): number {
  return new Set(given.map(({ to, transactionHash }) => `${to}${transactionHash}`)).size
}

/** The most recipients in any hour, by a sliding window. */
function mostWithinAnHour(given: readonly SampledTransfer[]): number {
  const sorted = given.toSorted((a, b) => a.timestamp - b.timestamp)
  const counts = new Map<Address, number>()
  let most = 0
  let start = 0
  for (const { to, timestamp } of sorted) {
    counts.set(to, (counts.get(to) ?? 0) + 1)
    for (let first = sorted[start]!; timestamp - first.timestamp > hourSeconds; first = sorted[++start]!) {
      const left = counts.get(first.to)! - 1
      if (left === 0) counts.delete(first.to)
      else counts.set(first.to, left)
    }
    most = Math.max(most, counts.size)
  }
  return most
}
