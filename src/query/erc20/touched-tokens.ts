// Which tokens a wallet touched, by the index: the newest touched first. What was found in final blocks is kept, so
// that a busy wallet is walked through once, by as many requests as that takes. It asks no node.
import { LRUCache } from 'lru-cache'
import type { Chain } from '../../chains.ts'
import { ledgerId } from '../../ledgers.ts'
import { type Address, type ChainId, type Interval, type Position, zeroAddress } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { type Claims, claimedIf, type Look, verdict } from '../claims.ts'
import type { HoldingsAdmission, Work } from '../holdings/holdings-admission.ts'
import type { Completeness, HoldingsOptions } from '../holdings/questions.ts'
import { visitAll, walletTransfers } from '../index-places.ts'

/** Of one wallet: a node is asked for each. */
export const walletTokensMax = 2_000
/** What finding the tokens of a wallet takes: a set of them, and the records that are read at once. */
const findingBytes = 2 ** 20
/** Tokens of all wallets, of some sixty bytes each. */
const keptMax = 250_000
const keptOfWallet = 10

/** `isCut`: it touched more. */
export type Touched = Completeness & { tokens: readonly Address[]; isCut: boolean }

/** Of final blocks, up to one of them. */
type Walked = {
  /** Of the rows of the chain, when it was read: others may lie below since. */
  rows: string
  upTo: number
  tokens: ReadonlySet<Address>
  /** The last place that was looked at, where older ones were not. */
  stoppedAt: Position | undefined
}

type Wallet = { ledger: ChainId; wallet: Address }
type Parts = { indexes: IndexReader; claims: Claims; admission: HoldingsAdmission }

export class TouchedTokens {
  readonly #parts: Parts
  readonly #walked = new LRUCache<string, Walked>({
    maxSize: keptMax,
    sizeCalculation: ({ tokens }) => tokens.size + keptOfWallet,
  })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async of(
    { chain, wallet, toBlock }: { chain: Pick<Chain, 'id'>; wallet: Address; toBlock: number | undefined },
    options: HoldingsOptions,
  ): Promise<Touched> {
    const { claims, admission } = this.#parts
    const ledger = ledgerId(chain.id, 'erc20')
    const lookAgain = () => this.#look({ ledger, wallet }, toBlock)
    const read = async (look: Look) => {
      const blocks = { from: 0, to: blockOf(look) }
      if (blocks.to < 0) return { tokens: new Set<Address>(), stoppedAt: undefined }
      const name = `tokens of ${ledger} ${wallet} ${blocks.to}`
      const finalized = look.views.chain.state?.finalized ?? -1
      return await admission.shared(name, options, 'small', work =>
        this.#walk({ ledger, wallet }, { blocks, finalized }, work),
      )
    }
    const { rows, ...look } = await claims.readStanding(ledger, await lookAgain(), { read, lookAgain })
    const isCut = rows.tokens.size > walletTokensMax || rows.stoppedAt !== undefined
    const tokens = [...rows.tokens].slice(0, walletTokensMax)
    return { block: blockOf(look), tokens, isCut, ...claimedIf(!isCut, look) }
  }

  async #look({ ledger, wallet }: Wallet, toBlock = Number.POSITIVE_INFINITY): Promise<Look> {
    const index = 'by_wallet'
    const views = await this.#parts.claims.views(ledger, 'every', index)
    const { state, filled } = views.chain
    const to = Math.min(toBlock, state?.head.number ?? -1)
    const claim = to < 0 ? undefined : { from: 0, to }
    // No index has the zero address, which gives and receives without being a wallet.
    const isAnswered = filled.has(index) && wallet !== zeroAddress
    const said = claimedIf(isAnswered, verdict(views, claim))
    return { views, index, bounds: { fromBlock: 0, toBlock: to, claim, exist: true }, ...said }
  }

  async #walk(of: Wallet, { blocks, finalized }: { blocks: Interval; finalized: number }, work: Work) {
    work.takes(findingBytes)
    const { indexes } = this.#parts
    const { filled, takenBack } = await indexes.rowState(of.ledger)
    const rows = `${filled} ${takenBack}`
    const name = `${of.ledger} ${of.wallet}`
    const kept = this.#walked.get(name)
    const known = kept?.rows === rows && kept.upTo <= blocks.to ? kept : undefined
    const tokens = new Set<Address>()
    const visit = async (from: number, to: number, into: Set<Address>, after?: Position) => {
      const span = walletTransfers(of.ledger, of.wallet, { from, to }, { direction: 'both', contracts: [] })
      const add: Parameters<typeof visitAll>[2] = (records, value) =>
        into.add(span.contractOf(records, value)).size > walletTokensMax
      return await visitAll(indexes, span, add, { after, pace: work.pace })
    }
    const final = Math.min(finalized, blocks.to)
    let stoppedAt = await visit(final + 1, blocks.to, tokens)
    if (stoppedAt !== undefined || tokens.size > walletTokensMax) return { tokens, stoppedAt }
    const older = new Set<Address>()
    stoppedAt = await visit((known?.upTo ?? -1) + 1, final, older)
    if (known !== undefined && stoppedAt === undefined) {
      for (const token of known.tokens) older.add(token)
      stoppedAt = known.stoppedAt
      if (stoppedAt !== undefined && older.size <= walletTokensMax)
        stoppedAt = await visit(0, known.upTo, older, stoppedAt)
    }
    // What an older block is asked for has nothing to add to what was found up to a later one.
    if (final >= (kept?.upTo ?? -1)) this.#walked.set(name, { rows, upTo: final, tokens: older, stoppedAt })
    for (const token of older) tokens.add(token)
    return { tokens, stoppedAt }
  }
}

function blockOf({ bounds }: Look): number {
  return bounds.toBlock ?? -1
}
