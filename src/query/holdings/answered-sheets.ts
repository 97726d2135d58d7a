// Finds the sheet that a question is about, with what may be claimed of it; has a contract indexed first where it is
// not complete.
import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId } from '../../model.ts'
import type { IndexName } from '../../store/runs/view.ts'
import { type Claims, claimedIf, freshLook, weaker } from '../claims.ts'
import type { HoldingsRequest } from './holdings-admission.ts'
import type { Completeness, HoldingsOptions, WalletNftsQuestion } from './questions.ts'
import type { FoundSheet, Sheets } from './sheets.ts'
import type { ContractSubject, Subject } from './subject.ts'

/** `takenBack`: from before what is claimed was read. */
export type AskedClaim = { claim: Completeness; takenBack: number }
export type Answered = FoundSheet & { claim: Completeness }

export class AnsweredSheets {
  readonly #claims: Claims
  readonly #sheets: Sheets

  constructor(claims: Claims, sheets: Sheets) {
    this.#claims = claims
    this.#sheets = sheets
  }

  async ofContract(
    subject: ContractSubject,
    atBlock: number | undefined,
    options: HoldingsOptions,
    request: HoldingsRequest,
  ): Promise<Answered> {
    return await this.find(subject, await this.contractClaim(subject, atBlock, options), request)
  }

  async ofWallet(
    { chain, wallet, atBlock, contracts }: Pick<WalletNftsQuestion, 'chain' | 'wallet' | 'atBlock' | 'contracts'>,
    options: HoldingsOptions,
    request: HoldingsRequest,
  ): Promise<Answered> {
    return await this.find({ chain, wallet }, await this.walletClaim(chain, atBlock, contracts, options), request)
  }

  async contractClaim(
    { chain, contract }: ContractSubject,
    atBlock: number | undefined,
    options: HoldingsOptions,
  ): Promise<AskedClaim> {
    const ask = async (): Promise<AskedClaim> => {
      const { block, takenBack } = await this.#asOf(chain, atBlock)
      return { claim: await this.#claims.of(chain, contract, { from: 0, to: block }, 'by_token'), takenBack }
    }
    return await freshLook(ask, ({ claim }) => claim.complete, { chain, contract }, options)
  }

  /** `contracts`: those that the question names, of which a request may name some. Others need not be indexed then. */
  async walletClaim(
    chain: ChainId,
    atBlock: number | undefined,
    contracts: readonly Address[] = [],
    { freshen }: Pick<HoldingsOptions, 'freshen'> = { freshen: undefined },
  ): Promise<AskedClaim> {
    const { block, takenBack } = await this.#asOf(chain, atBlock)
    for (const contract of contracts) freshen?.asked?.(chain, contract)
    return { claim: await this.#claims.of(chain, contracts, { from: 0, to: block }, 'by_wallet'), takenBack }
  }

  /** Fails with `list_too_large` where there is too much for one sheet. The request holds the sheet. */
  async find(subject: Subject, { claim, takenBack }: AskedClaim, request: HoldingsRequest): Promise<Answered> {
    const { chain } = subject
    const { state, filled } = await this.#claims.chain(chain)
    const isFilled = filled.has(indexOf(subject))
    const indexed = { finalized: state?.finalized ?? -1, isFilled }
    const found = await this.#sheets.after(subject, claim.block, indexed, request)
    // What was claimed before rows were taken away is not claimed of the rest.
    const isClaimed = found.isWhole && (found.rows?.takenBack ?? takenBack) === takenBack
    return { ...found, claim: await this.claimAfter(subject, { ...claim, ...claimedIf(isClaimed, claim) }) }
  }

  /** What is left of a claim once records were read: an index that was left meanwhile gave a part of them. */
  async claimAfter(subject: Subject, claim: Completeness): Promise<Completeness> {
    const { filled } = await this.#claims.chain(subject.chain)
    return { ...claim, ...claimedIf(filled.has(indexOf(subject)), claim) }
  }

  async #asOf(chain: ChainId, atBlock = Number.POSITIVE_INFINITY): Promise<{ block: number; takenBack: number }> {
    const { state, takenBack } = await this.#claims.chain(chain)
    return { block: Math.min(atBlock, state?.head.number ?? -1), takenBack }
  }
}

export function indexOf(subject: Subject): IndexName {
  return 'wallet' in subject ? 'by_wallet' : 'by_token'
}

export function weakerClaim(a: Completeness, b: Completeness): Completeness {
  return { block: Math.min(a.block, b.block), ...weaker(a, b) }
}

export function undefinedIfTooLarge(error: unknown): undefined {
  if (!(error instanceof AlmanacError) || error.code !== 'list_too_large') throw error
}
