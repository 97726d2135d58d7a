// Where the public SDK is, for programs of the docs that a test runs as they stand. It loads nothing.

const sdkPlace = import.meta.resolve('moralis-2.27')

/** A program that imports the SDK by its public name, with the installed one in its place. */
export function withInstalledSdk(program: string): string {
  return program.replace("'moralis'", JSON.stringify(sdkPlace))
}
