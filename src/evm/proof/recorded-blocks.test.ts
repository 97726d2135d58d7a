import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ChainTable } from '../../chains.ts'
import type { RpcBlock, RpcTransaction } from '../rpc/port.ts'
import { checkBlockHash } from './block-hash.ts'
import { checkSender } from './senders.ts'
import { checkTransactionsRoot } from './transactions-root.ts'

type Recorded = { chain: string; source: string; block: Omit<RpcBlock, 'transactions'> & Partial<RpcBlock> }
const recorded = JSON.parse(readFileSync('test/recorded-blocks.json', 'utf8')) as Recorded[]
const chains = new ChainTable()
const formOf = (name: string) => chains.parse(name)!.quirks.headers

describe.each(recorded)('$chain block $block.number', ({ chain, block }) => {
  test('hashes to its hash, and with any change of a hashed field it does not', () => {
    const form = formOf(chain)!
    expect(checkBlockHash(block, form)).toEqual({ is: 'equal' })
    // What stands beside the hash may be anything.
    expect(checkBlockHash({ ...block, x: '0x0', size: null } as never, form)).toEqual({ is: 'equal' })
    const hashed = [
      'parentHash',
      'receiptsRoot',
      'transactionsRoot',
      'logsBloom',
      'timestamp',
      ...(form.required ?? []),
    ]
    for (const name of hashed) {
      const changed = {
        ...block,
        [name]: String(block[name as 'parentHash']).replace(/.$/, last => (last === '1' ? '2' : '1')),
      }
      expect(checkBlockHash(changed, form).is, name).toBe('different')
      expect(checkBlockHash({ ...changed, x: '0x0' } as never, form).is, name).toBe('unknown')
      expect(checkBlockHash({ ...block, [name]: undefined } as never, form).is, name).toBe('unknown')
      expect(checkBlockHash({ ...block, [name]: null } as never, form).is, name).toBe('unknown')
    }
  })

  test('has the transactions of its root, sent by those who signed them', () => {
    const transactions = block.transactions as readonly RpcTransaction[] | undefined
    if (transactions === undefined) return
    expect(checkTransactionsRoot(transactions, block.transactionsRoot)).toEqual({ is: 'proven' })
    for (const transaction of transactions) expect(checkSender(transaction)).toBeUndefined()
  })
})

test('the forms of Cronos, Fantom and Palm are not known, and old ones of Arbitrum neither', () => {
  for (const name of ['cronos', 'fantom', 'palm']) expect(formOf(name)).toBeUndefined()
  const arbitrum = recorded.find(({ chain }) => chain === 'arbitrum')!.block
  expect(checkBlockHash({ ...arbitrum, number: '0x1' }, formOf('arbitrum'))).toEqual({
    is: 'unknown',
    why: 'the form of old headers is not known',
  })
})

describe('transactions of a recorded block', () => {
  const { block } = recorded.find(({ block: { transactions = [] } }) => transactions.length > 1)!
  const transactions = block.transactions as readonly RpcTransaction[]
  const check = (change: object, at = 2) =>
    checkTransactionsRoot(transactions.with(at, { ...transactions[at]!, ...change }), block.transactionsRoot)

  test('any change of what is hashed is noticed', () => {
    for (const change of [
      ...[{ value: '0x1' }, { to: null }, { nonce: '0x1' }, { input: '0x' }, { hash: block.hash }, { gas: '0x1' }],
      ...[{ maxFeePerGas: '0x1' }, { chainId: '0x1' }, { r: '0x1' }, { yParity: '0x0' }, { value: '0xzz' }],
      { accessList: [{ address: `0x${'11'.repeat(20)}`, storageKeys: [block.hash] }] },
    ])
      expect(check(change).is, JSON.stringify(change)).toBe('different')
    expect(checkTransactionsRoot(transactions.slice(1), block.transactionsRoot).is).toBe('other-root')
    expect(checkTransactionsRoot([...transactions].reverse(), block.transactionsRoot).is).toBe('other-root')
  })

  test('an unknown type and a field that is left out are a doubt, a sender that did not sign is a lie', () => {
    for (const name of ['r', 's', 'chainId', 'accessList', 'nonce', 'maxFeePerGas', 'input']) {
      expect(check({ [name]: undefined }), name).toMatchObject({ is: 'unknown' })
      expect(check({ [name]: null }), name).toMatchObject({ is: 'unknown' })
    }
    expect(check({ type: '0x7d' })).toEqual({ is: 'unknown', why: 'transaction 2 is of the unknown type 0x7d' })
    // Nodes may leave out one of the two.
    expect(check({ yParity: undefined })).toEqual({ is: 'proven' })
    expect(check({ v: undefined })).toEqual({ is: 'proven' })
    expect(check({ from: `0x${'66'.repeat(20)}` })).toEqual({ is: 'proven' })
    const [sender] = transactions.slice(2).map(({ from }) => from)
    expect(checkSender({ ...transactions[2]!, from: `0x${'66'.repeat(20)}` })).toBe(
      `${sender} signed it, reported is 0x${'66'.repeat(20)}`,
    )
    expect(checkSender({ ...transactions[2]!, r: `0x${'ff'.repeat(32)}` } as never)).toBe('nobody can have signed it')
    expect(checkSender({ ...transactions[2]!, r: '0x0' } as never)).toBeUndefined()
  })

  test('no answer makes a check throw', () => {
    const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(undefined, '0x', '0x1', '0x7f'))
    const names = fc.constantFrom(...Object.keys(transactions[2]!), 'type', 'accessList', 'authorizationList')
    fc.assert(
      fc.property(names, odd, (name, value) => {
        check({ [name]: value })
        checkSender({ ...transactions[2]!, [name]: value })
      }),
    )
  })
})

test('a block without transactions has the root of an empty list, or the hash of nothing as of development nodes', () => {
  const emptyList = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  const nothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(checkTransactionsRoot([], emptyList)).toEqual({ is: 'proven' })
  expect(checkTransactionsRoot([], nothing)).toEqual({ is: 'proven' })
  expect(checkTransactionsRoot([], `0x${'1'.repeat(64)}`)).toMatchObject({ is: 'other-root' })
})
