import fc from 'fast-check'
import * as AbiEvent from 'ox/AbiEvent'
import * as AbiParameters from 'ox/AbiParameters'
import { describe, expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { propertyRuns } from '../../../test/release-runs.ts'
import {
  type Address,
  type ChainId,
  etherLogs,
  type Hash,
  parseAddress,
  type TransferFacts,
  zeroAddress,
} from '../../model.ts'
import { idCountMax, unpackTransfer } from '../../store/transfer-payload.ts'
import type { RpcLog } from '../rpc/port.ts'
import { decodeTransfers, type MalformedReason } from './decode.ts'
import { sequenceLogs } from './log-sequence.ts'
import { type EarlyCollection, earlyCollections, earlyCollectionsOf, topics } from './token-events.ts'

const alice = `0x${'a1'.repeat(20)}` as Address
const bob = `0x${'b0'.repeat(20)}` as Address
const carol = `0x${'c4'.repeat(20)}` as Address
const contract = `0x${'11'.repeat(20)}` as Address
const punks = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb'
const oldPunks = '0x6ba6f2207e343923ba692e5cae646fb0f566db8d'
const transactionHash = `0x${'77'.repeat(32)}` as Hash

const word = (value: bigint | string): string =>
  `0x${(typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')}`
const words = (...values: (bigint | string)[]): string => `0x${values.map(value => word(value).slice(2)).join('')}`

function log(parts: Partial<RpcLog>): RpcLog {
  return {
    address: contract,
    topics: [],
    data: '0x',
    blockNumber: '0x10',
    blockHash: `0x${'bb'.repeat(32)}`,
    transactionHash,
    transactionIndex: '0x2',
    logIndex: '0x3',
    removed: false,
    ...parts,
  }
}

function decode(logs: readonly unknown[], options: { complete?: boolean; list?: readonly EarlyCollection[] } = {}) {
  const { rows, malformed } = decodeTransfers({
    logs: sequenceLogs(logs as RpcLog[], { complete: options.complete ?? false }),
    earlyCollections: earlyCollectionsOf(1 as ChainId, options.list ?? earlyCollections),
    transactionOf: () => ({ value: '0x5' }),
  })
  const reasons = Object.entries(malformed).filter(([, count]) => count > 0)
  return {
    rows,
    facts: rows.map(row => unpackTransfer(row.payload)),
    malformed: Object.fromEntries(reasons) as Partial<Record<MalformedReason, number>>,
  }
}

const nft: Omit<TransferFacts, 'tokenId'> = {
  standard: 'ERC721',
  batch: false,
  from: alice,
  to: bob,
  operator: undefined,
  amount: 1n,
  value: 5n,
  transactionHash,
  idCount: 1,
}
const max = 2n ** 256n - 1n

describe('ERC-721', () => {
  test('four topics are a token, with all 256 bits of its id', () => {
    const { rows, facts } = decode([log({ topics: [topics.transfer, word(alice), word(bob), word(max)] })])
    expect(facts).toEqual([{ ...nft, tokenId: max }])
    expect(rows[0]).toMatchObject({ block: 16, transactionIndex: 2, logIndex: 3, batchIndex: 0, contract })
  })

  test('three topics are ERC-20 and no transfer of a token', () => {
    const transfer = { topics: [topics.transfer, word(alice), word(bob)], data: word(7n) }
    expect(decode([log(transfer)])).toMatchObject({ rows: [], malformed: {} })
    expect(decode([log({ ...transfer, address: etherLogs })])).toMatchObject({ rows: [], malformed: {} })
  })

  test('an address is the low 20 bytes of its topic, whatever stands above', () => {
    const dirty = `0x${'ff'.repeat(12)}${alice.slice(2)}`
    const { facts } = decode([log({ topics: [topics.transfer, dirty, word(bob), word(1n)] })])
    expect(facts[0]).toMatchObject({ from: alice, to: bob })
  })

  test('mints and burns have the zero address', () => {
    const mint = log({ topics: [topics.transfer, word(0n), word(bob), word(0n)] })
    const burn = log({ topics: [topics.transfer, word(bob), word(0n), word(0n)], logIndex: '0x4' })
    expect(decode([mint, burn]).facts).toMatchObject([
      { from: zeroAddress, to: bob, tokenId: 0n },
      { from: bob, to: zeroAddress },
    ])
  })

  test('a contract in mixed case is answered in lower case', () => {
    const address = '0xB47E3cd837dDF8e4c57F05d70Ab865de6e193BBB'
    const { rows } = decode([log({ address, topics: [topics.transfer, word(alice), word(bob), word(1n)] })])
    expect(rows[0]?.contract).toBe(punks)
  })
})

describe('before the standards', () => {
  test('one topic and 96 bytes are a token, as CryptoKitties has it', () => {
    const kitty = log({ topics: [topics.transfer], data: words(alice, bob, 77n) })
    expect(decode([kitty]).facts).toEqual([{ ...nft, tokenId: 77n }])
    expect(decode([log({ topics: [topics.transfer], data: words(alice, bob) })]).malformed).toEqual({ data: 1 })
    expect(decode([log({ topics: [topics.transfer, word(alice)], data: words(bob, 1n) })]).malformed).toEqual({
      topics: 1,
    })
  })

  test('a token that is listed as fungible makes no row', () => {
    const list: EarlyCollection[] = [{ chain: 1, contract, name: 'Coin', kind: 'fungible', reason: 'a test' }]
    expect(decode([log({ topics: [topics.transfer], data: words(alice, bob, 77n) })], { list })).toMatchObject({
      rows: [],
      malformed: {},
    })
  })

  test('three topics are a token only where the contract is listed', () => {
    const axie = '0xf5b0a3efb8e8e4c201e2a935f110eaaf3ffecb8d'
    const transfer = { topics: [topics.transfer, word(alice), word(bob)], data: word(9n) }
    expect(decode([log({ ...transfer, address: axie })]).facts).toEqual([{ ...nft, tokenId: 9n }])
    expect(decode([log({ ...transfer, address: axie, data: '0x' })]).malformed).toEqual({ data: 1 })
  })

  test('every entry of the list is an address with a reason, once', () => {
    const keys = earlyCollections.map(({ chain, contract: address }) => `${chain} ${address}`)
    expect(new Set(keys).size).toBe(keys.length)
    for (const { contract: address, reason } of earlyCollections) {
      expect(parseAddress(address)).toBe(address)
      expect(reason.length).toBeGreaterThan(20)
    }
  })
})

describe('CryptoPunks', () => {
  const coin = { address: punks, topics: [topics.transfer, word(alice), word(bob)], data: word(1n) }

  test('an assigned punk is a mint', () => {
    const assign = { topics: [topics.assign, word(bob)], data: word(12n) }
    expect(decode([log({ ...assign, address: punks })]).facts).toEqual([{ ...nft, from: zeroAddress, tokenId: 12n }])
    expect(decode([log(assign)]), 'of another contract').toMatchObject({ rows: [], malformed: {} })
  })

  test('a transfer is one row, though two events tell of it', () => {
    const punk = log({
      address: punks,
      topics: [topics.punkTransfer, word(alice), word(bob)],
      data: word(12n),
      logIndex: '0x4',
    })
    const { facts, rows } = decode([log(coin), punk])
    expect(facts).toEqual([{ ...nft, tokenId: 12n }])
    expect(rows[0]?.logIndex).toBe(4)
  })

  const bought = (seller: string, buyer: string, place: Partial<RpcLog> = {}) =>
    log({
      address: punks,
      topics: [topics.punkBought, word(12n), word(seller), word(buyer)],
      data: word(0n),
      logIndex: '0x5',
      ...place,
    })

  test('a sale is one row', () => {
    expect(decode([log(coin), bought(alice, bob)]).facts).toEqual([{ ...nft, tokenId: 12n }])
  })

  test('an accepted bid takes its recipient from the Transfer before it', () => {
    expect(decode([log(coin), bought(alice, zeroAddress)]).facts).toEqual([{ ...nft, tokenId: 12n }])
    const capitals = `0x${alice.slice(2).toUpperCase()}`
    expect(decode([log(coin), bought(capitals, zeroAddress)]).facts).toEqual([{ ...nft, tokenId: 12n }])
  })

  test('the first contract takes its seller from the Transfer before it', () => {
    const logs = [log({ ...coin, address: oldPunks }), bought(bob, bob, { address: oldPunks })]
    expect(decode(logs).facts).toEqual([{ ...nft, tokenId: 12n }])
  })

  test('each of two bids of one transaction takes its own Transfer', () => {
    const other = { ...coin, topics: [topics.transfer, word(alice), word(carol)], logIndex: '0x6' }
    const logs = [log(coin), bought(alice, zeroAddress), log(other), bought(alice, zeroAddress, { logIndex: '0x7' })]
    expect(decode(logs).facts.map(({ to }) => to)).toEqual([bob, carol])
  })

  test('no Transfer of another transaction, contract or seller is taken', () => {
    for (const place of [{ transactionIndex: '0x3' }, { blockNumber: '0x11' }, { address: oldPunks }]) {
      expect(decode([log(coin), bought(alice, zeroAddress, place)]).malformed).toEqual({ parties: 1 })
    }
    expect(decode([log(coin), bought(carol, zeroAddress)]).malformed).toEqual({ parties: 1 })
    expect(decode([bought(alice, bob)]).facts, 'alone, with both parties').toEqual([{ ...nft, tokenId: 12n }])
  })
})

describe('ERC-1155', () => {
  const head = [topics.transferSingle, word(carol), word(alice), word(bob)]
  const batchHead = [topics.transferBatch, word(carol), word(alice), word(bob)]
  const token = { ...nft, standard: 'ERC1155' as const, operator: carol }
  const batch = (data: string) => decode([log({ topics: batchHead, data })])

  test('a single transfer keeps its operator and every bit of its amount', () => {
    expect(decode([log({ topics: head, data: words(max, max) })]).facts).toEqual([
      { ...token, tokenId: max, amount: max },
    ])
    expect(decode([log({ topics: head, data: words(1n, 0n) })]).facts).toEqual([{ ...token, tokenId: 1n, amount: 0n }])
    expect(decode([log({ topics: head, data: words(1n) })]).malformed).toEqual({ data: 1 })
    expect(decode([log({ topics: head.slice(0, 3), data: words(1n, 1n) })]).malformed).toEqual({ topics: 1 })
  })

  test('a batch is one row an entry, in order, with the same id twice and amounts of zero', () => {
    const { rows, facts } = batch(words(0x40n, 0xc0n, 3n, 7n, 7n, 8n, 3n, 1n, 2n, 0n))
    expect(facts).toEqual([
      { ...token, batch: true, tokenId: 7n, amount: 1n },
      { ...token, batch: true, tokenId: 7n, amount: 2n },
      { ...token, batch: true, tokenId: 8n, amount: 0n },
    ])
    expect(rows.map(row => row.batchIndex)).toEqual([0, 1, 2])
  })

  test('an empty batch is well-formed and makes no row', () => {
    expect(batch(words(0x40n, 0x60n, 0n, 0n))).toMatchObject({ rows: [], malformed: {} })
  })

  test('what the ABI accepts is accepted: any order, gaps, overlap, bytes after it', () => {
    const one = [{ ...token, batch: true, tokenId: 9n, amount: 4n }]
    expect(batch(words(0x80n, 0x40n, 1n, 4n, 1n, 9n)).facts, 'amounts first').toEqual(one)
    expect(batch(words(0x60n, 0xa0n, 99n, 1n, 9n, 1n, 4n, 5n)).facts, 'a gap and a tail').toEqual(one)
    expect(batch(words(0x40n, 0x40n, 1n, 9n)).facts, 'one array for both').toEqual([{ ...one[0], amount: 9n }])
    expect(batch(`${words(0x41n, 0x81n)}00${words(1n, 9n, 1n, 4n).slice(2)}`).facts, 'not on a word').toEqual(one)
  })

  test('what leaves the data or differs in length is skipped and counted', () => {
    const bad = {
      'lengths differ': words(0x40n, 0x80n, 1n, 9n, 2n, 4n, 5n),
      '200,000 entries claimed': words(0x40n, 0x80n, 200_000n, 9n, 200_000n, 4n),
      'a count of 256 bits': words(0x40n, 0x80n, max, 9n, max, 4n),
      'offsets outside': words(0x4000n, 0x80n, 1n, 9n, 1n, 4n),
      'offsets of 256 bits': words(max, max, 1n, 9n, 1n, 4n),
      'an offset at the end': words(0x40n, 0x80n, 1n, 9n),
      'half a byte': `${words(0x40n, 0x80n, 1n, 9n, 1n, 4n)}0`,
      'no data': '0x',
    }
    for (const [name, data] of Object.entries(bad))
      expect(batch(data), name).toMatchObject({ rows: [], malformed: { data: 1 } })
    const letters = `${words(0x40n, 0xa0n, 2n, 9n, 9n, 2n, 4n).slice(0, -64)}${'zz'.repeat(64)}`
    expect(batch(letters), 'not hex in the last entry: none of its rows').toMatchObject({
      rows: [],
      malformed: { hex: 1 },
    })
  })

  test('200,000 entries that are there are 200,000 rows', { timeout: 30_000 }, () => {
    const count = 200_000
    const array = `${word(BigInt(count)).slice(2)}${word(1n).slice(2).repeat(count)}`
    const data = `${words(0x40n, BigInt(0x60 + 32 * count))}${array}${array}`
    const logs = sequenceLogs([log({ topics: batchHead, data })], { complete: false })
    const { rows } = decodeTransfers({ logs, earlyCollections: new Map(), transactionOf: () => ({ value: '0x0' }) })
    expect(rows.length).toBe(count)
    expect(rows.at(-1)?.batchIndex).toBe(count - 1)
  })
})

describe('ERC-2309', () => {
  const range = (first: bigint, last: bigint) =>
    decode([log({ topics: [topics.consecutiveTransfer, word(first), word(alice), word(bob)], data: word(last) })])

  test('a range is one row', () => {
    expect(range(5n, 5n).facts).toEqual([{ ...nft, tokenId: 5n, idCount: 1 }])
    expect(range(max - 4_999_999n, max).facts).toEqual([{ ...nft, tokenId: max - 4_999_999n, idCount: 5_000_000 }])
    expect(range(1n, BigInt(idCountMax)).facts).toEqual([{ ...nft, tokenId: 1n, idCount: idCountMax }])
  })

  test('an empty range, or one that no row can stand for, is malformed', () => {
    expect(range(6n, 5n).malformed).toEqual({ range: 1 })
    expect(range(0n, BigInt(idCountMax)).malformed).toEqual({ range: 1 })
    expect(range(0n, max).malformed).toEqual({ range: 1 })
  })
})

describe('places', () => {
  const transfer = { topics: [topics.transfer, word(alice), word(bob), word(1n)] }

  test('a log without a place is malformed, one taken back is counted apart', () => {
    const logs = [
      log({ ...transfer, blockNumber: null }),
      log({ ...transfer, logIndex: null }),
      log({ ...transfer, transactionIndex: '0x' }),
      log({ ...transfer, logIndex: '0x80000000' }),
      log({ ...transfer, removed: true }),
      null,
    ]
    expect(decode(logs)).toMatchObject({ rows: [], malformed: { place: 5, removed: 1 } })
  })

  test('rows come in the order of the chain, each log once', () => {
    const places = [
      ['0x10', '0x2', '0x5'],
      ['0x10', '0x2', '0x3'],
      ['0x9', '0xa', '0x20'],
      ['0x10', '0x2', '0x5'],
      ['0x10', '0x1', '0x2'],
    ]
    const logs = places.map(([blockNumber, transactionIndex, logIndex]) =>
      log({ ...transfer, blockNumber: blockNumber!, transactionIndex: transactionIndex!, logIndex: logIndex! }),
    )
    const { rows } = decode(logs)
    expect(rows.map(row => [row.block, row.transactionIndex, row.logIndex])).toEqual([
      [9, 10, 32],
      [16, 1, 2],
      [16, 2, 3],
      [16, 2, 5],
    ])
  })

  test('two logs of a contract at one place are two rows, whatever order they came in', () => {
    const one = log(transfer)
    const two = log({ topics: [topics.transfer, word(alice), word(bob), word(2n)] })
    const elsewhere = log({ ...transfer, address: carol })
    const forward = decode([one, elsewhere, two]).rows
    expect(forward.map(row => [row.contract, row.batchIndex])).toEqual([
      [contract, 0],
      [contract, 1],
      [carol, 0],
    ])
    expect(decode([two, one, elsewhere]).rows).toEqual(forward)
  })

  test('what is not hex, or has no transaction, is skipped', () => {
    expect(decode([log({ ...transfer, address: '0x12' })]).malformed).toEqual({ hex: 1 })
    expect(decode([log({ ...transfer, transactionHash: '0x12' })]).malformed).toEqual({ hex: 1 })
    expect(
      decode([log({ topics: [topics.transfer, word(alice), word(bob), `0x${'g'.repeat(64)}`] })]).malformed,
    ).toEqual({
      hex: 1,
    })
    const { malformed } = decodeTransfers({
      logs: sequenceLogs([log(transfer)], { complete: false }),
      earlyCollections: new Map(),
      transactionOf: () => undefined,
    })
    expect(malformed.transaction).toBe(1)
  })
})

test('a row tells who sent its transaction, as far as a party did', () => {
  const sentBy = (from: string | undefined) => {
    const { rows } = decodeTransfers({
      logs: sequenceLogs([log({ topics: [topics.transfer, word(alice), word(bob), word(1n)] })], { complete: false }),
      earlyCollections: new Map(),
      transactionOf: () => ({ value: '0x0', ...(from === undefined ? {} : { from }) }),
    })
    return unpackTransfer(rows[0]!.payload).sentBy
  }
  expect(sentBy(bob)).toBe('recipient')
  expect(sentBy(alice.toUpperCase().replace('0X', '0x'))).toBe('giver')
  expect(sentBy(carol)).toBe('other')
  expect(sentBy(zeroAddress)).toBeUndefined()
  expect(sentBy('0x12')).toBeUndefined()
  expect(sentBy(undefined)).toBeUndefined()
})

describe('properties', () => {
  const uint = fc.bigInt({ min: 0n, max })
  const address = fc.constantFrom(alice, bob, carol, zeroAddress)
  const events = {
    transfer: AbiEvent.from('event Transfer(address indexed from, address indexed to, uint256 indexed id)'),
    kitty: AbiEvent.from('event Transfer(address from, address to, uint256 id)'),
    single: AbiEvent.from(
      'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
    ),
    batch: AbiEvent.from(
      'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
    ),
  } satisfies Record<string, AbiEvent.AbiEvent>
  const args = fc.record({
    operator: address,
    from: address,
    to: address,
    id: uint,
    value: uint,
    entries: fc.array(fc.tuple(uint, uint), { maxLength: 6 }),
  })

  test('reads what ox reads, and packs what the reference packs', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(events)), args, (event, { entries, ...values }) => {
        const all: Record<string, unknown> = {
          ...values,
          ids: entries.map(([id]) => id),
          values: entries.map(([, amount]) => amount),
        }
        const unindexed = event.inputs.filter(input => !('indexed' in input && input.indexed))
        const made = log({
          topics: AbiEvent.encode(event, all as never).topics as string[],
          data: AbiParameters.encode(unindexed, unindexed.map(input => all[input.name ?? '']) as never),
        })
        const read = AbiEvent.decode(event as AbiEvent.AbiEvent, made as never)
        const {
          operator,
          from,
          to,
          id,
          value,
          ids,
          values: amounts,
        } = read as unknown as {
          operator?: string
          from: string
          to: string
          id: bigint
          value?: bigint
          ids?: bigint[]
          values?: bigint[]
        }
        const expected = (ids ?? [id]).map(
          (tokenId, entry): TransferFacts => ({
            ...nft,
            standard: operator === undefined ? 'ERC721' : 'ERC1155',
            batch: ids !== undefined,
            from: from.toLowerCase() as Address,
            to: to.toLowerCase() as Address,
            operator: operator?.toLowerCase() as Address | undefined,
            tokenId,
            amount: amounts?.[entry] ?? value ?? 1n,
          }),
        )
        const { rows, malformed } = decode([made])
        expect(malformed).toEqual({})
        expect(rows.map(row => Buffer.from(row.payload).toString('hex'))).toEqual(
          expected.map(facts => Buffer.from(packTransfer(facts)).toString('hex')),
        )
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFxg'), maxLength: 200 })
  const odd = fc.oneof(
    digits.map(text => `0x${text}`),
    uint.map(value => word(value)),
    fc.constantFrom(...Object.values(topics)),
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(null, undefined, '0x', '0x0', '0x1'),
  )
  const oddLog = fc.record(
    {
      address: fc.oneof(fc.constantFrom(contract, punks, oldPunks), odd),
      topics: fc.oneof(
        fc.array(odd, { maxLength: 5 }),
        fc.tuple(fc.constantFrom(...Object.values(topics)), uint.map(word), uint.map(word), uint.map(word)),
        odd,
      ),
      data: fc.oneof(
        fc.array(fc.oneof(uint, fc.bigInt({ min: 0n, max: 300n })), { maxLength: 12 }).map(values => words(...values)),
        odd,
      ),
      blockNumber: fc.oneof(fc.constantFrom('0x1', '0x2'), odd),
      blockHash: odd,
      transactionHash: fc.oneof(fc.constant(transactionHash), odd),
      transactionIndex: fc.oneof(fc.constantFrom('0x1', '0x2'), odd),
      logIndex: fc.oneof(fc.constantFrom('0x1', '0x2'), odd),
      removed: odd,
    },
    { requiredKeys: [] },
  )

  test('never throws, places every row once and keeps every payload readable', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: oddLog }, { weight: 1, arbitrary: odd })),
        fc.boolean(),
        (logs, complete) => {
          const { rows, facts } = decode(logs, { complete })
          const places = rows.map(
            row => `${row.block} ${row.transactionIndex} ${row.logIndex} ${row.contract} ${row.batchIndex}`,
          )
          expect(new Set(places).size).toBe(places.length)
          for (const [index, row] of rows.entries()) {
            expect(Buffer.compare(packTransfer(facts[index]!), row.payload)).toBe(0)
          }
        },
      ),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
