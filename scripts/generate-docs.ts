// Writes the pages that are generated from the code. A test compares them with what this would write.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Argument, Command } from 'commander'
import type { Registry } from 'prom-client'
import { stringify } from 'yaml'
import { rulesVersion, spamRules, spamScore } from '../src/annotate/spam-rules.ts'
import { defaultApiSettings } from '../src/api/context.ts'
import { hostedOperations, insteadOf, isServed, whyNotServed } from '../src/api/hosted/operations.ts'
import { allOperations, openApiText } from '../src/api/openapi.ts'
import { statusOf } from '../src/api/problem.ts'
import { routes } from '../src/api/routes.ts'
import { ChainTable, offeredChains } from '../src/chains.ts'
import { packageVersion } from '../src/cli/current-process.ts'
import { createProgram } from '../src/cli/program.ts'
import { allLeaves, flagOf, variableOf } from '../src/config/overrides.ts'
import { nameInManual, type SettingLeaf } from '../src/config/setting.ts'
import { errorGuide } from '../src/error-guide.ts'
import { AlmanacError, errorCodes } from '../src/errors.ts'
import { createEvmMetrics, createMetrics, createWebhookMetrics } from '../src/metrics.ts'
import { filesMarkdown, modelMarkdown, sizingMarkdown } from '../src/tools/plan/model.ts'
import { benchmarkChart } from './benchmark-chart.ts'

const spamRulesOpening = `# Spam rules

<!-- Written by \`npm run generate\` from \`src/annotate/spam-rules.ts\`; do not edit. -->

The weights of the rules that fire add up. From ${spamScore} on a contract is \`possible_spam\`, unless a pin, a list or the pack says
otherwise. This is version ${rulesVersion}; a new version judges all contracts again. \`almanac explain\` shows which rules fired for a
contract, with their numbers.

| rule | weight | fires when all of this holds | meaning |
|---|---|---|---|
`

export function spamRulesPage(): string {
  const rows = spamRules.map(({ rule, weight, when, reason }) => {
    const conditions = when.map(([name, comparison, bound]) => `\`${name}\` ${comparison} ${bound}`).join(', ')
    return `| \`${rule}\` | ${weight} | ${conditions} | ${reason} |`
  })
  return `${spamRulesOpening}${rows.join('\n')}\n`
}

const errorsOpening = `# Errors

<!-- Written by \`npm run generate\` from \`src/errors.ts\`; do not edit. -->

An error answer has a \`message\`, a \`code\` from this list, \`details\` if there are any, and a \`request_id\` that is also in the
log. With \`Accept: application/problem+json\` it follows RFC 9457.

A command prints two lines: what failed, and what to try. It exits with 1 if you must change something, with 75 if the same may
work later, and with 130 if it was interrupted. [Troubleshooting](troubleshooting.md) explains the messages, and
[errors and retries](guides/errors-and-retries.md) has an error body and code that retries.
`

const errorTables = [
  { of: 'request', title: 'Errors of requests', opening: 'The client that sends the request can solve these.' },
  {
    of: 'operator',
    title: 'Errors of the operator',
    opening: 'The operator of the service can solve these: in its settings, at its nodes or in its store.',
  },
]

export function errorsPage(): string {
  const tables = errorTables.map(({ of, title, opening }) => {
    const rows = errorCodes.flatMap(code => {
      const { means, solve, ...guide } = errorGuide[code]
      // The reference links to the row.
      const name = `<a id="${code}"></a>\`${code}\``
      return guide.of === of ? [`| ${name} | ${statusOf(new AlmanacError(code, ''))} | ${means} | ${solve} |`] : []
    })
    const head = '| code | HTTP | what it means | how to solve it |\n|---|---|---|---|'
    return `\n## ${title}\n\n${opening}\n\n${head}\n${rows.join('\n')}\n`
  })
  return `${errorsOpening}${tables.join('')}`
}

