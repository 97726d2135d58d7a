// The simulated chain must be worth trusting: links, blooms, roots, nonces, balances and determinism.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Address } from '../../src/model.ts'
import { type PlacedTransaction, realBlockHash, realTransactionHash } from './block.ts'
import { SimChain } from './chain.ts'
import { bloomOf } from './encode.ts'
import { encodeEvent, topics } from './events.ts'
import { bytesOfHex, hexOfBytes, keccak, orderedRoot } from './rlp.ts'
import { expectedActivity, expectedSent, expectedTransfers } from './truth.ts'

const forked = (options: ConstructorParameters<typeof SimChain>[0]): SimChain => {
  const chain = new SimChain({ ...options, finalityDepth: 1_000 })
  chain.reorg({ depth: 5, length: 7 })
  chain.mine(3)
  chain.reorg({ depth: 4, length: 4 })
  chain.reorg({ depth: 9, length: 12 })
  return chain
}

describe('hashing', () => {
  test('keccak, transaction hash and root of a block of the main chain', () => {
    const raw = bytesOfHex(
      '0xf86780862d79883d2000825208945df9b87991262f6ba471f09758cde1c0fc1de734827a69801ca088ff6cf0fefd94db46111149ae4bfc179e9b94721fffd821d38d16464b3f71d0a045e0aff800961cfce805daef7016b9b675c137a6a41a548f7b60a3484c06a33a',
    )
    expect(hexOfBytes(keccak(raw))).toBe('0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060')
    expect(orderedRoot([raw])).toBe('0x4513310fcb9f6f616972a3b948dc5d547f280849a87ebb5af0191f98b87be598')
    expect(orderedRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })
})

describe.each(['cheap', 'real'] as const)('a chain with %s hashes', hashes => {
  const chain = forked({ seed: 11, height: 120, hashes, emptyEvery: 7 })

  test('links every block to its parent, across forks', () => {
    for (let number = 1; number <= chain.head; number++) {
      expect(chain.block(number).header.parentHash).toBe(chain.block(number - 1).hash)
    }
    expect(new Set(Array.from({ length: chain.head + 1 }, (_, n) => chain.hashOf(n))).size).toBe(chain.head + 1)
  })

  test('has blooms that equal those of its logs', () => {
    for (let number = 0; number <= chain.head; number += 3) {
      const block = chain.block(number)
      expect(block.header.bloom.equals(bloomOf(block.transactions.flatMap(t => t.logs)))).toBe(true)
    }
  })

  test('finds blocks and transactions by hash, on losing branches blocks only', () => {
    const lost = chain.block(119, chain.branches[0])
    expect(chain.blockByHash(lost.hash)).toBe(lost)
    expect(chain.isCanonical(lost)).toBe(false)
    for (const number of [3, 60, chain.head]) {
      const block = chain.block(number)
      expect(chain.blockByHash(block.hash)).toBe(block)
      for (const transaction of block.transactions) {
        expect(chain.transactionByHash(transaction.hash)?.transaction).toEqual(transaction)
      }
    }
    expect(chain.blockByHash(`0x${'ab'.repeat(32)}`)).toBeUndefined()
    expect(chain.transactionByHash(`0x${'ab'.repeat(32)}`)).toBeUndefined()
  })

  test('is the same for the same seed and another for another', () => {
    const again = forked({ seed: 11, height: 120, hashes, emptyEvery: 7 })
    // Asked in another order, so that nothing depends on what was asked before.
    for (const number of [chain.head, 50, 2])
      expect(again.block(number).transactions).toEqual(chain.block(number).transactions)
    expect(again.hashOf(chain.head)).toBe(chain.hashOf(chain.head))
    expect(forked({ seed: 12, height: 120, hashes }).hashOf(50)).not.toBe(chain.hashOf(50))
  })

  test('forks repeat some transactions, replace some and move some to another block', () => {
    const places = (branch: SimChain['branch']): Map<string, number> => {
      const found = new Map<string, number>()
      for (let n = 100; n <= 120; n++) for (const t of chain.block(n, branch).transactions) found.set(t.hash, n)
      return found
    }
    const [before, after] = [places(chain.branches[0]!), places(chain.branch)]
    const kept = [...before].filter(([hash]) => after.has(hash))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(before.size)
    expect(kept.some(([hash, number]) => after.get(hash) !== number)).toBe(true)
  })
})

test('chains that share their blocks are what each of them is alone', () => {
  const options = { seed: 5, height: 60, hashes: 'real', signed: true, transactionsPerWallet: 8 } as const
  const shape = { ...options, transactionsPerBlock: 3, finalityDepth: 1_000 }
  const first = new SimChain(shape, { shares: true })
  first.block(first.head)
  const [alone, second] = [new SimChain(shape), new SimChain({ ...shape, height: 70 }, { shares: true })]
  expect(second.block(60)).toBe(first.block(60))
  expect(second.block(60)).toEqual(alone.block(60))
  const { parentHash } = second.block(60).header
  expect(second.blockByHash(parentHash)).toEqual(alone.block(59))
  const [{ hash, from }] = alone.block(20).transactions as [PlacedTransaction]
  expect(second.transactionByHash(hash)?.block).toEqual(alone.block(20))
  expect(second.nonceAt(from, 60)).toBe(alone.nonceAt(from, 60))
  alone.mine(10)
  for (const chain of [alone, second]) chain.reorg({ depth: 20, length: 25 })
  expect(second.hashOf(second.head)).toBe(alone.hashOf(alone.head))
  expect(first.hashOf(60)).not.toBe(second.hashOf(60))
  expect(first.head).toBe(60)
})

test('real hashes are the keccak of the header, and differ from each other on forks', () => {
  const chain = forked({ seed: 3, height: 40, hashes: 'real' })
  const block = chain.block(chain.head)
  expect(block.hash).toBe(realBlockHash(block.header))
  // Copies: of the transactions themselves the bytes are known.
  for (const each of block.transactions) expect(each.hash).toBe(realTransactionHash(1, { ...each }))
  const tail = new SimChain({ seed: 3, height: 10_000_020, hashes: 'real', realFrom: 10_000_000 })
  expect(tail.block(10_000_010).header.parentHash).toBe(tail.hashOf(10_000_009))
})

describe('state', () => {
  test('addresses, wallets, slots and nonces lead to each other', () => {
    const { wallets } = new SimChain({ seed: 77, transactionsPerBlock: 20 })
    fc.assert(
      fc.property(fc.nat(19), fc.nat(2 ** 31 - 1), (lane, slot) => {
        const { nonce, ...wallet } = wallets.sender({ lane, slot })
        expect(wallets.slotOfNonce(wallet, nonce)).toBe(slot)
        expect(wallets.walletOf(wallets.address(wallet))).toEqual(wallet)
        const fundingSlot = wallets.fundingSlot(wallet)
        if (fundingSlot === undefined) return
        expect(fundingSlot).toBeLessThan(slot)
        expect(wallets.fundedIn(fundingSlot)).toEqual(wallet)
      }),
    )
  })

  test('blocks and slots lead to each other, whatever blocks are empty', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 2, 3, 7, 100), fc.nat(30_000_000), (emptyEvery, block) => {
        const { wallets } = new SimChain({ emptyEvery })
        const slot = wallets.slotOf(block)
        if (slot === undefined) expect(block === 0 || block % emptyEvery === 0).toBe(true)
        else expect([wallets.blockOfSlot(slot), wallets.lastSlotAt(block)]).toEqual([block, slot])
      }),
    )
  })

  test.each([0, 5])('nonces and balances agree with the blocks (every %i blocks empty)', emptyEvery => {
    const chain = forked({ seed: 5, height: 150, emptyEvery, transactionsPerWallet: 12, deploymentSpan: 40 })
    const balances = new Map<string, bigint>()
    const nonces = new Map<string, number>()
    const move = (address: string, wei: bigint): void => {
      balances.set(address, (balances.get(address) ?? chain.balanceAt(address, 0)) + wei)
    }
    for (let number = 1; number <= chain.head; number++) {
      for (const t of chain.block(number).transactions) {
        expect(t.nonce).toBe(nonces.get(t.from) ?? 0)
        nonces.set(t.from, t.nonce + 1)
        move(t.from, -t.gasPrice * BigInt(t.gasUsed) - (t.succeeded ? t.value : 0n))
        const toWallet = t.to !== null && chain.contracts.byAddress(t.to) === undefined
        if (t.succeeded && toWallet) move(t.to!, t.value)
      }
      if (number % 10 !== 0 && number < 140) continue
      for (const [address, nonce] of nonces) expect(chain.nonceAt(address, number)).toBe(nonce)
      for (const [address, balance] of balances) {
        expect(chain.balanceAt(address, number)).toBe(balance)
        expect(balance >= 0n).toBe(true)
      }
    }
    expect(nonces.size).toBeGreaterThan(30)
  })

  test('contracts have code from their deployment on, at the address that their creator and nonce give', () => {
    const chain = new SimChain({ seed: 9, height: 120, deploymentSpan: 60 })
    const created = new Set<string>()
    for (let number = 0; number <= chain.head; number++) {
      for (const { created: address } of chain.block(number).transactions) {
        if (address === null) continue
        created.add(address)
        expect([chain.isDeployed(address, number - 1), chain.isDeployed(address, number)]).toEqual([false, true])
      }
    }
    expect(created.size).toBe(chain.contracts.all.filter(c => c.nonce !== undefined).length)
  })
})

