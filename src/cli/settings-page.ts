// The page of all settings, written from their table.
import { allLeaves, flagOf, variableOf } from '../config/overrides.ts'
import type { SettingLeaf } from '../config/setting.ts'

const opening = `# Settings

Written by \`npm run generate\` from the table in \`src/config/settings.ts\`; do not edit.

The configuration is a YAML file: \`--config\`, or \`ALMANAC_CONFIG\`, or \`almanac.yaml\` in the working directory if it is
there. Flags win over the environment, the environment over the file, the file over the default. An unknown key is an error
that names the nearest right one. An unquoted \`0x…\` is text. In the environment a list is written with commas, and an empty
variable counts as unset; an unknown \`ALMANAC_…\` variable is reported and ignored.

\`\`\`yaml
listen: 127.0.0.1:8080
store: file:./almanac.db
chains:
  eth:     { rpc: [http://127.0.0.1:8545], index: full, from: 0 }
  polygon: { rpc: [https://rpc.example/a, https://rpc.example/b], index: on-demand, from: 0 }
  base:    { id: 0x2105, rpc: https://rpc.example/c }
solana:
  mainnet: { rpc: [http://127.0.0.1:8899], ws: ws://127.0.0.1:8900 }
\`\`\`

\`ALMANAC_KEY\` is no setting of the file: it registers a key with every scope and no limits when the service starts.
`

const sections: { title: string; text: string; has: (path: readonly string[]) => boolean }[] = [
  { title: 'The service', text: '', has: path => path.length === 1 },
  {
    title: 'Chains',
    text: 'One entry under `chains` for each EVM chain, by its name or id. In the environment `<NAME>` is the name in capitals, with `_` for a space.',
    has: path => path[0] === 'chains',
  },
  {
    title: 'Solana',
    text: 'The same under `solana.mainnet` and `solana.devnet`.',
    has: path => path[0] === 'solana' && path[1] === 'mainnet',
  },
  { title: 'Limits', text: '', has: path => path[0] === 'limits' },
  { title: 'Browsers and logs', text: '', has: path => path[0] === 'cors' || path[0] === 'log' },
]

export function settingsPage(): string {
  const tables = sections.map(({ title, text, has }) => {
    const rows = allLeaves.filter(leaf => has(leaf.path)).map(settingRow)
    const heading = ['| setting | default | accepted | what it does |', '|---|---|---|---|']
    return [`## ${title}`, '', ...(text === '' ? [] : [text, '']), ...heading, ...rows].join('\n')
  })
  return `${opening}\n${tables.join('\n\n')}\n`
}

function settingRow(leaf: SettingLeaf): string {
  const variable = variableOf(leaf.path).replace('__NAME_', '_<NAME>').replace('_MAINNET_', '_<NETWORK>_')
  const names = [`\`${leaf.path.join('.').replace('mainnet', '<network>')}\``, `\`${variable}\``]
  if (leaf.flag === true) names.push(`\`${flagOf(leaf.path)}\``)
  return `| ${names.join('<br>')} | ${defaultText(leaf.defaultValue)} | ${leaf.accepts} | ${leaf.about} |`
}

function defaultText(value: unknown): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join(', ')}\``
  return `\`${String(value)}\``
}
