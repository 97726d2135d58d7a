// Settles where a new service keeps its data and where it listens: tries the database and the port. It writes nothing.
import { schemaAt } from '../../config/setting.ts'
import { settingsSchema } from '../../config/settings.ts'
import { AlmanacError, describeError } from '../../errors.ts'
import { reachStore } from '../../store/open.ts'
import type { Questions } from '../questions.ts'
import { freePlace } from '../service/listen-place.ts'
import { printNote, whileWaiting } from '../terminal.ts'
import { askStore, parseStore } from './answers.ts'

/** The store as it is given, or another where the user wants that in place of one that does not answer. */
export async function settledStore(given: string, questions: Questions | undefined): Promise<string> {
  let store = given
  for (;;) {
    try {
      await whileWaiting('  Waiting for the database', reachStore(store))
      return store
    } catch (error) {
      if (questions === undefined) throw error
      printNote(`\n${describeError(error)}`)
      const help = 'The service needs the database when it starts. With no, the place is asked for again.'
      const about = { otherwise: false, help, other: 'a store' }
      const answer = await questions.confirmOr('Keep it anyway, or paste another store?', about, parseStore)
      if (answer === true) return store
      store = answer === false ? await askStore(questions) : answer
    }
  }
}

/** The usual address, or one that the user takes in its place while something else listens there. */
export async function settledListen(usual: string, questions: Questions): Promise<string> {
  const otherwise = await freePlace(usual)
  if (otherwise === usual) return usual
  const help = `Something listens on ${usual}, and two services cannot share a port. The file keeps what you answer.`
  return await questions.ask(`${usual} is in use. Address to listen on`, { otherwise, help }, parseListenFlag)
}

export function parseListenFlag(text: string): string {
  // A port alone is what people type.
  const place = /^\d+$/.test(text) ? `127.0.0.1:${text}` : text
  const read = schemaAt(settingsSchema, ['listen'])!.safeParse(place)
  if (read.success) return place
  throw new AlmanacError('bad_request', `${JSON.stringify(text)} is not an address to listen on.`, {
    hint: 'pass a host and a port up to 65535, such as 127.0.0.1:8081.',
  })
}
