// The page of the spam rules, written from the table itself.
import { rulesVersion, spamRules, spamScore } from '../annotate/spam-rules.ts'

const opening = `# Spam rules

Written by \`npm run generate\` from \`src/annotate/spam-rules.ts\`; do not edit.

The rules that fire add up; from ${spamScore} on a contract is \`possible_spam\`, unless a pin, a list or the pack says otherwise. Version ${rulesVersion}: with
another one all contracts are judged again. \`almanac explain\` shows which fired for a contract, with their numbers.

| rule | weight | fires when all of this holds | meaning |
|---|---|---|---|
`

export function spamRulesPage(): string {
  const rows = spamRules.map(({ rule, weight, when, reason }) => {
    const conditions = when.map(([name, comparison, bound]) => `\`${name}\` ${comparison} ${bound}`).join(', ')
    return `| \`${rule}\` | ${weight} | ${conditions} | ${reason} |`
  })
  return `${opening}${rows.join('\n')}\n`
}
