import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AlmanacError, type AlmanacErrorOptions, errorCodes, fromPlain, toPlain } from './errors.ts'

/** Required: an option that is added to the class does not compile here until it is tried. */
const options: Record<keyof AlmanacErrorOptions, fc.Arbitrary<unknown>> = {
  cause: fc.string().map(message => new Error(message)),
  hint: fc.string(),
  details: fc.jsonValue().map(value => ({ value })),
  operatorsOnly: fc.boolean(),
  retryable: fc.boolean(),
  retryAfterMs: fc.nat(),
}
const error = fc
  .tuple(fc.constantFrom(...errorCodes), fc.string(), fc.record(options, { requiredKeys: [] }))
  .map(([code, message, given]) => new AlmanacError(code, message, given as AlmanacErrorOptions))

/** Every field that the error has, whatever the class is given next. */
function fieldsOf(given: AlmanacError): Record<string, unknown> {
  const names = Object.getOwnPropertyNames(given).filter(name => name !== 'stack')
  return Object.fromEntries(names.map(name => [name, given[name as keyof AlmanacError]]))
}

test('an error keeps every field through JSON and through a message to another thread', () => {
  fc.assert(
    fc.property(error, given => {
      // JSON knows no negative zero.
      const expected = fieldsOf(given)
      if (given.details !== undefined) expected.details = JSON.parse(JSON.stringify(given.details))
      const passed = fromPlain(JSON.parse(JSON.stringify(toPlain(given))))
      expect(passed).toBeInstanceOf(AlmanacError)
      expect(fieldsOf(passed)).toEqual(expected)
      expect(fieldsOf(fromPlain(structuredClone(toPlain(given))))).toEqual(fieldsOf(given))
    }),
  )
})

test('each field arrives', () => {
  const cause = new Error('why')
  const given = { hint: 'wait.', details: { limit: 3 }, retryable: true, retryAfterMs: 1_500 }
  const passed = fromPlain(toPlain(new AlmanacError('rate_limited', 'Too many.', { ...given, cause })))
  expect(passed).toMatchObject({ code: 'rate_limited', message: 'Too many.', ...given, cause })
})

test('what is not an AlmanacError, and a code of another version, become internal', () => {
  expect(fromPlain(toPlain(new TypeError('odd')))).toMatchObject({ code: 'internal', message: 'odd', retryable: false })
  expect(fromPlain(toPlain('text'))).toMatchObject({ code: 'internal', message: 'text' })
  expect(fromPlain({ code: 'later', message: 'new' })).toMatchObject({ code: 'internal', message: 'new' })
})

test('whatever was thrown becomes an error that JSON and messages carry', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const thrower = {
    get message(): string {
      throw new Error('no')
    },
  }
  const thrown = [
    ...[undefined, null, Symbol('s'), 1n, () => 1, Object.create(null), { toString: 1, valueOf: 1 }],
    Object.setPrototypeOf(thrower, Error.prototype),
    Object.assign(new Error(), { message: { toString: 1 } }),
    ...[cycle, { amount: 1n }, { call: () => 1 }, Symbol('s')].map(
      details => new AlmanacError('bad_request', 'no', { details, cause: Object.create(null), hint: 'stop.' }),
    ),
  ]
  for (const each of thrown) {
    const plain = toPlain(each)
    expect(JSON.parse(JSON.stringify(plain))).toEqual(structuredClone(plain))
    expect(typeof fromPlain(plain).message).toBe('string')
    if (each instanceof AlmanacError) expect(plain).toMatchObject({ code: 'bad_request', message: 'no', hint: 'stop.' })
  }
})
