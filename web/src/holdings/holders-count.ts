// Counts what each holder of a contract holds, from the lines of its whole list of tokens and holders. Pure.

export type Holder = { address: string; tokens: number; quantity: bigint }

export type HoldersCounted = {
  /** Those with the most first. */
  holders: readonly Holder[]
  /** A row for each token and holder. */
  rows: number
  quantity: bigint
  /** Whether every row was counted: otherwise the first `rows`, those that changed last. */
  isWhole: boolean
}

type Row = { owner_of: string; amount: string } | { complete: true }

/** Reads no further than `rowsMax` rows. Throws where the list breaks off before. */
export async function countHolders(texts: AsyncIterable<string>, rowsMax: number): Promise<HoldersCounted> {
  const byAddress = new Map<string, Holder>()
  let [rows, quantity] = [0, 0n]
  for await (const line of linesOf(texts)) {
    const row = JSON.parse(line) as Row
    const isWhole = 'complete' in row
    if (isWhole || rows === rowsMax) return { holders: [...byAddress.values()].sort(byMost), rows, quantity, isWhole }
    const amount = BigInt(row.amount)
    const holder = byAddress.get(row.owner_of) ?? { address: row.owner_of, tokens: 0, quantity: 0n }
    holder.tokens++
    holder.quantity += amount
    byAddress.set(row.owner_of, holder)
    rows++
    quantity += amount
  }
  throw new Error('The list broke off')
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

function byMost(a: Holder, b: Holder): number {
  if (a.quantity !== b.quantity) return a.quantity > b.quantity ? -1 : 1
  return b.tokens - a.tokens || (a.address < b.address ? -1 : 1)
}
