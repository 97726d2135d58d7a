// A process that forgets in small steps until it is killed, for tests of what is left. It prints a line for each step.
// Run: node test/store-forgetter.ts <url> <what as JSON>
import { openStore } from '../src/store/open.ts'

const [, , url = '', what = ''] = process.argv
const store = await openStore(url, { role: 'owner', mustExist: true })
while (!(await store.forgetStep(JSON.parse(what), 60)).done) process.stdout.write('step\n')
await store.close()
