// What runs more often before a release and at night than in `npm test`. It runs nothing.

export const isRelease = process.env.ALMANAC_TESTS_RELEASE === '1'

/** How often a property is tried before a release, else a quarter of it: draws are new in every run. */
export function propertyRuns(runs: number): number {
  return isRelease ? runs : Math.ceil(runs / 4)
}
