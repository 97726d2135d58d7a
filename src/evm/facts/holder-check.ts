// Asks a contract whether the holders that its events name hold their tokens. Only the newest event of a token, or of a
// holder and a token, tells who holds it now, so tokens that were burnt or moved on are left out.
import { createHash } from 'node:crypto'
import { addressOfAnswer, numberOfAnswer } from '../../annotate/label-text.ts'
import { noStateEvidence, type StateEvidence } from '../../annotate/spam-rules.ts'
import { quantityHex } from '../../hex.ts'
import { type Address, type TransferFacts, zeroAddress } from '../../model.ts'
import type { ContractInterface } from '../../store/annotation-store.ts'
import { askContracts, type ContractPort, contractCall } from './contract-reader.ts'

export type Holder = { standard: TransferFacts['standard']; holder: Address; tokenId: bigint }

type Moved = Pick<TransferFacts, 'standard' | 'from' | 'to' | 'tokenId' | 'amount' | 'idCount'>

const holdersMax = 8
const selectors = { ownerOf: '0x6352211e', balanceOf: '0x70a08231', balanceOfToken: '0x00fdd58e' } as const

/** Who must hold what if the events are true, spread over the rows. `newestFirst` must have no gap. */
export function holdersOf(newestFirst: readonly Moved[]): Holder[] {
  const settled = new Set<string>()
  const holders: Holder[] = []
  for (const { standard, from, to, tokenId, amount, idCount } of newestFirst) {
    if (standard === 'ERC721') {
      const token = `${tokenId}`
      // Any token of a range may have moved on, so a range proves nothing.
      if (!settled.has(token) && idCount === 1 && canHold(to)) holders.push({ standard, holder: to, tokenId })
      settled.add(token)
      continue
    }
    const [given, taken] = [`${from} ${tokenId}`, `${to} ${tokenId}`]
    if (!settled.has(taken) && from !== to && amount > 0n && canHold(to))
      holders.push({ standard, holder: to, tokenId })
    settled.add(given)
    settled.add(taken)
  }
  const step = Math.max(1, holders.length / holdersMax)
  return Array.from({ length: Math.min(holdersMax, holders.length) }, (_, at) => holders[Math.floor(at * step)]!)
}

/** Burnt tokens have no holder. */
function canHold(address: Address): boolean {
  return address !== zeroAddress && !/^0x0{30,}|dead$/.test(address)
}

export async function checkHolders(
  {
    contract,
    rows,
    interfaces,
    block,
  }: {
    contract: Address
    rows: readonly Moved[]
    interfaces: readonly ContractInterface[]
    /** The rows are complete up to this block. */
    block: number
  },
  port: ContractPort,
): Promise<StateEvidence> {
  const holders = holdersOf(rows)
  const [sample] = holders
  if (sample === undefined) return noStateEvidence
  const at = quantityHex(block)
  const stranger: Holder = { ...sample, holder: strangerOf(contract) }
  const strangerCall =
    sample.standard === 'ERC721' ? `${selectors.balanceOf}${wordOf(BigInt(stranger.holder))}` : holderCall(stranger)
  const data = [...holders.map(holderCall), strangerCall]
  const answers = await askContracts(
    data.map(each => contractCall(contract, each, at)),
    port,
  )
  const verdicts = holders.map((holder, index) => isHeld(holder, answers[index], interfaces))
  const asked = verdicts.filter(held => held !== undefined)
  return {
    holdersAsked: asked.length,
    deniedShare: asked.length === 0 ? 0 : asked.filter(held => !held).length / asked.length,
    strangerHolds: Number((numberOfAnswer(answers.at(-1)) ?? 0n) > 0n),
  }
}

/** Undefined if the contract cannot be asked. One that declares the standard and does not answer denies. */
function isHeld(
  { standard, holder }: Holder,
  answer: unknown,
  interfaces: readonly ContractInterface[],
): boolean | undefined {
  const silent = interfaces.includes(standard === 'ERC721' ? 'erc721' : 'erc1155') ? false : undefined
  if (standard === 'ERC721') {
    const owner = addressOfAnswer(answer)
    return owner === undefined ? silent : owner === holder
  }
  const balance = numberOfAnswer(answer)
  return balance === undefined ? silent : balance > 0n
}

function holderCall({ standard, holder, tokenId }: Holder): string {
  if (standard === 'ERC721') return `${selectors.ownerOf}${wordOf(tokenId)}`
  return `${selectors.balanceOfToken}${wordOf(BigInt(holder))}${wordOf(tokenId)}`
}

function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

/** An address without a key, different for each contract. */
function strangerOf(contract: Address): Address {
  return `0x${createHash('sha256').update(`stranger to ${contract}`).digest('hex').slice(0, 40)}` as Address
}
