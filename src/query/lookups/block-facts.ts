// What is known of one block: its hash and time from the store or a node, and what its rows rest on. No HTTP.
import { AlmanacError } from '../../errors.ts'
import type { ChainId, Evidence, Hash } from '../../model.ts'
import type { ChainReader } from '../../store/store.ts'
import type { AskBlock } from '../freshen.ts'
import { isWithoutNode, noBlockKnown } from './date-to-block.ts'

export type BlockFacts = {
  number: number
  /** Undefined where the store does not know the block and no node tells it. */
  hash: Hash | undefined
  timestamp: number | undefined
  parentHash: Hash | undefined
  /** How many transactions it has, by a node. */
  transactions: number | undefined
  head: number
  isFinal: boolean
  /** Undefined where not every contract of it is indexed. */
  evidence: Evidence | undefined
}

type Reader = Pick<ChainReader, 'chainState' | 'lowestBlock' | 'contractCoverage'>

export async function blockFacts(
  reader: Reader,
  { chain, number }: { chain: ChainId; number: number },
  askBlock: AskBlock | undefined,
): Promise<BlockFacts> {
  const [state, coverage, stored, told] = await Promise.all([
    reader.chainState(chain),
    reader.contractCoverage(chain, 'every'),
    reader.lowestBlock(chain, { from: number, to: number }),
    askBlock?.(chain, number).catch(undefinedWithoutAnswer),
  ])
  if (state === undefined) throw noBlockKnown()
  const { head, finalized } = state
  if (number > head.number) throw aboveHead(number, head.number)
  const known = stored ?? (number === head.number ? head : told)
  // At the head a node may be on another branch.
  const isSame = told !== undefined && told.hash === known?.hash
  return {
    ...{ number, hash: known?.hash, timestamp: known?.timestamp, head: head.number, isFinal: number <= finalized },
    parentHash: isSame ? told.parentHash : undefined,
    transactions: isSame ? told.transactions : undefined,
    evidence: coverage.find(({ from, to }) => from <= number && number <= to)?.evidence,
  }
}

/** What is stored answers where no node does. */
function undefinedWithoutAnswer(error: unknown): undefined {
  if (!isWithoutNode(error) && !(error instanceof AlmanacError && error.retryable)) throw error
}

export function aboveHead(number: number, head: number): AlmanacError {
  return new AlmanacError('not_found', `Block ${number} is not there yet: the head is ${head}`)
}
