// Builds what the service serves beside answers, the console and the documentation, where their sources have changed.
// `npm start` runs it before the service.
import { build as site } from '../site/build.ts'
import { build as console } from '../web/build.ts'
import { buildIfChanged } from '../web/build-folder.ts'

for (const build of [console, site]) await buildIfChanged(build)
