// Runs the Ponder project of `ponder/` on one job with the Node it wants: it serves and never ends, so it
// is asked whether it is ready. Its clock runs from when it says that it starts.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type PeerJob, type PeerRun, watch } from './peer-process.ts'

const folder = fileURLToPath(new URL('ponder', import.meta.url))

export const ponder = {
  name: 'Ponder',
  folder,
  table: 'bench.transfer',
  async run({ database, limitSeconds, ...job }: PeerJob): Promise<PeerRun> {
    const port = await freePort()
    const flags = ['--schema', 'bench', '--port', String(port), '--hostname', '127.0.0.1']
    const child = spawn(
      `${folder}/node_modules/.bin/node`,
      ['node_modules/.bin/ponder', '--log-format', 'json', 'start', ...flags],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          PATH: `${folder}/node_modules/.bin:${process.env.PATH}`,
          DATABASE_URL: database,
          PONDER_TELEMETRY_DISABLED: 'true',
          BENCH_JOB: JSON.stringify(job),
        },
      },
    )
    let startedAt: number | undefined
    child.stdout.on('data', chunk => {
      if (String(chunk).includes('Started backfill indexing')) startedAt ??= performance.now()
    })
    const isDone = async (): Promise<boolean> => {
      try {
        return (await fetch(`http://127.0.0.1:${port}/ready`)).ok
      } catch {
        return false
      }
    }
    return await watch({ child, startedAt: () => startedAt, isDone }, limitSeconds)
  },
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}
