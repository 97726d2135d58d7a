// The browser of the console's tests: Debian's Chromium or another one of the machine, kept from reaching anything but this machine.
import { existsSync } from 'node:fs'
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core'
import { askOffered, socketIn } from './offered.ts'

const places = [
  process.env.ALMANAC_BROWSER,
  // Debian's Chromium without its windows takes two thirds of the processor time of the whole one.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where a browser is installed, if there is one. */
export const browserPath = places.find(place => place !== undefined && place !== '' && existsSync(place))

/** Set where a missing browser is a failure, as in continuous integration. */
export const browserRequired = process.env.ALMANAC_REQUIRE_BROWSER === '1'

const options: LaunchOptions = {
  ...(browserPath !== undefined && { executablePath: browserPath }),
  args: [
    '--no-sandbox',
    '--disable-gpu',
    // What draws needs no process beside those of the pages.
    '--in-process-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Whatever a page asks for elsewhere has no address.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ],
}

/** The browser of the run, where one is offered, or else one of its own. */
export async function launchBrowser(): Promise<Browser> {
  const { ALMANAC_TESTS_SHARED: shared } = process.env
  if (shared === undefined) return await chromium.launch(options)
  return await chromium.connect(await askOffered(socketIn(shared, 'browser')))
}

/** One that several processes connect to. What follows a signal is decided by whoever starts it. */
export async function launchBrowserServer(): Promise<BrowserServer> {
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  return await chromium.launchServer({ ...options, ...signals, host: '127.0.0.1' })
}
