// From the bytes of an endpoint's answers to checked and decoded blocks: everything between the network and the store that takes
// time, in one pure step that any thread can take.
import type { Chain } from '../../chains.ts'
import { readAnswers, UnreadableAnswer } from '../rpc/answers.ts'
import { type DigestResult, digestFull } from './digest.ts'
import { answersOf, callCount, type FullRequest } from './full-request.ts'

export type DigestTask = {
  /** With the quirks that were found. */
  chain: Chain
  request: FullRequest
  /** As they came, without a JSON-RPC error in them. */
  bodies: readonly Uint8Array[]
}

export function digestBodies({ chain, request, bodies }: DigestTask): DigestResult {
  const { interval, grain } = request
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  const refuse = (message: string): DigestResult => ({
    ok: false,
    failure: { check: 'unreadable', block: interval.from, message },
  })
  try {
    const read = readAnswers(bodies, callCount(request))
    if ('refusal' in read) return refuse(`it answered: ${read.refusal.text}`)
    return digestFull({ chain, interval, answers: answersOf(read.values, request), grain, bytes })
  } catch (error) {
    if (error instanceof UnreadableAnswer) return refuse(`it answered ${error.message}`)
    throw error
  }
}
