#!/usr/bin/env node
// The entry of the command line. It imports nothing else before compiled code is kept, because only later imports profit from it.
import { keepCompiledCode } from '../threads.ts'

keepCompiledCode()
const { runCommand } = await import('./program.ts')
await runCommand()
