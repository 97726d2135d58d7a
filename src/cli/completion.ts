// Prints the script that completes commands in a shell, and the names that the script asks for. The script is made from
// the program itself; it asks for names alone, which only the configuration and the store know.
import { Argument, Command } from 'commander'
import { offeredChains } from '../chains.ts'
import { allLeaves, flagOf } from '../config/overrides.ts'
import { scopes } from '../keys/keys.ts'
import { offerWord } from './current-process.ts'
import { loadConfigFor } from './options.ts'
import { printData } from './terminal.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

const aliasHelp = `
Install:
  bash  add to ~/.bashrc: source <(almanac completion bash)
  zsh   almanac completion zsh > "\${fpath[1]}/_almanac"
  fish  almanac completion fish > ~/.config/fish/completions/almanac.fish

Where npx runs the program, define the word almanac first:
  bash, zsh  almanac() { npx almanac "$@"; }
  fish       function almanac; npx almanac $argv; end`

export function completionCommand(createProgram: () => Promise<Command>): Command {
  return new Command('completion')
    .description(
      'Print the completion script of a shell: commands, options, configured chains and names of keys. Its help says where each shell wants it, and how to complete npx almanac.',
    )
    .addArgument(new Argument('<shell>', 'The shell.').choices(shells))
    .addHelpText('after', aliasHelp)
    .action(async (shell: Shell) => printData(completionScript(shell, await createProgram())))
}

export function completionScript(shell: Shell, program: Command): string {
  const levels = levelsOf(program, '')
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](levels)
}

const asked = { chains: chainNames, keys: keyNames }

/** Names, one in a line, for a script that shows no errors: where there are none, none. */
export async function offerNames(kind = ''): Promise<void> {
  const names = Object.hasOwn(asked, kind) ? await asked[kind as keyof typeof asked]() : []
  if (names.length > 0) printData(names.filter(isWord).join('\n'))
}

async function configured() {
  const { sandboxMeant } = await import('./running-server.ts')
  const loaded = loadConfigFor(new Command())
  const sandbox = sandboxMeant(loaded)
  return sandbox === undefined ? loaded : loadConfigFor(new Command(), sandbox.config)
}

async function chainNames(): Promise<string[]> {
  const chains = Object.keys((await configured()).config.chains)
  return chains.length > 0 ? chains : offeredChains.map(({ name }) => name)
}

/** Only of a file that is read as it is: the Tab key changes no store, and waits for no server. */
async function keyNames(): Promise<string[]> {
  const { openStoreAsItIs } = await import('../store/open.ts')
  await using opened = new AsyncDisposableStack()
  const store = await openStoreAsItIs((await configured()).config.store)
  if (store === undefined) return []
  opened.defer(() => store.close())
  const keys = (await store.keys()).filter(({ revokedAt }) => revokedAt === undefined)
  return [...new Set(keys.map(({ id, name }) => (isWord(name) ? name : id)))]
}

/** Others need quotes, which a completion would have to add. */
function isWord(name: string): boolean {
  return /^[\w.@-]+$/.test(name)
}

/** A word that may come next, and what it is. */
type Word = { word: string; about: string }
/** Words that are known, those that the program is asked for, files, or any text. */
type Values = readonly string[] | keyof typeof asked | 'files' | 'text'
type Valued = { flags: readonly string[]; values: Values }
/** A command by its path, such as `keys create`; empty for the program. */
type Level = { path: string; words: Word[]; valued: Valued[]; arguments: Values[] }

function levelsOf(command: Command, path: string): Level[] {
  const { commands, options, registeredArguments } = command
  const helps = [{ word: '--help', about: 'Print help.' }]
  const own: Level = {
    path,
    words: [
      ...commands.map(each => ({ word: each.name(), about: each.summary() || each.description() })),
      ...options.flatMap(({ long, description }) => (long == null ? [] : [{ word: long, about: description }])),
      ...(path === '' ? [{ word: 'help', about: 'Print help for a command.' }] : []),
      ...helps,
    ],
    valued: options
      .filter(({ required, optional }) => required || optional)
      .map(({ flags, long, short, argChoices }) => ({
        flags: [long, short].filter(flag => flag != null),
        values: argChoices ?? valuesOf(flags),
      })),
    arguments: registeredArguments.map(each => each.argChoices ?? valuesOf(`<${each.name()}>`)),
  }
  return [own, ...commands.flatMap(each => levelsOf(each, `${path} ${each.name()}`.trim()))]
}

