// How many transfers a block has, by the index of blocks. What may be claimed of the number is decided elsewhere.
import type { Address, ChainId } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { blockSpan } from '../../store/indexes/by-block.ts'
import { wordAt } from '../../store/runs/place-key.ts'
import type { TransferReader } from '../../store/store.ts'
import { recordsOf } from '../holdings/subject.ts'
import { Pace } from '../pace.ts'

type Stored = Pick<TransferReader, 'transferCount'> & { indexes: IndexReader }

/** Records do not tell how many ids a range has: the kept counts of the contracts do. */
export async function transfersOfBlock(store: Stored, chain: ChainId, block: number): Promise<number> {
  const contracts = new Set<Address>()
  const span = { chain, index: 'by_block', order: 'keys', ...blockSpan({ from: block, to: block }) } as const
  for await (const records of recordsOf(store.indexes, span, new Pace()))
    for (let record = 0; record < records.length; record++)
      contracts.add(records.contracts.get(wordAt(records.values, record * 4))!)
  const only = { chain, fromBlock: block, toBlock: block }
  const counts = await Promise.all([...contracts].map(contract => store.transferCount({ ...only, contract })))
  return counts.reduce((sum, count) => sum + count, 0)
}
