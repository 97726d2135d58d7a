// Which alerts of `etc/prometheus` hold on what a service says to a scrape: the part of PromQL that these rules use. A
// rate is the one between two scrapes, however close they are, and `for` is reported and not waited for: how long a rule
// must hold is Prometheus' business. Quantiles of histograms are not judged.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export type Scrape = { atMs: number; text: string }
export type FiringAlert = {
  alert: string
  /** How long it has to hold. */
  for: string
  /** It rests on a rate, which a few seconds may misjudge. */
  isRate: boolean
  labels: Labels
  summary: string
  action: string
}

type Labels = Readonly<Record<string, string>>
type Sample = { labels: Labels; value: number }
type Rule = { alert: string; expr: string; for?: string; annotations: { summary: string; action: string } }

const file = new URL('../etc/prometheus/almanac.rules.yaml', import.meta.url)
const rules: Rule[] = parse(readFileSync(file, 'utf8')).groups[0].rules

/** What Prometheus itself adds to the samples of a target; a target that does not answer has `up` alone. */
const target: Labels = { job: 'almanac', instance: 'almanac:8080' }

export function firingAlerts(first: Scrape, last: Scrape): FiringAlert[] {
  return rules.flatMap(({ alert, expr, for: lasting = '0s', annotations: { summary, action } }) => {
    if (expr.includes('histogram_quantile')) return []
    const found = new Expression(expr, first, last).value()
    if (typeof found === 'number') throw new Error(`${alert} is not about any series`)
    return found.map(({ labels, value }) => {
      const filled = (text: string): string =>
        text
          .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
          .replace(/\{\{ \$value[^}]*\}\}/g, String(value))
      return {
        alert,
        for: lasting,
        isRate: expr.includes('rate('),
        labels,
        summary: filled(summary),
        action: filled(action),
      }
    })
  })
}

const tokenPattern = /\s*(\d+(?:\.\d+)?(?![\w.])|[a-zA-Z_]\w*|"[^"]*"|=~|!~|!=|==|\[\w+\]|[-{}(),=<>*/])/gy
const nothing = '(the end)'

class Expression {
  readonly #tokens: string[]
  readonly #scrapes: readonly [Scrape, Scrape]

  constructor(text: string, first: Scrape, last: Scrape) {
    const read = [...text.trim().matchAll(tokenPattern)]
    if (read.map(([whole]) => whole).join('') !== text.trim()) throw new Error(`cannot read all of ${text}`)
    this.#tokens = read.map(([, token]) => token!)
    this.#scrapes = [first, last]
  }

  value(): Sample[] | number {
    const value = this.#and()
    if (this.#tokens.length > 0) throw new Error(`cannot read ${this.#tokens.join(' ')}`)
    return value
  }

  #and(): Sample[] | number {
    let left = this.#comparison()
    while (this.#takes('and')) {
      const on = this.#takes('on') ? this.#names() : undefined
      const right = samples(this.#comparison())
      left = samples(left).filter(({ labels }) => right.some(each => nameOf(each.labels, on) === nameOf(labels, on)))
    }
    return left
  }

  #comparison(): Sample[] | number {
    const left = this.#difference()
    const holds = { '>': (a: number, b: number) => a > b, '<': (a: number, b: number) => a < b }
    const sign = ['>', '<', '=='].find(each => this.#takes(each))
    if (sign === undefined) return left
    const right = this.#difference()
    const isTrue = sign === '==' ? (a: number, b: number) => a === b : holds[sign as '>' | '<']
    return samples(left).filter(({ labels, value }) => pairs(right, labels).some(other => isTrue(value, other)))
  }

  #difference(): Sample[] | number {
    let left = this.#product()
    while (this.#takes('-')) left = joined(left, this.#product(), (a, b) => a - b)
    return left
  }

  #product(): Sample[] | number {
    let left = this.#term()
    for (;;) {
      if (this.#takes('*')) left = joined(left, this.#term(), (a, b) => a * b)
      else if (this.#takes('/')) left = joined(left, this.#term(), (a, b) => a / b)
      else return left
    }
  }

  #term(): Sample[] | number {
    const token = this.#next()
    if (/^\d/.test(token)) return Number(token)
    if (token === '(') return this.#closed(this.#and())
    if (token === 'time') {
      this.#expect('(')
      return this.#closed(this.#scrapes[1].atMs / 1_000)
    }
    if (token === 'rate') {
      this.#expect('(')
      return this.#closed(this.#rate(this.#next()))
    }
    if (token === 'changes') {
      this.#expect('(')
      return this.#closed(this.#changes(this.#next()))
    }
    if (token === 'sum') return this.#sum()
    return this.#series(token)[1]
  }

  #sum(): Sample[] {
    this.#expect('by')
    const by = this.#names()
    this.#expect('(')
    const summed = samples(this.#closed(this.#and()))
    const kept = summed.map(({ labels, value }) => ({
      labels: Object.fromEntries(by.map(l => [l, labels[l] ?? ''])),
      value,
    }))
    return [...Map.groupBy(kept, ({ labels }) => nameOf(labels)).values()].map(group => ({
      labels: group[0]!.labels,
      value: group.reduce((sum, { value }) => sum + value, 0),
    }))
  }

  #names(): string[] {
    this.#expect('(')
    const names: string[] = []
    while (!this.#takes(')')) if (!this.#takes(',')) names.push(this.#next())
    return names
  }

  /** Between two scrapes a series changes once at most. */
  #changes(metric: string): Sample[] {
    const [before, after] = this.#series(metric)
    this.#next()
    return after.map(({ labels, value }) => ({ labels, value: pairs(before, labels).some(v => v !== value) ? 1 : 0 }))
  }

