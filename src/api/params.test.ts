import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { type Parameter, QueryText, transferParameters, walletParameters } from './params.ts'

const table = new ChainTable()
const transfer = transferParameters(table, 100)
const { chains } = walletParameters(table)

function refusal<Value>(query: string, parameter: Parameter<Value>): AlmanacError {
  try {
    new QueryText(query).optional(parameter)
  } catch (error) {
    if (error instanceof AlmanacError) return error
    throw error
  }
  throw new Error(`${query} was not refused`)
}

describe('chains', () => {
  test.each([
    'chains[]=0x1&chains[]=0x89',
    'chains%5B%5D=0x1&chains%5B%5D=0x89',
    'chains[0]=eth&chains[1]=polygon',
    'chains%5B0%5D=eth&chains%5B1%5D=0x89',
    'chains=eth&chains=polygon',
    'chains=eth,polygon',
    'chains=eth%2C0x89',
    'chains=ETH,,0x0089, ,eth',
    'chains=1&chains[]=137&chains[7]=eth',
  ])('%s means eth and polygon', query => {
    expect(new QueryText(query).list(chains)?.map(chain => chain.name)).toEqual(['eth', 'polygon'])
  })

  test('keep the order of the request', () => {
    const names = new QueryText('chains=0xa4b1,bsc%20testnet&chains=eth').list(chains)?.map(chain => chain.name)
    expect(names).toEqual(['arbitrum', 'bsc testnet', 'eth'])
  })

  test.each(['', 'chains=', 'chains[]=', 'chain=eth', 'chains[x]=eth', 'chains=,,'])('%j gives none', query => {
    expect(new QueryText(query).list(chains)).toBeUndefined()
  })

  test('that are unknown are refused with the list of known ones', () => {
    expect(() => new QueryText('chains=eth,solana').list(chains)).toThrow('chain must be a valid enum value')
    expect(refusal('chain=0x2', transfer.chain).details).toMatchObject({
      given: '0x2',
      accepted: expect.arrayContaining(['eth', '0x1']),
    })
  })
})

describe('single values', () => {
  test.each([
    ['limit=5', 5],
    ['limit=100', 100],
    ['limit=101', 100],
    ['limit=99999999999999999999999999', 100],
    ['limit=%205', 5],
    ['limit=', undefined],
    ['', undefined],
    ['Limit=5', undefined],
  ])('%s is read as %s', (query, limit) => {
    expect(new QueryText(query).optional(transfer.limit)).toBe(limit)
  })

  test.each(['0', '-1', '1.5', '1e2', '0x10', 'abc', 'NaN', '%00', '٣', '%ff'])('limit=%s is refused by name', text => {
    const error = refusal(`limit=${text}`, transfer.limit)
    expect(error.code).toBe('bad_request')
    expect(error.message).toMatch(/^limit must be a whole number from 1 on .*, not "/)
  })

  test('given twice is refused', () => {
    expect(refusal('limit=5&limit=5', transfer.limit).message).toBe('limit must be given once, not 2 times')
  })

  test('from_block reaches from 0 to what a number can hold', () => {
    expect(new QueryText('from_block=0').optional(transfer.fromBlock)).toBe(0)
    expect(new QueryText('from_block=18446744073709551616').optional(transfer.fromBlock)).toBe(Number.MAX_SAFE_INTEGER)
    expect(refusal('from_block=-0', transfer.fromBlock).message).toMatch(
      /^from_block must be a whole number from 0 on, not "-0"/,
    )
  })

  test('any case of the named ones', () => {
    expect(new QueryText('format=HEX').optional(transfer.format)).toBe('hex')
    expect(new QueryText('order=asc').optional(transfer.order)).toBe('ASC')
    expect(new QueryText('disable_total=False').optional(transfer.disableTotal)).toBe(false)
    expect(refusal('disable_total=1', transfer.disableTotal).message).toBe(
      'disable_total must be true or false, not "1"',
    )
  })

  test('the message shows a bounded, harmless form of what was given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(2_000), (text, times) => {
        const given = `x${text.repeat(times + 1)}`
        const { message } = refusal(`format=${encodeURIComponent(given.toWellFormed())}`, transfer.format)
        expect(message.length).toBeLessThan(700)
        expect(message).toMatch(/^[^\p{Cc}]*$/u)
        expect(message.isWellFormed()).toBe(true)
      }),
    )
  })
})