const operationsOpening = `# Served and not served

<!-- Written by \`npm run generate\` from \`src/api/routes.ts\` and \`src/api/hosted/operations.ts\`; do not edit. -->

Every operation that the hosted service has or had, by its own id: first those that Almanac serves, then the others with the
reason. \`/openapi.json\` and \`/reference\` describe the served ones. Every other operation answers 501 \`not_implemented\`, with
its id and what it would need. [The service itself](#the-service-itself) has some of its own, for health, keys and the
console.

| column | meaning |
|---|---|
| path | EVM chains: below \`/api/v2\`, \`/api/v2.1\` and \`/api/v2.2\`. Solana: at the root |
| scope | the scope that a key needs (\`almanac keys create --scopes …\`); any: every key |
| view | the view that the chain must keep (\`chains.<name>.views\`); without it the answer is 503 \`not_configured\` |

`

const operationsNotes = `## Notes on the answers

- **One block per list.** A list of owners, NFTs or collections answers as of the block of its first page, which its cursor
  carries, or of \`at_block\` or \`at_date\`. A cursor belongs to its own list and subject alone.
- **Order.** NFTs of a contract come by token hash, descending, and after them the ids that only ERC-2309 ranges moved, ascending.
  \`range\` 0 is the high end.
- **Completeness.** \`X-Index-Complete\` is true if every block that the answer rests on is indexed; \`status\` and
  \`index_complete\` say the same. Lists of a wallet, of a block and of all contracts need whole blocks, so on an on-demand chain
  they show what is there.
- **Large lists.** Pages show lists of up to about ten million holdings (with \`limits.holdings_bytes_max\` at 1 GiB). Beyond
  that they answer 422 \`list_too_large\`: ask for the [whole list](guides/whole-lists.md). Counts, and the collections of a
  wallet, are answered at any size; those of a larger list take minutes and are up to ten minutes old. While there is no memory
  for another list, a request answers 503 \`overloaded\`, and a key that waits for more than 16 large lists answers 429; both
  have \`Retry-After\`. [Lists in memory](scale.md#lists-in-memory) has the figures.
- **Scans.** One request reads at most 200,000 records of an index. Beyond that \`total\` is null, and a filtered page of a wallet
  may have fewer rows than its limit, or none, and a cursor. The zero address has no list of transfers as a wallet. Transfers of a
  token below more ERC-2309 ranges than that answer 400 \`answer_too_large\`.
- **Answered by a node.** A node of any process on the store gives the number of transactions of a wallet (its nonce) and of a
  block, the block of a hash once it is final, and the last block at a date between known ones. Without a node these counts are
  null. So is the count of ERC-20 transfers of a wallet unless the chain keeps every token, and that of a block always.
  The zero address holds nothing, and its transfers are not counted.
- **ERC-20.** Tokens are indexed on demand unless a chain keeps all of them (\`views: [… erc20]\`): the first request for one
  starts it. The tokens of a wallet are those of the index, or those of \`token_addresses\`. Each is asked for its balance at
  one block: at most 2,000 of them, the newest touched first, and \`X-Tokens-Looked-At\` says where a wallet touched more. Owners
  are found by adding up transfers. The sum is compared with the supply, and eight owners drawn by chance with what the token
  says of them: \`balances\` is \`exact\`, \`read\` (from the token, for this page) or \`unchecked\` (no node answered), and
  \`balances_block\` is the block of that verdict. Counts of holders in the past go back over at most 100,000 transfers and are
  null before that. A token that refuses, loops or answers more than 1,024 bytes says nothing. Calls to a node count for the
  key as native balances do.
- **Metadata.** \`normalizeMetadata=true\` adds \`normalized_metadata\` if \`metadata\` is known, which is when the URI itself holds
  it. It has at most 1,000 attributes, whose \`trait_count\` is 0. \`media_items=true\` adds \`media\`, except to whole lists:
  [pictures](annotations.md#pictures). \`contract_type\` of an NFT of CryptoPunks is null; their transfers say ERC721.
- **Impossible sums.** A wallet that sent more of a token than it received, because its contract does not log every transfer, is
  not shown; \`almanac explain\` counts such wallets.
- **Whole lists.** Lists of transfers, owners and NFTs come whole with \`Accept: text/csv\` or \`application/x-ndjson\`: see
  [whole lists](guides/whole-lists.md).
- \`include_prices\` is accepted and adds nothing.
`

