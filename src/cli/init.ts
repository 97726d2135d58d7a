// Writes a configuration: takes answers from flags or questions and checks the endpoints. On a terminal it estimates
// the cost.
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Command, Option } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { shownConfig } from '../config/problems.ts'
import { AlmanacError, describeError } from '../errors.ts'
import { makePrivate } from '../private-file.ts'
import { commandLine, exitCodes } from './current-process.ts'
import {
  type Answers,
  answersOf,
  askForAnswers,
  type ChainAnswers,
  chainMeant,
  type InitFlags,
  isKnown,
  type Questions,
  type SolanaAnswers,
  withQuestions,
} from './init/answers.ts'
import { checkChain, checkSolana, socketLine } from './init/check.ts'
import { configurationText, type Findings } from './init/file.ts'
import { plan } from './plan/plan.ts'
import { printNote, whileWaiting } from './terminal.ts'

const several = (value: string, before: string[] = []): string[] => [...before, value]

export function initCommand(): Command {
  return new Command('init')
    .description(
      'Write almanac.yaml for your own nodes. Asks questions on a terminal, or takes flags. Checks every endpoint; on a terminal it also estimates the cost of indexing.',
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
    .option(
      '--yes',
      'Ask no questions and estimate nothing. Replaces an existing file, keeps the old one beside it, and refuses to lose settings of it.',
    )
    .action(init)
}

const planSamples = 6

async function init(flags: InitFlags): Promise<void> {
  const given = answersOf(flags)
  const isGiven = given.chains.length + given.solana.length > 0
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  if (!isGiven && (flags.yes === true || !isTerminal)) {
    throw new AlmanacError('bad_request', `No chain given${isTerminal ? '' : ', and stdin is not a terminal'}.`, {
      hint: `pass --chain eth=http://127.0.0.1:8545 or --solana mainnet=https://…, or ${isTerminal ? 'leave out --yes' : 'run it on a terminal'}.`,
    })
  }
  if (flags.yes === true || !isTerminal) {
    await write(given, flags, undefined)
    return
  }
  await withQuestions(async questions => {
    questions.stopped = 'Stopped; nothing was written.'
    // Before the others: a no must not cost their answers.
    await mayReplace(flags, questions)
    if (isGiven) return await write(given, flags, questions)
    const found = new Map<string, string[]>()
    const answers = await askForAnswers(questions, flags, async typed =>
      flags.check ? await checkOne(typed, found, questions, 'asks for another') : true,
    )
    for (const { name, ws } of flags.check ? answers.chains : []) {
      if (ws === undefined) continue
      const line = await whileWaiting(`  Waiting for the WebSocket endpoint of ${name}`, socketLine(ws))
      printNote(`  ${line}`)
      found.set(name, [...(found.get(name) ?? []), line])
    }
    await write(answers, flags, questions, found)
  }).catch((error: unknown) => {
    if (!(error instanceof AlmanacError) || error.code !== 'interrupted') throw error
    // The user's wish is no error. What still waits for a node is not waited for.
    printNote(error.message)
    process.exit(exitCodes.interrupted)
  })
}

async function write(
  answers: Answers,
  flags: InitFlags,
  questions: Questions | undefined,
  known?: Findings,
): Promise<void> {
  const found = known ?? (await checkAll(answers, flags, questions))
  if (questions === undefined) await mayReplace(flags, undefined)
  const replaces = existsSync(flags.output)
  const loaded = writeBeside(flags, configurationText(answers, found), questions === undefined)
  if (replaces) keepFormer(flags.output)
  renameSync(`${flags.output}.new`, flags.output)
  if (questions !== undefined) questions.stopped = `Stopped; ${flags.output} is written.`
  printNote(`\nWrote ${flags.output}, readable only by you.`)
  const option = flags.output === 'almanac.yaml' ? '' : ` --config ${flags.output}`
  const areChecked = answers.chains.length > 0 && answers.chains.every(({ name }) => found.has(name))
  if (questions !== undefined && areChecked) {
    printNote('\nWhat indexing will cost, estimated from a few samples of the history:\n')
    await plan(loaded, { samples: planSamples })
  } else printNote(`\n${commandLine} plan${option} estimates what indexing costs, with some hundred calls.`)
  if (existsSync('.git')) printNote(`\nAdd ${flags.output} and almanac.db* to .gitignore: they may hold keys.`)
  printNote(`\nNext: ${commandLine} start${option}`)
}

/** Reports every endpoint that cannot be used; on a terminal the user may continue anyway. */
async function checkAll(
  { chains, solana }: Answers,
  { check }: InitFlags,
  questions: Questions | undefined,
): Promise<Findings> {
  const found = new Map<string, string[]>()
  for (const typed of check ? [...chains, ...solana] : []) {
    if (!(await checkOne(typed, found, questions))) throw new AlmanacError('interrupted', 'Nothing was written.')
  }
  return found
}

const checkTimeoutMs = 120_000

/** False: the user does not want the endpoints, which cannot be used. Without a terminal that is an error. */
async function checkOne(
  typed: ChainAnswers | SolanaAnswers,
  found: Map<string, string[]>,
  questions: Questions | undefined,
  otherwise = 'writes nothing',
): Promise<boolean> {
  const name = 'name' in typed ? typed.name : `solana ${typed.network}`
  printNote(`\nChecking ${name} …${doubtOf(name)}`)
  const look = 'name' in typed ? checkChain(typed, AbortSignal.timeout(checkTimeoutMs)) : checkSolana(typed)
  try {
    const lines = await whileWaiting(`  Waiting for the node of ${name}`, look)
    found.set(name, lines)
    for (const line of lines) printNote(`  ${line}`)
    return true
  } catch (error) {
    if (questions === undefined) throw error
    // It answers, but for another chain.
    const isOther = error instanceof AlmanacError && error.code === 'config_invalid'
    printNote(isOther ? `Error: ${error.message}` : describeError(error))
    if (isOther && 'name' in typed) delete typed.id
    // Only the endpoint knows the id of a chain that is not built in, and nothing can be written without one.
    if ('name' in typed && typed.id === undefined && !isKnown(typed.name)) return false
    return await questions.confirm(`Keep it anyway? no ${otherwise}.`, !isOther)
  }
}

/** A chain may have any name, but one that looks mistyped is worth a word before its node is waited for. */
function doubtOf(name: string): string {
  const meant = chainMeant(name)
  return meant === undefined ? '' : ` It is not a known chain. Did you mean ${meant}?`
}

/** Throws where a file exists that is not to be replaced. */
async function mayReplace({ output, yes }: InitFlags, questions: Questions | undefined): Promise<void> {
  if (!existsSync(output)) return
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
}

/** Names the settings of the old file that the new one does not have; endpoints are what the user has just given. */
function lostSettings(old: unknown, now: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(old, now) || (path.length === 3 && path[2] === 'rpc')) return []
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap(old) || !isMap(now)) return old === undefined || old === null ? [] : [path.join('.')]
  return Object.entries(old).flatMap(([key, value]) => lostSettings(value, now[key], [...path, key]))
}

