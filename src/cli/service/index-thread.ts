// The entry of the indexing thread (`index-chains.ts`). It imports nothing else before the compile cache is on.
import { keepCompiledCode } from '../../threads.ts'

keepCompiledCode()
await import('./index-chains.ts')
