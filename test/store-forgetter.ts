// A process that forgets one small step for each line that it reads, and prints one for each that it has done: for tests
// that kill it. Run: node test/store-forgetter.ts <url> <what as JSON>
import { createInterface } from 'node:readline'
import { openStore } from '../src/store/open.ts'

const [, , url = '', what = ''] = process.argv
const store = await openStore(url, { role: 'owner', mustExist: true })
for await (const _line of createInterface(process.stdin)) {
  const { done } = await store.forgetStep(JSON.parse(what), 60)
  process.stdout.write(done ? 'done\n' : 'step\n')
}
