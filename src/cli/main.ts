// The entry of the command line. It turns the compile cache on before it imports anything else.
import { keepCompiledCode } from '../threads.ts'

keepCompiledCode()
const { runCommand } = await import('./program.ts')
await runCommand()