const documentOptions = {
  chains: new ChainTable(),
  pageSizeMax: defaultApiSettings.pageSizeMax,
  version: packageVersion(),
}

export function operationsPage(): string {
  const served = hostedOperations.filter(operation => isServed(operation, routes))
  const notServed = hostedOperations.filter(operation => !served.includes(operation))
  const sections = [
    { family: 'EVM chains', isSolana: false },
    { family: 'Solana', isSolana: true },
  ].map(({ family, isSolana }) => ({
    yes: operationsTable(
      `Served: ${family}`,
      ['operation', 'path', 'scope', 'view'],
      served
        .filter(operation => operation.isSolana === isSolana)
        .map(({ scope = '', view, ...operation }) => [
          ...namesOf(operation),
          ...[scope === 'any' ? scope : coded(scope), coded(view)],
        ]),
    ),
    no: operationsTable(
      `Not served: ${family}`,
      ['operation', 'path', 'why not'],
      notServed
        .filter(operation => operation.isSolana === isSolana)
        .map(operation => [
          ...namesOf(operation),
          [whyNotServed(operation), insteadOf(operation)].filter(Boolean).join('; '),
        ]),
    ),
  }))
  const [yes, no] = [sections.map(section => section.yes), sections.map(section => section.no)]
  return `${operationsOpening}${[...yes, operationsNotes, ownOperations(), ...no].join('\n')}`
}

/** Those that the hosted service does not have. */
function ownOperations(): string {
  const own = allOperations(documentOptions).filter(({ facts }) => (facts.tag ?? 'Operations') === 'Operations')
  const rows = own.map(({ method, path, facts: { id, summary, description } }) => {
    const [title, ...notes] = summary.split('; ')
    const first = (description ?? `${title}.`).split(/\.(?: |$)/)[0]
    return [...namesOf({ id, method, path }), [first, ...notes].join('; ')]
  })
  return operationsTable('The service itself', ['operation', 'path', 'what it is'], rows)
}

function coded(name: string | undefined): string {
  return name ? `\`${name}\`` : ''
}

function namesOf({ id, method, path }: { id: string; method: string; path: string }): string[] {
  return [`\`${id}\``, `\`${method} ${path}\``]
}

function operationsTable(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const [heading, ...lines] = [columns, ...rows].map(cells => `| ${cells.join(' | ')} |`)
  return [`## ${title}`, '', heading, `|${'---|'.repeat(columns.length)}`, ...lines, ''].join('\n')
}

const metricsOpening = `# Metrics

<!-- Written by \`npm run generate\` from \`src/metrics.ts\`; do not edit. -->

\`GET /metrics\` answers in the text format of Prometheus. It needs a key with the scope \`ops\`, or \`ops_open: true\`. No label
holds an address or a key. Metrics of the process and of Node.js (\`process_…\`, \`nodejs_…\`) have the names of prom-client.

| metric | type | labels | meaning |
|---|---|---|---|
`

type Described = { name: string; help: string; labelNames?: readonly string[] }

export async function metricsPage(registries: readonly Registry[]): Promise<string> {
  const rows = await Promise.all(registries.map(metricRows))
  return `${metricsOpening}${rows.flat().sort().join('\n')}\n`
}

