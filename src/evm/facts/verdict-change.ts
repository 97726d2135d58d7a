// Whether what is known of a contract now differs enough from what is stored. It writes nothing.
import type { ContractFacts } from '../../store/contract-facts-store.ts'

/** Every write makes other processes read anew, so numbers that moved a little are not worth one. */
export function isWorthWriting(before: ContractFacts | undefined, after: ContractFacts): boolean {
  if (before === undefined || before.name !== after.name || before.symbol !== after.symbol) return true
  if (before.possibleSpam !== after.possibleSpam || before.reading?.readAtMs !== after.reading?.readAtMs) return true
  if (before.reading?.createdBlock !== after.reading?.createdBlock) return true
  const [old, now] = [before.verdict, after.verdict]
  if (old?.rulesVersion !== now?.rulesVersion || old?.score !== now?.score) return true
  const names = (facts: ContractFacts) => facts.verdict?.reasons.map(({ rule }) => rule).join()
  return names(before) !== names(after) || hasGrown(old?.transfers ?? 0, now?.transfers ?? 0)
}

/** By a tenth or more, or has shrunk as much. */
export function hasGrown(before: number, after: number): boolean {
  return !(Math.abs(after - before) * 10 <= before)
}
