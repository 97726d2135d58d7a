// Says what to do where the port of the service is taken. It listens nowhere longer than it takes to find out.
import { requireFreePort } from '../../api/serve.ts'
import { parseListen } from '../../config/settings.ts'
import { AlmanacError } from '../../errors.ts'
import { beforeOption } from '../current-process.ts'

/** `instead` is what else may be done about a port that is taken. */
export async function requirePlace(listen: string, instead?: string): Promise<void> {
  await namingPort(listen, requireFreePort(parseListen(listen)!), instead)
}

/** Gives the failure of `listening` a line to try. */
export async function namingPort<Result>(
  listen: string,
  listening: Promise<Result>,
  instead = 'stop what uses it,',
): Promise<Result> {
  try {
    return await listening
  } catch (error) {
    const isTaken = error instanceof AlmanacError && (error.cause as NodeJS.ErrnoException)?.code === 'EADDRINUSE'
    if (!isTaken) throw error
    const next = listen.replace(/\d+$/, port => `${(Number(port) % 65_535) + 1}`)
    const hint = `${instead} or choose another port: ${beforeOption}--listen ${next}`
    throw new AlmanacError(error.code, error.message, { cause: error.cause, hint })
  }
}
