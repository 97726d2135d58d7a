// The entry of the thread that indexes EVM chains; see `index-chains.ts`. It imports nothing else before compiled code is kept.
import { keepCompiledCode } from '../threads.ts'

keepCompiledCode()
await import('./index-chains.ts')
