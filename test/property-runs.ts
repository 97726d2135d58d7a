// How often a property is tried with new draws. It draws nothing.

const isRelease = process.env.ALMANAC_TESTS_RELEASE === '1'

/** So often before a release and at night, else a quarter of it: draws are new in every run. */
export function propertyRuns(runs: number): number {
  return isRelease ? runs : Math.ceil(runs / 4)
}
