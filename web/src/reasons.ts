// The service's reasons as people read them: what to do, apart from what a machine said. Pure.

/** Errors of the service end with "Try: …" where there is something to try. */
export function splitReason(text: string): { said: string; advice?: string } {
  const [said = '', advice] = text.split(' Try: ')
  return advice === undefined ? { said } : { said, advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}` }
}
