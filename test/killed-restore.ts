// A restore that kills its own process before one of its steps, as an operator or a power cut would. A step is a call
// that changes files, or a phase that it reports. Prints the number of steps if none of them is that one.
// Run: node test/killed-restore.ts <backup> <store file> <step>
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { restoreFile } from '../src/store/sqlite/restore/restore.ts'

const [, , backup = '', path = '', killAt] = process.argv
let step = 0
const count = (): void => {
  if (step === Number(killAt)) process.kill(process.pid, 'SIGKILL')
  step += 1
}
for (const name of ['writeSync', 'fsyncSync', 'chownSync', 'linkSync', 'renameSync', 'rmSync'] as const) {
  const original = fs[name] as (...parameters: unknown[]) => unknown
  const counted = (...parameters: unknown[]) => {
    if (name !== 'rmSync' || fs.existsSync(String(parameters[0]))) count()
    return original(...parameters)
  }
  Object.assign(fs, { [name]: counted })
}
syncBuiltinESMExports()
await restoreFile(backup, path, { keysOfBackup: false, discard: false, onProgress: count })
console.log(step)
