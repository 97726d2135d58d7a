// One transaction of a chain.

export function TransactionPage({ chain, hash }: { chain: string; hash: string }) {
  return (
    <h1>
      {chain} transaction {hash}
    </h1>
  )
}
