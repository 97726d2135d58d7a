import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { LentBytes, takeMemory, UnsentAnswers } from './answer-memory.ts'

const kilobyte = 1_024
const lend = (length: number) => new LentBytes(takeMemory(length), length)

describe('lent memory', () => {
  test('is used again, by answers of its size, however many were under way', () => {
    const lent = Array.from({ length: 100 }, () => lend(70_000))
    const known = new Set(lent.map(({ bytes }) => bytes.buffer))
    expect(known.size).toBe(100)
    for (const { release } of lent) release()
    const again = Array.from({ length: 100 }, () => lend(100_000))
    expect(again.every(({ bytes }) => known.has(bytes.buffer))).toBe(true)
    expect(known.has(lend(1_000).bytes.buffer)).toBe(false)
    for (const { release } of again) release()
  })

  test('is not much larger than asked for, and counts once however often it is released', () => {
    expect(takeMemory(1).bytes.length).toBe(32 * kilobyte)
    expect(takeMemory(126_000).bytes.length).toBe(128 * kilobyte)
    expect(takeMemory(128 * kilobyte).bytes.length).toBe(128 * kilobyte)
    expect(takeMemory(5_000_000).bytes.length).toBe(5_000_000)
    const { release } = lend(1_000_000)
    release()
    release()
    expect(takeMemory(1_000_000).bytes.buffer).not.toBe(takeMemory(1_000_000).bytes.buffer)
  })

  test('is kept up to 64 MiB, where the sizes that are in use displace the others', () => {
    const pieces = (count: number, length: number) => Array.from({ length: count }, () => lend(length))
    const large = pieces(64, 2 ** 20)
    for (const { release } of large) release()
    const keptLarge = new Set(large.map(({ bytes }) => bytes.buffer))
    const small = pieces(256, 2 ** 17)
    for (const { release } of small) release()
    const keptSmall = new Set(small.map(({ bytes }) => bytes.buffer))
    expect(pieces(256, 2 ** 17).every(({ bytes }) => keptSmall.has(bytes.buffer))).toBe(true)
    expect(pieces(64, 2 ** 20).filter(({ bytes }) => keptLarge.has(bytes.buffer))).toHaveLength(32)
  })
})

describe('unsent answers', () => {
  const response = () =>
    Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy() {
        this.destroyed = true
      },
    }) as unknown as ServerResponse
  const body = (length: number) => new Uint8Array(length)

  test('leave room until the bound, and again once they are sent', () => {
    const unsent = new UnsentAnswers(100_000)
    const [first, second] = [response(), response()]
    unsent.add(first, body(60_000))
    expect([unsent.hasRoom(), unsent.hasRoom(40_000), unsent.hasRoom(40_001)]).toEqual([true, true, false])
    unsent.add(second, body(60_000))
    expect([unsent.bytes, unsent.hasRoom()]).toEqual([120_000, false])
    first.emit('close')
    first.emit('close')
    expect([unsent.bytes, unsent.hasRoom()]).toEqual([60_000, true])
    expect([first.destroyed, second.destroyed]).toEqual([false, false])
  })

  test('that share their memory count once', () => {
    const unsent = new UnsentAnswers(100_000)
    const shared = body(60_000)
    const responses = Array.from({ length: 1_000 }, response)
    for (const outgoing of responses) unsent.add(outgoing, shared)
    expect(unsent.bytes).toBe(60_000)
    for (const outgoing of responses) outgoing.emit('close')
    expect(unsent.bytes).toBe(0)
  })

  test('of clients that do not take them are given up for others, the oldest first', async () => {
    const unsent = new UnsentAnswers(100_000, 20)
    const responses = Array.from({ length: 3 }, response)
    for (const outgoing of responses) unsent.add(outgoing, body(40_000))
    expect(unsent.hasRoom()).toBe(false)
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(unsent.hasRoom()).toBe(true)
    expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
    expect(unsent.hasRoom(60_000)).toBe(true)
    expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true, false])
  })
})
