// Runs the Squid of `squid/` on one job: its table is made first, its clock runs from when its code is loaded to when it has ended.
import { fork, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type PeerJob, type PeerRun, watch } from './peer-process.ts'

const folder = fileURLToPath(new URL('squid', import.meta.url))

export const squid = {
  name: 'Squid',
  folder,
  table: 'transfer',
  async run({ url, database, contract, to, limitSeconds }: PeerJob): Promise<PeerRun> {
    const env = { ...process.env, DB_URL: database, SQD_LOG_LEVEL: 'WARN' }
    const made = spawnSync(process.execPath, ['lib/create-table.js'], { cwd: folder, env, encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`The Squid's table could not be made:\n${made.stderr}`)
    const child = fork('lib/main.js', [JSON.stringify({ url, contract, to })], { cwd: folder, env, silent: true })
    let startedAt: number | undefined
    child.once('message', () => {
      startedAt = performance.now()
    })
    return await watch({ child, startedAt: () => startedAt, isDone: () => child.exitCode === 0 }, limitSeconds)
  },
}
