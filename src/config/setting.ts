// What a setting says about itself beside its schema, how it is spelled, and the walk over the schema that documents,
// environment names and flags come from. It holds no setting itself.
import { z } from 'zod'

export type About = {
  /** One or two sentences on what it does. */
  about: string
  /** What the value may be; completes the sentence "accepted: …". */
  accepts: string
  /** What a refused value most likely means. Words of `accepts` in backticks are found without it. */
  meant?: (given: string) => string | undefined
  /** The value, or part of it, must not be shown. `place`: a file may be, and an address may not. */
  secret?: 'endpoint' | 'store' | 'place'
  /** It has a command-line flag. */
  flag?: true
  /** A running service takes another value when it reads its configuration again. */
  reloads?: true
}

const abouts = z.registry<About>()

export function setting<Schema extends z.ZodType>(schema: Schema, about: About): Schema {
  abouts.add(schema, about)
  return schema
}

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name

/** `page_size_max` is `pageSizeMax`: the name inside the code, and the old spelling in files, accepted until 1.0. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function camelKeys<Section extends object>(section: Section) {
  const renamed = Object.entries(section).map(([name, value]) => [camelCase(name), value])
  return Object.fromEntries(renamed) as { [Name in keyof Section as CamelCase<Name>]: Section[Name] }
}

export type SettingKind = 'text' | 'number' | 'boolean' | 'list'

/** One leaf of the schema. A part of the path in angle brackets stands for any name. */
export type SettingLeaf = About & { path: readonly string[]; kind: SettingKind; defaultValue: unknown }

export function settingLeaves(schema: z.ZodType, path: readonly string[] = []): SettingLeaf[] {
  const about = abouts.get(schema)
  if (about !== undefined) {
    const defaultValue = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined
    return [{ ...about, path, kind: kindOf(schema), defaultValue }]
  }
  const inner = unwrap(schema)
  if (inner !== schema) return settingLeaves(inner, path)
  if (schema instanceof z.ZodRecord) return settingLeaves(schema.valueType as z.ZodType, [...path, '<name>'])
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, child]) => settingLeaves(child as z.ZodType, [...path, key]))
  }
  throw new Error(`The setting ${path.join('.')} says nothing about itself.`)
}

/** What the manual calls a setting: the networks of Solana have one part there. */
export function nameInManual(path: readonly string[]): string {
  return path.join('.').replace(/^solana\.\w+/, 'solana.<network>')
}

/** The leaf or section at a path; undefined if there is none. */
export function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  const [key, ...rest] = path
  if (key === undefined || abouts.has(schema)) return schema
  const inner = unwrap(schema)
  if (inner !== schema) return schemaAt(inner, path)
  if (schema instanceof z.ZodRecord) return schemaAt(schema.valueType as z.ZodType, rest)
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Record<string, z.ZodType>
    return Object.hasOwn(shape, key) ? schemaAt(shape[String(key)]!, rest) : undefined
  }
  return undefined
}

export function aboutOf(schema: z.ZodType | undefined): About | undefined {
  return schema === undefined ? undefined : abouts.get(schema)
}

/** The keys that a section accepts; empty for a leaf and for a section with free names. */
export function keysOf(schema: z.ZodType | undefined): string[] {
  if (schema === undefined) return []
  const inner = unwrap(schema)
  if (inner !== schema) return keysOf(inner)
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return schema.unwrap() as z.ZodType
  }
  if (schema instanceof z.ZodPipe) {
    // A preprocessing step comes before its schema, a transformation after it.
    return (schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in) as z.ZodType
  }
  return schema
}

function kindOf(schema: z.ZodType): SettingKind {
  const inner = unwrap(schema)
  if (inner !== schema) return kindOf(inner)
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodArray) return 'list'
  if (schema instanceof z.ZodUnion) {
    return schema.options.some(option => kindOf(option as z.ZodType) === 'number') ? 'number' : 'text'
  }
  return 'text'
}
