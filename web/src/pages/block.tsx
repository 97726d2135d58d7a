// One block of a chain.

export function BlockPage({ chain, number }: { chain: string; number: string }) {
  return (
    <h1>
      {chain} block {number}
    </h1>
  )
}
