// One made-up collection: its transactions in blocks, and a contract that answers `eth_call` from what they did, truly or not.
import { pad, type SimEvent, topic, zero } from '../sim/events.ts'
import { bytesOfHex, integerBytes, keccak, rlp } from '../sim/rlp.ts'
import type { ScenarioContract, ScenarioTransaction } from '../sim/scenario.ts'

/** `true`: as the events say. `none`: it knows no holders. `own`: the maker holds everything. `all`: everybody holds everything. */
export type StateKind = 'true' | 'none' | 'own' | 'all'

export type CollectionFacts = {
  kind: string
  isSpam: boolean
  standard: 'ERC721' | 'ERC1155'
  name: string
  symbol: string
  maker: string
  deployedAt: number
  state: StateKind
}

export type Move = { from: string; to: string; id: bigint; amount?: bigint }

type Placed = ScenarioTransaction & { block: number }

export class Collection implements ScenarioContract {
  readonly facts: CollectionFacts
  readonly address: string
  readonly deployedAt: number
  readonly transactions: Placed[] = []
  readonly #moves: (Move & { block: number })[] = []
  #nextId = 1n
  #nonce = 1

  constructor(facts: CollectionFacts) {
    this.facts = facts
    this.deployedAt = facts.deployedAt
    this.address = createdBy(facts.maker)
    const created = { from: facts.maker, to: null, created: this.address, nonce: 0, value: 0n, events: [] }
    this.transactions.push({ ...created, block: facts.deployedAt })
  }

  newId(): bigint {
    return this.#nextId++
  }

  /** One transaction with all the moves. */
  add(block: number, sender: string, moves: readonly Move[], value = 0n): void {
    const events = moves.map(move => this.#event(sender, move))
    for (const move of moves) this.#moves.push({ ...move, block })
    this.transactions.push({
      ...{ from: sender, to: this.address, created: null, nonce: this.#nonce++, value, events, block },
    })
  }

  get transferCount(): number {
    return this.#moves.length
  }

  #event(operator: string, { from, to, id, amount = 1n }: Move): SimEvent {
    const parties = { contract: this.address, from, to, id }
    return this.facts.standard === 'ERC721'
      ? { type: 'erc721', ...parties }
      : { type: 'single', ...parties, operator, amount }
  }

  answer(data: string, block: number): string | undefined {
    const argument = (at: number) => data.slice(10 + 64 * at, 74 + 64 * at)
    const address = (at: number) => `0x${argument(at).slice(24)}`
    switch (data.slice(0, 10)) {
      case '0x06fdde03':
        return textAnswer(this.facts.name)
      case '0x95d89b41':
        return textAnswer(this.facts.symbol)
      case '0x01ffc9a7':
        return topic(this.#declared.includes(argument(0).slice(0, 8)) ? 1n : 0n)
      case '0x6352211e':
        return this.facts.standard === 'ERC721' ? this.#ownerOf(BigInt(`0x${argument(0)}`), block) : undefined
      case '0x70a08231':
        return this.facts.standard === 'ERC721' ? topic(this.#balance(address(0), undefined, block)) : undefined
      case '0x00fdd58e':
        return this.facts.standard === 'ERC1155'
          ? topic(this.#balance(address(0), BigInt(`0x${argument(1)}`), block))
          : undefined
      default:
        return undefined
    }
  }

  get #declared(): readonly string[] {
    return this.facts.standard === 'ERC721' ? ['01ffc9a7', '80ac58cd', '5b5e139f'] : ['01ffc9a7', 'd9b67a26']
  }

  #ownerOf(id: bigint, block: number): string | undefined {
    if (this.facts.state === 'own') return pad(this.facts.maker)
    if (this.facts.state === 'none') return undefined
    const last = this.#moves.findLast(move => move.id === id && move.block <= block)
    return last === undefined || last.to === zero ? undefined : pad(last.to)
  }

  #balance(holder: string, id: bigint | undefined, block: number): bigint {
    const { state, maker } = this.facts
    if (state === 'all') return 1n
    if (state === 'none') return 0n
    if (state === 'own') return holder === maker ? 10_000n : 0n
    let balance = 0n
    for (const move of this.#moves) {
      if (move.block > block || (id !== undefined && move.id !== id)) continue
      if (move.to === holder) balance += move.amount ?? 1n
      if (move.from === holder) balance -= move.amount ?? 1n
    }
    return balance
  }
}

function textAnswer(text: string): string {
  const bytes = Buffer.from(text).toString('hex')
  const length = topic(BigInt(bytes.length / 2)).slice(2)
  return `${topic(32n)}${length}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`
}

/** By the first transaction of an address. */
function createdBy(maker: string): string {
  return `0x${keccak(rlp([bytesOfHex(maker), integerBytes(0)]))
    .subarray(12)
    .toString('hex')}`
}
