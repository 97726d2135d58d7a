// Clients of several API processes that read without a pause and hold every answer against the simulator: no row that never was, none
// twice, and none missing where the answer says that it is complete.
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, parseAddress } from '../src/model.ts'
import type { SimChain } from './sim/chain.ts'
import { type ExpectedTransfer, transfersOfBlock } from './sim/truth.ts'

type Row = Record<
  'block_number' | 'block_hash' | 'transaction_hash' | 'token_id' | 'from_address' | 'to_address' | 'amount',
  string
> & { log_index: number }
type Page = { result: Row[]; index_complete: boolean; cursor: string }

export type ApiAddress = { url: string; key: string }

export class ClusterLoad {
  readonly #chain: SimChain
  readonly #contracts: readonly Address[]
  readonly #running: Promise<void>[] = []
  readonly wrong: string[] = []
  answered = 0
  complete = 0
  refused = 0
  #ended = false

  constructor(chain: SimChain, contracts: readonly Address[]) {
    this.#chain = chain
    this.#contracts = contracts
  }

  /** `address` is asked for each time, because a process that is started again listens elsewhere. */
  begin(address: () => ApiAddress): void {
    this.#running.push(this.#read(address))
  }

  async end(): Promise<void> {
    this.#ended = true
    await Promise.all(this.#running)
  }

  async #read(address: () => ApiAddress): Promise<void> {
    for (let turn = 0; !this.#ended; turn++) {
      const contract = this.#contracts[turn % this.#contracts.length]!
      const final = this.#chain.finalized
      try {
        const page = await pageOf(address(), contract, 'limit=50', 4_000)
        this.answered += 1
        if (page.index_complete) this.complete += 1
        this.#check(contract, page, final)
      } catch (error) {
        if (!isOutage(error)) this.wrong.push(String(error))
        this.refused += 1
        await delay(50)
      }
      await delay(20)
    }
  }

  #check(contract: Address, { result, index_complete, cursor }: Page, final: number): void {
    const byBlock = Map.groupBy(result, row => row.block_hash)
    for (const [hash, rows] of byBlock) {
      const block = this.#chain.blockByHash(hash as ExpectedTransfer['blockHash'])
      if (block === undefined) this.wrong.push(`${contract}: unknown block ${hash}`)
      else if (!isPartOf(rows.map(keyOfRow), truthKeys(transfersOfBlock(block), contract)))
        this.wrong.push(`${contract}: rows that are not in block ${block.number} ${hash}`)
    }
    if (!index_complete) return
    // Final blocks above the last row of the page are on it whole; the lowest one may go on with the next page.
    const lowest = cursor === '' ? -1 : Number(result.at(-1)?.block_number ?? -1)
    // While indexers are away the chain goes on: what the index has not heard of yet it does not claim.
    const newest = result[0]
    const highest = Math.min(final, Number(newest?.block_number ?? -1))
    // Nor has it heard of a branch that replaced the one of its newest row meanwhile.
    if (newest !== undefined && this.#chain.block(Number(newest.block_number)).hash !== newest.block_hash) return
    for (let number = lowest + 1; number <= highest; number++) {
      if (!this.#chain.mayHaveLogs(contract, number)) continue
      const block = this.#chain.block(number)
      const wanted = truthKeys(transfersOfBlock(block), contract)
      const found = byBlock.get(block.hash) ?? []
      if (wanted.length !== found.length)
        this.wrong.push(`${contract}: ${found.length} of ${wanted.length} rows in final block ${number}`)
    }
  }
}

/** All rows of all pages, newest first. */
export async function everyRow(address: ApiAddress, contract: Address): Promise<{ keys: string[]; complete: boolean }> {
  const keys: string[] = []
  for (let query = 'limit=100'; ; ) {
    const { result, cursor, index_complete } = await pageOf(address, contract, query, 15_000)
    keys.push(...result.map(keyOfRow))
    if (cursor === '') return { keys, complete: index_complete }
    query = `cursor=${cursor}`
  }
}

/** As a page shows them: an ERC-2309 range is as many rows as it has tokens. */
export function truthKeys(transfers: readonly ExpectedTransfer[], contract: Address): string[] {
  return transfers
    .filter(transfer => transfer.contract === contract)
    .flatMap(({ idCount, tokenId, ...transfer }) =>
      Array.from({ length: idCount }, (_, at) =>
        keyOf({ ...transfer, tokenId: `${tokenId + BigInt(at)}`, amount: `${transfer.amount}` }),
      ),
    )
}

async function pageOf({ url, key }: ApiAddress, contract: Address, query: string, timeoutMs: number): Promise<Page> {
  const response = await fetch(`${url}/api/v2/nft/${contract}/transfers?chain=sim&${query}`, {
    headers: { 'x-api-key': key },
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
  return (await response.json()) as Page
}

/** A process or the database is away: refusals that say so are right, and so are connections that end. */
function isOutage(error: unknown): boolean {
  const text = `${error} ${(error as { cause?: unknown }).cause}`
  return /fetch failed|ECONN|terminated|timeout|status 50[34]/i.test(text)
}

function keyOfRow(row: Row): string {
  return keyOf({
    blockHash: row.block_hash,
    transactionHash: row.transaction_hash,
    logIndex: row.log_index,
    tokenId: row.token_id,
    from: parseAddress(row.from_address)!,
    to: parseAddress(row.to_address)!,
    amount: row.amount,
  })
}

type Keyed = Record<'blockHash' | 'transactionHash' | 'tokenId' | 'from' | 'to' | 'amount', string> & {
  logIndex: number
}

function keyOf({ blockHash, transactionHash, logIndex, tokenId, from, to, amount }: Keyed): string {
  return [blockHash, transactionHash, logIndex, tokenId, from, to, amount].join(' ')
}

function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  const left = new Map<string, number>()
  for (const key of all) left.set(key, (left.get(key) ?? 0) + 1)
  return some.every(key => {
    const count = left.get(key) ?? 0
    left.set(key, count - 1)
    return count > 0
  })
}
