// The parameters behind the question mark of a URL, as texts. It never throws: hostile encodings become harmless texts.
import { AlmanacError } from '../errors.ts'
import { type Parameter, readParameter } from './params.ts'

export class QueryText {
  readonly #values: URLSearchParams

  /** `text` is everything behind the question mark. */
  constructor(text: string) {
    this.#values = new URLSearchParams(text)
  }

  has({ name }: Parameter<unknown>): boolean {
    return this.#values.get(name) !== null
  }

  /** The value of a parameter that may be given once; an empty one counts as not given, as clients send it. */
  optional<Value>(parameter: Parameter<Value>): Value | undefined {
    const texts = this.#values.getAll(parameter.name)
    if (texts.length > 1) {
      throw new AlmanacError('bad_request', `${parameter.name} must be given once, not ${texts.length} times`, {
        details: { parameter: parameter.name, accepted: parameter.accepts },
      })
    }
    return texts[0] === undefined || texts[0] === '' ? undefined : readParameter(parameter, texts[0])
  }

  /**
   * The values of a list, in any spelling that clients use: `name[]=a&name[]=b`, `name[0]=a`, `name=a&name=b`, `name=a,b`.
   * Undefined when none is given.
   */
  list<Value>(parameter: Parameter<Value>): Value[] | undefined {
    const texts: string[] = []
    for (const [name, text] of this.#values) {
      if (name === parameter.name || isIndexed(name, parameter.name)) texts.push(...text.split(','))
    }
    const given = texts.filter(text => text.trim() !== '')
    return given.length === 0 ? undefined : [...new Set(given.map(text => readParameter(parameter, text)))]
  }
}

function isIndexed(name: string, listName: string): boolean {
  return name.startsWith(`${listName}[`) && /^\[\d{0,9}\]$/.test(name.slice(listName.length))
}
