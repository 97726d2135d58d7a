// Which contracts a question about a wallet shows: those that it names, and none that is spam where it leaves spam out.
import type { Address } from '../../model.ts'
import { Pace } from '../pace.ts'
import type { ShownContracts } from '../shown-contracts.ts'
import type { WalletNftsQuestion } from './questions.ts'
import type { Sheet } from './sheet.ts'

type Filter<Key> = (key: Key) => boolean | Promise<boolean>

/** Undefined where nothing is filtered. */
export function contractFilter(
  shown: ShownContracts,
  { chain, contracts, excludeSpam }: Pick<WalletNftsQuestion, 'chain' | 'contracts' | 'excludeSpam'>,
): Filter<Address> | undefined {
  if (contracts === undefined && !excludeSpam) return undefined
  const wanted = contracts && new Set(contracts)
  const pace = new Pace()
  return async contract => {
    const isWanted = wanted?.has(contract) ?? true
    await pace.rest()
    const isSpam = isWanted && excludeSpam && (await shown.ofOne(chain, contract))?.possibleSpam
    return isWanted && !isSpam
  }
}

/** The same by the number that a contract has in the sheet of a wallet: each is decided once. */
export function partyFilter(sheet: Sheet, isShown: Filter<Address> | undefined): Filter<number> | undefined {
  if (isShown === undefined) return undefined
  const known = new Map<number, boolean>()
  const decide = async (party: number): Promise<boolean> => {
    const decided = await isShown(sheet.addresses.addressOf(party))
    known.set(party, decided)
    return decided
  }
  return party => known.get(party) ?? decide(party)
}
