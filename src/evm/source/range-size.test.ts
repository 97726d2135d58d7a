import { describe, expect, test } from 'vitest'
import { RangeSize } from './range-size.ts'

const options = { targetBytes: 3_000_000, blocksInitial: 10, blocksMax: 100_000 }

describe('RangeSize', () => {
  test('grows by one step however many ranges of one size are answered at once', () => {
    const size = new RangeSize(options)
    for (let answer = 0; answer < 4; answer++) size.learn({ kind: 'answered', blocks: 10, bytes: 100 })
    expect(size.blocks).toBe(80)
  })

  test('grows towards the target, at most eightfold a step', () => {
    const size = new RangeSize(options)
    size.learn({ kind: 'answered', blocks: 10, bytes: 40_000 })
    expect(size.blocks).toBe(80)
    for (let step = 0; step < 10; step++)
      size.learn({ kind: 'answered', blocks: size.blocks, bytes: size.blocks * 1000 })
    expect(size.blocks).toBe(3000)
  })

  test('a dense stretch halves the range and is forgotten below it', () => {
    const size = new RangeSize(options)
    for (let step = 0; step < 5; step++) size.learn({ kind: 'answered', blocks: size.blocks, bytes: 0 })
    const before = size.blocks
    size.learn({ kind: 'too-dense', blocks: before })
    expect(size.blocks).toBe(before / 2)
    size.learn({ kind: 'answered', blocks: size.blocks, bytes: 0 })
    expect(size.blocks).toBeGreaterThanOrEqual(before)
  })

  test('a structural limit stays whatever the density', () => {
    const size = new RangeSize(options)
    size.learn({ kind: 'answered', blocks: 10, bytes: 0 })
    size.learn({ kind: 'range-too-large', blocks: 80, blocksAllowed: 50 })
    for (let step = 0; step < 5; step++) size.learn({ kind: 'answered', blocks: size.blocks, bytes: 0 })
    expect(size.blocks).toBe(50)
  })

  test('a structural limit without a number is found by halving and never reaches zero', () => {
    const size = new RangeSize(options)
    for (let step = 0; step < 20; step++) size.learn({ kind: 'range-too-large', blocks: size.blocks })
    expect(size.blocks).toBe(1)
  })

  test('after long patience a structural limit is tried again', () => {
    const size = new RangeSize(options)
    size.learn({ kind: 'range-too-large', blocks: 10, blocksAllowed: 5 })
    for (let step = 0; step < 1000; step++) size.learn({ kind: 'answered', blocks: size.blocks, bytes: 0 })
    expect(size.blocks).toBe(10)
  })
})
