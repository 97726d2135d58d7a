import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { listenToKeys } from './keyboard.ts'

/** A terminal to type at, as far as it is used. */
class Typed extends EventEmitter {
  isTTY = true
  isRaw = false
  isRead = false
  setRawMode(mode: boolean) {
    this.isRaw = mode
    return this as never
  }
  resume() {
    this.isRead = true
    return this as never
  }
  pause() {
    this.isRead = false
    return this as never
  }
}

const typed = () => new Typed() as Typed & Parameters<typeof listenToKeys>[1]

test('a key does what it stands for until the end, and the mode of the terminal is given back', () => {
  const input = typed()!
  const pressed: string[] = []
  const before = process.listenerCount('exit')
  const close = listenToKeys({ o: () => pressed.push('o'), q: () => pressed.push('q') }, input, () => true)!
  expect([input.isRaw, input.isRead]).toEqual([true, true])
  input.emit('data', Buffer.from('oxq'))
  expect(pressed).toEqual(['o', 'q'])
  expect(process.listenerCount('exit')).toBe(before + 1)
  close()
  input.emit('data', Buffer.from('q'))
  expect(pressed).toEqual(['o', 'q'])
  expect([input.isRaw, input.isRead]).toEqual([false, false])
  expect(process.listenerCount('exit')).toBe(before)
})

test('Ctrl-C is the signal that it is elsewhere', async () => {
  const input = typed()!
  const close = listenToKeys({}, input, () => true)!
  const signal = new Promise(resolve => process.once('SIGINT', resolve))
  input.emit('data', Buffer.from('\u0003'))
  expect(await signal).toBe('SIGINT')
  close()
})

test('without a terminal to type at, or in the background, nothing is changed', () => {
  const piped = typed()!
  piped.isTTY = false
  expect(listenToKeys({}, piped, () => true)).toBeUndefined()
  const behind = typed()!
  expect(listenToKeys({}, behind, () => false)).toBeUndefined()
  expect([piped.isRaw, behind.isRaw]).toEqual([false, false])
})
