// Bodies of answers: whole ones are read in the order of the calls, anything else is told apart.
import { describe, expect, test } from 'vitest'
import { lookUnreadable, problemIn, readAnswers, refusalIn, UnreadableAnswer } from './answers.ts'
import { splitAnswers } from './body-structure.ts'

const body = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const answer = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result })

describe('reading', () => {
  test('answers in any order, from one body or several', () => {
    expect(readAnswers([body([answer(1, 'b'), answer(0, 'a')])], 2)).toEqual({ values: ['a', 'b'] })
    expect(readAnswers([body(answer(2, null)), body([answer(0, 'a'), answer(1, 'b')])], 3)).toEqual({
      values: ['a', 'b', null],
    })
  })

  test('the first error among them, with its call', () => {
    const failing = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'no', data: { why: 'x' } } }
    expect(readAnswers([body([answer(0, 'a'), failing])], 2)).toEqual({
      refusal: { rpcCode: -32000, text: 'no: {"why":"x"}' },
      call: 1,
    })
  })

  test('a refusal that is tolerated is the answer null, and no other is', () => {
    const reverted = { jsonrpc: '2.0', id: 1, error: { code: 3, message: 'execution reverted' } }
    const broken = { jsonrpc: '2.0', id: 0, error: { code: -32000, message: 'no' } }
    const tolerated = ({ rpcCode }: { rpcCode: number | undefined }) => rpcCode === 3
    expect(readAnswers([body([answer(0, 'a'), reverted])], 2, tolerated)).toEqual({ values: ['a', null] })
    expect(problemIn(body([answer(0, 'a'), reverted]), [{ id: 0 }, { id: 1 }], { tolerated })).toBeUndefined()
    expect(readAnswers([body([broken, reverted])], 2, tolerated)).toMatchObject({ call: 0 })
    expect(problemIn(body([reverted, broken]), [{ id: 0 }, { id: 1 }], { tolerated })).toMatchObject({
      refused: [{ call: 0 }],
    })
  })

  test('what one body refuses or leaves null, a later one answers', () => {
    const failing = (id: number) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'header not found' } })
    const first = body([answer(0, 'a'), failing(1), answer(2, null), failing(3)])
    expect(readAnswers([first, body([answer(2, 'c'), answer(1, 'b')]), body(answer(3, 'd'))], 4)).toEqual({
      values: ['a', 'b', 'c', 'd'],
    })
    expect(readAnswers([first, body(answer(1, 'b'))], 4)).toMatchObject({ call: 3 })
    expect(() => readAnswers([body(answer(0, 'a')), body(answer(0, 'b'))], 1)).toThrow(UnreadableAnswer)
  })

  test.each([
    ['a missing answer', [answer(0, 'a')]],
    ['an answer twice', [answer(0, 'a'), answer(0, 'b')]],
    ['an unknown id', [answer(0, 'a'), answer(7, 'b')]],
    ['an id between those that were asked', [answer(0, 'a'), answer(0.5, 'b')]],
    ['an answer without a result', [answer(0, 'a'), { jsonrpc: '2.0', id: 1 }]],
    ['a number', [answer(0, 'a'), 5]],
  ])('%s cannot be read', (_, value) => {
    expect(() => readAnswers([body(value)], 2)).toThrow(UnreadableAnswer)
  })

  test('a body cut off inside cannot be read', () => {
    expect(() => readAnswers([Buffer.from('[{"id":0,"result":[1,2}]')], 1)).toThrow(UnreadableAnswer)
  })
})

test.each([
  ['', 'an empty body'],
  ['  \n', 'an empty body'],
  ['<!doctype html><html></html>', 'an HTML page'],
  ['Bad gateway', 'something that is not JSON: Bad gateway'],
  ['{"jsonrpc":"2.0","id":0,"resu', 'a cut-off body'],
  ['[{"jsonrpc":"2.0"}', 'a cut-off body'],
])('%j looks like %s', (text, what) => expect(lookUnreadable(Buffer.from(text))).toBe(what))

test('whole bodies look whole', () => {
  expect(lookUnreadable(Buffer.from(' {"result":1} \r\n'))).toBeUndefined()
  expect(lookUnreadable(Buffer.from('[1]'))).toBeUndefined()
})

