// The kinds of parameters: how each is read, what is refused, how the OpenAPI document describes it. Each route file
// has those of its operation.
import moment from 'moment'
import { z } from 'zod'
import { type Chain, type ChainTable, nearestChain } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { parseAddress } from '../model.ts'
import type { ApiRequest } from './request.ts'

export type Parameter<Value> = {
  name: string
  /** Undefined where the text is not accepted. */
  read: (text: string) => Value | undefined
  /** Ends the sentence "<name> must be …". */
  accepts: string
  /** The whole message, where clients match on it. */
  refusal?: string
  /** More facts for the `details` of a refusal. */
  details?: Readonly<Record<string, unknown>>
  /** What a refused text most likely means, for the same. */
  nearest?: (text: string) => string | undefined
  /** What to do instead, for those who meant something else: a sentence after the refusal. */
  instead?: (text: string) => string | undefined
  /** The rest is for the OpenAPI document. */
  schema: z.ZodType
  description: string
  example: unknown
  deprecated?: true
}

/** Fails with the parameter, what was given and what is accepted. */
export function readParameter<Value>(parameter: Parameter<Value>, text: string): Value {
  const value = parameter.read(text)
  if (value !== undefined) return value
  const given = showGiven(text)
  const nearest = parameter.nearest?.(given)
  const refusal = parameter.refusal ?? `${parameter.name} must be ${parameter.accepts}, not "${given}"`
  const instead = parameter.instead?.(given)
  throw new AlmanacError('bad_request', instead === undefined ? refusal : `${refusal}. ${instead}`, {
    details: {
      ...{ parameter: parameter.name, given, accepted: parameter.accepts },
      ...(nearest === undefined ? {} : { did_you_mean: nearest }),
      ...parameter.details,
    },
  })
}

export function unacceptable(parameter: string, accepted: string): AlmanacError {
  return new AlmanacError('bad_request', `${parameter} must be ${accepted}`, { details: { parameter, accepted } })
}

/** As `unacceptable`, where nothing was given. */
export function missing(parameter: string, accepted: string): AlmanacError {
  return new AlmanacError('bad_request', `${parameter} is missing`, { details: { parameter, accepted } })
}

const givenLengthMax = 80

/** Cut to a bounded length, without control characters or halves of characters. */
export function showGiven(text: string): string {
  const cut = text.length > givenLengthMax ? `${text.slice(0, givenLengthMax)}…` : text
  return cut
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      character => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
    )
}

type WholeNumber = { min: number; max?: number; default?: number; description: string; example: number }

/** Any number of digits, capped at `max`: no chain reaches block 2^53. */
export function wholeParameter(
  name: string,
  { min, max, description, example, ...facts }: WholeNumber,
): Parameter<number> {
  // Not `maximum`: a higher number is not refused.
  const schema = max === undefined ? z.int().min(min) : z.int().min(min).meta({ 'x-taken-up-to': max })
  return {
    name,
    read: text => {
      const value = /^\d+$/.test(text.trim()) ? Math.min(Number(text), max ?? Number.MAX_SAFE_INTEGER) : -1
      return value >= min ? value : undefined
    },
    accepts: `a whole number from ${min} on${max === undefined ? '' : ` (above ${max} it is taken as ${max})`}`,
    schema: facts.default === undefined ? schema : schema.default(facts.default),
    description,
    example,
  }
}

export function choiceParameter<const Value extends string>(
  name: string,
  values: readonly Value[],
  facts: { default: Value; description: string },
): Parameter<Value> {
  return {
    name,
    read: text => values.find(value => value.toLowerCase() === text.trim().toLowerCase()),
    accepts: values.join(' or '),
    schema: z.enum(values).default(facts.default as never),
    description: facts.description,
    example: facts.default,
  }
}

const flags = new Map([
  ['true', true],
  ['false', false],
])

export function readFlag(text: string): boolean | undefined {
  return flags.get(text.trim().toLowerCase())
}

export function flagParameter(name: string, description: string): Parameter<boolean> {
  return {
    name,
    read: readFlag,
    accepts: 'true or false',
    schema: z.boolean().default(false),
    description,
    example: false,
  }
}

const addressSchema = z.string().regex(/^0[xX][0-9a-fA-F]{40}$/)
export const exampleContract = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'

export function addressParameter(description: string, example: string) {
  return {
    name: 'address',
    read: parseAddress,
    accepts: '0x and 40 hex digits, in any case',
    refusal: 'address is not a valid hex address',
    schema: addressSchema,
    description,
    example,
  }
}

const acceptedDates =
  'ISO 8601 such as `2022-12-10` or `2022-12-10T08:30:00+02:00`, RFC 2822, or unix time in seconds or, from 10^11 on, ' +
  'in milliseconds; UTC unless it has a time zone.'