/** The user has not agreed to lose what the file says. One that cannot be read has nothing to lose: it is kept. */
function refuseLosses(flags: InitFlags, now: LoadedConfig): void {
  const { output } = flags
  let old: LoadedConfig
  try {
    old = loadConfig({ file: output })
  } catch {
    return
  }
  // What a flag says replaces a value; it loses none.
  const isSaid = (path: string): boolean =>
    (flags.index !== undefined && /^chains\.[^.]+\.index$/.test(path)) ||
    (flags.store !== undefined && path === 'store')
  const lost = lostSettings(shownConfig(old.config), shownConfig(now.config)).filter(path => !isSaid(path))
  if (lost.length === 0) return
  throw new AlmanacError('conflict', `${output} has settings that the new file would lose: ${lost.join(', ')}.`, {
    hint: `edit ${output}, move it away, or pass another file with --output.`,
  })
}

/** Reads the new file back as the service will, before it replaces anything. */
function writeBeside(flags: InitFlags, text: string, keepsSettings: boolean): LoadedConfig {
  const { output } = flags
  const beside = `${output}.new`
  try {
    rmSync(beside, { force: true })
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' })
    const loaded = loadConfig({ file: beside })
    if (keepsSettings) refuseLosses(flags, loaded)
    return loaded
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
