// Who owns what, told by loops over a plain list of transfers: what the rules are compared with. Written to be believed,
// not to be fast.
import { createHash } from 'node:crypto'
import { type Address, comparePositions, type Position, type TransferFacts, zeroAddress } from '../src/model.ts'

export type ModelTransfer = Position & TransferFacts & { contract: Address }

export type ModelHolding = {
  contract: Address
  tokenId: bigint
  tokenHash: string
  standard: 'ERC721' | 'ERC1155'
  owner: Address
  amount: bigint
  position: Position
  blockMinted: number | undefined
  minter: Address | undefined
}

type Placed = ModelHolding & { place: Position; leg: number; isRange: boolean }

export class HoldingsModel {
  readonly #transfers: readonly ModelTransfer[]

  /** Those up to a block. */
  constructor(transfers: readonly ModelTransfer[], block: number) {
    this.#transfers = transfers.filter(transfer => transfer.block <= block).sort(comparePositions)
  }

  /** Of a contract, newest change first. */
  owners(contract: Address, tokenId?: bigint): ModelHolding[] {
    const ids = tokenId === undefined ? this.#ids(contract) : [tokenId]
    return listed(ids.flatMap(id => this.#holders(contract, id, this.#of(contract, id))))
  }

  uniqueOwners(contract: Address): Address[] {
    return [...new Set(this.owners(contract).map(({ owner }) => owner))].sort()
  }

  impossible(contract: Address): number {
    return this.#ids(contract).flatMap(id => this.#sums(this.#of(contract, id)).filter(({ sum }) => sum < 0n)).length
  }

  transfers(contract: Address, tokenId?: bigint): number {
    const all = this.#transfers.filter(transfer => transfer.contract === contract)
    if (tokenId !== undefined) return all.filter(transfer => covers(transfer, tokenId)).length
    return all.reduce((sum, { idCount }) => sum + idCount, 0)
  }

  /** By falling hash, then ids of ranges that did not move alone. */
  contractNfts(contract: Address, part = { range: 0, totalRanges: 1 }): { tokenHash: string; tokenId: bigint }[] {
    const held = this.#ids(contract).flatMap(id => this.#holders(contract, id, this.#of(contract, id)).slice(0, 1))
    const hashed = held
      .filter(({ isRange }) => !isRange)
      .filter(({ tokenHash }) => rangeOf(tokenHash, part.totalRanges) === part.range)
      .sort((a, b) => (a.tokenHash > b.tokenHash ? -1 : 1))
    const isLast = part.range === part.totalRanges - 1
    const ranged = isLast ? held.filter(({ isRange }) => isRange).sort((a, b) => (a.tokenId < b.tokenId ? -1 : 1)) : []
    return [...hashed, ...ranged].map(({ tokenHash, tokenId }) => ({ tokenHash, tokenId }))
  }

  /** Of several holders the one that last received. */
  nft(contract: Address, tokenId: bigint): ModelHolding | undefined {
    const holders = this.owners(contract, tokenId)
    const [first] = holders
    if (first === undefined || holders.length === 1) return first
    const received = this.#of(contract, tokenId)
      .filter(({ standard }) => standard === 'ERC1155')
      .findLast(({ to }) => holders.some(({ owner }) => owner === to))
    return holders.find(({ owner }) => owner === received?.to)
  }

  /** What a wallet's own transfers tell of it, newest change first. */
  walletNfts(wallet: Address): ModelHolding[] {
    const contracts = [...new Set(this.#transfers.map(({ contract }) => contract))]
    const held = contracts.flatMap(contract =>
      this.#ids(contract).flatMap(id => {
        const all = this.#of(contract, id)
        const own = all.filter(({ from, to }) => from === wallet || to === wallet)
        return this.#holders(contract, id, own)
          .filter(({ owner }) => owner === wallet)
          .map(holding => ({ ...holding, ...mintOf(all) }))
      }),
    )
    return listed(held)
  }

  walletTransfers(wallet: Address): number {
    const own = this.#transfers.filter(({ from, to }) => from === wallet || to === wallet)
    return own.reduce((sum, { idCount }) => sum + idCount, 0)
  }

  blockTransfers(block: number): number {
    return this.#transfers.filter(each => each.block === block).reduce((sum, { idCount }) => sum + idCount, 0)
  }

  /** Every id that a transfer names. */
  #ids(contract: Address): bigint[] {
    const ids = new Set<bigint>()
    for (const transfer of this.#transfers)
      if (transfer.contract === contract)
        for (let at = 0; at < transfer.idCount; at++) ids.add(transfer.tokenId + BigInt(at))
    return [...ids]
  }

  #of(contract: Address, tokenId: bigint): ModelTransfer[] {
    return this.#transfers.filter(transfer => transfer.contract === contract && covers(transfer, tokenId))
  }

  /** The newest transfer decides by which standard a token is held. */
  #holders(contract: Address, tokenId: bigint, transfers: readonly ModelTransfer[]): Placed[] {
    const newest = transfers.at(-1)
    if (newest === undefined) return []
    const tokenHash = createHash('md5').update(`${contract}${tokenId}`).digest('hex')
    const token = { contract, tokenId, tokenHash, standard: newest.standard, ...mintOf(transfers) }
    if (newest.standard === 'ERC721') {
      if (newest.to === zeroAddress) return []
      const offset = Number(tokenId - newest.tokenId)
      const position = { ...placeOf(newest), batchIndex: newest.batchIndex + offset }
      const isRange = newest.idCount !== 1
      return [{ ...token, owner: newest.to, amount: 1n, position, place: placeOf(newest), leg: 0, isRange }]
    }
    const holders = this.#sums(transfers).filter(({ sum }) => sum > 0n)
    return holders.map(({ owner, sum, last }) => ({
      ...token,
      ...{ owner, amount: sum, position: placeOf(last), place: placeOf(last) },
      ...{ leg: last.to === owner ? 0 : 1, isRange: false },
    }))
  }

