import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answersOf } from '../../../test/history-blocks.ts'
import { mainnetBlocks } from '../../../test/recordings.ts'
import { ethereumHeaders } from '../../chains.ts'
import type { RpcHeader } from '../rpc/port.ts'
import { blockHashOf, checkBlockHash, keccak256 } from './block-hash.ts'

test('whichever implementation is at work, the digests are those of Keccak', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
      expect(Buffer.compare(keccak256(bytes), keccak_256(bytes))).toBe(0)
    }),
  )
  expect(Buffer.from(keccak256(new Uint8Array(0))).toString('hex')).toBe(
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  )
})

describe('fields that no table knows', () => {
  const recorded = mainnetBlocks().at(-1)!
  const { transactions: _, ...newest } = answersOf(recorded).block
  const word = (byte: string): string => `0x${byte.repeat(32)}`
  const added = ['treeHash', 'lanes', 'proofHash']
  const values = { treeHash: word('0a'), lanes: '0x5', proofHash: word('bc') }
  /** A header of a fork whose fields come after Glamsterdam's. */
  const base = { ...newest, blockAccessListHash: word('01'), slotNumber: '0x1234' }
  const withFork = (names: readonly string[]): RpcHeader => {
    const fields = Object.fromEntries(names.map(name => [name, values[name as 'lanes']]))
    const later = { ...ethereumHeaders, added: [...ethereumHeaders.added, ...names] }
    // `lanes` is a quantity, which as bytes of a known form would be half a byte.
    const hashed = { ...base, ...fields, ...('lanes' in fields ? { lanes: '0x05' } : {}) } as unknown as RpcHeader
    return { ...base, ...fields, hash: blockHashOf(hashed, later)! } as unknown as RpcHeader
  }
  const known = ethereumHeaders

  test('the last recorded header is of the form that is known', () => {
    expect(checkBlockHash(newest as RpcHeader, known)).toEqual({ is: 'equal' })
    expect(checkBlockHash({ ...base, hash: blockHashOf(base as RpcHeader)! } as RpcHeader, known)).toEqual({
      is: 'equal',
    })
  })

  test.each([[added.slice(0, 1)], [added.slice(1, 2)], [added.slice(0, 2)], [added]])('%s prove the header', names => {
    const header = withFork(names)
    expect(checkBlockHash(header, known)).toEqual({ is: 'equal', fields: names })
    expect(checkBlockHash(header, { ...known, learnt: names })).toEqual({ is: 'equal', fields: names })
    // What was learnt and does not fit costs nothing but a hash.
    expect(checkBlockHash(header, { ...known, learnt: ['other'] })).toEqual({ is: 'equal', fields: names })
    expect(checkBlockHash(newest as RpcHeader, { ...known, learnt: names })).toEqual({ is: 'equal' })
  })

  test('they are found in other orders, beside made-up ones, and where a value comes twice', () => {
    const { treeHash, lanes, ...rest } = withFork(['treeHash', 'lanes']) as RpcHeader & Record<string, string>
    const shown = { madeUp: word('ee'), lanes, twice: treeHash, treeHash, ...rest } as unknown as RpcHeader
    expect(checkBlockHash(shown, known)).toEqual({ is: 'equal', fields: ['twice', 'lanes'] })
    // Of two equal keys in JSON the last one counts.
    const text = JSON.stringify({ ...rest, lanes, treeHash: word('ff') })
    const doubled = JSON.parse(`${text.slice(0, -1)},"treeHash":"${treeHash}"}`) as RpcHeader
    expect(checkBlockHash(doubled, known)).toMatchObject({ is: 'equal' })
  })

  test('a changed, missing or moved value proves nothing, and known fields must be right', () => {
    const header = withFork(added)
    const { proofHash, ...without } = header as RpcHeader & Record<string, string>
    const lies = [
      { ...header, treeHash: word('0b') },
      { ...header, lanes: '0x6' },
      { ...header, treeHash: proofHash, proofHash: word('0a'), lanes: '0x4' },
      without,
      { ...header, receiptsRoot: word('77') },
      { ...header, parentHash: word('77') },
      { ...header, timestamp: '0x1' },
    ]
    for (const lie of lies) expect(checkBlockHash(lie as RpcHeader, known)).toMatchObject({ is: 'unknown' })
  })

  test('names and values that no fork can have are not tried, and thousands cost next to nothing', () => {
    const header = withFork(['treeHash'])
    const huge = {
      huge: `0x${'f'.repeat(2_000_000)}`,
      list: [1],
      'a b': word('aa'),
      [`n${'x'.repeat(60)}`]: word('aa'),
    }
    expect(checkBlockHash({ ...huge, ...header }, known)).toEqual({ is: 'equal', fields: ['treeHash'] })
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`field${at}`, word('aa')]))
    const crowded = [
      { ...many, ...header },
      { ...header, hash: word('99'), extraData: `0x${'00'.repeat(1_000_000)}` },
    ] as RpcHeader[]
    const startedMs = process.cpuUsage().user / 1_000
    for (const each of crowded)
      for (let time = 0; time < 20; time++) expect(checkBlockHash(each, known).is).toBe('unknown')
    // 40 headers, each of which took the JSON of a megabyte to send.
    expect(process.cpuUsage().user / 1_000 - startedMs).toBeLessThan(4_000)
  })

  test('bytes beside a header prove it if they hash to its hash and begin with what it shows', () => {
    const rawHeader = `0x${Buffer.from(recorded.header).toString('hex')}`
    const { requestsHash: _, ...hidden } = { ...newest, shown: '0x1' }
    expect(checkBlockHash(hidden as RpcHeader, known)).toMatchObject({ is: 'unknown' })
    expect(checkBlockHash({ ...hidden, rawHeader } as RpcHeader, known)).toEqual({ is: 'equal', raw: true })
    const other = `0x${Buffer.from(mainnetBlocks().at(-2)!.header).toString('hex')}`
    const lies = [
      { ...hidden, rawHeader: other },
      { ...hidden, rawHeader: '0x' },
      { ...hidden, rawHeader: `${rawHeader}00` },
      { ...hidden, rawHeader: `0x${'f'.repeat(1_000_000)}` },
      { ...hidden, rawHeader, receiptsRoot: word('77') },
      { ...hidden, rawHeader, logsBloom: `0x${'00'.repeat(256)}` },
      { ...hidden, rawHeader, number: '0x1' },
      { ...hidden, rawHeader, timestamp: '0x1' },
      { ...hidden, rawHeader: 5 },
    ]
    for (const lie of lies) expect(checkBlockHash(lie as RpcHeader, known)).toMatchObject({ is: 'unknown' })
  })
})
