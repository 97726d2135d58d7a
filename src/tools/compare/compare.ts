// Compares the answers of this service with those of another one: options, both sides, and what is printed.
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { base58 } from '@scure/base'
import { Command } from 'commander'
import { keyBytes } from '../../base58.ts'
import { exitCodeOf, exitCodes, interruption } from '../../cli/current-process.ts'
import { parseChain, requireAddress, wholeNumber, withConfig } from '../../cli/options.ts'
import { serverMeant } from '../../cli/running-server.ts'
import { countText, ProgressLine, printData, printJson, printNote } from '../../cli/terminal.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { AlmanacError, describeError } from '../../errors.ts'
import { solanaNetworks } from '../../model.ts'
import { hiderOf } from '../../redact.ts'
import { LookUp } from './look-up.ts'
import { chosenOperations, prepare } from './prepare.ts'
import { describeReport, reportOf } from './report.ts'
import { type RunResult, runComparison } from './run.ts'
import { type Given, randomFrom } from './sample.ts'
import { Side } from './side.ts'

type CompareFlags = {
  against: string
  againstSolana?: string
  againstKeyFile?: string
  url?: string
  listen?: string
  key?: string
  contract?: string[]
  wallet?: string[]
  token?: string[]
  account?: string[]
  operations?: string
  requests: number
  samples: number
  seed?: number
  json?: true
}

const keyVariable = 'ALMANAC_COMPARE_KEY'

export function compareCommand(): Command {
  const command = new Command('compare')
    .description(
      `Compare answers with those of another service: ask both the same questions and report differences field by field, with the known reasons. The key of the other service is read from ${keyVariable} or a file. Exits with 1 on any difference without a known reason.`,
    )
    .requiredOption('--against <url>', 'Base URL of the other service, such as https://host/api/v2.2.')
    .option('--against-solana <url>', 'Its base URL for Solana, if different.')
    .option('--against-key-file <file>', `File with its key. Default: the variable ${keyVariable}.`)
    .option(
      '--url <url>',
      'URL of this server. Default: the one that runs on the store here, else the setting listen. (ALMANAC_URL)',
    )
    .option('--key <secret>', 'A key of this server; random samples need the scope ops. (ALMANAC_KEY)')
    .option('--contract <chain=list>', 'NFT contracts to ask about, comma-separated; repeatable.', listed)
    .option('--wallet <chain=list>', 'Wallets to ask about; repeatable. Default: some of the contracts.', listed)
    .option('--token <chain=list>', 'ERC-20 tokens to ask about; repeatable. Default: some of the wallets.', listed)
    .option('--account <network=list>', 'Solana accounts to ask about; repeatable.', listed)
    .option(
      '--samples <number>',
      'Random contracts, and accounts of each Solana network, where nothing is named.',
      wholeNumber('--samples', 1),
      3,
    )
    .option('--seed <number>', 'Seed of an earlier run, to repeat its choice. Default: random.', wholeNumber('--seed'))
    .option(
      '--operations <list>',
      'Only these operations, comma-separated: ids as in docs/operations.md, those of Solana as solana.<id>.',
    )
    .option('--requests <number>', 'Maximum requests to the other service.', wholeNumber('--requests', 1), 100)
    .option('--json', 'Print the result as JSON.')
  const listen = 'Address that this server listens on, where --url is not given.'
  return withConfig(command, ['listen'], compare, { listen })
}