  #sums(transfers: readonly ModelTransfer[]): { owner: Address; sum: bigint; last: ModelTransfer }[] {
    if (transfers.at(-1)?.standard !== 'ERC1155') return []
    const moves = transfers.filter(({ standard }) => standard === 'ERC1155')
    const parties = new Set(moves.flatMap(({ from, to }) => [from, to]))
    parties.delete(zeroAddress)
    return [...parties].map(owner => {
      const received = moves.filter(({ to }) => to === owner).reduce((sum, { amount }) => sum + amount, 0n)
      const given = moves.filter(({ from }) => from === owner).reduce((sum, { amount }) => sum + amount, 0n)
      const last = moves.findLast(({ from, to }) => from === owner || to === owner)!
      return { owner, sum: received - given, last }
    })
  }
}

function covers({ tokenId: first, idCount }: ModelTransfer, tokenId: bigint): boolean {
  return tokenId >= first && tokenId < first + BigInt(idCount)
}

function mintOf(transfers: readonly ModelTransfer[]): Pick<ModelHolding, 'blockMinted' | 'minter'> {
  const [first] = transfers
  const isKnown = first?.standard === 'ERC721' && first.from === zeroAddress && first.sentBy === 'recipient'
  return { blockMinted: first?.block, minter: isKnown && first.to !== zeroAddress ? first.to : undefined }
}

function listed(holdings: Placed[]): ModelHolding[] {
  return holdings
    .sort((a, b) => comparePositions(b.place, a.place) || a.leg - b.leg || (a.tokenId > b.tokenId ? -1 : 1))
    .map(({ place: _, leg: __, isRange: ___, ...holding }) => holding)
}

function placeOf({ block, transactionIndex, logIndex, batchIndex }: Position): Position {
  return { block, transactionIndex, logIndex, batchIndex }
}

/** Ranges of hashes count from the high end. */
function rangeOf(tokenHash: string, totalRanges: number): number {
  const fromHighEnd = 2n ** 128n - 1n - BigInt(`0x${tokenHash}`)
  return Number((fromHighEnd * BigInt(totalRanges)) / 2n ** 128n)
}
