import { expect, test } from 'vitest'
import { Watches } from './watches.ts'

const key = new Uint8Array(32)

test('the least recently asked leave first, and never the one that room is made for', () => {
  const watches = new Watches(12)
  const [a, b, c] = ['a', 'b', 'c'].map(name => watches.add(key, name)) as [never, never, never]
  expect(watches.leavingFor(3)).toEqual([])
  expect(watches.leavingFor(4)).toEqual([a])
  watches.touch(a)
  expect(watches.leavingFor(4)).toEqual([b])
  expect(watches.leavingFor(7, b)).toEqual([c, a])
  expect(watches.leavingFor(9, b)).toEqual([c, a])
  expect(watches.leavingFor(10, b)).toBeUndefined()
  expect(watches.leavingFor(13)).toBeUndefined()
})

test('an account is let go when the last owner that needs it leaves', () => {
  const watches = new Watches(100)
  const [a, b] = [watches.add(key, 'a'), watches.add(key, 'b')]
  watches.addTokenAccount(a, 'token')
  for (const watch of [a, b]) watches.addMint(watch, 'mint')
  expect(watches.remove(a)).toEqual(['a', 'token'])
  expect(watches.isMint('mint')).toBe(true)
  expect(watches.remove(b)).toEqual(['b', 'mint'])
  expect(watches.all).toEqual([])
})

test('a token account belongs to one owner at a time', () => {
  const watches = new Watches(100)
  const [a, b] = [watches.add(key, 'a'), watches.add(key, 'b')]
  watches.addTokenAccount(a, 'token')
  watches.addTokenAccount(b, 'token')
  expect(a.tokenAccounts.size).toBe(0)
  expect(watches.ofTokenAccount('token')).toBe(b)
  expect(watches.remove(a)).toEqual(['a'])
  watches.removeTokenAccount('token')
  expect(watches.needs('token')).toBe(false)
})
