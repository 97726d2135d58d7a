import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labelsInMemory } from '../../test/labelled-page.ts'
import { packTransfer } from '../../test/pack-transfer.ts'
import { propertyRuns } from '../../test/release-runs.ts'
import { type Address, type ChainId, type Hash, type TransferFacts, zeroAddress } from '../model.ts'
import { answerRows } from '../query/answer-rows.ts'
import { findLabels, type PageLabels } from '../query/find-labels.ts'
import type { TransferPage } from '../store/index-reader.ts'
import { unpackTransfer } from '../store/transfer-payload.ts'
import { pageTag, type TransferJson, writeTransfers } from './transfer-json.ts'

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map(value => `0x${Buffer.from(value).toString('hex')}`) as fc.Arbitrary<string>
const address = fc.oneof(hex(20), fc.constant(zeroAddress)) as fc.Arbitrary<Address>
const word = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 70n }),
  fc.constant(0n),
)
// A range never reaches beyond the last id.
const tokenId = word.map(id => (id > 2n ** 255n ? id - 2n ** 33n : id))

const facts: fc.Arbitrary<TransferFacts> = fc.record({
  standard: fc.constantFrom('ERC721' as const, 'ERC1155' as const),
  batch: fc.boolean(),
  from: address,
  to: address,
  operator: fc.option(hex(20) as fc.Arbitrary<Address>, { nil: undefined }),
  tokenId,
  amount: fc.oneof(word, fc.constant(1n)),
  value: word,
  transactionHash: hex(32) as fc.Arbitrary<Hash>,
  idCount: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 5 }), fc.constant(2 ** 32 - 1)),
})

type Row = { facts: TransferFacts; block: number; tx: number; log: number; timestamp: number; hash: string }
const rows: fc.Arbitrary<Row[]> = fc.array(
  fc.record({
    facts,
    block: fc.maxSafeNat(),
    tx: fc.nat(),
    log: fc.nat(),
    timestamp: fc.oneof(fc.integer({ min: 0, max: 253_402_300_799 }), fc.integer({ min: 1.6e9, max: 1.6e9 + 200_000 })),
    hash: hex(32),
  }),
  { maxLength: 12 },
)

function pageOf(given: readonly Row[]): TransferPage {
  return {
    length: given.length,
    blocks: given.map(row => row.block),
    transactionIndexes: given.map(row => row.tx),
    logIndexes: given.map(row => row.log),
    batchIndexes: given.map(() => 0),
    timestamps: given.map(row => row.timestamp),
    blockHashes: Buffer.from(given.map(row => row.hash.slice(2)).join(''), 'hex'),
    payloads: Buffer.concat(given.map(row => packTransfer(row.facts))),
  }
}

type Labels = ReadonlyMap<Address, string>

function labelsOn(stored: TransferPage, labels: Labels | undefined): PageLabels | undefined {
  if (labels === undefined || labels.size === 0) return undefined
  const sorted = [...labels]
    .map(([address, label]) => ({ address, chain: undefined, label }))
    .sort((a, b) => (a.address < b.address ? -1 : 1))
  return findLabels(stored, 1 as ChainId, labelsInMemory(sorted)).labels
}

/** The same rows made as plain objects, from the packed facts. */
function plainRows(given: readonly Row[], page: TransferJson, limit: number, labels: Labels | undefined): unknown[] {
  const flag = (value = false) => (page.dialect === 'live' ? value : `${value}`)
  const shown = given.flatMap(row => {
    const { idCount, tokenId: first, ...rest } = unpackTransfer(packTransfer(row.facts))
    return Array.from({ length: Math.min(idCount, limit) }, (_, index) => {
      const id = first + BigInt(idCount - 1 - index)
      const time = new Date(row.timestamp * 1_000).toISOString()
      return {
        block_number: `${row.block}`,
        block_timestamp: page.dialect === 'live' ? time : time.slice(0, 19),
        block_hash: row.hash,
        transaction_hash: rest.transactionHash,
        transaction_index: row.tx,
        log_index: row.log,
        value: `${rest.value}`,
        contract_type: rest.standard,
        transaction_type: rest.batch ? 'Batch' : 'Single',
        token_address: page.contract,
        token_id: page.format === 'hex' ? `0x${id.toString(16)}` : `${id}`,
        from_address: rest.from,
        from_address_label: labels?.get(rest.from) ?? null,
        to_address: rest.to,
        to_address_label: labels?.get(rest.to) ?? null,
        amount: `${rest.amount}`,
        operator: rest.operator ?? null,
        possible_spam: flag(page.facts?.possibleSpam),
        verified_collection: flag(page.facts?.verifiedCollection),
        ...(page.withNames ? { token_name: page.facts?.name ?? null, token_symbol: page.facts?.symbol ?? null } : {}),
      }
    })
  })
  return shown.slice(0, limit)
}

