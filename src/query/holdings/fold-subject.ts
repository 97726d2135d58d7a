// Reads all records of a contract, a token or a wallet into a sheet, in steps. It keeps nothing.
import type { IndexReader } from '../../store/index-reader.ts'
import { ContractFold } from './fold-contract.ts'
import { WalletFold } from './fold-wallet.ts'
import { Pace } from './pace.ts'
import type { Sheet } from './sheet.ts'
import { recordsOf, type Subject, spansOf } from './subject.ts'

/** What is held after a block. */
export async function foldSubject(indexes: IndexReader, subject: Subject, block: number): Promise<Sheet> {
  const pace = new Pace()
  const fold = 'wallet' in subject ? new WalletFold(block) : new ContractFold(block, subject.tokenId)
  if (block >= 0)
    for (const span of spansOf(subject, { from: 0, to: block }))
      for await (const records of recordsOf(indexes, span, pace)) fold.add(records)
  return await fold.finish(pace)
}