async function metricRows(registry: Registry): Promise<string[]> {
  const described = await registry.getMetricsAsJSON()
  return described.map(({ name, type, help }) => {
    const metric = registry.getSingleMetric(name) as Described | undefined
    const labels = (metric?.labelNames ?? []).map(label => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`
  })
}

const settingsOpening = `# Settings

<!-- Written by \`npm run generate\` from the table in \`src/config/settings.ts\`; do not edit. -->

Write settings into a YAML file. Almanac reads the file that \`--config\` or \`ALMANAC_CONFIG\` names, or else
\`almanac.yaml\` in the working directory.

- **Order.** A flag wins over the environment, the environment over the file, and the file over the default.
- **Lists** have commas between their items in the environment: \`ALMANAC_CHAINS_ETH_RPC=https://one,https://two\`.
- **Mistakes.** An unknown key in the file is an error that names the nearest known one. An unknown \`ALMANAC_…\` variable is
  reported and ignored, and an empty one counts as unset.
- **Spelling.** Names are in snake_case. Earlier versions had \`pageSizeMax\` for \`page_size_max\`: this still works, with a
  warning, until 1.0.
- **Addresses.** \`0x…\` needs no quotes.

\`\`\`yaml
listen: 127.0.0.1:8080
store: file:./almanac.db
chains:
  eth:     { rpc: [http://127.0.0.1:8545], index: full, from: 0 }
  polygon: { rpc: [https://rpc.example/a, https://rpc.example/b], index: on-demand, from: 0 }
  base:    { rpc: https://rpc.example/c }
solana:
  mainnet: { rpc: [http://127.0.0.1:8899], ws: ws://127.0.0.1:8900 }
\`\`\`

Settings that say so (↻) change without a restart: \`almanac config reload\`, or SIGHUP, has the service read its configuration
again, and says which changed settings need one. See [operating](guides/operating.md).

\`ALMANAC_KEY\` is not a setting of the file: it registers a key with every scope and no limits when the service starts.
`

const sections: { title: string; text: string; has: (path: readonly string[]) => boolean }[] = [
  { title: 'The service', text: '', has: path => path.length === 1 },
  {
    title: 'Chains',
    text:
      `One entry under \`chains\` for each EVM chain, by name or by id (\`8453\`, \`0x2105\`). Known by name: ${offeredChains.map(({ name }) => `\`${name}\``).join(', ')}. Any other ` +
      'chain by its id alone, or by a name of yours and `id`. In the environment, `<NAME>` is the name in capitals, with `_` for a space.',
    has: path => path[0] === 'chains',
  },
  {
    title: 'Solana',
    text: 'The same under `solana.mainnet` and `solana.devnet`.',
    has: path => path[0] === 'solana',
  },
  { title: 'Limits', text: '', has: path => path[0] === 'limits' },
  { title: 'Changes and webhooks', text: '', has: path => path[0] === 'changes' || path[0] === 'webhooks' },
  {
    title: 'Metadata',
    text: '<!-- also: ipfs, arweave, gateway, pictures, images, media -->\n\nNothing is fetched from the web unless one of the first four is set: [metadata from the web](annotations.md#metadata-from-the-web).',
    has: path => path[0] === 'metadata',
  },
  {
    title: 'Browsers and logs',
    text: '<!-- also: logs, log, log file, where are the logs, verbose, debug -->',
    has: path => path[0] === 'cors' || path[0] === 'log',
  },
]

/** Each setting of devnet has its row under mainnet. */
const listedLeaves = allLeaves.filter(({ path }) => path[1] !== 'devnet')

export function settingsPage(leaves: readonly SettingLeaf[] = listedLeaves): string {
  for (const { path } of leaves)
    if (!sections.some(({ has }) => has(path))) throw new Error(`No section of the page lists ${path.join('.')}.`)
  const parts = sections.map(({ title, text, has }) => {
    const blocks = leaves.filter(leaf => has(leaf.path)).map(settingBlock)
    return [`## ${title}`, ...(text === '' ? [] : [text]), ...blocks].join('\n\n')
  })
  return `${settingsOpening}\n${parts.join('\n\n')}\n`
}

/** Under a heading of its own, so that each can be linked to and found by its name. */
function settingBlock(leaf: SettingLeaf): string {
  const variable = variableOf(leaf.path).replace('__NAME_', '_<NAME>').replace('_MAINNET_', '_<NETWORK>_')
  const names = [`\`${variable}\``, ...(leaf.flag === true ? [`\`${flagOf(leaf.path)}\``] : [])]
  const facts = [
    `- **Accepts** ${leaf.accepts}.`,
    ...(leaf.defaultValue === undefined ? [] : [`- **Default:** ${defaultText(leaf.defaultValue)}.`]),
    `- **Also as** ${names.join(', ')}.`,
    ...(leaf.reloads === true ? ['- **Changes without a restart** ↻'] : []),
  ]
  const heading = `### \`${nameInManual(leaf.path)}\``
  const example = ['```yaml', stringify(settingExample(leaf), { lineWidth: 0 }).trimEnd(), '```'].join('\n')
  return [heading, leaf.about, facts.join('\n'), example].join('\n\n')
}

function defaultText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join(', ')}\``
  return `\`${String(value)}\``
}

