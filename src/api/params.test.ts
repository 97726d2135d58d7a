import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { transferParameters } from './evm/nft-transfers.ts'
import { walletParameters } from './evm/wallet-chains.ts'
import { type Parameter, parseDate, QueryText, readParameter } from './params.ts'

const table = new ChainTable()
const transfer = transferParameters(table, 100)

test('a format that is one of the whole list names the header that asks for it', () => {
  expect(() => readParameter(transfer.format, 'CSV')).toThrow(
    /not "CSV"\. For a whole list as CSV.* Accept: text\/csv$/,
  )
  expect(() => readParameter(transfer.format, 'xml')).toThrow(/not "xml"$/)
})
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
      { numRuns: propertyRuns(200) },
    )
  })
})

const second = (iso: string) => Date.parse(iso) / 1_000

describe('dates', () => {
  test.each([
    ['2022-12-10T00:00:00.000Z', '2022-12-10T00:00:00Z'],
    ['2023-01-08T22:20:11', '2023-01-08T22:20:11Z'],
    ['2023-03-24T15:33', '2023-03-24T15:33:00Z'],
    ['2022-12-10', '2022-12-10T00:00:00Z'],
    ['2022-12-10T01:00:00+02:00', '2022-12-09T23:00:00Z'],
    ['2022-12-10T01:00:00 02:00', '2022-12-09T23:00:00Z'],
    ['2022-12-10T01:00:00.250Z', '2022-12-10T01:00:00.250Z'],
    ['Sat, 10 Dec 2022 10:00:00 GMT', '2022-12-10T10:00:00Z'],
    ['Sat, 10 Dec 2022 10:00:00 +0100', '2022-12-10T09:00:00Z'],
    ['2022-W49-6', '2022-12-10T00:00:00Z'],
    ['2022-344', '2022-12-10T00:00:00Z'],
    ['20221210', '2022-12-10T00:00:00Z'],
    ['20221210T101112', '2022-12-10T10:11:12Z'],
    ['2022', '2022-01-01T00:00:00Z'],
    ['202212', '2022-12-01T00:00:00Z'],
    ['December 10, 2022 10:00', '2022-12-10T10:00:00Z'],
    ['12/10/2022', '2022-12-10T00:00:00Z'],
    ['1670630400', '2022-12-10T00:00:00Z'],
    ['1670630400.5', '2022-12-10T00:00:00.500Z'],
    [' 1670630400 ', '2022-12-10T00:00:00Z'],
    ['1672303191000', '2022-12-29T08:39:51Z'],
    ['1672303191250.5', '2022-12-29T08:39:51.250Z'],
    ['100000000000', '1973-03-03T09:46:40Z'],
    ['99999999999', '5138-11-16T09:46:39Z'],
    ['0', '1970-01-01T00:00:00Z'],
    ['999999', '1970-01-12T13:46:39Z'],
    ['-1', '1969-12-31T23:59:59Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseDate(text)).toBe(second(iso))
  })

  test.each([
    '',
    ' ',
    'yesterday',
    '2022-13-10',
    '2022-02-30',
    'NaN',
    '9'.repeat(30),
    '1'.repeat(400),
    '\0',
    '\ud800',
    "1' OR '1'='1",
  ])('%j is none', text => {
    expect(parseDate(text)).toBeUndefined()
  })

  test('never throw, never warn, and are numbers or nothing', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.date({ noInvalidDate: true }).map(String), fc.double().map(String)),
        text => {
          const date = parseDate(text)
          if (date !== undefined) expect(Number.isFinite(date)).toBe(true)
        },
      ),
      { numRuns: propertyRuns(2_000) },
    )
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })
})
