// Asks a person on a terminal what the configuration shall hold. Whoever answers something unfit is told and asked again.
import { createInterface, type Interface } from 'node:readline/promises'
import { referenceChains } from '../chains.ts'
import { AlmanacError, describeError } from '../errors.ts'
import { parseContracts } from './chain-options.ts'
import type { InitFlags } from './init-command.ts'
import {
  type ChainWish,
  chainNamed,
  parseNetwork,
  parseSocket,
  parseUrls,
  type SolanaWish,
  type Wishes,
} from './init-wishes.ts'
import { printNote } from './terminal.ts'

export class Questions {
  readonly #terminal: Interface

  constructor(terminal: Interface) {
    this.#terminal = terminal
  }

  /** Repeats itself until the answer can be read; an empty one is `otherwise`. */
  async ask<Value>(question: string, otherwise: string, read: (text: string) => Value): Promise<Value> {
    for (;;) {
      const text = (await this.#terminal.question(`${question}${otherwise === '' ? '' : ` [${otherwise}]`}: `)).trim()
      try {
        return read(text === '' ? otherwise : text)
      } catch (error) {
        if (!(error instanceof AlmanacError)) throw error
        printNote(describeError(error))
      }
    }
  }

  confirm(question: string, otherwise: boolean): Promise<boolean> {
    return this.ask(question, otherwise ? 'yes' : 'no', text => /^y(es)?$/i.test(text))
  }
}

/** Ctrl-C and the end of the input end the command, with nothing written. */
export async function withQuestions(run: (questions: Questions) => Promise<void>): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  let settled = false
  const closed = new Promise<never>((_, reject) =>
    terminal.once('close', () => {
      if (!settled) reject(new AlmanacError('interrupted', 'Nothing more was answered.'))
    }),
  )
  try {
    await Promise.race([run(new Questions(terminal)), closed])
  } finally {
    settled = true
    terminal.close()
  }
}

export async function askWishes(questions: Questions, flags: InitFlags): Promise<Wishes> {
  printNote('This writes a configuration for your own nodes. An empty answer takes what stands in brackets.')
  printNote(
    `Chains that are built in: ${referenceChains
      .filter(chain => !chain.retired)
      .map(({ name }) => name)
      .join(', ')}.`,
  )
  const names = await questions.ask('EVM chains, with a comma between them; - for none', 'eth', namesIn)
  const chains: ChainWish[] = []
  for (const name of names) chains.push(await askChain(questions, name, flags))
  const solana: SolanaWish[] = []
  if (await questions.confirm('Solana portfolios as well?', false)) solana.push(await askSolana(questions))
  if (chains.length + solana.length === 0)
    throw new AlmanacError('interrupted', 'No chain was named: nothing was written.')
  return { chains, solana, ...(flags.store === undefined ? {} : { store: flags.store }) }
}

async function askChain(questions: Questions, name: string, flags: InitFlags): Promise<ChainWish> {
  const rpc = await questions.ask(
    `${name}: JSON-RPC endpoints, the preferred first, with a comma between them`,
    'http://127.0.0.1:8545',
    text => parseUrls(name, text),
  )
  const ws = await questions.ask(`${name}: WebSocket endpoint; empty for none`, '', text => optional(text, name))
  const index =
    flags.index ??
    (await questions.ask(`${name}: index everything (full) or what is asked for (on-demand)`, 'on-demand', modeIn))
  const contracts =
    index === 'full'
      ? []
      : await questions.ask(`${name}: contracts to index at once; empty for none`, '', text =>
          text === '' ? [] : parseContracts(text),
        )
  return { name, rpc, ...(ws === undefined ? {} : { ws }), index, contracts }
}

async function askSolana(questions: Questions): Promise<SolanaWish> {
  const network = await questions.ask('Solana network', 'mainnet', parseNetwork)
  const rpc = await questions.ask('Solana endpoints', 'http://127.0.0.1:8899', text => parseUrls('solana', text))
  const ws = await questions.ask('Solana WebSocket endpoint; empty for none', '', text => optional(text, 'solana'))
  return { network, rpc, ...(ws === undefined ? {} : { ws }) }
}

function optional(text: string, what: string): string | undefined {
  return text === '' ? undefined : parseSocket(what, text)
}

function namesIn(text: string): string[] {
  return text === '-' ? [] : [...new Set(text.split(',').map(chainNamed))].filter(name => name !== '')
}

function modeIn(text: string): 'full' | 'on-demand' {
  if (text === 'full' || text === 'on-demand') return text
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is no way to index.`, {
    hint: 'answer full or on-demand.',
  })
}