const text = fc.string({ unit: 'grapheme' })
const optionalText = fc.option(text, { nil: undefined })
const shownFacts = fc.record({
  name: optionalText,
  symbol: optionalText,
  possibleSpam: fc.boolean(),
  verifiedCollection: fc.boolean(),
})

describe('the bytes of a page', () => {
  test('say what the same rows as plain objects say, in the same order of keys', () => {
    fc.assert(
      fc.property(
        rows,
        fc.record({
          contract: hex(20) as fc.Arbitrary<Address>,
          facts: fc.option(shownFacts, { nil: undefined }),
          format: fc.constantFrom('decimal' as const, 'hex' as const),
          dialect: fc.constantFrom('reference' as const, 'live' as const),
          withNames: fc.boolean(),
        }),
        fc.option(text, { nil: undefined }),
        fc.integer({ min: 1, max: 14 }),
        (given, style, label, limit) => {
          const labels =
            label === undefined
              ? undefined
              : new Map(
                  given.flatMap(({ facts: { from, to }, log }) => [
                    ...(log % 2 === 0 ? [[to, label] as const] : []),
                    ...(log % 3 === 0 ? [[from, `${label} ${log}`] as const] : []),
                  ]),
                )
          const stored = answerRows(pageOf(given), { order: 'desc', limit, after: undefined })
          const page: TransferJson = {
            ...style,
            rows: stored,
            labels: labelsOn(stored.stored, labels),
            head: '{"é":[',
            tail: ']}',
          }
          const written = JSON.parse(writeTransfers(page).bytes.toString())
          const expected = { é: plainRows(given, page, limit, labels) }
          expect(JSON.stringify(written)).toBe(JSON.stringify(expected))
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })

  test('are not overwritten by the next page until they are given back, and then once only', () => {
    const page = (head: string): TransferJson => ({
      rows: answerRows(pageOf([]), { order: 'desc', limit: 1, after: undefined }),
      contract: zeroAddress,
      facts: undefined,
      labels: undefined,
      format: 'decimal',
      dialect: 'live',
      withNames: false,
      head,
      tail: ']}',
    })
    const first = writeTransfers(page('{"a":['))
    const second = writeTransfers(page('{"b":['))
    expect(first.bytes.toString()).toBe('{"a":[]}')
    first.release()
    first.release()
    const third = writeTransfers(page('{"c":['))
    const fourth = writeTransfers(page('{"d":['))
    expect([second, third, fourth].map(({ bytes }) => bytes.toString())).toEqual(['{"b":[]}', '{"c":[]}', '{"d":[]}'])
    expect(third.bytes.buffer).toBe(first.bytes.buffer)
  })
})

describe('the tag of a page', () => {
  test('differs wherever the bytes do', () => {
    const style = fc.record({
      contract: fc.constantFrom(zeroAddress, `0x${'1'.repeat(40)}` as Address),
      facts: fc.option(shownFacts, { nil: undefined }),
      format: fc.constantFrom('decimal' as const, 'hex' as const),
      dialect: fc.constantFrom('reference' as const, 'live' as const),
      withNames: fc.boolean(),
      label: fc.constantFrom(undefined, 'Blur', 'Blur: Bidding'),
      limit: fc.integer({ min: 1, max: 14 }),
      head: fc.constantFrom('{"total":1,"result":[', '{"total":2,"result":['),
      tail: fc.constantFrom('],"index_complete":true}', '],"index_complete":false}'),
    })
    type Style = typeof style extends fc.Arbitrary<infer T> ? T : never
    const shown = (given: readonly Row[], { label, limit, ...rest }: Style) => {
      const labels = label === undefined ? undefined : new Map(given.map(row => [row.facts.to, label] as const))
      const stored = answerRows(pageOf(given), { order: 'desc', limit, after: undefined })
      const page: TransferJson = { ...rest, rows: stored, labels: labelsOn(stored.stored, labels) }
      const { bytes } = writeTransfers(page)
      return { text: bytes.toString(), tag: pageTag(page, bytes.length) }
    }
    fc.assert(
      fc.property(rows, style, style, rows, fc.nat(), (given, plain, other, others, at) => {
        const one = shown(given, plain)
        // One thing at a time: where the checksums of everything differ, a part that is left out would go unnoticed.
        const variants = Object.keys(plain).map(name => ({ ...plain, [name]: other[name as keyof Style] }))
        const seen = variants.map(variant => shown(given, variant))
        const [row, stranger] = [given[at % given.length], others[at % others.length]]
        if (row !== undefined && stranger !== undefined) {
          for (const name of Object.keys(row) as (keyof Row)[]) {
            seen.push(shown(given.with(at % given.length, { ...row, [name]: stranger[name] }), plain))
          }
        }
        for (const two of seen) if (two.text !== one.text) expect(two.tag).not.toBe(one.tag)
        expect(shown(given, plain).tag).toBe(one.tag)
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})
