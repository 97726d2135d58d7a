// Bodies of answers: whole ones are read in the order of the calls, anything else is told apart.
import { describe, expect, test } from 'vitest'
import { lookUnreadable, problemIn, readAnswers, refusalIn, UnreadableAnswer } from './answers.ts'

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
    expect(problemIn(body([answer(0, 'a'), reverted]), [{ id: 0 }, { id: 1 }], tolerated)).toBeUndefined()
    expect(readAnswers([body([broken, reverted])], 2, tolerated)).toMatchObject({ call: 0 })
    expect(problemIn(body([reverted, broken]), [{ id: 0 }, { id: 1 }], tolerated)).toMatchObject({ call: 0 })
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
    expect(problemIn(body([answer(3, 'a'), { id: 4, error }]), calls)).toEqual({ refusal, call: 4, aboutBatch: false })
    expect(problemIn(body({ id: null, error }), calls)).toEqual({ refusal, call: undefined, aboutBatch: true })
    expect(problemIn(body({ id: 3, error }), [{ id: 3 }])).toEqual({ refusal, call: 3, aboutBatch: false })
    expect(refusalIn(body([{ id: 0, error }]))).toEqual(refusal)
    expect(refusalIn(Buffer.from('<html>"error"</html>'))).toBeUndefined()
  })

  test.each(['{"ok":true}', '<html></html>', '{"error":}', ''])('%j is not an answer', text => {
    expect(problemIn(Buffer.from(text), calls)).toHaveProperty('unreadable')
  })
})