export function dateParameter(name: string, description: string): Parameter<number> {
  return {
    name,
    read: parseDate,
    accepts: 'a date such as 2022-12-10 or 2022-12-10T00:00:00Z, or unix seconds or milliseconds',
    schema: z.string().max(64),
    description: `${description} ${acceptedDates}`,
    example: '2022-12-10T00:00:00.000Z',
  }
}

export function chainParameter(name: string, table: ChainTable, description: string): Parameter<Chain> {
  const accepted = table.all.flatMap(chain => [chain.name, chain.hexId])
  return {
    name,
    read: text => table.parse(text),
    accepts: 'the name or the id of a known chain',
    refusal: 'chain must be a valid enum value',
    nearest: text =>
      nearestChain(
        text,
        [...table.configured, ...table.all].map(chain => chain.name),
      ),
    details: {
      accepted,
      // Where another process indexes, this one may have none.
      ...(table.configured.length === 0 ? {} : { configured: table.configured.map(({ name: chain }) => chain) }),
    },
    schema: z.string().meta({ examples: accepted }),
    description,
    example: 'eth',
  }
}

// Dates: what moment accepts, in UTC, and unix seconds or milliseconds. Nothing else uses moment.

const dateLengthMax = 64

// Texts that are neither ISO 8601 nor RFC 2822 go to JavaScript's Date, in UTC. The reference allows that: no warning.
moment.suppressDeprecationWarnings = true

/** In unix seconds, which may have a fraction. Undefined where the text is not a date. */
export function parseDate(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > dateLengthMax) return undefined
  return isNumber.test(trimmed) ? parseNumber(trimmed) : secondsOf(moment.utc(restorePlus(trimmed)))
}

const isNumber = /^[+-]?\d+(\.\d+)?$/

/** 5138 in seconds, 1973 in milliseconds: no date that anybody asks for lies on the other side of it. */
const millisecondsFrom = 1e11

/** Four and six to eight digits may be a date of ISO 8601. Every other number is unix seconds or milliseconds. */
function parseNumber(text: string): number | undefined {
  if (/^\d{4}$|^\d{6,8}$/.test(text)) {
    const date = secondsOf(moment.utc(text, moment.ISO_8601, true))
    if (date !== undefined) return date
  }
  const number = Number(text)
  return secondsOf(Math.abs(number) < millisecondsFrom ? moment.unix(number) : moment(number))
}

/** A plus sign that was not percent-encoded arrives as a space: `T10:00:00 02:00` can only mean a time zone. */
function restorePlus(text: string): string {
  return text.replace(/(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$/, '$1+$2')
}

function secondsOf(date: moment.Moment): number | undefined {
  return date.isValid() ? date.valueOf() / 1_000 : undefined
}

// The two spellings of an answer, and the rule that picks one.

/** `reference` writes numbers and flags as the reference's samples do, `live` as the hosted service does. */
export type Dialect = 'reference' | 'live'

/** The header that the public SDKs send with every request. */
const platformHeader = 'x-moralis-platform'

export function dialectOf(request: ApiRequest, setting: Dialect | undefined): Dialect {
  if (setting !== undefined) return setting
  return request.version !== 'v2' || request.header(platformHeader) !== undefined ? 'live' : 'reference'
}

// The query of a URL. It never throws for an encoding: a hostile one becomes a harmless text.

export class QueryText {
  readonly #values: URLSearchParams

  /** `text` is everything after the question mark. */
  constructor(text: string) {
    this.#values = new URLSearchParams(text)
  }

  has({ name }: Parameter<unknown>): boolean {
    return this.#values.get(name) !== null
  }

  /** A parameter that may be given once. Empty counts as not given, because clients send it so. */
  optional<Value>(parameter: Parameter<Value>): Value | undefined {
    const texts = this.#values.getAll(parameter.name)
    if (texts.length > 1) {
      throw new AlmanacError('bad_request', `${parameter.name} must be given once, not ${texts.length} times`, {
        details: { parameter: parameter.name, accepted: parameter.accepts },
      })
    }
    return texts[0] === undefined || texts[0] === '' ? undefined : readParameter(parameter, texts[0])
  }

  /**
   * A list, in any spelling that clients use: `name[]=a&name[]=b`, `name[0]=a`, `name=a&name=b`, `name=a,b`. Undefined
   * when none is given.
   */
  list<Value>(parameter: Parameter<Value>): Value[] | undefined {
    const texts: string[] = []
    for (const [name, text] of this.#values) {
      if (name === parameter.name || isIndexed(name, parameter.name)) texts.push(...text.split(','))
    }
    const given = texts.filter(text => text.trim() !== '')
    return given.length === 0 ? undefined : [...new Set(given.map(text => readParameter(parameter, text)))]
  }
}

function isIndexed(name: string, listName: string): boolean {
  return name.startsWith(`${listName}[`) && /^\[\d{0,9}\]$/.test(name.slice(listName.length))
}
