import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createProgram } from './program.ts'

const namesOf = async (called?: string) => (await createProgram(called)).commands.map(command => command.name())

test('every command is a file of its name, and help lists all of them without loading one', async () => {
  const loaded = (await createProgram()).commands
  const names = loaded.map(command => command.name())
  const exists = (path: string): boolean => existsSync(new URL(path, import.meta.url))
  for (const name of names)
    expect([`./${name}.ts`, `./${name}/${name}.ts`, `../tools/${name}/${name}.ts`].some(exists), name).toBe(true)
  const help = (await createProgram('--help')).commands
  expect(help.map(command => command.name())).toEqual(names)
  // A command that is loaded has options or commands of its own.
  for (const command of help) expect([command.options, command.commands]).toEqual([[], []])
  for (const [at, command] of help.entries()) {
    const summary = command.description()
    expect(summary, command.name()).toMatch(/\.$/)
    expect(loaded[at]!.description().slice(0, summary.length - 1), command.name()).toBe(summary.slice(0, -1))
  }
})

test('a called command is loaded alone', async () => {
  expect(await namesOf('keys')).toEqual(['keys'])
})
