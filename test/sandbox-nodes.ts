// The nodes of the sandbox as packages: two, each for every platform.

export const sandboxPlatforms = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
]

export const sandboxNodes = ['@nomicfoundation/edr', 'litesvm'].flatMap(node =>
  sandboxPlatforms.map(platform => `${node}-${platform}`),
)