/** Where the default is none or says little. A test reads every example with the real reader. */
const exampleValues: Readonly<Record<string, unknown>> = {
  ...{ listen: ':8080', solana_listen: '127.0.0.1:8081', store: 'postgres://almanac:secret@db.example/almanac' },
  ...{ store_read: 'postgres://almanac:secret@replica.example/almanac', dialect: 'live', ops_open: true },
  ...{ rpc: ['http://127.0.0.1:8545', 'https://rpc.example/key'], ws: 'ws://127.0.0.1:8546' },
  ...{ requests_per_second: 25, daily_budget: 100_000, history: ['./era1', './ere'] },
  portal: 'https://portal.example/datasets/ethereum-mainnet',
  history_summaries: 'http://127.0.0.1:5052',
  anchor: '0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6',
  ...{ index: 'full', views: ['transfers', 'by_wallet', 'by_token'], from: 12_000_000, id: 7560, finality: 'tag' },
  contracts: ['0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d'],
  ...{ head_age_max_seconds: 600, paused: true, hours: '22:00-06:00', blocks_per_second: 50 },
  ...{ yellowstone: 'https://grpc.example', yellowstone_token: 'a-token-of-the-server' },
  ...{ holdings_bytes_max: 1_073_741_824, store_bytes_max: 500_000_000_000, origins: ['https://app.example'] },
  ...{ level: 'debug', format: 'json' },
}

/** As it stands in a file, with what it needs beside it. */
function settingExample({ path, defaultValue }: SettingLeaf): unknown {
  const name = path.at(-1)!
  const [section, , ...within] = path
  const own = { [name]: exampleValues[name] ?? defaultValue }
  if (name === 'store_read') return { store: exampleValues.store, ...own }
  if (section === 'solana') return { solana: { mainnet: { rpc: 'http://127.0.0.1:8899', ...solanaExample(own) } } }
  if (section !== 'chains') return path.length === 1 ? own : { [section!]: own }
  const needed = {
    ...(sourceNames.includes(name) ? { index: 'full' } : {}),
    ...(within.length === 1 ? own : { [within[0]!]: own }),
  }
  return { chains: { [name === 'id' ? 'mychain' : 'eth']: { rpc: 'http://127.0.0.1:8545', ...needed } } }
}

/** Whole blocks come from these. */
const sourceNames = ['history', 'portal', 'history_summaries', 'anchor']

function solanaExample(own: Readonly<Record<string, unknown>>): object {
  if ('rpc' in own) return { rpc: ['http://127.0.0.1:8899', 'https://solana.example/key'] }
  return 'ws' in own ? { ws: 'ws://127.0.0.1:8900' } : own
}

const commandsOpening = `# Commands

<!-- Written by \`npm run generate\` from \`src/cli\`; do not edit. -->

In a checkout, \`export PATH="$PWD/node_modules/.bin:$PATH"\` gives your shell the command; \`npm start -- <options>\` is
\`almanac start\`. Data goes to stdout, everything else to stderr. Colours appear only on a terminal, and not with \`NO_COLOR\`.
`

const exitCodes = `## Exit codes

| exit code | meaning |
|---|---|
| 0 | done; also when the first SIGINT or SIGTERM ends \`start\` after running requests are answered |
| 1 | something must be changed: the command line, the configuration, the store; \`verify\` found a difference |
| 70 | a bug in Almanac; the systemd unit restarts the service |
| 75 | the same may work later |
| 130 | interrupted: by a second signal, or by the first one before a command had done its work |
`

