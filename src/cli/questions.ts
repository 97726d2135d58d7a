// Questions on a terminal, asked again until an answer fits. It knows nothing of what they are about.
import { createInterface, type Interface } from 'node:readline/promises'
import { AlmanacError, describeError } from '../errors.ts'
import { redactMistyped } from '../redact.ts'
import { fitted, printNote } from './terminal.ts'

export class Questions {
  readonly #terminal: Interface
  /** What is said where the user ends the questions. */
  stopped = 'Stopped; nothing was changed.'

  constructor(terminal: Interface) {
    this.#terminal = terminal
  }

  /** Asks again until `read` accepts the answer; an empty answer is `otherwise`, and `?` shows the help. */
  async ask<Value>(
    question: string,
    { otherwise, help }: { otherwise: string; help: string },
    read: (text: string) => Value,
  ): Promise<Value> {
    for (;;) {
      const whole = fitted(`${question}${otherwise === '' ? '' : ` [${otherwise}]`}: `)
      // The terminal draws what it asks again and again: one line of it.
      const lastLine = whole.lastIndexOf('\n') + 1
      process.stderr.write(whole.slice(0, lastLine))
      const text = (await this.#terminal.question(whole.slice(lastLine))).trim()
      if (text === '?') {
        printNote(`${help}\n`)
        continue
      }
      try {
        return read(text === '' ? otherwise : text)
      } catch (error) {
        if (!(error instanceof AlmanacError)) throw error
        printNote(describeError(error))
      }
    }
  }

  /** `suggested` is what the question asks about: an answer that repeats it means yes. */
  confirm(question: string, otherwise: boolean, { suggested, help = '' }: Confirming = {}): Promise<boolean> {
    const read = (text: string) => text.toLowerCase() === suggested || yesOrNo(text)
    return this.ask(question, choice(otherwise, help), read)
  }

  /** People paste what they want, `other`, instead of an answer to the question; `-` is for `read` too. */
  confirmOr<Other>(
    question: string,
    { otherwise, help, other }: { otherwise: boolean; help: string; other: string },
    read: (text: string) => Other,
  ): Promise<boolean | Other> {
    return this.ask(question, choice(otherwise, help, `, or paste ${other}`), text =>
      text === '-' || /[:./]|^0x/i.test(text) ? read(text) : yesOrNo(text, `, no nor ${other}`),
    )
  }
}

type Confirming = { suggested?: string; help?: string }

function choice(otherwise: boolean, help: string, others = ''): { otherwise: string; help: string } {
  return { otherwise: otherwise ? 'yes' : 'no', help: `${help} Answer yes or no${others}.`.trim() }
}

function yesOrNo(text: string, others = ' nor no'): boolean {
  if (/^y(es)?$/i.test(text)) return true
  if (/^no?$/i.test(text)) return false
  throw new AlmanacError('bad_request', `${JSON.stringify(redactMistyped(text))} is neither yes${others}.`)
}

/** Ctrl-C and the end of the input end the command. */
export async function withQuestions(run: (questions: Questions) => Promise<void>): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const questions = new Questions(terminal)
  let settled = false
  const closed = new Promise<never>((_, reject) =>
    terminal.once('close', () => {
      if (settled) return
      // What is said next is not on the line of the question.
      process.stderr.write('\n')
      reject(new AlmanacError('interrupted', questions.stopped))
    }),
  )
  try {
    await Promise.race([run(questions), closed])
  } finally {
    settled = true
    terminal.close()
  }
}

/** Asks before a command removes something. */
export async function confirmRemoval(question: string): Promise<void> {
  const hint = 'pass --yes to go on without a question.'
  if (process.stdin.isTTY !== true)
    throw new AlmanacError('conflict', `${question} Stdin is not a terminal. Nothing was changed.`, { hint })
  await withQuestions(async questions => {
    if (!(await questions.confirm(question, false)))
      throw new AlmanacError('conflict', 'Nothing was changed.', { hint })
  })
}
