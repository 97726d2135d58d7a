// Lists in every form that people share become entries, with each bad line reported. No store is written.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ChainTable } from '../../chains.ts'
import type { StagedEntry } from './import-list.ts'
import { importList, type ListOptions } from './import-list.ts'

const chains = new ChainTable()
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

async function run(text: string, options: Partial<ListOptions> = {}) {
  const written: StagedEntry[] = []
  const result = await importList({
    pieces: (async function* () {
      for (let at = 0; at < text.length; at += 50) yield text.slice(at, at + 50)
    })(),
    ...{ chains, chain: undefined, source: 'file', ownSources: true, needs: 'name', strict: false },
    write: async entries => {
      written.push(...entries)
    },
    onProgress: () => undefined,
    signal: new AbortController().signal,
    ...options,
  })
  const short = written.map(({ chain, address: of, label, source }) => [Number(of), chain, label, source])
  return { ...result, short }
}

describe('the forms of a list', () => {
  test('CSV with a header in any order, with what else it has left aside', async () => {
    const text = `\ufeffChain ID;Name Tag;Rank;Address\n1;"One; ""first""";x;${address(1).toUpperCase().replace('X', 'x')}\n;Two;;${address(2)}\n`
    expect(await run(text)).toMatchObject({
      ...{ written: 2, refused: 0 },
      short: [
        [1, 1, 'One; "first"', 'file'],
        [2, undefined, 'Two', 'file'],
      ],
    })
  })

  test('a JSON map of address to name, or to a map with a name', async () => {
    const text = JSON.stringify({ [address(2)]: 'Two', [address(1)]: { name: 'One', labels: ['a'], chainId: 137 } })
    expect((await run(text)).short).toEqual([
      [1, 137, 'One', 'file'],
      [2, undefined, 'Two', 'file'],
    ])
  })

  test('a token list', async () => {
    const text = JSON.stringify({
      ...{ name: 'List', timestamp: '2024-01-01', version: { major: 1 }, tags: {}, logoURI: 'x'.repeat(70_000) },
      tokens: [
        { chainId: 1, address: address(1), name: 'One', symbol: 'ONE', decimals: 18 },
        { chainId: 999_999, address: address(2), name: 'Two', symbol: 'TWO', decimals: 18 },
      ],
    })
    const result = await run(text)
    expect(result.short).toEqual([[1, 1, 'One', 'file']])
    expect(result.problems).toEqual([{ line: 1, reason: '"999999" is not a known chain' }])
  })

  test('what is none of them is refused whole', async () => {
    const noHeader = await run(`${address(1)},One\n${address(2)},Two\n`)
    expect(noHeader).toMatchObject({ written: 0, refused: 1, problems: [{ line: 1 }] })
    expect(await run(' \n ')).toMatchObject({ written: 0, problems: [{ line: 1, reason: 'the file is empty' }] })
    expect(await run('"just text"')).toMatchObject({ written: 0, refused: 1 })
  })
})

test('every bad line is reported with its number and the others are kept, or nothing is', async () => {
  const text = [
    'address,label,chain,source',
    `${address(1)},One,eth,mine`,
    'x,Two,eth,mine',
    `${address(3)},,eth,mine`,
    `${address(4)},Four,etth,mine`,
    `${address(5)},"a""`,
    `${address(6)},Six\u0007,0x89,operator`,
  ].join('\n')
  const result = await run(text)
  expect(result.problems).toEqual([
    { line: 3, reason: '"x" is not an address' },
    { line: 4, reason: 'the name is empty' },
    { line: 5, reason: '"etth" is not a known chain' },
    { line: 6, reason: 'a quotation mark is left open' },
  ])
  expect(result.notes).toEqual([{ line: 7, reason: 'control characters were removed' }])
  // A list cannot name the operator as its source.
  expect(result.short).toEqual([
    [1, 1, 'One', 'mine'],
    [6, 137, 'Six', 'file'],
  ])
  expect(await run(text, { strict: true })).toMatchObject({ written: 0, refused: 4, short: [] })
})

test('contracts need a chain and no name', async () => {
  const text = `contract,chain\n${address(1)},\n${address(2)},polygon\n`
  const result = await run(text, { needs: 'chain' })
  expect(result.short).toEqual([[2, 137, '', 'file']])
  expect(result.problems).toEqual([{ line: 2, reason: 'it has no chain; give --chain for such lines' }])
  expect((await run(text, { needs: 'chain', chain: chains.parse('eth')!.id })).written).toBe(2)
})

test('entries are written in the order of addresses, the last one of each', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(20), fc.nat(5)), { maxLength: 60 }), async rows => {
      const text = ['address,label', ...rows.map(([of, label]) => `${address(of)},L${label}`)].join('\n')
      const { short, written, repeated } = await run(text)
      const last = [...new Map(rows)].sort(([a], [b]) => a - b)
      expect(short).toEqual(last.map(([of, label]) => [of, undefined, `L${label}`, 'file']))
      expect([written, repeated]).toEqual([last.length, rows.length - last.length])
    }),
  )
})
