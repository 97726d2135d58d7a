// The entry of a thread that reads, checks and decodes answers; see `digest-work.ts`. It imports nothing else before compiled code is
// kept.
import { keepCompiledCode } from '../../compile-cache.ts'

keepCompiledCode()
await import('./digest-work.ts')
