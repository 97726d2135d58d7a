// What the commands on labels and collections take from the command line. Every slip is told with what is accepted.

import { cleanLabel } from '../annotate/label-text.ts'
import { reservedSources } from '../annotate/sources.ts'
import type { Chain, ChainTable } from '../chains.ts'
import { nearestWord } from '../config/nearest.ts'
import { AlmanacError } from '../errors.ts'
import { type Address, parseAddress } from '../model.ts'

/** Any chain of the table, configured or not. */
export function parseChain(chains: ChainTable, text: string): Chain {
  const chain = chains.parse(text)
  if (chain !== undefined) return chain
  const names = chains.all.map(({ name }) => name)
  const nearest = nearestWord(text, names)
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no chain.`, {
    hint: `${nearest === undefined ? '' : `did you mean ${nearest}? `}known are: ${names.join(', ')}.`,
  })
}

export function parseChainIf(chains: ChainTable, text: string | undefined): Chain | undefined {
  return text === undefined ? undefined : parseChain(chains, text)
}

export function requireAddress(text: string): Address {
  const address = parseAddress(text.trim())
  if (address !== undefined) return address
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no address.`, {
    hint: 'give 0x and 40 hex digits.',
  })
}

/** A name as it is given on the command line must be fit as it is. */
export function requireName(what: string, text: string): string {
  const cleaned = cleanLabel(text)
  if ('label' in cleaned && cleaned.notes.length === 0) return cleaned.label
  const reason = 'problem' in cleaned ? cleaned.problem : `it would have to be changed: ${cleaned.notes.join(', ')}`
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} cannot be ${what}. (${reason})`, {
    hint: 'give 1 to 200 visible characters on one line.',
  })
}

/** The name of a list of others. */
export function requireSource(text: string): string {
  const source = requireName('the name of a source', text)
  if (!reservedSources.has(source)) return source
  throw new AlmanacError('bad_request', `The source ${JSON.stringify(source)} is Almanac's own.`, {
    hint: 'give the list a name of its own, such as where it comes from.',
  })
}
