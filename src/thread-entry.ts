// The entry of every thread. It imports nothing else before the compile cache is on.
import { parentPort, workerData } from 'node:worker_threads'
import { keepCompiledCode, runThread, type ThreadData } from './threads.ts'

if (parentPort === null) throw new Error('This file runs only as a thread of Almanac.')
keepCompiledCode()
await runThread(parentPort, workerData as ThreadData)
