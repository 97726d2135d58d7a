// Prints the script that completes commands in a shell. It is made from the program itself, and asks nothing when it
// runs.
import { Argument, Command } from 'commander'
import { offeredChains } from '../chains.ts'
import { printData } from './terminal.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

export function completionCommand(createProgram: () => Promise<Command>): Command {
  return new Command('completion')
    .description(
      'Print the completion script of a shell. bash: source <(almanac completion bash) in ~/.bashrc. zsh: almanac completion zsh > a folder of $fpath, as _almanac. fish: almanac completion fish > ~/.config/fish/completions/almanac.fish.',
    )
    .addArgument(new Argument('<shell>', 'The shell.').choices(shells))
    .action(async (shell: Shell) => printData(completionScript(shell, await createProgram())))
}

export function completionScript(shell: Shell, program: Command): string {
  const levels = levelsOf(program, '')
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](levels)
}

/** A word that may come next, and what it is. */
type Word = { word: string; about: string }
/** What takes a value, and which ones; files where any text goes. */
type Valued = { flags: readonly string[]; values: readonly string[] | 'files' }
/** A command by its path, such as `keys create`; empty for the program. */
type Level = { path: string; words: Word[]; valued: Valued[]; argument: Valued['values'] | undefined }

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
        values: argChoices ?? (flags === '--chain <name>' ? chainWords : 'files'),
      })),
    argument: registeredArguments.map(argumentValues)[0],
  }
  return [own, ...commands.flatMap(each => levelsOf(each, `${path} ${each.name()}`.trim()))]
}

/** Names with a space need quotes, which a completion would have to add. */
const chainWords = offeredChains.map(({ name }) => name).filter(name => !name.includes(' '))

function argumentValues(argument: Argument): Valued['values'] {
  if (argument.argChoices !== undefined) return argument.argChoices
  return argument.name() === 'chain' ? chainWords : 'files'
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

/** What both shells look up: the commands below a path, and the values of an option or of the first argument. */
function lookUps(levels: readonly Level[], say: (words: readonly string[]) => string): string[] {
  const valuesOf = (values: Valued['values']): string => (values === 'files' ? 'echo :files' : say(values))
  const nested = levels.filter(({ path }) => levels.some(other => other.path.startsWith(`${path} `.trimStart())))
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
        valued.flatMap(({ flags, values }) => flags.map(flag => [`${path} ${flag}`.trim(), valuesOf(values)] as const)),
      ),
    ),
    caseFunction(
      '_almanac_argument',
      levels.flatMap(({ path, argument }) => (argument === undefined ? [] : [[path, valuesOf(argument)] as const])),
    ),
  ]
}

/** Finds the command that the words before the last one name. */
function walk(words: string): string {
  return `  for word in "\${${words}}"; do
    if [[ " $(_almanac_commands "$at") " == *" $word "* ]]; then at="\${at:+$at }$word"; fi
  done
  values=$(_almanac_values "\${at:+$at }$before")`
}

function bashScript(levels: readonly Level[]): string {
  const say = (words: readonly string[]): string => `echo ${quoted(words.join(' '))}`
  const words = caseFunction(
    '_almanac_words',
    levels.map(({ path, words }) => [path, say(words.map(({ word }) => word))]),
  )
  return `# Completion of almanac in bash: source <(almanac completion bash)
${[...lookUps(levels, say), words].join('\n')}
_almanac() {
  local at='' word values current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
${walk('COMP_WORDS[@]:1:COMP_CWORD-1')}
  if [[ -z $values ]]; then
    values=$(_almanac_words "$at")
    if [[ $current != -* ]]; then values="$values $(_almanac_argument "$at")"; fi
  fi
  COMPREPLY=($(compgen -W "\${values/:files/}" -- "$current"))
  if [[ $values == *:files* ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _almanac almanac
`
}

function zshScript(levels: readonly Level[]): string {
  const say = (words: readonly string[]): string => `echo ${quoted(words.join(' '))}`
  const described = ({ word, about }: Word): string => quoted(`${word}:${about.replaceAll(':', '\\:')}`)
  const words = caseFunction(
    '_almanac_words',
    levels.map(({ path, words }) => [path, `choices=(${words.map(described).join(' ')})`]),
  )
  return `#compdef almanac
# Completion of almanac in zsh: a file _almanac in a folder of $fpath.
${[...lookUps(levels, say), words].join('\n')}
_almanac() {
  local at='' word values current="\${words[CURRENT]}" before="\${words[CURRENT-1]}"
  local -a choices
${walk('(@)words[2,CURRENT-1]')}
  if [[ -z $values ]]; then
    _almanac_words "$at"
    _describe -t commands almanac choices
    if [[ $current == -* ]]; then return; fi
    values=$(_almanac_argument "$at")
  fi
  compadd -- \${=values/:files/}
  if [[ $values == *:files* ]]; then _files; fi
}
if [[ $funcstack[1] == _almanac ]]; then _almanac "$@"; else compdef _almanac almanac; fi
`
}

function fishScript(levels: readonly Level[]): string {
  // In fish a single quote and a backslash are escaped within single quotes.
  const text = (plain: string): string => `'${plain.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = levels.flatMap(({ path, words, valued, argument }) => {
    const when = `-n ${text(`__almanac_at ${quoted(path)}`)}`
    const values = (given: Valued['values']): string => (given === 'files' ? '-F' : `-x -a ${text(given.join(' '))}`)
    return [
      ...words.map(({ word, about }) => {
        const valuedBy = valued.find(({ flags }) => flags.includes(word))
        const takes = valuedBy === undefined ? '' : ` -r ${values(valuedBy.values)}`
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
        return `complete -c almanac ${when} ${what}${takes} -d ${text(about)}`
      }),
      ...(argument === undefined ? [] : [`complete -c almanac ${when} ${values(argument).replace(/^-x/, '-f')}`]),
    ]
  })
  const paths = levels.flatMap(({ path }) => (path === '' ? [] : [text(path)]))
  return `# Completion of almanac in fish: ~/.config/fish/completions/almanac.fish
set -g __almanac_paths ${paths.join(' ')}
function __almanac_at
    set -l at
    for word in (commandline -opc)[2..]
        if contains -- (string join ' ' $at $word) $__almanac_paths
            set -a at $word
        end
    end
    set -l path (string join ' ' $at)
    test "$path" = "$argv[1]"
end
complete -c almanac -f
${lines.join('\n')}
`
}
