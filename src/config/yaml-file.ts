// Reads the configuration file: YAML in which 0x… stays text, with the position of every value for error messages. It
// knows no setting.
import { readFileSync } from 'node:fs'
import { isAlias, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { AlmanacError, messageOf } from '../errors.ts'
import { camelCase } from './setting.ts'

const fileBytesMax = 1_048_576
const hints: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces.',
  DUPLICATE_KEY: 'remove one of the two.',
  MULTIPLE_DOCS: 'remove the line with --- and what follows it.',
}

export type YamlFile = {
  path: string
  value: unknown
  /** `file:line:column` of the deepest part of a path that is in the file. */
  placeOf(path: readonly PropertyKey[], part: 'key' | 'value'): string
}

export function readYamlFile(path: string): YamlFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === 'EACCES'
    throw new AlmanacError('config_invalid', `Cannot read the configuration file ${path}.`, {
      cause: error,
      hint: isRefused
        ? `let user ${process.getuid?.()} read it, or run as its owner; for a container see the head of the Dockerfile.`
        : 'pass another file with --config, or write one with `almanac init`.',
    })
  }
  return parseYamlFile(path, text)
}

function parseYamlFile(path: string, text: string): YamlFile {
  if (text.length > fileBytesMax) {
    throw new AlmanacError('config_invalid', `${path} is larger than ${fileBytesMax} bytes.`)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    // Pretty errors quote the line, and the line may hold a secret.
    prettyErrors: false,
    customTags: tags => tags.filter(tag => typeof tag === 'string' || !('format' in tag) || tag.format !== 'HEX'),
  })
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}`
  }
  const [error] = document.errors
  if (error !== undefined) {
    throw new AlmanacError('config_invalid', `${placeAt(error.pos[0])}: ${sentenceOf(error.message)}`, {
      hint: hints[error.code] ?? 'fix the YAML there; quote values that contain : or #.',
    })
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch (cause) {
    throw new AlmanacError('config_invalid', `${path}: ${messageOf(cause)}.`)
  }
  return {
    path,
    value,
    placeOf: (keys, part) => {
      const offset = offsetOf(document.contents as Node | null, keys, part)
      return offset === undefined ? path : placeAt(offset)
    },
  }
}

/** Without the advice to programmers that some messages of the parser end with. */
function sentenceOf(message: string): string {
  return `${message.replace(/; please use .*|\.$/, '')}.`
}

function offsetOf(node: Node | null, path: readonly PropertyKey[], part: 'key' | 'value'): number | undefined {
  let offset = node?.range?.[0]
  let current: unknown = node
  for (const [depth, key] of path.entries()) {
    if (isAlias(current)) return offset
    if (!isMap(current)) {
      const item = (current as { items?: Node[] } | null)?.items?.[Number(key)]
      if (item === undefined) return offset
      current = item
      offset = item.range?.[0] ?? offset
      continue
    }
    const { items } = current
    const named = (name: string) => items.find(item => isScalar(item.key) && String(item.key.value) === name)
    const pair = named(String(key)) ?? named(camelCase(String(key)))
    if (pair === undefined) return offset
    const keyOffset = (pair.key as Node).range?.[0]
    const valueOffset = (pair.value as Node | null)?.range?.[0]
    offset = part === 'key' && depth === path.length - 1 ? keyOffset : (valueOffset ?? keyOffset)
    current = pair.value
  }
  return offset
}
