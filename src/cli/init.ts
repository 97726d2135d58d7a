// Writes a configuration: takes answers from flags or questions, checks the endpoints, and estimates the cost.
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { AlmanacError, describeError } from '../errors.ts'
import { makePrivate } from '../private-file.ts'
import { commandLine } from './current-process.ts'
import {
  type Answers,
  answersOf,
  askForAnswers,
  chainMeant,
  type InitFlags,
  type Questions,
  withQuestions,
} from './init/answers.ts'
import { checkChain, checkSolana } from './init/check.ts'
import { configurationText, type Findings } from './init/file.ts'
import { plan } from './plan/plan.ts'
import { printNote, whileWaiting } from './terminal.ts'

const several = (value: string, before: string[] = []): string[] => [...before, value]

export function initCommand(): Command {
  return new Command('init')
    .description(
      'Write almanac.yaml for your own nodes. Asks questions on a terminal, or takes flags. Checks every endpoint and estimates the cost of indexing.',
    )
    .option('--chain <name=url,…>', 'A chain and its JSON-RPC endpoints, preferred first. Repeatable.', several)
    .option('--ws <name=url>', 'WebSocket endpoint of a chain. Repeatable.', several)
    .addOption(
      new Option(
        '--index <mode>',
        'full: index every block. on-demand: index a contract when it is first requested.',
      ).choices(['full', 'on-demand']),
    )
    .option(
      '--contract <name=0x…,…>',
      'Contracts to index right away, without waiting for a request. Repeatable.',
      several,
    )
    .option('--solana <network=url,…>', 'A Solana network, mainnet or devnet, and its endpoints.', several)
    .option('--solana-ws <network=url>', 'WebSocket endpoint of a Solana network.', several)
    .option('--store <place>', 'Where to keep the data: file:path or postgres://… Default: file:./almanac.db.')
    .option('--output <file>', 'File to write.', 'almanac.yaml')
    .option('--no-check', 'Do not ask the endpoints: no check and no estimate.')
    .option('--yes', 'Ask no questions. Replaces an existing file and keeps the old one beside it.')
    .action(init)
}

const planSamples = 6

async function init(flags: InitFlags): Promise<void> {
  const given = answersOf(flags)
  const isGiven = given.chains.length + given.solana.length > 0
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  if (!isGiven && (flags.yes === true || !isTerminal)) {
    throw new AlmanacError('bad_request', `No chain given${isTerminal ? '' : ', and stdin is not a terminal'}.`, {
      hint: 'pass --chain eth=http://127.0.0.1:8545 or --solana mainnet=https://…, or run it on a terminal.',
    })
  }
  if (flags.yes === true || !isTerminal) {
    await write(given, flags, undefined)
    return
  }
  await withQuestions(async questions => {
    const answers = isGiven ? given : await askForAnswers(questions, flags)
    await write(answers, flags, questions)
  })
}

async function write(answers: Answers, flags: InitFlags, questions: Questions | undefined): Promise<void> {
  const found = flags.check ? await checkAll(answers, questions) : new Map<string, string[]>()
  const replaces = await mayReplace(flags, questions)
  const loaded = writeBeside(flags.output, configurationText(answers, found))
  if (replaces) keepFormer(flags.output)
  renameSync(`${flags.output}.new`, flags.output)
  printNote(`\nWrote ${flags.output}, readable only by you.`)
  if (flags.check && answers.chains.length > 0) {
    printNote('\nWhat indexing will cost, estimated from a few samples of the history:\n')
    await plan(loaded, { samples: planSamples })
  }
  if (existsSync('.git')) printNote(`\nAdd ${flags.output} and almanac.db* to .gitignore: they may hold keys.`)
  const option = flags.output === 'almanac.yaml' ? '' : ` --config ${flags.output}`
  printNote(`\nNext: ${commandLine} start${option}`)
}

/** Reports every endpoint that cannot be used; on a terminal the user may continue anyway. */
async function checkAll({ chains, solana }: Answers, questions: Questions | undefined): Promise<Findings> {
  const found = new Map<string, string[]>()
  const check = async (name: string, look: () => Promise<string[]>, note = ''): Promise<void> => {
    printNote(`\nChecking ${name} …${note}`)
    try {
      const lines = await whileWaiting(`  Waiting for the node of ${name}`, look())
      found.set(name, lines)
      for (const line of lines) printNote(`  ${line}`)
    } catch (error) {
      if (questions === undefined) throw error
      printNote(describeError(error))
      if (!(await questions.confirm(`Keep ${name} as it is?`, false)))
        throw new AlmanacError('interrupted', 'Nothing was written.')
    }
  }
  const signal = AbortSignal.timeout(120_000)
  for (const chain of chains) await check(chain.name, () => checkChain(chain, signal), doubtOf(chain.name))
  for (const network of solana) await check(`solana ${network.network}`, () => checkSolana(network))
  return found
}

/** A chain may have any name, but one that looks mistyped is worth a word before its node is waited for. */
function doubtOf(name: string): string {
  const meant = chainMeant(name)
  return meant === undefined ? '' : ` It is not a known chain. Did you mean ${meant}?`
}

/** Whether a file exists that is to be replaced. */
async function mayReplace({ output, yes }: InitFlags, questions: Questions | undefined): Promise<boolean> {
  if (!existsSync(output)) return false
  if (!statSync(output).isFile()) {
    throw new AlmanacError('conflict', `${output} exists and is not a regular file.`, {
      hint: 'pass another file with --output.',
    })
  }
  if (yes !== true && !(await questions?.confirm(`${output} exists. Replace it? The old file is kept.`, false))) {
    throw new AlmanacError('conflict', `${output} exists and was not changed.`, {
      hint: 'pass another file with --output, or --yes to replace it; the old file is kept.',
    })
  }
  return true
}

/** Reads the new file back as the service will, before it replaces anything. */
function writeBeside(output: string, text: string): LoadedConfig {
  const beside = `${output}.new`
  try {
    rmSync(beside, { force: true })
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' })
    return loadConfig({ file: beside })
  } catch (error) {
    rmSync(beside, { force: true })
    if (error instanceof AlmanacError) throw withoutPlaces(error, beside)
    throw new AlmanacError('config_invalid', `Cannot write ${output}.`, {
      cause: error,
      hint: 'pass another file with --output, in a directory with free space that this user may write to.',
    })
  }
}

/** The user has not seen the file that the errors are in, and its lines say nothing. */
function withoutPlaces({ code, message, hint }: AlmanacError, file: string): AlmanacError {
  const plain = message.replaceAll(new RegExp(`${RegExp.escape(file)}:\\d+:\\d+: `, 'g'), '')
  return new AlmanacError(code, `Nothing was written: ${plain}`, hint === undefined ? {} : { hint })
}

function keepFormer(output: string): void {
  const kept = `${output}.${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  renameSync(output, kept)
  makePrivate(kept)
  printNote(`\nThe old ${output} is now ${kept}.`)
}
