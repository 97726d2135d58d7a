// What commands on one chain take from the command line: the chain, contracts, and a range of blocks. Every slip is told with what is accepted.
import type { LoadedConfig } from '../config/load.ts'
import { nearestWord } from '../config/nearest.ts'
import type { ChainSettings } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import { type Address, type Interval, parseAddress } from '../model.ts'

export type ChosenChain = { name: string; settings: ChainSettings }

/** A configured chain by any name that requests may use. */
export function chooseChain({ config, chains }: LoadedConfig, text: string): ChosenChain {
  const name = chains.parse(text)?.name
  const settings = name === undefined ? undefined : config.chains[name]
  if (name !== undefined && settings !== undefined) return { name, settings }
  const configured = Object.keys(config.chains)
  const nearest = nearestWord(text, configured)
  throw new AlmanacError('not_configured', `The chain ${JSON.stringify(text)} is not configured.`, {
    hint:
      configured.length === 0
        ? 'add it under chains in the configuration; no chain is there yet.'
        : `${nearest === undefined ? '' : `did you mean ${nearest}? `}configured are: ${configured.join(', ')}.`,
  })
}

export function parseBlocks({ from, to }: { from: string; to: string }): Interval {
  const interval = { from: parseWhole('--from', from), to: parseWhole('--to', to) }
  if (interval.from <= interval.to) return interval
  throw new AlmanacError('bad_request', `--from ${from} is above --to ${to}.`, {
    hint: 'give the lower block as --from; both ends belong to the range.',
  })
}

export function parseWhole(flag: string, text: string, min = 0): number {
  if (/^\d{1,12}$/.test(text) && Number(text) >= min) return Number(text)
  throw new AlmanacError('bad_request', `${flag} is ${JSON.stringify(text)}.`, {
    hint: `give a whole number from ${min} on.`,
  })
}

export function parseContracts(text: string): Address[] {
  return text.split(',').map(part => {
    const contract = parseAddress(part.trim())
    if (contract !== undefined) return contract
    throw new AlmanacError('bad_request', `--contract has ${JSON.stringify(part)}, which is no address.`, {
      hint: 'give 0x and 40 hex digits, and a comma between several.',
    })
  })
}
