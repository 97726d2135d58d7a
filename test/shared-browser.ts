// The one browser of a run: offered to suites on a socket in the folder that they share, and started once the first of
// them asks for it. It ends with the process that offers it, however that ends: it hangs on a pipe of it.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { BrowserServer } from 'playwright-core'

const socketIn = (folder: string): string => join(folder, 'browser')

/** Gives what takes the offer back and ends the browser. */
export async function offerBrowser(folder: string, launch: () => Promise<BrowserServer>): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined
  const server = createServer(asking => {
    asking.on('error', () => undefined)
    browser ??= launch()
    browser.then(
      started => asking.end(started.wsEndpoint()),
      (error: Error) => asking.destroy(error),
    )
  })
  server.listen(socketIn(folder)).unref()
  await once(server, 'listening')
  return async () => {
    server.close()
    await (await browser?.catch(() => undefined))?.close()
  }
}

/** Where the browser of the run is reached. */
export async function sharedBrowser(folder: string): Promise<string> {
  return await text(connect(socketIn(folder)))
}
