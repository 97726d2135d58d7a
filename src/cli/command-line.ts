// How the reader of a message runs a command: `npm start` is how a checkout starts, where no `almanac` is on the path.

export const commandLine = process.env.npm_lifecycle_event === undefined ? 'almanac' : 'npm run -s almanac --'
