// Asks before a command removes something.
import { AlmanacError } from '../errors.ts'
import { withQuestions } from './init/answers.ts'

export async function confirm(question: string): Promise<void> {
  const refused = new AlmanacError('conflict', 'Nothing was changed.', {
    hint: 'pass --yes to go on without a question.',
  })
  if (process.stdin.isTTY !== true) throw refused
  await withQuestions(async questions => {
    if (!(await questions.confirm(question, false))) throw refused
  })
}
