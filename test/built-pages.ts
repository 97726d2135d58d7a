// The built console and documentation, as a start leaves them in a checkout. The suites of a run that look at them begin
// at once, so one build is offered to all.
import { fileURLToPath } from 'node:url'
import { buildDocs } from '../site/build.ts'
import { buildConsole } from '../web/build.ts'
import { askOffered, socketIn } from './offered.ts'

export const consoleFolder = fileURLToPath(new URL('../web/dist', import.meta.url))

/** Builds what has changed. */
export async function buildPages(): Promise<void> {
  await buildConsole(consoleFolder, { ifChanged: true })
  await buildDocs()
}

/** Once they are built by the run, where it offers that. */
export async function pagesAreBuilt(): Promise<void> {
  const { ALMANAC_TESTS_SHARED: shared } = process.env
  if (shared === undefined) await buildPages()
  else await askOffered(socketIn(shared, 'pages'))
}
