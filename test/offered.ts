// What a run has once and its suites share: offered on a socket in their folder, and started once the first of them asks for
// it. Whoever offers it ends it.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Each suite that asks is told the address. Gives what takes the offer back and resolves with what was started, if it was. */
export async function offer<Started>(
  socket: string,
  start: () => Promise<Started>,
  addressOf: (started: Started) => string,
): Promise<() => Promise<Started | undefined>> {
  let starting: Promise<Started> | undefined
  const listener = createServer(asking => {
    asking.on('error', () => undefined)
    starting ??= start()
    starting.then(
      started => asking.end(addressOf(started)),
      (error: Error) => {
        process.stderr.write(`${error}\n`)
        asking.destroy()
      },
    )
  })
  listener.listen(socket).unref()
  await once(listener, 'listening')
  return async () => {
    listener.close()
    return await starting?.catch(() => undefined)
  }
}

/** The address of what is offered. */
export async function askOffered(socket: string): Promise<string> {
  const address = await text(connect(socket))
  if (address === '') throw new Error(`What is offered at ${socket} did not start.`)
  return address
}

export function socketIn(folder: string, name: 'browser' | 'pages' | 'postgres'): string {
  return join(folder, `${name}.socket`)
}