export function commandsPage(program: Command): string {
  const groups = [...Map.groupBy(leafCommands(program), ({ group }) => group.replace(/:$/, ''))]
  const linked = (name: string) => `[${name.replace(/^\S+ /, '')}](#${name.replaceAll(' ', '-')})`
  const rows = groups.map(
    ([group, commands]) =>
      `| [${group}](#${group.toLowerCase().replaceAll(' ', '-')}) | ${commands.map(({ name }) => linked(name)).join(', ')} |`,
  )
  const list = ['| group | commands |', '|---|---|', ...rows].join('\n')
  const sections = groups.map(([group, commands]) => [`## ${group}\n`, ...commands.map(commandSection)].join('\n'))
  return [commandsOpening, `${list}\n`, ...sections, exitCodes].join('\n')
}

/** `group`: as the help of the program lists it. */
type NamedCommand = { name: string; command: Command; group: string }

function leafCommands(parent: Command, prefix = parent.name(), within?: string): NamedCommand[] {
  return parent.commands.flatMap(command => {
    const name = `${prefix} ${command.name()}`
    const group = within ?? command.helpGroup()
    return command.commands.length > 0 ? leafCommands(command, name, group) : [{ name, command, group }]
  })
}

function argumentText(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`
}

function commandSection({ name, command }: NamedCommand): string {
  const inputs = command.registeredArguments.map(argumentText)
  const inputRows = [
    ...command.registeredArguments.map(argument => [argumentText(argument), argument.description, '']),
    ...command.options.map(option => [
      option.flags,
      option.description,
      option.defaultValueDescription ?? String(option.defaultValue ?? ''),
    ]),
  ]
  // Most have no default that is not said in words.
  const hasDefaults = inputRows.some(([, , value]) => value !== '')
  const rows = inputRows.map(([input, text = '', value]) => {
    const last = hasDefaults ? ` ${value === '' ? '' : `\`${value}\``} |` : ''
    return `| \`${input}\` | ${text.replaceAll(/docs\/(\S+\.md)/g, '[docs/$1]($1)')} |${last}`
  })
  const heading = hasDefaults
    ? ['| option | what it is | default |', '|---|---|---|']
    : ['| option | what it is |', '|---|---|']
  const usage = `    ${[name, ...inputs, '[options]'].join(' ')}`
  return `${[`### ${name}`, '', command.description(), '', usage, '', ...heading, ...rows].join('\n')}\n`
}

/** A page that is written by hand, but for one table. */
function withTable(path: string, begin: string, made: string): [path: string, text: string] {
  const page = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  const [before, rest = ''] = page.split(begin)
  const after = rest.slice(rest.indexOf('<!-- end -->'))
  return [path, `${before}${begin}\n${made}\n${after}`]
}

export async function generatedDocs(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/settings.md', settingsPage()],
    ['docs/commands.md', commandsPage(await createProgram())],
    ['docs/errors.md', errorsPage()],
    ['docs/operations.md', operationsPage()],
    [
      'docs/metrics.md',
      await metricsPage([createMetrics, createEvmMetrics, createWebhookMetrics].map(create => create().registry)),
    ],
    ['docs/spam-rules.md', spamRulesPage()],
    withTable('README.md', '<!-- almanac plan --model: readme -->', sizingMarkdown()),
    withTable('docs/scale.md', '<!-- almanac plan --model -->', modelMarkdown()),
    withTable('docs/guides/a-whole-chain.md', '<!-- almanac plan --model: files -->', filesMarkdown()),
    ['docs/pictures/benchmark.svg', benchmarkChart()],
    ['docs/openapi.json', openApiText(documentOptions)],
  ])
}

if (import.meta.main) {
  for (const [path, text] of await generatedDocs()) writeFileSync(new URL(`../${path}`, import.meta.url), text)
}
