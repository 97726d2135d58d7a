// Writes a configuration: takes answers from flags or questions and checks the endpoints. On a terminal it estimates
// the cost.
import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Command, Option } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { shownConfig } from '../config/problems.ts'
import { AlmanacError, describeError } from '../errors.ts'
import { storeFile } from '../store/open.ts'
import { makePrivate } from '../store/private-file.ts'
import { plan } from '../tools/plan/plan.ts'
import { commandLine, exitCodes } from './current-process.ts'
import { type Answers, answersOf, askForAnswers, type InitFlags } from './init/answers.ts'
import { socketLine } from './init/check.ts'
import { checkAll, checkContracts, checkOne, planSamples, tellCost } from './init/endpoints.ts'
import { configurationText, type Findings } from './init/file.ts'
import { parseListenFlag, settledListen, settledStore } from './init/place.ts'
import { summaryLines } from './init/summary.ts'
import { type Questions, withQuestions } from './questions.ts'
import { nextStep } from './service/listen-place.ts'
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
    .option('--listen <address>', 'Address to listen on. Default: 127.0.0.1:8080.', parseListenFlag)
    .option('--output <file>', 'File to write.', 'almanac.yaml')
    .option('--no-check', 'Do not ask the endpoints or the database: no check and no estimate.')
    .option(
      '--yes',
      'Ask no questions and estimate nothing. Replaces an existing file, keeps the old one beside it, and refuses to lose settings of it.',
    )
    .action(init)
}

const defaults = loadConfig({ given: {} }).config

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
    const figured = new Set<string>()
    const answers = await askForAnswers(questions, flags, {
      check: async (typed, taken) => !flags.check || (await checkOne(typed, { found, questions, taken })),
      checkContracts: async chain => !found.has(chain.name) || (await checkContracts(chain, questions)),
      tellCost: async chain => {
        if (await tellCost(chain, found.has(chain.name))) figured.add(chain.name)
      },
    })
    for (const { name, ws } of flags.check ? answers.chains : []) {
      if (ws === undefined) continue
      const line = await whileWaiting(`  Waiting for the WebSocket endpoint of ${name}`, socketLine(ws))
      printNote(`  ${line}`)
      found.set(name, [...(found.get(name) ?? []), line])
    }
    await write(answers, flags, questions, { found, figured })
  }).catch((error: unknown) => {
    if (!(error instanceof AlmanacError) || error.code !== 'interrupted') throw error
    // Stopping at the user's wish is not an error. Questions to a node that are still open are left.
    printNote(error.message)
    process.exit(exitCodes.interrupted)
  })
}

/** What is known already where the user was asked: of endpoints, and of which chains the cost was told. */
type Known = { found: Findings; figured: ReadonlySet<string> }

async function write(given: Answers, flags: InitFlags, questions: Questions | undefined, known?: Known): Promise<void> {
  const found = known?.found ?? (await checkAll(given, flags, questions))
  const answers = await withPlaces(given, flags, questions)
  if (questions === undefined) await mayReplace(flags, undefined)
  if (questions !== undefined) printSummary(answers, flags)
  const help = `The file is for you alone to read, and you can edit it later. With no, nothing is written.`
  if (known !== undefined && !(await questions!.confirm(`\nWrite ${flags.output}?`, true, { help })))
    throw new AlmanacError('interrupted', 'Nothing was written.')
  const replaces = existsSync(flags.output)
  const loaded = writeBeside(flags, configurationText(answers, found), questions === undefined)
  if (replaces) keepFormer(flags.output)
  renameSync(`${flags.output}.new`, flags.output)
  if (questions !== undefined) questions.stopped = `Stopped; ${flags.output} is written.`
  printNote(`\nWrote ${flags.output}, readable only by you.`)
  const option = flags.output === 'almanac.yaml' ? '' : ` --config ${flags.output}`
  const areChecked = answers.chains.length > 0 && answers.chains.every(({ name }) => found.has(name))
  // What was told at the question is not sampled once more.
  const isOpen = answers.chains.some(
    ({ name, index, contracts }) => (index === 'full' && known?.figured.has(name) !== true) || contracts.length > 0,
  )
  if (questions !== undefined && areChecked && isOpen) {
    printNote('\nWhat indexing will cost, estimated from a few samples of the history:\n')
    // The file is written, whatever a node says now.
    await plan(loaded, { samples: planSamples }).catch((error: unknown) => printNote(describeError(error)))
  } else printNote(`\n${commandLine} plan${option} estimates what indexing costs, with some hundred calls.`)
  const secret = secretsForGit(flags.output, loaded.config.store)
  if (secret.length > 0)
    printNote(`\nAdd ${secret.join(' and ')} to .gitignore: ${secret.length === 1 ? 'it' : 'they'} may hold keys.`)
  printNote(`\n${await nextStep(loaded.config.listen, `${commandLine} start${option}`)}`)
}

/** What git would commit of the files that may hold keys; none where git is not, or no repository. */
function secretsForGit(output: string, store: string): string[] {
  const database = relative('', storeFile(store) ?? '')
  const ofStore = database === '' ? [] : [{ shown: `${database}*`, files: [database, `${database}-wal`] }]
  return [{ shown: output, files: [output] }, ...ofStore].flatMap(({ shown, files }) => {
    const { status, stdout } = spawnSync('git', ['check-ignore', '--', ...files], { encoding: 'utf8' })
    const ignored = status === 0 ? stdout.trimEnd().split('\n').length : 0
    return (status === 0 || status === 1) && ignored < files.length ? [shown] : []
  })
}

async function withPlaces(answers: Answers, flags: InitFlags, questions: Questions | undefined): Promise<Answers> {
  const { store } = answers
  const settled =
    store === undefined || !flags.check ? answers : { ...answers, store: await settledStore(store, questions) }
  if (flags.listen !== undefined) return { ...settled, listen: flags.listen }
  return questions === undefined ? settled : { ...settled, listen: await settledListen(defaults.listen, questions) }
}

function printSummary({ chains, solana, store, listen }: Answers, { output }: InitFlags): void {
  const summary = {
    chains: Object.fromEntries(chains.map(chain => [chain.name, chain])),
    solana: Object.fromEntries(solana.map(network => [network.network, network])),
    ...{ store: store ?? defaults.store, listen: listen ?? defaults.listen },
  }
  printNote(`\nThis goes into ${output}:\n${summaryLines(summary).join('\n')}`)
}

/** Throws where a file exists that is not to be replaced. */
async function mayReplace({ output, yes }: InitFlags, questions: Questions | undefined): Promise<void> {
  if (!existsSync(output)) return
  if (!statSync(output).isFile()) {
    throw new AlmanacError('conflict', `${output} exists and is not a regular file.`, {
      hint: 'pass another file with --output.',
    })
  }
  const help = 'The old file gets a name with the time; its settings are not taken over. With no, nothing is changed.'
  if (
    yes !== true &&
    !(await questions?.confirm(`${output} exists. Replace it? The old file is kept.`, false, { help }))
  ) {
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
    (flags.store !== undefined && path === 'store') ||
    (flags.listen !== undefined && path === 'listen')
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
