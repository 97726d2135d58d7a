// The Python of this machine, if it has one. What is called `python3` may be a script that looks for it, for longer than
// most programs of the docs take.
import { spawnSync } from 'node:child_process'

const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' })

export const pythonPath = status === 0 ? stdout.trim() : undefined
