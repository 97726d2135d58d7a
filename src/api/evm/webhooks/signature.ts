// Signs what webhooks are sent, as Standard Webhooks has it (https://www.standardwebhooks.com). The secret of a webhook
// is made of that of the store and of its number, so none is stored, and a copy of the table tells none.
import { createHmac } from 'node:crypto'
import type { WebhookRecord } from '../../../store/webhook-store.ts'

type Signing = Pick<WebhookRecord, 'id' | 'secret' | 'oldSecretUntil'>

/** Shown once: when it is made. */
export function secretOf(storeSecret: Uint8Array, { id, secret }: Pick<Signing, 'id' | 'secret'>): string {
  return `whsec_${keyOf(storeSecret, id, secret).toString('base64')}`
}

function keyOf(storeSecret: Uint8Array, id: string, number: number): Buffer {
  return createHmac('sha256', storeSecret).update(`almanac webhook ${id} ${number}`).digest()
}

type Signed = { id: string; atMs: number; body: string | Uint8Array }

/** With the secret before too, while it is still in use. */
export function signedHeaders(
  storeSecret: Uint8Array,
  { id, secret, oldSecretUntil = 0 }: Signing,
  { id: messageId, atMs, body }: Signed,
): Record<string, string> {
  const timestamp = Math.floor(atMs / 1_000)
  const numbers = oldSecretUntil > atMs ? [secret, secret - 1] : [secret]
  const signatures = numbers.map(number => {
    const hmac = createHmac('sha256', keyOf(storeSecret, id, number))
    return `v1,${hmac.update(`${messageId}.${timestamp}.`).update(body).digest('base64')}`
  })
  return {
    'webhook-id': messageId,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures.join(' '),
  }
}
