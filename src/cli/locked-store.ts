// Opens a store for a command that needs it alone. It changes nothing but the advice: what helps differs from command to command.
import { AlmanacError } from '../errors.ts'

/** `hint` says what to do where another process holds the store. */
export async function openUnlocked<Opened>(open: () => Promise<Opened>, hint: string): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof AlmanacError) || error.code !== 'store_locked') throw error
    throw new AlmanacError('store_locked', error.message, { cause: error.cause, hint })
  }
}
