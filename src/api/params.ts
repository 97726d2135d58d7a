// Every parameter of the operations: how it is read, what is refused, how the OpenAPI document describes it.
import { base58 } from '@scure/base'
import moment from 'moment'
import { z } from 'zod'
import type { Chain, ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import { parseAddress, solanaNetworks } from '../model.ts'
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
  throw new AlmanacError(
    'bad_request',
    parameter.refusal ?? `${parameter.name} must be ${parameter.accepts}, not "${given}"`,
    {
      details: { parameter: parameter.name, given, accepted: parameter.accepts, ...parameter.details },
    },
  )
}

export function unacceptable(parameter: string, accepted: string): AlmanacError {
  return new AlmanacError('bad_request', `${parameter} must be ${accepted}`, { details: { parameter, accepted } })
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
function wholeParameter(name: string, { min, max, description, example, ...facts }: WholeNumber): Parameter<number> {
  const schema = z.int().min(min)
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

function choiceParameter<const Value extends string>(
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

const addressSchema = z.string().regex(/^0[xX][0-9a-fA-F]{40}$/)
const exampleContract = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'
const exampleWallet = '0x26fcbd3afebbe28d0a8684f790c48368d21665b5'
const examplePubkey = 'EJpLyTeE8XHG9CeREeHd6pr6hNhaRnTRJx4Z5DPhEJJ6'

function addressParameter(description: string, example: string) {
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

function dateParameter(name: string, description: string): Parameter<number> {
  return {
    name,
    read: parseDate,
    accepts: 'a date that moment reads, such as 2022-12-10T00:00:00Z, or unix seconds',
    schema: z.string().max(64),
    description: `${description} Any format that the moment library reads, or unix seconds; UTC unless it has a time zone.`,
    example: '2022-12-10T00:00:00.000Z',
  }
}

export function transferParameters(table: ChainTable, pageSizeMax: number) {
  return {
    address: addressParameter('Address of the NFT contract.', exampleContract),
    chain: chainParameter('chain', table, 'Chain, by name or hex id. Defaults to `eth`.'),
    fromBlock: wholeParameter('from_block', {
      min: 0,
      description: 'First block. Takes precedence over `from_date`.',
      example: 16_220_200,
    }),
    toBlock: wholeParameter('to_block', {
      min: 0,
      description: 'Last block, inclusive. Takes precedence over `to_date`.',
      example: 16_220_260,
    }),
    fromDate: dateParameter('from_date', 'Start of the range.'),
    toDate: dateParameter('to_date', 'End of the range, inclusive.'),
    format: choiceParameter('format', ['decimal', 'hex'], {
      default: 'decimal',
      description: 'How to write token ids.',
    }),
    limit: wholeParameter('limit', {
      ...{ min: 1, max: pageSizeMax, default: pageSizeMax, example: 5 },
      description: `Page size. Values above ${pageSizeMax} become ${pageSizeMax}, and \`page_size\` says so.`,
    }),
    order: choiceParameter('order', ['ASC', 'DESC'], { default: 'DESC', description: 'Oldest or newest first.' }),
    disableTotal: {
      name: 'disable_total',
      read: (text: string) => flags.get(text.trim().toLowerCase()),
      accepts: 'true or false',
      schema: z.boolean().default(true),
      description: 'Set to `false` to count all matching transfers in `total`.',
      example: true,
      deprecated: true as const,
    },
    cursor: {
      name: 'cursor',
      read: (text: string) => text,
      accepts: 'the cursor of the page before, unchanged, for the same address and chain',
      refusal: 'cursor is not valid',
      schema: z.string(),
      description:
        'The next page. Carries the filters, order, format and limit of the first page; other parameters beside it must be valid and are ignored.',
      example: 'AQAAvEyg7adkeouN…',
    },
  } satisfies Record<string, Parameter<unknown>>
}

export function walletParameters(table: ChainTable) {
  return {
    address: addressParameter('Address of the wallet.', exampleWallet),
    chains: {
      ...chainParameter('chains', table, ''),
      description:
        'Chains, by name or hex id. Defaults to every indexed chain. Written as `chains[]=eth&chains[]=0x89`, ' +
        '`chains[0]=eth`, `chains=eth&chains=polygon` or `chains=eth,polygon`.',
      example: ['eth', '0x89'],
    },
  }
}

const contractListMax = 100

export function contractListParameters(table: ChainTable) {
  const { refusal: _, ...after } = addressParameter('Lists the contracts after this one.', exampleContract)
  return {
    chain: chainParameter('chain', table, 'Chain, by name or hex id.'),
    after: { ...after, name: 'after' },
    limit: wholeParameter('limit', {
      ...{ min: 1, max: contractListMax, default: 20, example: 20 },
      description: `How many to list, at most ${contractListMax}.`,
    }),
  } satisfies Record<string, Parameter<unknown>>
}

function chainParameter(name: string, table: ChainTable, description: string): Parameter<Chain> {
  const accepted = table.all.flatMap(chain => [chain.name, chain.hexId])
  return {
    name,
    read: text => table.parse(text),
    accepts: 'the name or the id of a known chain',
    refusal: 'chain must be a valid enum value',
    details: { accepted },
    schema: z.string().meta({ examples: accepted }),
    description,
    example: 'eth',
  }
}

export const portfolioParameters = {
  network: {
    name: 'network',
    read: (text: string) => solanaNetworks.find(network => network === text),
    accepts: solanaNetworks.join(' or '),
    schema: z.enum(solanaNetworks as ['mainnet', 'devnet']),
    description: 'Solana network.',
    example: 'mainnet',
  },
  address: {
    name: 'address',
    read: parsePubkey,
    accepts: 'a public key of 32 bytes in base58',
    schema: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    description: 'Address of the account.',
    example: examplePubkey,
  },
} satisfies Record<string, Parameter<unknown>>

function parsePubkey(text: string): Uint8Array | undefined {
  // Decoding takes quadratic time, so the length is checked first.
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === 32 ? bytes : undefined
}

// Dates: what moment accepts, in UTC, and unix seconds. Nothing else uses moment.

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

/** Four and six to eight digits may be a date of ISO 8601. Every other number is unix seconds. */
function parseNumber(text: string): number | undefined {
  if (/^\d{4}$|^\d{6,8}$/.test(text)) {
    const date = secondsOf(moment.utc(text, moment.ISO_8601, true))
    if (date !== undefined) return date
  }
  return secondsOf(moment.unix(Number(text)))
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
