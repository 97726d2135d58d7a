// Which of the busiest contracts the examples are of: one that is the same at the next visit, whatever moved meanwhile. Pure.
type Listed = { address: string; verified_collection: boolean; possible_spam: boolean }

/** A verified one where there is one, and spam last; of several the first by address. */
export function steadyContract<Contract extends Listed>(contracts: readonly Contract[]): Contract | undefined {
  const rank = ({ verified_collection, possible_spam }: Contract): number =>
    (verified_collection ? 0 : 1) + (possible_spam ? 2 : 0)
  return contracts.toSorted((a, b) => rank(a) - rank(b) || (a.address < b.address ? -1 : 1))[0]
}
