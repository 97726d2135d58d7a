// Builds the documentation's site: `npm run docs`, `node site/build.ts [folder]`. In a checkout the folder is
// `site/dist`, and `npm start` builds it again when a source has changed. The service serves it under `/docs`.
import { type Build, buildFolder, buildFromCommandLine, root } from '../web/build-folder.ts'
import { besideDocs } from './pages.ts'

export const build: Build = {
  name: 'documentation',
  usualFolder: 'site/dist',
  sources: [
    ...['docs', 'etc', 'examples', 'site', 'web/src/style', 'web/src/almanac.svg', 'web/build-folder.ts'],
    ...[
      'docs-index.ts',
      'docs-words.ts',
      'excerpt.ts',
      'not-served.ts',
      'pasted.ts',
      'paths.ts',
      'typo.ts',
      'search.css',
    ].map(name => `web/src/search/${name}`),
    ...[
      'web/src/reference/entries.ts',
      'web/src/reference/other-names.ts',
      'web/src/state/document.ts',
      'web/src/state/theme-names.ts',
    ],
    ...['web/src/state/kept-language.ts', 'web/src/state/kept-key.ts'],
    ...['LICENSE', 'package.json', 'package-lock.json', ...besideDocs],
  ],
  // What makes it takes a moment to load, and brings types of a browser that are none of whoever builds.
  make: async folder => {
    const { makeSite } = (await import(new URL('site.ts', import.meta.url).href)) as { makeSite: Build['make'] }
    await makeSite(folder)
  },
}

export async function buildDocs(): Promise<void> {
  await buildFolder(build, `${root}/${build.usualFolder}`, { ifChanged: true })
}

if (import.meta.main) await buildFromCommandLine(build)
