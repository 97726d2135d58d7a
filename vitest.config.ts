import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isRelease } from './test/release-runs.ts'

// Tests start hundreds of processes and threads of the same sources. What one of them compiled the others read, which takes half a second
// of each start away.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/almanac-tests', import.meta.url))

// Nothing that a test starts may connect elsewhere than to this machine.
const guard = fileURLToPath(new URL('test/socket-guard.cjs', import.meta.url))
process.env.ALMANAC_TESTS_CONNECTIONS ??= join(tmpdir(), `almanac-connections-${process.pid}`)
if (!process.env.NODE_OPTIONS?.includes(guard))
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require=${JSON.stringify(guard)}`.trim()

// A store that is made or closed waits for the disk. Stores of tests lie in memory where it has room for all that suites
// write at once; before a release they lie on the disk, as those of users do.
const memory = isRelease ? undefined : roomyMemory('/dev/shm', 8 * 2 ** 30)
if (memory !== undefined) process.env.TMPDIR ??= memory

// Tests beside their file share processes, since they leave nothing behind. Suites start theirs anew, are many times as long, and so come first:
// projects run in the order of their names.
const suites = ['test/**/*.test.ts', 'src/store/{sqlite,postgres}/*.test.ts', 'src/store/postgres/*/*.test.ts']

// Suites share processes, which takes 0.9 s of the processor from each, most of it for imports. These have their own: they
// measure the memory of their process, listen to its errors, replace what is global, or use a library that does.
const apart = ['api-fuzz', 'connections', 'troubles', 'whole-lists-stopped', 'clients/moralis-*'].map(
  name => `test/${name}.test.ts`,
)

// What takes minutes by design runs before a release and at night alone: `npm run test:release`.
const release = ['test/release/*.test.ts', 'test/**/*.release.test.ts']

// Left to itself, Vitest begins with the largest files where it has not run before, and would begin minutes of waiting
// when all else has ended. `npm run test:times` writes this list.
const longest: string[] = JSON.parse(readFileSync(new URL('test/longest.json', import.meta.url), 'utf8'))

class LongestFirst extends BaseSequencer {
  override async sort(suites: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex(name => moduleId.endsWith(`/${name}`))
      return at < 0 ? longest.length : at
    }
    return (await super.sort(suites)).sort((one, other) => place(one) - place(other))
  }
}

/** The folder, where it is a file system in memory with so much room and programs may be run from it. */
function roomyMemory(folder: string, bytes: number): string | undefined {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : []
  const [, , kind, options] = mounts.find(line => line.split(' ')[1] === folder)?.split(' ') ?? []
  if (kind !== 'tmpfs' || /\b(noexec|ro)\b/.test(options!)) return undefined
  const { bavail, bsize } = statfsSync(folder)
  return Math.min(bavail * bsize, process.availableMemory()) < bytes ? undefined : folder
}

export default defineConfig({
  test: {
    // Bounds for what hangs, not for what is slow: machines are busy, and other tests run beside.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Each look asks a browser or a service: on a busy machine, where waits are long, a look every 50 ms keeps it busy.
    expect: { poll: { timeout: 60_000, interval: 150 } },
    // More than the cores of a small machine: suites wait for browsers, for processes that they start and for time to pass.
    maxWorkers: 5,
    pool: 'forks',
    // Node imports the sources as it does for users, and keeps what it compiled. What Vite would make of them takes a fifth
    // more of the processor: each use of an import goes through an object there. It leaves no place for `vi.mock`.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // From the beginning as much as V8 would take after a while: most of these processes end before that.
    execArgv: ['--min-semi-space-size=16'],
    setupFiles: [
      'test/local-connections.ts',
      ...(process.env.ALMANAC_TESTS_TIMES === undefined ? [] : ['test/suite-times.ts']),
    ],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'across files',
          include: suites,
          exclude: [...configDefaults.exclude, ...apart, ...(isRelease ? [] : release)],
          isolate: false,
          globalSetup: 'test/shared-folder.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'across files, apart',
          include: apart,
          exclude: [...configDefaults.exclude, ...(isRelease ? [] : release)],
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
