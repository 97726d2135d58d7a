// The entry of a decode thread: keeps compiled code, then loads `decode-worker.ts`. It must import nothing else before.
import { keepCompiledCode } from '../../threads.ts'

keepCompiledCode()
await import('./decode-worker.ts')
