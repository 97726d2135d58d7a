// The page of all error codes, written from the codes themselves.
import { statusOf } from '../api/problem.ts'
import { errorGuide } from '../error-guide.ts'
import { AlmanacError, errorCodes } from '../errors.ts'

const opening = `# Errors

Written by \`npm run generate\` from \`src/errors.ts\` and \`src/error-guide.ts\`; do not edit.

An answer with an error has a \`message\`, a \`code\` from this list, \`details\` where there are any, and a \`request_id\` that stands
in the log as well. With \`Accept: application/problem+json\` it has the form of RFC 9457. Commands print two lines, what failed and what
to try, and exit with 1 where something must be changed, with 75 where it is worth trying again later, and with 130 when interrupted.

| code | HTTP | what it means | how to solve it |
|---|---|---|---|
`

export function errorsPage(): string {
  const rows = errorCodes.map(code => {
    const { means, solve } = errorGuide[code]
    return `| \`${code}\` | ${statusOf(new AlmanacError(code, ''))} | ${means} | ${solve} |`
  })
  return `${opening}${rows.join('\n')}\n`
}
