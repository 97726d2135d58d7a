// Says what to do where the port of the service is taken. It listens nowhere longer than it takes to find out.
import { requireFreePort } from '../../api/serve.ts'
import { parseListen } from '../../config/settings.ts'
import { AlmanacError } from '../../errors.ts'
import { beforeOption } from '../current-process.ts'
import { sandboxAt, urlHere } from '../running-server.ts'

/** `instead` is what else may be done about a port that is taken. */
export async function requirePlace(listen: string, instead?: string): Promise<void> {
  await namingPort(listen, requireFreePort(parseListen(listen)!), instead)
}

/** Gives the failure of `listening` a line to try. */
export async function namingPort<Result>(
  listen: string,
  listening: Promise<Result>,
  instead?: string,
): Promise<Result> {
  try {
    return await listening
  } catch (error) {
    const isTaken = error instanceof AlmanacError && (error.cause as NodeJS.ErrnoException)?.code === 'EADDRINUSE'
    if (!isTaken) throw error
    const first = instead ?? `stop ${sandboxName(listen) ?? 'what uses it'}.`
    const hint = `${first}\nchoose another port: ${beforeOption}--listen ${nextPort(listen)}`
    throw new AlmanacError(error.code, error.message, { cause: error.cause, hint })
  }
}

function sandboxName(listen: string): string | undefined {
  const sandbox = sandboxAt(urlHere(listen))
  return sandbox && `the sandbox of ${sandbox.directory}`
}

export function nextPort(listen: string): string {
  return listen.replace(/\d+$/, port => `${(Number(port) % 65_535) + 1}`)
}

const portsTried = 20

/** How to start a service there: on another port while the sandbox or something else has that one. */
export async function nextStep(listen: string, start: string): Promise<string> {
  const free = await freePlace(listen)
  if (free === listen) return `Next: ${start}`
  const user = sandboxName(listen)
  const by = user === undefined ? '' : ` by ${user}`
  return `The address ${listen} is in use${by}.\nNext: ${start} --listen ${free}`
}

/** The same place, or the next one whose port is free where that is taken. */
export async function freePlace(listen: string): Promise<string> {
  let place = listen
  for (let tried = 0; tried < portsTried; tried++) {
    try {
      await requireFreePort(parseListen(place)!)
      return place
    } catch (error) {
      if (((error as AlmanacError).cause as NodeJS.ErrnoException)?.code !== 'EADDRINUSE') return place
      place = nextPort(place)
    }
  }
  return listen
}
