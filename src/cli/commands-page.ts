// The page of all commands, written from the tree of commands.
import type { Command } from 'commander'

const opening = `# Commands

Written by \`npm run generate\` from \`src/cli\`; do not edit.

In a checkout a command is run with \`npm run -s almanac -- <command>\`; \`npm start -- <options>\` is \`almanac start\`. Data goes
to stdout, everything else to stderr. Colours appear on a terminal only and not with \`NO_COLOR\`.

| exit code | meaning |
|---|---|
| 0 | done; also when the first SIGINT or SIGTERM ends \`start\`, once running requests are answered |
| 1 | something must be changed: the command line, the configuration, the store; \`verify\` found a difference |
| 75 | the same may work later |
| 130 | interrupted: by a second signal, or by the first one where a command had not done its work yet |
`

export function commandsPage(program: Command): string {
  return `${opening}\n${leafCommands(program).map(commandSection).join('\n')}`
}

type NamedCommand = { name: string; command: Command }

function leafCommands(parent: Command, prefix = parent.name()): NamedCommand[] {
  return parent.commands.flatMap(command => {
    const name = `${prefix} ${command.name()}`
    return command.commands.length > 0 ? leafCommands(command, name) : [{ name, command }]
  })
}

function commandSection({ name, command }: NamedCommand): string {
  const inputs = command.registeredArguments.map(argument => `<${argument.name()}>`)
  const rows = [
    ...command.registeredArguments.map(argument => [`<${argument.name()}>`, argument.description, '']),
    ...command.options.map(option => [
      option.flags,
      option.description,
      option.defaultValue === undefined ? '' : String(option.defaultValue),
    ]),
  ].map(([input, text, value]) => `| \`${input}\` | ${text} | ${value === '' ? '' : `\`${value}\``} |`)
  const heading = ['| option | what it is | default |', '|---|---|---|']
  const usage = `    ${[name, ...inputs, '[options]'].join(' ')}`
  return `${[`## ${name}`, '', command.description(), '', usage, '', ...heading, ...rows].join('\n')}\n`
}
