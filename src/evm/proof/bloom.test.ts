import fc from 'fast-check'
import * as Hash from 'ox/Hash'
import { expect, test } from 'vitest'
import type { RpcLog } from '../rpc/port.ts'
import { addToBloom, emptyBloom, equalBlooms, parseBloom } from './bloom.ts'

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(value => `0x${Buffer.from(value).toString('hex')}`)
const logs = fc.array(fc.record({ address: bytes(20), topics: fc.array(bytes(32), { maxLength: 4 }) }), {
  maxLength: 30,
})

/** One big number, a bit at a time, with another implementation of the hash. */
function naiveBloom(given: readonly { address: string; topics: readonly string[] }[]): string {
  let filter = 0n
  for (const value of given.flatMap(log => [log.address, ...log.topics])) {
    const digest = Hash.keccak256(value as `0x${string}`)
    for (const at of [2, 6, 10]) filter |= 1n << (BigInt(`0x${digest.slice(at, at + 4)}`) & 2047n)
  }
  return `0x${filter.toString(16).padStart(512, '0')}`
}

test('is the naive filter, asked once or twice', () => {
  fc.assert(
    fc.property(logs, given => {
      const bloom = emptyBloom()
      for (const log of [...given, ...given]) expect(addToBloom(bloom, log as unknown as RpcLog)).toBe(true)
      expect(equalBlooms(bloom, parseBloom(naiveBloom(given))!)).toBe(true)
    }),
  )
})

test('stays right when more values pass than are remembered', () => {
  const value = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`
  for (let index = 0; index < 70_000; index++)
    addToBloom(emptyBloom(), { address: value(index), topics: [] } as unknown as RpcLog)
  for (const index of [0, 1, 65_535, 65_536, 69_999]) {
    const log = { address: value(index), topics: [`0x${index.toString(16).padStart(64, '0')}`] }
    const bloom = emptyBloom()
    addToBloom(bloom, log as unknown as RpcLog)
    expect(`0x${Buffer.from(bloom).toString('hex')}`).toBe(naiveBloom([log]))
  }
})

test('refuses what is not the bytes of an address or a topic, so that nothing long is remembered', () => {
  const [address, topic] = [20, 32].map(bytes => `0x${'ab'.repeat(bytes)}`) as [string, string]
  expect(addToBloom(emptyBloom(), { address, topics: [topic] } as unknown as RpcLog)).toBe(true)
  for (const log of [
    { address: topic, topics: [] },
    { address, topics: [address] },
    { address, topics: [`${topic}ab`] },
  ])
    expect(addToBloom(emptyBloom(), log as unknown as RpcLog)).toBe(false)
})

test('refuses what is not hex, and filters of another length', () => {
  for (const log of [{ address: '0xzz', topics: [] }, { address: '0x00', topics: [null] }, { address: '0x00' }, {}]) {
    expect(addToBloom(emptyBloom(), log as unknown as RpcLog)).toBe(false)
  }
  for (const text of ['0x', `0x${'0'.repeat(510)}`, null, `0x${'g'.repeat(512)}`])
    expect(parseBloom(text)).toBeUndefined()
})
