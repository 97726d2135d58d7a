// Writes the pages that are made from the code. A test compares them with what this would write.
import { writeFileSync } from 'node:fs'
import { openApiText } from '../api/openapi.ts'
import { defaultApiSettings } from '../api/settings.ts'
import { ChainTable } from '../chains.ts'
import { createEvmMetrics } from '../evm/metrics.ts'
import { createMetrics } from '../metrics.ts'
import { commandsPage } from './commands-page.ts'
import { errorsPage } from './errors-page.ts'
import { metricsPage } from './metrics-page.ts'
import { createProgram } from './program.ts'
import { settingsPage } from './settings-page.ts'
import { spamRulesPage } from './spam-rules-page.ts'
import { packageVersion } from './version.ts'

export async function generatedDocs(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/settings.md', settingsPage()],
    ['docs/commands.md', commandsPage(createProgram())],
    ['docs/errors.md', errorsPage()],
    ['docs/metrics.md', await metricsPage([createMetrics().registry, createEvmMetrics().registry])],
    ['docs/spam-rules.md', spamRulesPage()],
    [
      'docs/openapi.json',
      openApiText({
        chains: new ChainTable(),
        pageSizeMax: defaultApiSettings.pageSizeMax,
        version: packageVersion(),
      }),
    ],
  ])
}

if (import.meta.main) {
  for (const [path, text] of await generatedDocs()) writeFileSync(new URL(`../../${path}`, import.meta.url), text)
}