function listed(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

async function compare(loaded: LoadedConfig, flags: CompareFlags): Promise<void> {
  const operations = chosenOperations(flags.operations)
  const given = givenSubjects(loaded, flags)
  const there = baseOf('--against', flags.against)
  const url = flags.url ?? (process.env.ALMANAC_URL || undefined)
  const meant = url === undefined ? serverMeant(loaded, flags.listen !== undefined) : { url }
  const here = baseOf('--url', meant.url)
  const keys = {
    here: flags.key ?? (process.env.ALMANAC_KEY || undefined) ?? ('key' in meant ? meant.key : undefined),
    there: keyThere(flags.againstKeyFile),
  }
  const hide = hiderOf(Object.values(keys).filter(key => key !== undefined))
  const signal = interruption()
  const sides = {
    here: new Side({
      ...{ name: 'here', evm: here.root + there.version, solana: here.root, key: keys.here, hide, signal },
      keyHint: '--key or ALMANAC_KEY',
    }),
    there: new Side({
      ...{ name: 'there', evm: there.root + there.version, key: keys.there, hide, signal },
      solana: flags.againstSolana === undefined ? there.root : baseOf('--against-solana', flags.againstSolana).root,
      ...{ budget: flags.requests, keyHint: `${keyVariable} or --against-key-file` },
    }),
  }
  const seed = flags.seed ?? randomInt(2 ** 31)
  const { samples } = flags
  const prepared = await prepare({
    ...sides,
    table: loaded.chains,
    given,
    samples,
    operations,
    random: randomFrom(seed),
  })
  const progress = new ProgressLine()
  const result = await runComparison({
    ...{ ...sides, questions: prepared.questions, chains: prepared.chains, lookUp: new LookUp(sides) },
    onQuestion: done =>
      progress.offer(() => {
        const requests = `${countText(sides.there.sent)} of at most ${countText(flags.requests)} requests there`
        return `${countText(done)} of ${countText(prepared.questions.length)} questions, ${requests}`
      }),
  })
  progress.close()
  const facts = { here: sides.here.shown, there: sides.there.shown, sent: sides.there.sent, budget: flags.requests }
  const report = reportOf({ ...facts, seed, prepared, result })
  if (flags.json) printJson(report)
  else printData(describeReport(report))
  if (result.stopped !== undefined) printNote(describeError(result.stopped))
  process.exitCode = exitCodeFor(result, report)
}

/** A budget that is used up is no failure: what was asked for was compared. */
function exitCodeFor({ stopped }: RunResult, { same, differences_total }: ReturnType<typeof reportOf>): number {
  if (stopped?.code === 'interrupted') return exitCodes.interrupted
  if (differences_total > 0) return exitCodes.change
  if (stopped !== undefined && stopped.code !== 'quota_exceeded') return exitCodeOf(stopped)
  return same ? exitCodes.done : exitCodes.change
}

/** A base with or without its version, and with or without a slash at its end. */
function baseOf(flag: string, text: string): { root: string; version: string } {
  const url = URL.parse(text.trim())
  const fault =
    url === null || !/^https?:$/.test(url.protocol)
      ? 'is not a URL that begins with http:// or https://'
      : url.username !== '' || url.password !== ''
        ? 'has a user or a password in it'
        : url.search !== '' || url.hash !== ''
          ? 'has a query in it'
          : undefined
  if (url === null || fault !== undefined)
    throw new AlmanacError('bad_request', `The URL of ${flag} ${fault}.`, {
      hint: `pass a base such as https://host/api/v2.2; a key goes into ${keyVariable} or a file.`,
    })
  const [, root = '', version = '/api/v2.2'] = /^(.*?)(\/api\/v2(?:\.[12])?)?\/*$/.exec(url.pathname) ?? []
  return { root: url.origin + root, version }
}

function keyThere(file: string | undefined): string | undefined {
  const source = file === undefined ? keyVariable : '--against-key-file'
  const key = (file === undefined ? (process.env[keyVariable] ?? '') : readFileSync(file, 'utf8')).trim()
  if (key === '' && file === undefined) return undefined
  // The message of a library would show it.
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key
  throw new AlmanacError('bad_request', `The key of ${source} cannot be sent in a header.`, {
    hint: 'give the key alone, on one line.',
  })
}

function givenSubjects({ chains }: LoadedConfig, flags: CompareFlags): Given {
  const { contract = [], wallet = [], token = [], account = [] } = flags
  const onChain = (texts: readonly string[]) =>
    texts.flatMap(text => {
      const { name = 'eth', items } = pairOf(text)
      const chain = parseChain(chains, name).name
      return items.map(item => ({ chain, address: requireAddress(item) }))
    })
  const accounts = account.flatMap(text => {
    const { name: chain = 'mainnet', items } = pairOf(text)
    return items.map(address => ({ chain: requireNetwork(chain), address: requireAccount(address) }))
  })
  return { contracts: onChain(contract), wallets: onChain(wallet), tokens: onChain(token), accounts }
}

/** `eth=0x…,0x…`, or the items alone. */
function pairOf(text: string): { name?: string; items: string[] } {
  const [, name, rest = ''] = /^(?:([^=]+)=)?(.*)$/s.exec(text) ?? []
  const items = rest.split(',').map(item => item.trim())
  return name === undefined ? { items } : { name: name.trim(), items }
}

function requireNetwork(text: string): string {
  if (solanaNetworks.some(network => network === text)) return text
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is not a Solana network.`, {
    hint: `pass one of ${solanaNetworks.join(', ')}, such as --account mainnet=….`,
  })
}

function requireAccount(text: string): string {
  try {
    if (base58.decode(text).length === keyBytes) return text
  } catch {
    // Not base58.
  }
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is not a Solana address.`, {
    hint: 'pass base58 of 32 bytes.',
  })
}
