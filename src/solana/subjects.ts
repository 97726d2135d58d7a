// What is subscribed to, and under which key. Pure.
import type { TokenProgram } from '../model.ts'
import { tokenProgramAddresses } from './programs.ts'
import type { Subject } from './subscriptions.ts'

const options = { commitment: 'confirmed', encoding: 'base64' }

export const slotSubject: Subject = { key: 'slot', method: 'slotSubscribe', params: [] }

export function accountSubject(address: string): Subject {
  return { key: accountKey(address), method: 'accountSubscribe', params: [address, options] }
}

export function accountKey(address: string): string {
  return `account:${address}`
}

/** Undefined for the key of another kind of subject. */
export function addressOfKey(key: string): string | undefined {
  return key.startsWith('account:') ? key.slice('account:'.length) : undefined
}

/** The owner stands at byte 32 of every token account of both programs. */
export function ownerSubject(program: TokenProgram, owner: string): Subject {
  const filters = [{ memcmp: { offset: 32, bytes: owner } }]
  return {
    key: `owner:${program}:${owner}`,
    method: 'programSubscribe',
    params: [tokenProgramAddresses[program], { ...options, filters }],
  }
}
