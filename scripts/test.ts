// `npm test`: the gates (lint, types, unused code) one after the other beside the tests, and the result of each by its
// name. With words it runs only the tests that concern them. The tests write as they go; a gate is heard when it fails.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'

type Result = { name: string; passed: boolean; seconds: number; output: string }

const words = process.argv.slice(2)
const gates = ['lint', 'types', 'unused']
const results = words.length > 0 ? [await tests(concerning(words))] : (await Promise.all([tests([]), inTurn()])).flat()
for (const { name, passed, output } of results)
  if (!passed && output !== '') process.stderr.write(`\n${name}:\n${output}`)
process.stdout.write('\n')
for (const { name, passed, seconds } of results)
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${name.padEnd(6)}  ${Math.round(seconds)} s\n`)
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1

async function inTurn(): Promise<Result[]> {
  const ended: Result[] = []
  for (const gate of gates) ended.push(await run(gate, 'npm', ['run', '-s', gate], 'pipe'))
  return ended
}

function tests(filters: string[]): Promise<Result> {
  return run('tests', 'vitest', ['run', ...filters], 'inherit')
}

/** Suites with the word in the name of their file; where no file has it, those with the word in what they say. */
function concerning(words: string[]): string[] {
  const files = globSync('{src,sandbox/src,web/src,test}/**/*.test.ts')
  return words.flatMap(word => {
    if (word.startsWith('-') || files.some(file => file.includes(word))) return [word]
    const suites = files.filter(file => readFileSync(file, 'utf8').includes(word))
    // A word of which nothing speaks is Vitest's to refuse.
    return suites.length > 0 ? suites : [word]
  })
}

function run(name: string, command: string, parameters: string[], output: 'inherit' | 'pipe'): Promise<Result> {
  const beganMs = performance.now()
  const child = spawn(command, parameters, { stdio: ['inherit', output, output] })
  const heard: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => heard.push(chunk))
  return new Promise(resolve => {
    const end = (passed: boolean, said: string): void =>
      resolve({ name, passed, seconds: (performance.now() - beganMs) / 1_000, output: said })
    child.once('error', error => end(false, error.message))
    child.once('close', code => end(code === 0, Buffer.concat(heard).toString()))
  })
}
