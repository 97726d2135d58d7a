// Takes `host:port` apart.
import { AlmanacError } from '../errors.ts'

export type ListenAddress = { host: string; port: number }

/** `:8080` is every address of the machine; an IPv6 address stands in brackets. */
export function parseListen(text: string): ListenAddress {
  const split = text.lastIndexOf(':')
  const port = Number(text.slice(split + 1))
  if (split === -1 || !Number.isInteger(port) || port > 65_535) {
    throw new AlmanacError('config_invalid', `${JSON.stringify(text)} is no place to listen at.`, {
      hint: 'give host:port with a port up to 65535.',
    })
  }
  return { host: text.slice(0, split).replace(/^\[|\]$/g, '') || '0.0.0.0', port }
}
