import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('.', import.meta.url))

// Tests start hundreds of processes and threads of the same sources. What one of them compiled the others read, which takes half a second
// of each start away.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/almanac-tests')

// Suites are many times as long as tests beside their file, and so come first: projects run in the order of their names.
const suites = ['test/**/*.test.ts', 'src/store/{sqlite,postgres}/*.test.ts', 'src/store/postgres/*/*.test.ts']

// Left to itself, Vitest begins with the largest files where it has not run before, and would begin minutes of waiting
// when all else has ended.
const longest = [
  ...['test/sandbox-minutes', 'test/console', 'test/console-pages', 'test/console-tools', 'test/evm-real-node'],
  ...['test/commands', 'test/cli', 'test/sandbox', 'test/verify', 'test/readme', 'test/package', 'test/roles'],
  ...['test/history-archive', 'test/evm-faults-edges', 'test/history-sources', 'test/evm-claims', 'test/hostile-node'],
  ...['src/store/postgres/postgres', 'test/evm-finality', 'test/evm-faults', 'test/cluster'],
]

// Loading and compiling the same code once more is half of what most suites would cost, so that those which leave nothing
// behind share processes. Alone are those that run commands within their own, or change what all of it sees. Helpers
// register no hooks when they are imported: in a shared process only the first suite would have them.
const changesProcess = new RegExp(
  [
    ...[/runHere/, /almanacHere/, /chain-commands/, /console-walk/, /v8'/, /vi\.stub/, /vi\.(do)?[mM]ock\(/],
    ...[/useFakeTimers/, /spyOn\((Date|process|performance)/, /process\.(on|umask|chdir)\(/],
    /process\.env\.\w+ (\?\?)?= /,
  ]
    .map(({ source }) => source)
    .join('|'),
)
const alone = [
  ...globSync(suites, { cwd: root }).filter(path => changesProcess.test(readFileSync(join(root, path), 'utf8'))),
  ...['sandbox', 'readme', 'package'].map(name => `test/${name}*.test.ts`),
]

class LongestFirst extends BaseSequencer {
  override async sort(suites: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex(name => moduleId.endsWith(`/${name}.test.ts`))
      return at < 0 ? longest.length : at
    }
    // A process is shared for as long as suites of the same project come one after the other.
    return (await super.sort(suites)).sort(
      (one, other) => one.project.name.localeCompare(other.project.name) || place(one) - place(other),
    )
  }
}

export default defineConfig({
  test: {
    // Bounds for what hangs, not for what is slow: machines are busy, and other tests run beside.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 60_000 } },
    // Two more than the cores of a small machine: suites wait for intervals, limits and processes for a third of their time.
    maxWorkers: 4,
    pool: 'forks',
    // From the beginning as much as V8 would take after a while: most of these processes end before that.
    execArgv: ['--min-semi-space-size=16'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: 'across files, alone', include: alone, globalSetup: 'test/shared-folder.ts' },
      },
      {
        extends: true,
        test: {
          name: 'across files, sharing',
          include: suites,
          exclude: alone,
          isolate: false,
          globalSetup: 'test/shared-folder.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'beside their file',
          include: ['{src,sandbox/src,web/src}/**/*.test.ts'],
          exclude: suites,
          isolate: false,
        },
      },
    ],
  },
})