describe('problems', () => {
  const calls = [{ id: 3 }, { id: 4 }]

  test('none in good answers', () => {
    expect(problemIn(body([answer(3, 'a'), answer(4, 'b')]), calls)).toBeUndefined()
  })

  test('an error of one call, or about the whole batch', () => {
    const error = { code: 5, message: 'no' }
    const refusal = { rpcCode: 5, text: 'no' }
    const refused = (call: number | undefined, aboutBatch = false) => ({ refused: [{ refusal, call }], aboutBatch })
    expect(problemIn(body([answer(3, 'a'), { id: 4, error }]), calls)).toEqual(refused(4))
    expect(problemIn(body({ id: null, error }), calls)).toEqual(refused(undefined, true))
    expect(problemIn(body({ id: 3, error }), [{ id: 3 }])).toEqual(refused(3))
    expect(refusalIn(body([{ id: 0, error }]))).toEqual(refusal)
    expect(refusalIn(Buffer.from('<html>"error"</html>'))).toBeUndefined()
  })

  test.each(['{"ok":true}', '<html></html>', '{"error":}', ''])('%j is not an answer', text => {
    expect(problemIn(Buffer.from(text), calls)).toHaveProperty('unreadable')
  })
})

test('null is a problem where the chain has what is asked for', () => {
  const calls = [{ id: 0 }, { id: 1 }]
  const lacking = body([answer(0, { blockHash: null }), answer(1, null)])
  expect(problemIn(lacking, calls)).toBeUndefined()
  expect(problemIn(lacking, calls, { nullIsMissing: true })).toMatchObject({ refused: [{ call: 1 }] })
  expect(problemIn(body([answer(0, 1), answer(1, [null])]), calls, { nullIsMissing: true })).toBeUndefined()
})

test('null is found wherever it stands, and a body full of the word that it is found by takes no time', () => {
  const calls = [{ id: 0 }, { id: 1 }]
  for (let length = 900; length < 1_300; length++) {
    const lacking = body([answer(0, 'x'.repeat(length)), answer(1, null)])
    expect(problemIn(lacking, calls, { nullIsMissing: true }), `${length}`).toMatchObject({ refused: [{ call: 1 }] })
  }
  const full = body([answer(0, 'jsonrpc'.repeat(4_000_000)), answer(1, 1)])
  const before = process.threadCpuUsage()
  expect(problemIn(full, calls, { nullIsMissing: true })).toBeUndefined()
  // Word by word it takes 2.5 s.
  expect(process.threadCpuUsage(before).user).toBeLessThan(1e6)
})

describe('hostile bodies', () => {
  const messages: unknown[] = [
    { toString: 1, valueOf: 1 },
    { toJSON: 1 },
    [[{}]],
    2 ** 60,
    'x'.repeat(5_000),
    '\u202e\ud800\u0007\n',
  ]
  test.each(messages)('an error with the message %j is read, short and printable', message => {
    const problem = problemIn(body({ id: 0, error: { code: 1, message, data: message } }), [{ id: 0 }])
    const { text } = (problem as { refused: { refusal: { text: string } }[] }).refused[0]!.refusal
    expect(text.length).toBeLessThanOrEqual(1_000)
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
    expect(readAnswers([body({ id: 0, error: { message } })], 1)).toHaveProperty('refusal')
  })

  const inside = (result: string): Buffer => Buffer.from(`[{"jsonrpc":"2.0","id":0,"result":${result}}]`)
  test.each([
    ['many empty lists', inside(`[${'[],'.repeat(3_000_000)}[]]`)],
    ['many empty objects', inside(`[${'{"a":{}},'.repeat(1_600_000)}{}]`)],
    ['many levels', inside(`${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`)],
    ['levels hidden by brackets in texts', inside(`${'["]]]]",'.repeat(600_000)}0${']'.repeat(600_000)}`)],
  ])('%s are refused before they are parsed', (_, bytes) => {
    const before = process.threadCpuUsage()
    expect(() => readAnswers([bytes], 1)).toThrow(/more than/)
    // Parsing them takes a minute or all memory.
    expect(process.threadCpuUsage(before).user).toBeLessThan(5e6)
  })

  test('a batch is split at its commas and nowhere else', () => {
    const answers = [{ a: [1, { b: ',]}"\\' }] }, 5, 'x,"y', [], {}]
    const parts = splitAnswers(Buffer.from(` ${JSON.stringify(answers)} `), 5)
    expect(parts.map(part => JSON.parse(Buffer.from(part).toString()))).toEqual(answers)
    const one = Buffer.from('{"a":[1,2]}')
    expect(splitAnswers(one, 1)).toEqual([one])
    expect(() => splitAnswers(Buffer.from('[1,2,3]'), 2)).toThrow('more answers than calls')
  })

  test('spaces without end cost no time', () => {
    const spaces = Buffer.alloc(64 * 2 ** 20, ' ')
    const before = process.cpuUsage()
    expect(lookUnreadable(spaces)).toBe('an empty body')
    // Of the processor, however busy the machine is.
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(1_000)
  })
})