describe('the expected truth', () => {
  const chain = forked({ seed: 21, height: 400, denseEvery: 50, stateSync: 'listed' })
  const all = expectedTransfers(chain, { from: 0, to: chain.head })

  test('agrees with the logs, row for log', () => {
    const rowsOf = new Map<string, number>()
    for (const row of all) {
      const key = `${row.block}:${row.logIndex}`
      rowsOf.set(key, (rowsOf.get(key) ?? 0) + 1)
    }
    let erc721 = 0
    for (let number = 0; number <= chain.head; number++) {
      const logs = chain
        .block(number)
        .transactions.flatMap(t => t.logs.map((log, at) => ({ log, at: t.firstLogIndex + at })))
      expect(logs.map(({ at }) => at)).toEqual(logs.map((_, at) => at))
      for (const { log, at } of logs) {
        if (log.topics[0] !== topics.transfer || log.topics.length !== 4) continue
        erc721++
        expect(rowsOf.get(`${number}:${at}`)).toBe(1)
      }
    }
    expect(erc721).toBeGreaterThan(500)
  })

  test('holds every kind of movement, wide ids and amounts, zero amounts and ranges', () => {
    expect(all.some(row => row.batch && row.batchIndex > 2)).toBe(true)
    expect(all.some(row => row.tokenId > 2n ** 250n)).toBe(true)
    expect(all.some(row => row.amount === 2n ** 256n - 1n)).toBe(true)
    expect(all.some(row => row.amount === 0n)).toBe(true)
    expect(all.some(row => row.idCount > 1_000)).toBe(true)
    expect(new Set(all.map(row => row.contract)).size).toBeGreaterThan(10)
  })

  test('of one contract is the part of the whole that belongs to it', () => {
    for (const { address } of chain.contracts.all) {
      const own = expectedTransfers(chain, { from: 37, to: chain.head, contract: address })
      expect(own).toEqual(all.filter(row => row.contract === address && row.block >= 37))
    }
  })

  test('of sent transactions agrees with the blocks', () => {
    const sent = new Map<string, [number, number]>()
    for (let number = 0; number <= chain.head; number++) {
      for (const { from } of chain.block(number).transactions) sent.set(from, [sent.get(from)?.[0] ?? number, number])
    }
    for (const [address, [first, last]] of sent) {
      if (chain.walletOf(address)?.kind !== 'sender') continue
      const expected = expectedSent(chain, address)
      expect([expected?.first.block, expected?.last.block]).toEqual([first, last])
    }
    const activity = expectedActivity(chain, { from: 0, to: chain.head })
    for (const [address, [first, last]] of sent) {
      const row = activity.get(address as Address)
      expect(row!.first.block).toBeLessThanOrEqual(first)
      expect(row!.last.block).toBeGreaterThanOrEqual(last)
    }
  })

  test('state-sync logs stand outside the bloom', () => {
    const block = chain.block(64)
    const sync = block.transactions.at(-1)!
    expect(sync.stateSync).toBe(true)
    const others = block.transactions.filter(t => !t.stateSync).flatMap(t => t.logs)
    expect(block.header.bloom.equals(bloomOf(others))).toBe(true)
    expect(block.header.bloom.equals(bloomOf([...others, ...sync.events.map(encodeEvent)]))).toBe(false)
  })
})

test('a chain of twenty million blocks answers from anywhere at once', () => {
  const chain = new SimChain({ height: 20_000_000, transactionsPerBlock: 4, contracts: 300, stretchBlocks: 256 })
  const before = process.threadCpuUsage()
  const rare = chain.contracts.all.toSorted((a, b) => a.weight - b.weight).find(c => c.kind === 'erc721')!
  const rows = expectedTransfers(chain, { from: 19_800_000, to: 20_000_000, contract: rare.address })
  expect(rows.length).toBeGreaterThan(0)
  const sender = chain.block(12_345_678).transactions.at(-1)!.from
  expect(chain.nonceAt(sender, 12_345_678)).toBe(chain.nonceAt(sender, 12_345_677) + 1)
  expect(process.threadCpuUsage(before).user).toBeLessThan(5e6)
})