/** By what help calls the value. */
function valuesOf(flags: string): Values {
  if (flags === '--chain <name>' || flags === '<chain>') return 'chains'
  if (flags === '<id-or-name>') return 'keys'
  if (flags === '--scopes <list>') return [...scopes, 'client', 'all']
  const setting = allLeaves.find(leaf => flags.startsWith(`${flagOf(leaf.path)} `))
  if (setting !== undefined && /^(`\w+`(, | or |$))+$/.test(setting.accepts))
    return setting.accepts.match(/\w{2,}(?=`)/g)!
  return /<(file|folder|archive|backup)>/.test(flags) ? 'files' : 'text'
}

/** Within single quotes of bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A function whose body is a `case` over its first argument. */
function caseFunction(name: string, cases: readonly (readonly [pattern: string, body: string])[]): string {
  const lines = cases.map(([pattern, body]) => `    ${quoted(pattern)}) ${body} ;;`)
  return [`${name}() {`, '  case "$1" in', ...lines, '  esac', '}'].join('\n')
}

/** What both shells look up: the commands below a path, and the values of an option or of an argument by its number. */
function lookUps(levels: readonly Level[]): string[] {
  const echo = (values: Values): string => (typeof values === 'string' ? `echo :${values}` : say(values))
  const nested = levels.filter(({ path }) => levels.some(other => other.path.startsWith(`${path} `.trimStart())))
  const chains = offeredChains.map(({ name }) => name).filter(isWord)
  return [
    caseFunction(
      '_almanac_commands',
      nested.map(({ path, words }) => [
        path,
        say(words.map(({ word }) => word).filter(word => levels.some(each => each.path === `${path} ${word}`.trim()))),
      ]),
    ),
    caseFunction(
      '_almanac_values',
      levels.flatMap(({ path, valued }) =>
        valued.flatMap(({ flags, values }) => flags.map(flag => [`${path} ${flag}`.trim(), echo(values)] as const)),
      ),
    ),
    caseFunction(
      '_almanac_argument',
      levels.flatMap(({ path, arguments: all }) => all.map((values, at) => [`${path} ${at}`, echo(values)] as const)),
    ),
    `_almanac_names() {
  local names
  names=$("$1" ${offerWord} "\${2#:}" 2>/dev/null </dev/null) || names=''
  if [[ -z $names && $2 == :chains ]]; then names=${quoted(chains.join(' '))}; fi
  echo $names
}`,
  ]
}

function say(words: readonly string[]): string {
  return `echo ${quoted(words.join(' '))}`
}

/** Finds the command that the words before the last one name, and how many arguments it has by then. */
function walk(words: string): string {
  return `  for word in "\${${words}}"; do
    if [[ -n $skips ]]; then skips=''; continue; fi
    if [[ $word == -* ]]; then skips=$(_almanac_values "\${at:+$at }$word"); continue; fi
    if [[ " $(_almanac_commands "$at") " == *" $word "* ]]; then at="\${at:+$at }$word"; else count=$((count + 1)); fi
  done
  values=$(_almanac_values "\${at:+$at }$before")`
}

function bashScript(levels: readonly Level[]): string {
  const words = caseFunction(
    '_almanac_words',
    levels.map(({ path, words }) => [path, say(words.map(({ word }) => word))]),
  )
  return `# Completion of almanac in bash: source <(almanac completion bash)
${[...lookUps(levels), words].join('\n')}
_almanac() {
  local at='' word values skips='' count=0
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" program="\${COMP_WORDS[0]}"
${walk('COMP_WORDS[@]:1:COMP_CWORD-1')}
  if [[ -z $values && $current != -* ]]; then values=$(_almanac_argument "$at $count"); fi
  case "$values" in
    :files) COMPREPLY=($(compgen -f -- "$current")); return ;;
    :text) COMPREPLY=(); return ;;
    :*) values=$(_almanac_names "$program" "$values") ;;
    '') values=$(_almanac_words "$at") ;;
  esac
  COMPREPLY=($(compgen -W "$values" -- "$current"))
}
complete -o filenames -F _almanac almanac
`
}

function zshScript(levels: readonly Level[]): string {
  const described = ({ word, about }: Word): string => quoted(`${word}:${about.replaceAll(':', '\\:')}`)
  const words = caseFunction(
    '_almanac_words',
    levels.map(({ path, words }) => [path, `choices=(${words.map(described).join(' ')})`]),
  )
  return `#compdef almanac
