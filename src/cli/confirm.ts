// Asks before a command removes something.
import { AlmanacError } from '../errors.ts'
import { withQuestions } from './init/answers.ts'

export async function confirm(question: string): Promise<void> {
  const hint = 'pass --yes to go on without a question.'
  if (process.stdin.isTTY !== true)
    throw new AlmanacError('conflict', `${question} Stdin is not a terminal. Nothing was changed.`, { hint })
  await withQuestions(async questions => {
    if (!(await questions.confirm(question, false)))
      throw new AlmanacError('conflict', 'Nothing was changed.', { hint })
  })
}