  #rate(metric: string): Sample[] {
    const [before, after] = this.#series(metric)
    this.#next()
    const [first, last] = this.#scrapes
    return after.map(({ labels, value }) => {
      const [earlier = 0] = pairs(before, labels)
      return { labels, value: (value - earlier) / ((last.atMs - first.atMs) / 1_000) }
    })
  }

  /** At the first scrape and at the last one. */
  #series(metric: string): [Sample[], Sample[]] {
    const matchers: ((labels: Labels) => boolean)[] = []
    if (this.#takes('{'))
      while (!this.#takes('}')) {
        if (this.#takes(',')) continue
        const [label, sign, text] = [this.#next(), this.#next(), this.#next().slice(1, -1)]
        const isMeant = (value: string): boolean =>
          sign.endsWith('~') ? new RegExp(`^(?:${text})$`).test(value) : value === text
        matchers.push(labels => isMeant(labels[label] ?? '') !== sign.startsWith('!'))
      }
    const of = ({ text }: Scrape): Sample[] =>
      samplesOf(text, metric).filter(({ labels }) => matchers.every(matches => matches(labels)))
    return [of(this.#scrapes[0]), of(this.#scrapes[1])]
  }

  #closed<T>(value: T): T {
    this.#expect(')')
    return value
  }

  #takes(token: string): boolean {
    if (this.#tokens[0] !== token) return false
    this.#tokens.shift()
    return true
  }

  #expect(token: string): void {
    if (!this.#takes(token)) throw new Error(`${this.#tokens[0] ?? nothing} stands where ${token} belongs`)
  }

  #next(): string {
    return this.#tokens.shift() ?? nothing
  }
}

function samplesOf(text: string, metric: string): Sample[] {
  const lines = text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)
  return [...lines].flatMap(([, name, labels = '', value]) => {
    if (name !== metric) return []
    const own = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, said]) => [label, said])
    return [{ labels: { ...target, ...Object.fromEntries(own) }, value: Number(value) }]
  })
}

function samples(value: Sample[] | number): Sample[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value
}

/** By all labels, or by these. */
function nameOf(labels: Labels, by = Object.keys(labels)): string {
  return JSON.stringify(by.toSorted().map(label => [label, labels[label]]))
}

/** What stands on the other side of an operator: a number, or the series of the same labels. */
function pairs(right: Sample[] | number, labels: Labels): number[] {
  if (typeof right === 'number') return [right]
  return right.filter(each => nameOf(each.labels) === nameOf(labels)).map(({ value }) => value)
}

function joined(left: Sample[] | number, right: Sample[] | number, operate: (a: number, b: number) => number) {
  if (typeof left === 'number')
    return typeof right === 'number'
      ? operate(left, right)
      : right.map(({ labels, value }) => ({ labels, value: operate(left, value) }))
  return left.flatMap(({ labels, value }) =>
    pairs(right, labels).map(other => ({ labels, value: operate(value, other) })),
  )
}