# Completion of almanac in zsh: a file _almanac in a folder of $fpath.
${[...lookUps(levels), words].join('\n')}
_almanac() {
  local at='' word values skips='' count=0
  local current="\${words[CURRENT]}" before="\${words[CURRENT-1]}" program="\${words[1]}"
  local -a choices
${walk('(@)words[2,CURRENT-1]')}
  if [[ -z $values && $current != -* ]]; then values=$(_almanac_argument "$at $count"); fi
  case "$values" in
    :files) _files ;;
    :text) ;;
    :*) compadd -- \${=$(_almanac_names "$program" "$values")} ;;
    '') _almanac_words "$at"; _describe -t commands almanac choices ;;
    *) compadd -- \${=values} ;;
  esac
}
if [[ $funcstack[1] == _almanac ]]; then _almanac "$@"; else compdef _almanac almanac; fi
`
}

function fishScript(levels: readonly Level[]): string {
  // In fish a single quote and a backslash are escaped within single quotes.
  const text = (plain: string): string => `'${plain.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const offered = (values: Values): string => {
    if (values === 'files') return '-F'
    if (values === 'text') return '-x'
    return `-x -a ${text(typeof values === 'string' ? `(__almanac_names ${values})` : values.join(' '))}`
  }
  const lines = levels.flatMap(({ path, words, valued, arguments: all }) => {
    const when = `-n ${text(`__almanac_at ${quoted(path)}`)}`
    return [
      ...words.map(({ word, about }) => {
        const valuedBy = valued.find(({ flags }) => flags.includes(word))
        const takes = valuedBy === undefined ? '' : ` -r ${offered(valuedBy.values)}`
        const short = valuedBy?.flags.find(flag => /^-\w$/.test(flag))
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
        return `complete -c almanac ${when} ${what}${short === undefined ? '' : ` -s ${short[1]}`}${takes} -d ${text(about)}`
      }),
      ...all.map((values, at) => {
        const there = `-n ${text(`__almanac_at ${quoted(path)} ${at}`)}`
        return `complete -c almanac ${there} ${offered(values).replace(/^-x/, '-f')}`
      }),
    ]
  })
  const paths = levels.flatMap(({ path }) => (path === '' ? [] : [text(path)]))
  const valued = levels.flatMap(({ path, valued }) =>
    valued.flatMap(({ flags }) => flags.map(flag => text(`${path} ${flag}`.trim()))),
  )
  const chains = offeredChains.map(({ name }) => name).filter(isWord)
  return `# Completion of almanac in fish: ~/.config/fish/completions/almanac.fish
set -g __almanac_paths ${paths.join(' ')}
set -g __almanac_valued ${valued.join(' ')}
function __almanac_at
    set -l at
    set -l count 0
    set -l skips 0
    for word in (commandline -opc)[2..]
        if test $skips = 1
            set skips 0
        else if string match -q -- '-*' $word
            contains -- (string join ' ' -- $at $word) $__almanac_valued; and set skips 1
        else if contains -- (string join ' ' -- $at $word) $__almanac_paths
            set -a at $word
        else
            set count (math $count + 1)
        end
    end
    set -l path (string join ' ' -- $at)
    test "$path" = "$argv[1]"; and begin; test (count $argv) = 1; or test $count = $argv[2]; end
end
function __almanac_names
    set -l program (commandline -opc)[1]
    set -l names ($program ${offerWord} $argv[1] 2>/dev/null </dev/null)
    if test -z "$names"; and test $argv[1] = chains
        set names ${chains.join(' ')}
    end
    string join \\n -- $names
end
complete -c almanac -f
${lines.join('\n')}
`
}
