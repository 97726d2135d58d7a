// What runs more often before a release and at night than in `npm test`. It runs nothing.

export const isRelease = process.env.ALMANAC_TESTS_RELEASE === '1'

/** How often a property is tried before a release, else a tenth of it: draws are new in every run. */
export function propertyRuns(runs: number): number {
  return isRelease ? runs : Math.ceil(runs / 10)
}

/** All cases of a matrix before a release, else the first and every `step`th after it. */
export function someCases<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return isRelease ? cases : cases.filter((_, at) => at % step === 0)
}
