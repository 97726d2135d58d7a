// The entry of a thread that reads, checks and decodes answers; see `decode-worker.ts`. It imports nothing else before compiled code is
// kept.
import { keepCompiledCode } from '../../threads.ts'

keepCompiledCode()
await import('./decode-worker.ts')
